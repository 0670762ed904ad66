//! What is restored is what there was.

use std::os::unix::fs::symlink;

use super::*;

/// A tree with some of everything.
fn fill(world: &World) {
    world.put("empty", "");
    world.put("text.txt", "hello\n");
    world.put("src/deep/er/code.rs", "fn main() {}\n");
    world.put("src/binary", (0..=255).cycle().take(300_000).collect::<Vec<u8>>());
    fs::create_dir_all(world.at("empty directories/one/two")).expect("a directory");
    for bytes in
        [&b"not \xff UTF-8"[..], b"\xc3", b"100%", b"%ff", b"new\nline", b"\"quoted\\", b"..."]
    {
        world.put(name(bytes), bytes);
    }
    world.put(Path::new(name(b"dir\xfe")).join("a"), "in it");
    // A hole between two bytes.
    let sparse = fs::File::create(world.at("sparse")).expect("a file");
    sparse.set_len(5 << 20).expect("a size");
    std::os::unix::fs::FileExt::write_all_at(&sparse, b"x", 3 << 20).expect("written");
    symlink("text.txt", world.at("link")).expect("a link");
    symlink("src", world.at("link to a directory")).expect("a link");
    symlink("nowhere/at/all", world.at("dangling")).expect("a link");
    symlink("../../../../etc/passwd", world.at("leads out")).expect("a link");
    symlink("/etc", world.at("absolute")).expect("a link");
    symlink(name(b"to \xff"), world.at("src/bytes")).expect("a link");
    symlink("x".repeat(4095), world.at("long")).expect("a link");
    symlink("itself", world.at("itself")).expect("a link");
    for (path, mode) in
        [("text.txt", 0o640), ("empty", 0o400), ("src/binary", 0o755), ("src/deep", 0o500)]
    {
        set_mode(&world.at(path), mode);
    }
    set_mode(&world.at(""), 0o750);
    set_time(&world.at("text.txt"), Duration::new(1_234_567_890, 123_456_789));
    set_time(&world.at("empty"), Duration::ZERO);
    set_time(&world.at("empty directories/one"), Duration::new(7, 5));
    let before = fs::File::open(world.at("100%")).expect("a file");
    before.set_modified(SystemTime::UNIX_EPOCH - Duration::from_millis(1500)).expect("a time");
}

#[tokio::test]
async fn everything_comes_back() {
    let world = World::new();
    fill(&world);
    let before = world.tree();
    let taken = world.take("first").await;
    assert_eq!(world.tree(), before, "taking a snapshot changes nothing");
    let bytes: usize = before
        .values()
        .map(|node| if let Content::File(content) = &node.content { content.len() } else { 0 })
        .sum();
    assert_eq!((taken.bytes, taken.files), (bytes as u64, before.len() as u64 - 1));
    assert_eq!(taken.skipped, 0);

    fs::remove_file(world.at("text.txt")).expect("removed");
    set_mode(&world.at("src/deep"), 0o700);
    fs::remove_dir_all(world.at("src")).expect("removed");
    fs::remove_file(world.at("link")).expect("removed");
    world.put("link", "no link");
    world.put("more/new", "new");
    fs::remove_dir_all(world.at("empty directories")).expect("removed");
    symlink("/", world.at("empty directories")).expect("a link");
    let restored = world.try_restore("first", NONE).await.expect("restored");
    assert_eq!((restored.bytes, restored.files), (taken.bytes, taken.files));
    assert_eq!(world.tree(), before);
    let sparse = fs::metadata(world.at("sparse")).expect("a file");
    assert!(sparse.blocks() * 512 < 2 << 20, "holes stay holes: {} blocks", sparse.blocks());
    assert_eq!(world.leftovers(), [""; 0]);

    // Once more, over what was restored.
    world.restore("first").await;
    assert_eq!(world.tree(), before);
}

#[tokio::test]
async fn what_is_deleted_comes_back_for_a_tenant_too() {
    let base = tempfile::tempdir().expect("a directory");
    let files = AgentFiles::at_ambient_path(base.path());
    let place = base.path().join(".tenants/acme/t");
    fs::create_dir_all(place.join("d")).expect("a directory");
    fs::write(place.join("d/a"), "content").expect("written");
    files.snapshot(Some("acme"), "t", "Before the Change!", NONE).await.expect("a snapshot");
    fs::remove_dir_all(place.join("d")).expect("removed");
    files.restore(Some("acme"), "t", "Before the Change!", NONE).await.expect("restored");
    assert_eq!(fs::read(place.join("d/a")).expect("a file"), b"content");
    let list = files.snapshots(Some("acme"), "t").await.expect("a list");
    assert_eq!(list[0].name, "Before the Change!");
    // The thread of the same name without a tenant, and that of another one, have nothing of it.
    for tenant in [None, Some("other")] {
        let none = files.snapshots(tenant, "t").await;
        assert!(matches!(none, Err(SnapshotError::NotFound)), "{none:?}");
        let none = files.restore(tenant, "t", "Before the Change!", NONE).await;
        assert!(matches!(none, Err(SnapshotError::NotFound)), "{none:?}");
    }
}

#[tokio::test]
async fn a_file_with_two_names_becomes_two_files() {
    let world = World::new();
    world.put("one", "shared");
    fs::hard_link(world.at("one"), world.at("other")).expect("a link");
    let taken = world.take("s").await;
    assert_eq!((taken.bytes, taken.files), (12, 2));
    assert_eq!(world.objects().len(), 1, "its content is kept once");
    assert_eq!(fs::metadata(world.at("one")).expect("a file").nlink(), 2, "and is no third name");
    world.restore("s").await;
    fs::write(world.at("one"), "changed").expect("written");
    assert_eq!(fs::read(world.at("other")).expect("a file"), b"shared");
}

#[tokio::test]
async fn what_is_never_opened_is_left_out_and_counted() {
    let world = World::new();
    world.put("a", "a");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.at("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .expect("a FIFO");
    let _socket = std::os::unix::net::UnixListener::bind(world.at("socket")).expect("a socket");
    let taken = world.take("s").await;
    assert_eq!((taken.files, taken.skipped), (1, 2));
    assert_eq!(world.list().await[0].skipped, 2);
    world.restore("s").await;
    assert_eq!(names(&world.at("")), ["a"]);
}

#[tokio::test]
async fn special_bits_do_not_come_back() {
    let world = World::new();
    world.put("program", "#!");
    set_mode(&world.at("program"), 0o6755);
    fs::create_dir(world.at("sticky")).expect("a directory");
    set_mode(&world.at("sticky"), 0o1777);
    world.take("s").await;
    world.restore("s").await;
    assert_eq!(world.tree()[Path::new("program")].mode, 0o755);
    assert_eq!(world.tree()[Path::new("sticky")].mode, 0o777);
}

#[tokio::test]
async fn directories_that_their_owner_may_not_change_come_back_too() {
    let world = World::new();
    world.put("d/a", "content");
    set_mode(&world.at("d"), 0o500);
    set_mode(&world.at(""), 0o500);
    let before = world.tree();
    world.take("s").await;
    // The old tree and the new one cannot be moved as they are.
    for _ in 0..2 {
        world.restore("s").await;
        assert_eq!(world.tree(), before);
        assert_eq!(world.leftovers(), [""; 0]);
    }
    set_mode(&world.at(""), 0o700);
    set_mode(&world.at("d"), 0o700);
}

#[tokio::test]
async fn an_old_version_is_a_conflict_after_a_restoration() {
    let world = World::new();
    let old = write(&world.files, "/a", "content", Condition::Always).await;
    world.take("s").await;
    world.restore("s").await;
    let thread = world.files.thread(None, THREAD).expect("an id");
    let request = WriteRequest {
        path: "/a".to_owned(),
        content: b"new".to_vec(),
        condition: Condition::Matches(old),
        dry_run: false,
    };
    assert_eq!(thread.write(request).await, Err(ErrorCode::Conflict));
    assert_eq!(fs::read(world.at("a")).expect("a file"), b"content");
}

#[tokio::test]
async fn two_steps_do_it_where_one_cannot() {
    use super::super::exchange::{Spot, in_two_steps};
    let (one, other) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("one"));
    fs::create_dir(one.path().join("new")).expect("a directory");
    fs::write(one.path().join("new/a"), "new").expect("written");
    fs::create_dir(other.path().join("thread")).expect("a directory");
    fs::write(other.path().join("thread/a"), "old").expect("written");
    let open = |dir: &Path| std::os::fd::OwnedFd::from(fs::File::open(dir).expect("a directory"));
    let (tmp, above) = (open(one.path()), open(other.path()));
    let old = Spot { dir: &above, name: "thread" };
    let away = in_two_steps(Spot { dir: &tmp, name: "new" }, old).expect("exchanged");
    assert_eq!(fs::read(other.path().join("thread/a")).expect("a file"), b"new");
    assert_eq!(fs::read(one.path().join(&away).join("a")).expect("a file"), b"old");
    // If the second step fails, the first one is taken back.
    assert!(in_two_steps(Spot { dir: &tmp, name: "missing" }, old).is_err());
    assert_eq!(fs::read(other.path().join("thread/a")).expect("a file"), b"new");
    assert_eq!(names(one.path()), [away]);
}
