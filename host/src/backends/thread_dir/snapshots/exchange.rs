//! Putting a tree in the place of another.

use std::os::fd::OwnedFd;

use handhold_core::types::ErrorCode;
use rustix::fs::{Mode, RenameFlags};
use rustix::io::Errno;

use super::super::change::rename;
use super::super::errors::code;
use super::super::root::random_name;

/// A place for a directory.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    pub(super) dir: &'a OwnedFd,
    pub(super) name: &'a str,
}

/// Puts the directory at `new`, which is in `tmp`, in the place of the one at `old`, and gives the
/// name that the old one has in `tmp` then.
pub(super) fn exchange(new: Spot<'_>, old: Spot<'_>) -> Result<String, ErrorCode> {
    let flags = RenameFlags::EXCHANGE;
    match rustix::fs::renameat_with(new.dir, new.name, old.dir, old.name, flags) {
        Ok(()) => Ok(new.name.to_owned()),
        // The file system, or the system, cannot do that.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => in_two_steps(new, old),
        Err(errno) => Err(code(errno)),
    }
}

/// The same in two steps, with nothing at the place in between.
pub(super) fn in_two_steps(new: Spot<'_>, old: Spot<'_>) -> Result<String, ErrorCode> {
    let away = random_name()?;
    rustix::fs::renameat(old.dir, old.name, new.dir, &away).map_err(code)?;
    match rename(new.dir, new.name.as_ref(), old.dir, old.name.as_ref(), true) {
        Ok(()) => Ok(away),
        Err(errno) => {
            // If this fails as well, the old tree is swept away in a minute, and the error says
            // that something is wrong with the disk.
            let _ = rename(new.dir, away.as_ref(), old.dir, old.name.as_ref(), true);
            Err(code(errno))
        }
    }
}

/// Lets a directory be moved whose owner may not change it, and gives its permission bits.
pub(super) fn let_move(dir: &OwnedFd) -> Result<Mode, ErrorCode> {
    let mode = Mode::from_raw_mode(rustix::fs::fstat(dir).map_err(code)?.st_mode & 0o7777);
    if !mode.contains(Mode::WUSR | Mode::XUSR) {
        rustix::fs::fchmod(dir, mode | Mode::RWXU).map_err(code)?;
    }
    Ok(mode)
}
