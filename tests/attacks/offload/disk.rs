//! Disks that are full, and directories that must not be written to.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use handhold::backends::AgentFiles;
use handhold::{Media, Workspace};
use handhold_conformance::world::THREAD;
use handhold_conformance::{binary, runtime, scratch_dir, shared_toolbox};

use super::{RESULTS, hand_over, result};
use crate::cli::Offload;
use crate::site::{Site, facts};

/// How much is pushed at once.
const PIECE: usize = 1 << 20;

/// A user without any rights: nobody, on most systems.
const UNPRIVILEGED: u32 = 65534;

/// A small disk in memory.
struct Disk {
    place: tempfile::TempDir,
}

impl Disk {
    /// Mounts one; none where that is not to be had.
    fn mount(options: &str) -> Option<Self> {
        let place = tempfile::tempdir_in(scratch_dir()).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "handhold-test"]).arg(place.path());
        let mounted = rustix::process::geteuid().is_root()
            && mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        if mounted {
            return Some(Self { place });
        }
        let message = "skipped: this user cannot mount a disk, so that none is full\n";
        std::io::stderr().write_all(message.as_bytes()).unwrap();
        None
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("root")
    }

    fn workspace(&self) -> Workspace {
        Workspace::new(AgentFiles::at_ambient_path(self.root()).thread(None, THREAD).unwrap())
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.root().join(THREAD).join(path)
    }

    /// How many drafts there are.
    fn drafts(&self) -> usize {
        fs::read_dir(self.root().join(".handhold/tmp")).map_or(0, Iterator::count)
    }

    /// Fills the disk to its last byte, but for some.
    fn fill_but(&self, bytes: u64) {
        let mut filler = fs::File::create(self.place.path().join("filler")).unwrap();
        while filler.write_all(&[b'f'; 4096]).is_ok() {}
        let size = filler.metadata().unwrap().len();
        filler.set_len(size.saturating_sub(bytes)).unwrap();
    }

    /// Empties the disk.
    fn clear(&self) {
        for entry in fs::read_dir(self.place.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.place.path()).status());
    }
}

/// Fails unless a text is a preview and says that there is no space.
#[track_caller]
fn check_that_there_was_no_space(text: &str) {
    assert!(text.contains("could not be saved, because no space is left;"), "{text}");
    assert!(text.contains("     1\tinside line 1 of 40\n"), "there is no preview: {text}");
    assert!(text.len() < 16 << 10, "{} bytes are shown", text.len());
}

/// A result of many lines with at least so many bytes.
fn large(bytes: usize) -> String {
    let part = result("inside");
    part.repeat(bytes / part.len() + 1)
}

#[test]
fn a_result_that_does_not_fit_on_the_disk_is_told_and_leaves_its_space() {
    let Some(disk) = Disk::mount("size=4m") else { return };
    let workspace = disk.workspace();
    let (too_large, fits) = (large(8 * PIECE), large(2 * PIECE));
    for id in [Some("x"), None] {
        let ended = hand_over(shared_toolbox(), &workspace, id, too_large.as_bytes(), PIECE);
        for shown in [&ended.text, &ended.notice] {
            assert!(shown.contains("could not be saved, because no space is left;"), "{shown}");
        }
        check_that_there_was_no_space(&ended.text);
        assert_eq!((ended.path, ended.saved), (None, 0));
        assert_eq!(disk.drafts(), 0);
        assert!(!disk.inside(RESULTS).exists(), "something is left");
    }
    // The space is free at once, while the rest still comes.
    runtime().block_on(async {
        let mut output = shared_toolbox().output(&workspace, "web", Some("y")).await.unwrap();
        let mut pieces = too_large.as_bytes().chunks(PIECE);
        for piece in pieces.by_ref().take(6) {
            output.push(piece).await.unwrap();
        }
        assert_eq!(disk.drafts(), 0, "a draft that is given up takes space");
        let mut other = shared_toolbox().output(&workspace, "web", Some("z")).await.unwrap();
        other.push(fits.as_bytes()).await.unwrap();
        let saved = other.finish(false).await.unwrap().offloaded.unwrap();
        assert_eq!(saved.path.as_deref(), Some("/large_tool_result/z"), "{}", saved.text);
        for piece in pieces {
            assert!(output.push(piece).await.unwrap().is_empty());
        }
        let ended = output.finish(true).await.unwrap().offloaded.unwrap();
        assert!(ended.text.starts_with("Error: web failed, "), "{}", ended.text);
        check_that_there_was_no_space(&ended.text);
        assert_eq!(ended.size, too_large.len() as u64);
    });
    assert!(fs::read_to_string(disk.inside(RESULTS).join("z")).unwrap() == fits);
    assert_eq!(fs::read_dir(disk.inside(RESULTS)).unwrap().count(), 1);
}

#[test]
fn a_result_from_a_process_that_does_not_fit_on_the_disk_is_told() {
    let Some(disk) = Disk::mount("size=4m") else { return };
    for (id, size, fits) in
        [("x", 8 * PIECE, false), ("x", 2 * PIECE, true), ("y", 3 * PIECE, false)]
    {
        let text = large(size);
        let mut process = Offload::start(&disk.root(), "", &["--call-id", id]);
        process.push(text.as_bytes());
        let shown = String::from_utf8(process.end()).unwrap();
        if fits {
            assert!(shown.contains("All of it is saved in /large_tool_result/x.\n"), "{shown}");
            assert!(fs::read_to_string(disk.inside(RESULTS).join("x")).unwrap() == text);
        } else {
            check_that_there_was_no_space(&shown);
            assert!(shown.ends_with("inside line 40 of 40\n"), "{shown}");
        }
        assert_eq!(disk.drafts(), 0);
    }
}

#[test]
fn an_image_that_does_not_fit_on_the_disk_is_told() {
    let Some(disk) = Disk::mount("size=4m") else { return };
    let image = Media { media_type: "image/png".to_owned(), data: vec![b'x'; 6 * PIECE] };
    let workspace = disk.workspace();
    let text = runtime().block_on(async {
        let mut output = shared_toolbox().output(&workspace, "web", Some("x")).await.unwrap();
        let text = output.media(&image).await.unwrap().expect("it is too large");
        // What else there is has its space.
        output.push(large(2 * PIECE).as_bytes()).await.unwrap();
        let saved = output.finish(false).await.unwrap().offloaded.unwrap();
        assert_eq!(saved.path.as_deref(), Some("/large_tool_result/x"), "{}", saved.text);
        text
    });
    assert!(text.contains("could not be saved, because no space is left;"), "{text}");
    assert_eq!(disk.drafts(), 0);
    assert_eq!(fs::read_dir(disk.inside(RESULTS)).unwrap().count(), 1);
}

#[test]
fn whatever_the_disk_runs_out_of_a_result_is_saved_or_told() {
    // A page is the least that a file takes, and an inode what each takes of another kind.
    let text = large(100_000);
    let mut told = 0;
    let Some(disk) = Disk::mount("size=2m") else { return };
    for pages in 0..40 {
        disk.fill_but(pages * 4096);
        told += try_on(&disk, &text, &format!("{pages} pages"));
        disk.clear();
    }
    assert!((20..40).contains(&told), "{told} times there was no space");
    let Some(disk) = Disk::mount("size=4m,nr_inodes=64") else { return };
    let mut told = 0;
    for inodes in 0..20 {
        let mut fillers = 0;
        let filler = |n: usize| disk.place.path().join(format!("filler-{n}"));
        while fs::write(filler(fillers), "").is_ok() {
            fillers += 1;
        }
        for n in 0..inodes {
            fs::remove_file(filler(n)).unwrap();
        }
        told += try_on(&disk, &text, &format!("{inodes} inodes"));
        disk.clear();
    }
    assert!((3..20).contains(&told), "{told} times there was no inode");
}

/// Hands a result over, and gives 1 if there was no space for it.
fn try_on(disk: &Disk, text: &str, what: &str) -> u32 {
    let ended = hand_over(shared_toolbox(), &disk.workspace(), Some("x"), text.as_bytes(), 30_000);
    assert_eq!(disk.drafts(), 0, "{what}: a draft is left");
    if let Some(path) = ended.path {
        assert_eq!(path, "/large_tool_result/x", "{what}");
        assert!(fs::read_to_string(disk.inside(&path[1..])).unwrap() == text, "{what}");
        return 0;
    }
    check_that_there_was_no_space(&ended.text);
    let left = fs::read_dir(disk.inside(RESULTS)).map_or(0, Iterator::count);
    assert_eq!(left, 0, "{what}: something is left");
    1
}

/// Runs `handhold offload` as somebody who may do nothing that permissions forbid.
fn offload_unprivileged(site: &Site, text: &str) -> String {
    let mut command = Command::new(binary());
    command.args(["offload", "--tool", "web", "--call-id", "x", "--root"]);
    command.arg(site.directory.root()).env("XDG_CACHE_HOME", site.base("cache"));
    if rustix::process::geteuid().is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let failed = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), failed.as_str()), (Some(0), ""), "{shown}");
    let base = site.directory.base().to_string_lossy().into_owned();
    assert!(!shown.contains(&base), "a host path: {shown}");
    shown
}

/// Makes a tree that user's. Links are not followed, and there are none.
fn give_away(tree: &Path) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for path in facts(tree).into_keys() {
        chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
}

/// What the files of a tree hold.
fn contents(tree: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    facts(tree).into_iter().map(|(path, facts)| (path, facts.content)).collect()
}

#[test]
fn a_directory_that_must_not_be_written_to_is_told_and_stays_as_it_is() {
    let site = Site::new();
    site.write("large_tool_result/old", "old");
    let text = large(100_000);
    // The records of the host are there, and the code is compiled.
    fs::create_dir(site.base("cache")).unwrap();
    give_away(site.directory.base());
    let shown = offload_unprivileged(&site, &text);
    assert!(shown.contains("All of it is saved in /large_tool_result/x.\n"), "{shown}");
    fs::remove_file(site.inside("large_tool_result/x")).unwrap();
    let not_permitted = "writing to /large_tool_result is not permitted;";
    for (path, mode, why) in [
        ("default/large_tool_result", 0o555, not_permitted),
        ("default/large_tool_result", 0o444, not_permitted),
        ("default/large_tool_result", 0o000, not_permitted),
        ("default", 0o000, not_permitted),
        (".handhold/tmp", 0o555, "the directory of the host's records cannot be used"),
        (".handhold/tmp", 0o000, "the directory of the host's records cannot be used"),
        (".handhold/locks", 0o000, "the directory of the host's records cannot be used"),
        (".handhold", 0o000, "the directory of the host's records cannot be used"),
        ("", 0o000, "not permitted"),
    ] {
        let place = site.directory.root().join(path);
        let before = fs::metadata(&place).unwrap().permissions();
        let look = || (contents(&site.directory.workspace()), contents(&site.canary()));
        let tree = look();
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        let shown = offload_unprivileged(&site, &text);
        assert!(shown.contains("could not be saved, because "), "{path} {mode:o}: {shown}");
        assert!(shown.contains(why), "{path} {mode:o}: {shown}");
        assert!(shown.len() < 16 << 10, "{path} {mode:o}: {} bytes are shown", shown.len());
        assert!(shown.ends_with("inside line 40 of 40\n"), "{path} {mode:o}: {shown}");
        fs::set_permissions(&place, before).unwrap();
        assert_eq!(look(), tree, "{path} {mode:o}");
        site.directory.check_outside();
    }
    let shown = offload_unprivileged(&site, &text);
    assert!(shown.contains("All of it is saved in /large_tool_result/x.\n"), "{shown}");
}

#[test]
fn a_workspace_that_cannot_have_the_directory_for_results_is_told() {
    let site = Site::new();
    let text = large(100_000);
    fs::create_dir(site.base("cache")).unwrap();
    give_away(site.directory.base());
    for mode in [0o555, 0o500] {
        let place = site.directory.workspace();
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        let shown = offload_unprivileged(&site, &text);
        let why = "could not be saved, because writing to /large_tool_result is not permitted;";
        assert!(shown.contains(why), "{mode:o}: {shown}");
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
        site.directory.check_outside();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // What is small needs no place at all, and what cannot be made is told.
    fs::remove_dir(site.directory.workspace()).unwrap();
    let root = site.directory.root();
    drop(fs::remove_dir_all(root.join(".handhold")));
    fs::set_permissions(&root, fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(offload_unprivileged(&site, "small"), "small");
    let shown = offload_unprivileged(&site, &text);
    assert!(shown.contains("could not be saved, because "), "{shown}");
    assert!(shown.len() < 16 << 10, "{} bytes are shown", shown.len());
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
}
