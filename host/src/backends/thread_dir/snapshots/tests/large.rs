//! Trees that are deep, and trees with many files.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

use super::*;

const DEPTH: usize = 5000;

fn open(dir: &OwnedFd, name: &str) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    rustix::fs::openat(dir, name, flags, Mode::empty()).expect("a directory")
}

/// Goes down a deep tree, and gives what the file at its end has, and how deep it is.
fn bottom(top: &Path) -> (usize, Vec<u8>) {
    let mut dir = OwnedFd::from(fs::File::open(top).expect("a directory"));
    let mut depth = 0;
    loop {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match rustix::fs::openat(&dir, "d", flags, Mode::empty()) {
            Ok(next) => dir = next,
            Err(_) => break,
        }
        depth += 1;
    }
    let file = rustix::fs::openat(&dir, "file", OFlags::RDONLY, Mode::empty()).expect("a file");
    let mut content = Vec::new();
    std::io::Read::read_to_end(&mut fs::File::from(file), &mut content).expect("read");
    (depth, content)
}

#[tokio::test]
async fn a_deep_tree_comes_back() {
    let world = World::new();
    let mut dir = OwnedFd::from(fs::File::open(world.at("")).expect("a directory"));
    for _ in 0..DEPTH {
        rustix::fs::mkdirat(&dir, "d", Mode::RWXU).expect("a directory");
        dir = open(&dir, "d");
    }
    let flags = OFlags::WRONLY | OFlags::CREATE;
    let file = rustix::fs::openat(&dir, "file", flags, Mode::RUSR | Mode::WUSR).expect("a file");
    std::io::Write::write_all(&mut fs::File::from(file), b"deep").expect("written");
    let taken = world.take("s").await;
    assert_eq!((taken.files, taken.bytes), (DEPTH as u64 + 1, 4));
    assert!(taken.own_bytes < 200 * DEPTH as u64, "a list grows with the number of entries only");
    assert_eq!(world.diff("s", None).await, []);
    write(&world.files, "/d/d/d/new", "new", Condition::Always).await;
    assert_eq!(world.diff("s", None).await, [("/d/d/d/new".to_owned(), DiffKind::Added)]);
    world.restore("s").await;
    assert_eq!(bottom(&world.at("")), (DEPTH, b"deep".to_vec()));
    assert!(!world.at("d/d/d/new").exists());
    // The old tree is gone, and so is this one at the end: no path is long enough for it.
    assert_eq!(world.leftovers(), [""; 0]);
    world.files.delete(None, THREAD).await.expect("deleted");
}

#[tokio::test]
async fn ten_thousand_files_come_back() {
    let world = World::new();
    for n in 0..10_000 {
        world.put(format!("{}/{}/{n}.txt", n / 1000, n / 50), format!("{n}").repeat(n % 40));
    }
    let before = world.tree();
    let first = world.take("first").await;
    assert_eq!(first.files, before.len() as u64 - 1);
    fs::remove_dir_all(world.at("4")).expect("removed");
    world.put("4", "a file now");
    world.put("0/0/7.txt", "changed");
    let second = world.take("second").await;
    let list = fs::metadata(world.kept("manifests/second")).expect("a list").len();
    assert_eq!(second.own_bytes - list, 17);
    world.restore("first").await;
    assert_eq!(world.tree(), before);
    assert_eq!(world.diff("first", None).await, []);
    assert_eq!(world.leftovers(), [""; 0]);
}

#[test]
#[ignore = "measures; run it alone"]
fn measure() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let world = World::new();
        for n in 0..10_000 {
            world.put(format!("{}/{}/{n}.txt", n / 1000, n / 50), vec![b'x'; 4000 + n % 200]);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        let mut report = String::new();
        let mut note = |what: &str, start: std::time::Instant, info: String| {
            report += &format!("{what}: {:?} {info}\n", start.elapsed());
        };
        let show = |info: &SnapshotInfo| format!("{} bytes, own {}", info.bytes, info.own_bytes);
        for name in ["first", "second", "third"] {
            let start = std::time::Instant::now();
            let info = world.take(name).await;
            note(name, start, show(&info));
        }
        for n in 0..100 {
            world.put(format!("{}/{}/{n}.txt", n / 1000, n / 50), vec![b'y'; 4000]);
        }
        let start = std::time::Instant::now();
        let info = world.take("100 changed").await;
        note("100 changed", start, show(&info));
        let start = std::time::Instant::now();
        note("diff", start, format!("{}", world.diff("first", None).await.len()));
        let start = std::time::Instant::now();
        note("list", start, format!("{}", world.list().await.len()));
        let start = std::time::Instant::now();
        world.restore("first").await;
        note("restore", start, String::new());
        let start = std::time::Instant::now();
        let info = world.take("restored").await;
        note("after it", start, show(&info));
        let start = std::time::Instant::now();
        let freed = world.remove("100 changed").await;
        note("remove", start, format!("{freed}"));
        #[expect(clippy::print_stdout, reason = "it is what it is for")]
        {
            println!("{report}");
        }
    });
}
