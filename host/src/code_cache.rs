//! Compiled code kept on disk, so that a second start does not compile again.
//!
//! What is loaded from here runs as native code. A directory is used only if nobody but this user
//! can have written to it, and a file only if it is whole.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

/// How many bytes at the front of a file are the hash of the rest.
const HASH_BYTES: usize = 32;

/// Compiles a component, or loads what an earlier start has compiled.
///
/// A cache that cannot be used costs time and nothing else: the reason goes to the log.
pub(crate) fn component(
    engine: &Engine,
    bytes: &[u8],
    cache: Option<&Path>,
) -> wasmtime::Result<Component> {
    let Some(dir) = cache else { return Component::new(engine, bytes) };
    let name = format!("{}.cwasm", key(engine, bytes));
    match load(engine, dir, &name) {
        Ok(Some(component)) => return Ok(component),
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(error = %error.kind(), "the code cache cannot be used");
            return Component::new(engine, bytes);
        }
    }
    let component = Component::new(engine, bytes)?;
    if let Err(error) = store(dir, &name, &component.serialize()?) {
        tracing::warn!(error = %error.kind(), "compiled code could not be kept");
    }
    Ok(component)
}

/// The name of the code of a component for an engine.
fn key(engine: &Engine, bytes: &[u8]) -> String {
    let mut hash = HashInto(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hash);
    hash.0.update(bytes);
    hash.0.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Feeds what is hashed into SHA-256.
struct HashInto(Sha256);

impl Hasher for HashInto {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// Loads code; none if there is none that is whole.
fn load(engine: &Engine, dir: &Path, name: &str) -> io::Result<Option<Component>> {
    if !dir.exists() {
        return Ok(None);
    }
    check_private(&fs::symlink_metadata(dir)?)?;
    let mut open = match fs::File::open(dir.join(name)) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // What was opened is looked at, not what has the name now.
    let found = open.metadata()?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    check_private(&found)?;
    let mut bytes = Vec::new();
    open.read_to_end(&mut bytes)?;
    let Some((hash, code)) = bytes.split_at_checked(HASH_BYTES) else { return Ok(None) };
    if Sha256::digest(code).as_slice() != hash {
        return Ok(None);
    }
    Ok(deserialize(engine, code))
}

#[expect(
    unsafe_code,
    reason = "the code was compiled by this library: its directory and file are this user's alone, and its hash is right"
)]
fn deserialize(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: `load` has made sure that nobody but this user can have written the file, and that
    // it is as it was written; `store` writes nothing but serialised components. Code of another
    // version or configuration is an error that Wasmtime finds itself.
    unsafe { Component::deserialize(engine, code) }.ok()
}

/// Keeps code: written beside its place, then renamed.
fn store(dir: &Path, name: &str, code: &[u8]) -> io::Result<()> {
    create_private_dir(dir)?;
    check_private(&fs::symlink_metadata(dir)?)?;
    let draft = dir.join(format!("{name}.{}", std::process::id()));
    let mut file = create_private_file(&draft)?;
    let written = file
        .write_all(&Sha256::digest(code))
        .and_then(|()| file.write_all(code))
        .and_then(|()| fs::rename(&draft, dir.join(name)));
    if written.is_err() {
        drop(fs::remove_file(&draft));
    }
    written
}

#[cfg(unix)]
fn check_private(found: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let others_write = found.mode() & 0o022 != 0;
    let mine = found.uid() == rustix::process::geteuid().as_raw();
    if mine && !others_write && !found.is_symlink() {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[cfg(unix)]
fn create_private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(unix)]
fn create_private_file(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    // What a process with the same number has left behind is of no use.
    drop(fs::remove_file(path));
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

// Elsewhere there is no check of who can write to a directory, so that none is used.

#[cfg(not(unix))]
fn check_private(_: &fs::Metadata) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn create_private_dir(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn create_private_file(_: &Path) -> io::Result<fs::File> {
    Err(io::ErrorKind::Unsupported.into())
}
