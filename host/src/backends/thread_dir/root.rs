//! The directory that holds all threads, and the host's own records beside them.

use std::fmt::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use handhold_core::types::ErrorCode;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::errors::{code, io_code};
use super::id::ThreadId;
use super::ledger::Queues;
use super::life::touch;
use super::names::IdError;
use super::resolve::Links;
use super::{ThreadDir, remove};

/// Where the threads of tenants are.
pub(super) const TENANTS: &str = ".tenants";

/// Where the host keeps its own records.
pub(super) const RECORDS: &str = ".handhold";

/// How to open a directory to work relative to it.
pub(super) const OPEN_DIR: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory whose sub-directories are the workspaces of threads.
///
/// Several processes may use one root at the same time.
#[derive(Clone, Debug)]
pub struct AgentFiles {
    pub(super) root: Arc<Root>,
}

impl AgentFiles {
    /// Uses the directory at `path` of the machine.
    ///
    /// Does no I/O: the directory need not exist, and the first write makes it.
    #[must_use]
    pub fn at_ambient_path(path: impl Into<PathBuf>) -> Self {
        Self {
            root: Arc::new(Root {
                path: path.into(),
                dir: OnceLock::new(),
                records: OnceLock::new(),
                seen_threads: OnceLock::new(),
                queues: Queues::default(),
            }),
        }
    }

    /// The directory, as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.root.path
    }

    /// The workspace of a thread; each tenant has thread ids of its own.
    ///
    /// Does no I/O.
    ///
    /// # Errors
    /// Fails for an id that is empty, has a NUL or is over 512 bytes.
    pub fn thread(&self, tenant: Option<&str>, thread: &str) -> Result<ThreadDir, IdError> {
        let id = Arc::new(ThreadId::new(tenant, thread)?);
        Ok(ThreadDir { root: Arc::clone(&self.root), id, links: Links::Follow })
    }
}

/// The root, opened when it is first needed.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    dir: OnceLock<Dir>,
    records: OnceLock<Arc<Records>>,
    /// The directory of the records of threads, if it was there when it was looked for.
    seen_threads: OnceLock<OwnedFd>,
    /// Who waits for which ledger in this process.
    pub(super) queues: Queues,
}

/// The directories for the host's own files.
#[derive(Debug)]
pub(super) struct Records {
    /// Half-made files and directories on their way out.
    pub(super) tmp: OwnedFd,
    pub(super) locks: OwnedFd,
    /// One record for each thread.
    pub(super) threads: OwnedFd,
    /// What each thread takes.
    pub(super) usage: Arc<OwnedFd>,
}

impl Root {
    /// The root; none if it does not exist.
    fn open(&self) -> Result<Option<&Dir>, ErrorCode> {
        if let Some(dir) = self.dir.get() {
            return Ok(Some(dir));
        }
        match Dir::open_ambient_dir(&self.path, ambient_authority()) {
            Ok(dir) => Ok(Some(self.dir.get_or_init(|| dir))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unavailable("the directory of all workspaces", io_code(&error))),
        }
    }

    /// The root, made if it does not exist.
    fn create(&self) -> Result<&Dir, ErrorCode> {
        if let Some(dir) = self.open()? {
            return Ok(dir);
        }
        let failed = |error| unavailable("the directory of all workspaces", error);
        Dir::create_ambient_dir_all(&self.path, ambient_authority())
            .map_err(|error| failed(io_code(&error)))?;
        self.open()?.ok_or_else(|| failed(ErrorCode::NotFound))
    }

    /// The directory at the end of `names`; none if a part of it does not exist.
    pub(super) fn open_beneath(&self, names: &[String]) -> Result<Option<OwnedFd>, ErrorCode> {
        let Some(root) = self.open()? else { return Ok(None) };
        let mut dir: Option<OwnedFd> = None;
        for name in names {
            let at = dir.as_ref().map_or(root.as_fd(), AsFd::as_fd);
            match rustix::fs::openat(at, name, OPEN_DIR, Mode::empty()) {
                Ok(next) => dir = Some(next),
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(code(errno)),
            }
        }
        Ok(dir)
    }

    /// The directory at the end of `names`, made if it does not exist.
    pub(super) fn create_beneath(&self, names: &[String]) -> Result<OwnedFd, ErrorCode> {
        make_dirs(self.create()?.as_fd(), names, Mode::RWXU | Mode::RWXG | Mode::RWXO)
    }

    /// Says that a thread with the directory `dir` was used now, if the host keeps records.
    pub(super) fn touch(&self, id: &ThreadId, dir: &OwnedFd) {
        let threads = match self.seen_threads.get() {
            Some(threads) => threads,
            None => {
                let names = [RECORDS.to_owned(), "threads".to_owned()];
                let Ok(Some(found)) = self.open_beneath(&names) else { return };
                self.seen_threads.get_or_init(|| found)
            }
        };
        touch(threads, id, dir);
    }

    /// The directory of what each thread takes; none if it does not exist.
    pub(super) fn usage(&self) -> Result<Option<Arc<OwnedFd>>, ErrorCode> {
        match self.records.get() {
            Some(records) => Ok(Some(Arc::clone(&records.usage))),
            None => Ok(self.open_records("usage")?.map(Arc::new)),
        }
    }

    /// A directory of the host's own records; none if it does not exist.
    pub(super) fn open_records(&self, name: &str) -> Result<Option<OwnedFd>, ErrorCode> {
        self.open_beneath(&[RECORDS.to_owned(), name.to_owned()])
    }

    /// A directory among the host's own records, made if it does not exist.
    pub(super) fn make_records(&self, names: &[&str]) -> Result<OwnedFd, ErrorCode> {
        let names: Vec<String> =
            [RECORDS].iter().chain(names).map(|name| (*name).to_owned()).collect();
        make_dirs(self.create()?.as_fd(), &names, Mode::RWXU)
            .map_err(|error| unavailable("the directory of the host's records", error))
    }

    /// The directory at the end of `names`, which may be none for the root itself; none if it does
    /// not exist.
    pub(super) fn open_all(&self, names: &[String]) -> Result<Option<OwnedFd>, ErrorCode> {
        if !names.is_empty() {
            return self.open_beneath(names);
        }
        let Some(root) = self.open()? else { return Ok(None) };
        rustix::fs::openat(root, ".", OPEN_DIR, Mode::empty()).map(Some).map_err(code)
    }

    /// The host's own records, made if they do not exist.
    pub(super) fn records(&self) -> Result<&Arc<Records>, ErrorCode> {
        if let Some(records) = self.records.get() {
            return Ok(records);
        }
        let root = self.create()?;
        let make = |name: &str| {
            make_dirs(root.as_fd(), &[RECORDS.to_owned(), name.to_owned()], Mode::RWXU)
                .map_err(|error| unavailable("the directory of the host's records", error))
        };
        let records = Records {
            tmp: make("tmp")?,
            locks: make("locks")?,
            threads: make("threads")?,
            usage: Arc::new(make("usage")?),
        };
        remove::sweep(&records.tmp);
        Ok(self.records.get_or_init(|| Arc::new(records)))
    }
}

/// What is wrong with a directory of the host, so that it is not taken for one of the workspace.
pub(super) fn unavailable(what: &str, error: ErrorCode) -> ErrorCode {
    match error {
        ErrorCode::QuotaExceeded => ErrorCode::QuotaExceeded,
        error => ErrorCode::Unavailable(format!("{what} cannot be used ({error})")),
    }
}

/// Opens the directory at the end of `names` beneath `dir`, and makes what is missing.
fn make_dirs(dir: BorrowedFd<'_>, names: &[String], mode: Mode) -> Result<OwnedFd, ErrorCode> {
    let mut here: Option<OwnedFd> = None;
    for name in names {
        let at = here.as_ref().map_or(dir, AsFd::as_fd);
        match rustix::fs::mkdirat(at, name, mode) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(code(errno)),
        }
        here = Some(rustix::fs::openat(at, name, OPEN_DIR, Mode::empty()).map_err(code)?);
    }
    here.ok_or(ErrorCode::NotFound)
}

/// A name that nothing else has.
pub(super) fn random_name() -> Result<String, ErrorCode> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = bytes.get_mut(filled..).unwrap_or_default();
        match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(n) => filled += n,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(code(errno)),
        }
    }
    let mut name = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name)
}
