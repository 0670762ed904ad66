//! What an error of the operating system is for a caller. No host path is in any of them.

use handhold_core::types::ErrorCode;
use rustix::io::Errno;

/// The code for an error of a system call.
pub(super) fn code(errno: Errno) -> ErrorCode {
    match errno {
        Errno::NOENT => ErrorCode::NotFound,
        Errno::EXIST => ErrorCode::AlreadyExists,
        Errno::ISDIR => ErrorCode::IsDirectory,
        Errno::NOTDIR => ErrorCode::NotADirectory,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::ACCESS | Errno::PERM | Errno::ROFS => ErrorCode::NotPermitted,
        // A link took the place of what was looked at a moment before.
        Errno::LOOP => ErrorCode::NotPermitted,
        Errno::NXIO => ErrorCode::NotAFile,
        // A limit on the size of files is one on space, too.
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => ErrorCode::QuotaExceeded,
        Errno::NAMETOOLONG => {
            ErrorCode::InvalidPath("the path is too long for the file system".to_owned())
        }
        Errno::INVAL => {
            ErrorCode::InvalidPath("the file system does not accept this path".to_owned())
        }
        errno => ErrorCode::Unavailable(errno.kind().to_string()),
    }
}

/// The code for an error of the standard library.
pub(super) fn io_code(error: &std::io::Error) -> ErrorCode {
    match error.raw_os_error() {
        Some(number) => code(Errno::from_raw_os_error(number)),
        None => ErrorCode::Unavailable(error.kind().to_string()),
    }
}
