//! The directory that holds all threads, and the host's own records beside them.

use std::fmt::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use handhold_core::types::ErrorCode;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::errors::{code, io_code};
use super::names::{IdError, directory_name};
use super::{ThreadDir, remove};

/// Where the threads of tenants are.
const TENANTS: &str = ".tenants";

/// Where the host keeps its own records.
const RECORDS: &str = ".handhold";

/// How many locks there are. Two files that share one wait for each other, no more.
const LOCKS: u32 = 256;

/// How to open a directory to work relative to it.
pub(super) const OPEN_DIR: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory whose sub-directories are the workspaces of threads.
///
/// Several processes may use one root at the same time.
#[derive(Clone, Debug)]
pub struct AgentFiles {
    root: Arc<Root>,
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
            }),
        }
    }

    /// The workspace of a thread; each tenant has thread ids of its own.
    ///
    /// Does no I/O.
    ///
    /// # Errors
    /// Fails for an id that is empty, has a NUL or is over 512 bytes.
    pub fn thread(&self, tenant: Option<&str>, thread: &str) -> Result<ThreadDir, IdError> {
        let thread = directory_name(thread)?;
        let names = match tenant {
            None => vec![thread],
            Some(tenant) => vec![TENANTS.to_owned(), directory_name(tenant)?, thread],
        };
        Ok(ThreadDir { root: Arc::clone(&self.root), names: names.into() })
    }
}

/// The root, opened when it is first needed.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    dir: OnceLock<Dir>,
    records: OnceLock<Arc<Records>>,
}

/// The directories for the host's own files.
#[derive(Debug)]
pub(super) struct Records {
    /// Half-made files and directories on their way out.
    pub(super) tmp: OwnedFd,
    locks: OwnedFd,
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
        let records = Records { tmp: make("tmp")?, locks: make("locks")? };
        remove::sweep(&records.tmp);
        Ok(self.records.get_or_init(|| Arc::new(records)))
    }
}

/// What is wrong with a directory of the host, so that it is not taken for one of the workspace.
fn unavailable(what: &str, error: ErrorCode) -> ErrorCode {
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

/// A held lock; dropping it lets go.
pub(super) struct Lock {
    _file: OwnedFd,
}

impl Records {
    /// Waits for the lock of the entry `name` of a directory.
    ///
    /// The lock is between all threads of all processes that use the root.
    pub(super) fn lock(&self, dir: &OwnedFd, name: &[u8]) -> Result<Lock, ErrorCode> {
        self.lock_number(lock_number(dir, name)?)
    }

    /// Waits for the locks of two entries.
    pub(super) fn lock_both(
        &self,
        one: (&OwnedFd, &[u8]),
        other: (&OwnedFd, &[u8]),
    ) -> Result<(Lock, Option<Lock>), ErrorCode> {
        let (one, other) = (lock_number(one.0, one.1)?, lock_number(other.0, other.1)?);
        // All take two locks in one order, so that no two wait for each other.
        let first = self.lock_number(one.min(other))?;
        let second = if one == other { None } else { Some(self.lock_number(one.max(other))?) };
        Ok((first, second))
    }

    fn lock_number(&self, number: u32) -> Result<Lock, ErrorCode> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file =
            rustix::fs::openat(&self.locks, format!("{number:02x}"), flags, mode).map_err(code)?;
        loop {
            match rustix::fs::flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(code(errno)),
            }
        }
    }
}

/// Which lock serialises changes of an entry: by the directory itself, not by its path, since
/// several paths may lead to it.
fn lock_number(dir: &OwnedFd, name: &[u8]) -> Result<u32, ErrorCode> {
    let stat = rustix::fs::fstat(dir).map_err(code)?;
    let mut hash = Sha256::new();
    hash.update(stat.st_dev.to_le_bytes());
    hash.update(stat.st_ino.to_le_bytes());
    hash.update(name);
    let number = hash
        .finalize()
        .iter()
        .fold(0_u32, |number, byte| number.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    Ok(number % LOCKS)
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
