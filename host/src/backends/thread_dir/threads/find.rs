//! Finding the threads of a root by their directories.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;

use handhold_core::types::{ErrorCode, FileKind};
use rustix::fs::AtFlags;

use super::super::errors::code;
use super::super::id::ThreadId;
use super::super::life::{Record, made, read_record};
use super::super::measure::{Taken, measure};
use super::super::names::{id_of, is_name};
use super::super::root::{Root, TENANTS};
use super::super::snapshots::snapshot_bytes;
use super::super::stat;
use super::ThreadInfo;

/// A thread that was found by its directory.
pub(super) struct Found {
    pub(super) id: ThreadId,
    /// Whether the ids are those that the host was given.
    pub(super) is_known: bool,
}

/// When a thread was made and last used, in milliseconds since the Unix epoch.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) created: u64,
    pub(super) last_used: u64,
}

impl Found {
    /// What there is to tell; none if the directory is gone.
    pub(super) fn info(
        &self,
        root: &Root,
        cancelled: &AtomicBool,
    ) -> Result<Option<ThreadInfo>, ErrorCode> {
        let Some(dir) = root.open_beneath(&self.id.names)? else { return Ok(None) };
        let taken = measure(&dir, cancelled)?;
        let (record, times) = match self.record(root)? {
            Some((record, last_used)) => {
                let times = Times { created: record.created, last_used };
                (Some(record), times)
            }
            None => (None, taken.times(&dir)),
        };
        let (tenant, thread) = match record.filter(|record| !self.is_known && self.is_of(record)) {
            Some(record) => (record.tenant, record.thread),
            None => (self.id.tenant.clone(), self.id.thread.clone()),
        };
        let Times { created, last_used } = times;
        let Taken { bytes, files, .. } = taken;
        let snapshot_bytes = snapshot_bytes(root, &self.id)?;
        Ok(Some(ThreadInfo { tenant, thread, bytes, snapshot_bytes, files, created, last_used }))
    }

    /// When it was made and last used; none if the directory is gone.
    pub(super) fn times(
        &self,
        root: &Root,
        cancelled: &AtomicBool,
    ) -> Result<Option<Times>, ErrorCode> {
        let Some(dir) = root.open_beneath(&self.id.names)? else { return Ok(None) };
        Ok(Some(match self.record(root)? {
            Some((record, last_used)) => Times { created: record.created, last_used },
            None => measure(&dir, cancelled)?.times(&dir),
        }))
    }

    fn record(&self, root: &Root) -> Result<Option<(Record, u64)>, ErrorCode> {
        let Some(all) = root.open_records("threads")? else { return Ok(None) };
        Ok(read_record(all, self.id.key()))
    }

    /// Whether the ids in a record lead to this directory.
    fn is_of(&self, record: &Record) -> bool {
        ThreadId::new(record.tenant.as_deref(), &record.thread)
            .is_ok_and(|id| id.names == self.id.names)
    }
}

/// The threads of a root, in order.
pub(super) fn find_all(root: &Root, tenant: Option<&str>) -> Result<Vec<Found>, ErrorCode> {
    let mut found = Vec::new();
    if tenant.is_none() {
        for name in directories(root, &[])? {
            let (thread, is_known) = id_or_name(&name);
            let id = ThreadId { tenant: None, thread, names: vec![name] };
            found.push(Found { id, is_known });
        }
    }
    let tenants = directories(root, &[TENANTS.to_owned()])?;
    for above in tenants.into_iter().filter(|name| tenant.is_none_or(|tenant| tenant == name)) {
        let (tenant, tenant_is_known) = id_or_name(&above);
        for name in directories(root, &[TENANTS.to_owned(), above.clone()])? {
            let (thread, is_known) = id_or_name(&name);
            let names = vec![TENANTS.to_owned(), above.clone(), name];
            let id = ThreadId { tenant: Some(tenant.clone()), thread, names };
            found.push(Found { id, is_known: is_known && tenant_is_known });
        }
    }
    Ok(found)
}

/// The id that has a directory name, or the name; says whether it is the id.
fn id_or_name(name: &str) -> (String, bool) {
    match id_of(name) {
        Some(id) => (id, true),
        None => (name.to_owned(), false),
    }
}

/// The directories in a directory that can be those of threads or tenants, in order.
fn directories(root: &Root, above: &[String]) -> Result<Vec<String>, ErrorCode> {
    let Some(dir) = root.open_all(above)? else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&dir).map_err(code)? {
        let entry = entry.map_err(code)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if is_name(name) && kind_of(&dir, &entry) == Some(FileKind::Directory) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn kind_of(dir: &OwnedFd, entry: &rustix::fs::DirEntry) -> Option<FileKind> {
    match entry.file_type() {
        rustix::fs::FileType::Unknown => {
            let found =
                rustix::fs::statat(dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(stat::kind(&found))
        }
        kind => Some(stat::of_type(kind)),
    }
}

impl Taken {
    /// When a thread of which there is no record was made and last used.
    fn times(&self, dir: &OwnedFd) -> Times {
        Times { created: made(dir), last_used: self.newest }
    }
}
