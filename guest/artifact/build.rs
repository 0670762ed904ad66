//! Builds the guest for `wasm32-unknown-unknown` and turns it into components.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use wit_component::{ComponentEncoder, DecodedWasm};

const TARGET: &str = "wasm32-unknown-unknown";

/// The worlds, and the features of `handhold-tools` that make them.
const WORLDS: [(&str, &[&str]); 2] = [("read-tools", &[]), ("file-tools", &["write"])];

fn main() -> Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..");
    for path in ["Cargo.toml", "Cargo.lock", "guest/core", "guest/tools", "wit"] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    check_target()?;
    // `OUT_DIR` is {target}/{profile}/build/{package}/out.
    let target_dir = out.ancestors().nth(4).context("OUT_DIR is too short")?.join("guest");
    for (world, features) in WORLDS {
        let module = build(&root, &target_dir, features)
            .with_context(|| format!("cannot build the component for the world {world}"))?;
        let component = ComponentEncoder::default().validate(true).module(&module)?.encode()?;
        fs::write(out.join(format!("{world}.imports")), imports(&component)?)?;
        fs::write(out.join(format!("{world}.wasm")), component)?;
    }
    Ok(())
}

/// Says what to do when the target is not installed.
fn check_target() -> Result<()> {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output =
        Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output()?;
    let libdir = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success() && Path::new(libdir.trim()).is_dir(),
        "the target {TARGET} is not installed; run `cargo xtask setup`, or `rustup target add {TARGET}`"
    );
    Ok(())
}

/// Builds the core module. It has a target directory of its own, since the outer build holds the
/// lock of the other.
fn build(root: &Path, target_dir: &Path, features: &[&str]) -> Result<Vec<u8>> {
    let status = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
        .current_dir(root)
        .args(["build", "--quiet", "--locked", "--package", "handhold-tools"])
        .args(["--target", TARGET, "--profile", "guest"])
        .args(["--features", &features.join(",")])
        .arg("--target-dir")
        .arg(target_dir)
        // The flags and wrappers of the outer build are not for the guest.
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_TARGET_DIR")
        .env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+simd128")
        .status()?;
    if !status.success() {
        bail!("cargo failed: {status}");
    }
    Ok(fs::read(target_dir.join(TARGET).join("guest/handhold_tools.wasm"))?)
}

/// The interfaces that a component imports, one a line.
fn imports(component: &[u8]) -> Result<String> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("the encoder gave no component");
    };
    let mut list = String::new();
    let world = resolve.worlds.get(world).context("a component has a world")?;
    for key in world.imports.keys() {
        writeln!(list, "{}", resolve.name_world_key(key))?;
    }
    Ok(list)
}
