//! Compiled code that is kept.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::process::*;

/// Makes a call with a cache in `caches`.
fn with_cache(dir: &Path, caches: &Path) {
    let mut command = command(dir, &["call", "--memory", "ls"]);
    command.env("XDG_CACHE_HOME", caches);
    feed(command, b"").printed(0, "The directory / is empty.\n");
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn compiled_code_is_kept_for_its_user_alone() {
    let dir = temp();
    with_cache(dir.path(), dir.path());
    let cache = dir.path().join("handhold");
    assert_eq!(mode(&cache), 0o700);
    let names = entries(&cache);
    assert_eq!(names.len(), 1, "{names:?}");
    let file = cache.join(&names[0]);
    assert_eq!(mode(&file), 0o600);
    let before = fs::metadata(&file).unwrap().ino();
    with_cache(dir.path(), dir.path());
    assert_eq!(fs::metadata(&file).unwrap().ino(), before, "it was compiled once more");
}

#[test]
fn damaged_code_is_compiled_again() {
    let dir = temp();
    with_cache(dir.path(), dir.path());
    let cache = dir.path().join("handhold");
    let file = cache.join(&entries(&cache)[0]);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let mut other_hash = whole.clone();
    other_hash[0] ^= 1;
    for damaged in [&flipped, &other_hash, &whole[..whole.len() / 2], &whole[..31], b""] {
        fs::write(&file, damaged).unwrap();
        with_cache(dir.path(), dir.path());
        let now = fs::read(&file).unwrap();
        assert!(now.len() > whole.len() / 2 && now != damaged, "it was left as it was");
        assert_eq!(entries(&cache).len(), 1, "something was left");
    }
    // What is no file is left alone.
    fs::write(dir.path().join("target"), "target").unwrap();
    fs::remove_file(&file).unwrap();
    symlink(dir.path().join("target"), &file).unwrap();
    with_cache(dir.path(), dir.path());
    assert_eq!(fs::read_to_string(dir.path().join("target")).unwrap(), "target");
}

#[test]
fn a_cache_that_others_can_write_to_is_not_used() {
    for mode in [0o777, 0o770, 0o707, 0o1777] {
        let dir = temp();
        let cache = dir.path().join("handhold");
        fs::create_dir(&cache).unwrap();
        fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).unwrap();
        with_cache(dir.path(), dir.path());
        assert_eq!(entries(&cache), [""; 0], "{mode:o}");
    }
    let dir = temp();
    fs::create_dir(dir.path().join("real")).unwrap();
    symlink("real", dir.path().join("handhold")).unwrap();
    with_cache(dir.path(), dir.path());
    assert_eq!(entries(&dir.path().join("real")), [""; 0], "a link is followed");
}

#[test]
fn without_a_directory_for_caches_there_is_none() {
    let dir = temp();
    let ls = |vars: &[(&str, &str)]| {
        let mut command = command(dir.path(), &["call", "--memory", "ls"]);
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
        command.envs(vars.iter().copied());
        feed(command, b"").printed(0, "The directory / is empty.\n");
    };
    ls(&[]);
    ls(&[("XDG_CACHE_HOME", "relative"), ("HOME", "")]);
    assert_eq!(entries(dir.path()), [""; 0]);
    let home = dir.path().join("home");
    fs::create_dir(&home).unwrap();
    ls(&[("XDG_CACHE_HOME", "relative"), ("HOME", home.to_str().unwrap())]);
    assert_eq!(entries(&home.join(".cache/handhold")).len(), 1);
    assert_eq!(entries(dir.path()), ["home"]);
}
