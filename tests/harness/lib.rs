//! Runs data cases against front ends and compares what each of them answers.
//!
//! [`case`] reads a case, [`world`] makes the files it starts from and reads what it left,
//! [`front_ends`] are the ways to make a call, and [`run`] puts them together.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

pub mod case;
pub mod front_ends;
mod plant;
pub mod run;
pub mod strict;
pub mod world;

use std::path::PathBuf;
use std::sync::OnceLock;

/// The runtime that all front ends in this process share.
pub fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .expect("a runtime can be started")
    })
}

/// Where tests may put files: in the build directory.
pub fn scratch_dir() -> PathBuf {
    let dir = binary_dir().join("test-scratch");
    std::fs::create_dir_all(&dir).expect("the build directory can be written to");
    dir
}

/// The `handhold` binary.
///
/// # Panics
/// Panics if it has not been built.
pub fn binary() -> PathBuf {
    let path = binary_dir().join("handhold");
    assert!(
        path.exists(),
        "{} is not there; run `cargo build -p handhold-cli`, or everything with `cargo xtask test`",
        path.display()
    );
    path
}

/// The directory that holds the binaries: that of this test is beneath it.
fn binary_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("a test knows where it is");
    let deps = exe.parent().expect("a binary is in a directory");
    deps.parent().expect("deps is in a directory").to_owned()
}

/// A toolbox with the built-in configuration that all tests of this process share.
pub fn shared_toolbox() -> &'static handhold::Toolbox {
    static TOOLBOX: OnceLock<handhold::Toolbox> = OnceLock::new();
    TOOLBOX.get_or_init(|| {
        front_ends::toolbox(&handhold::Settings::default()).expect("the built-in one is valid")
    })
}
