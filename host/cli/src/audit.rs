//! The file that changes are written down in.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use handhold::backends::{AuditSink, JsonLines};

use crate::output;

/// Opens the file to write at its end, and makes it for its owner alone if it does not exist.
pub(crate) fn open(path: &Path) -> Result<Arc<dyn AuditSink>> {
    let open = || {
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        if is_torn(&file)? {
            // A process has ended within a line: it must not spoil the next one.
            file.write_all(b"\n")?;
        }
        Ok::<_, io::Error>(file)
    };
    let file = open().with_context(|| format!("the audit file {}", path.display()))?;
    Ok(Arc::new(JsonLines::new(Loud(file))))
}

/// Whether the last line of a file has no end.
fn is_torn(file: &File) -> io::Result<bool> {
    let found = file.metadata()?;
    let mut last = [b'\n'];
    if found.is_file() && found.len() > 0 {
        file.read_exact_at(&mut last, found.len() - 1)?;
    }
    Ok(last != *b"\n")
}

/// Says on standard error when something is not written: the change has been made by then.
struct Loud(File);

impl Write for Loud {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                output::complain(&anyhow::anyhow!(
                    "a change is missing in the audit file: {error}"
                ));
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
