//! A process that is killed in the middle: this test program, run again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::*;

const ROOT: &str = "HANDHOLD_TEST_SNAPSHOTS";

/// How often it is killed.
const KILLS: u64 = 50;

const FILES: usize = 60;

/// More than is ever needed.
const LIMITS: QuotaLimits = QuotaLimits { bytes: Some(1 << 30), files: Some(1000), ..NONE };

/// Makes the workspace one of two trees.
fn fill(world: &World, which: &str) {
    for entry in names(&world.at("")) {
        let path = world.at(entry);
        if path.is_dir() {
            fs::remove_dir_all(path).expect("removed");
        } else {
            fs::remove_file(path).expect("removed");
        }
    }
    for n in 0..FILES {
        // One tree has its files where the other one has directories.
        let path = if which == "a" { format!("{n}/{n}") } else { format!("{n}") };
        world.put(path, which.repeat(5000 + n));
    }
}

/// Which of the two trees there is; fails if it is neither.
fn which(tree: &Tree) -> &'static str {
    let files: Vec<_> = tree
        .iter()
        .filter_map(|(path, node)| match &node.content {
            Content::File(content) => Some((path, content)),
            _ => None,
        })
        .collect();
    assert_eq!(files.len(), FILES, "a tree is whole");
    let (byte, which, directories) =
        if files[0].1[0] == b'a' { (b'a', "a", FILES) } else { (b'b', "b", 0) };
    assert_eq!(tree.len(), 1 + FILES + directories);
    for (path, content) in files {
        let n: usize =
            path.file_name().and_then(OsStr::to_str).expect("a name").parse().expect("one");
        assert_eq!(content.len(), 5000 + n);
        assert!(content.iter().all(|found| *found == byte), "the trees are mixed");
    }
    which
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn play() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let files = AgentFiles::at_ambient_path(root);
        let thread = files.thread(None, THREAD).expect("an id");
        let quota = Quota::new(Arc::new(thread.clone()), LIMITS, Arc::new(thread.ledger()));
        #[expect(clippy::print_stdout, reason = "it is how the other process learns")]
        {
            println!("begin");
        }
        for n in 0.. {
            let name = format!("x{}", n % 4);
            drop(files.remove_snapshot(None, THREAD, &name).await);
            // A new version of one file makes it copy something.
            let file = if n % 2 == 0 { "/0/0" } else { "/0" };
            let byte = if n % 2 == 0 { "a" } else { "b" };
            let (path, content) = (file.to_owned(), byte.repeat(5000).into_bytes());
            let condition = Condition::Always;
            let request = WriteRequest { path, content, condition, dry_run: false };
            quota.write(request).await.expect("written");
            let limits = if n % 3 == 0 { NONE } else { LIMITS };
            files.snapshot(None, THREAD, &name, limits).await.expect("a snapshot");
            let other = if n % 2 == 0 { "b" } else { "a" };
            files.restore(None, THREAD, other, limits).await.expect("restored");
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_leaves_everything_whole() {
    let world = World::new();
    for tree in ["b", "a"] {
        fill(&world, tree);
        world.take(tree).await;
    }
    let mut seen = [0, 0];
    let mut unknown = 0;
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "backends::thread_dir::snapshots::tests::killed::play"])
            .args(["--ignored", "--nocapture"])
            .env(ROOT, world.base.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        while !lines.next().expect("it has begun").expect("a line").contains("begin") {}
        // From the first step of a change to some changes later.
        std::thread::sleep(Duration::from_micros(kill * kill * 120));
        child.kill().expect("killed");
        let status = child.wait().expect("it has ended");
        assert!(status.code().is_none(), "it did not end by itself: {status}");

        let now = which(&world.tree());
        seen[usize::from(now == "b")] += 1;
        // The ledger is right, or in doubt, and then it is counted.
        unknown += u64::from(world.ledger().await.is_none());
        assert_eq!(world.quota(LIMITS).usage().await, Ok(world.count()));
        let list = world.list().await;
        assert!(list.len() >= 2);
        for info in &list {
            let same_as = ["a", "b"].into_iter().filter(|_| info.files >= FILES as u64);
            let mut same = 0;
            for base in same_as {
                same += usize::from(world.diff(base, Some(&info.name)).await.is_empty());
            }
            assert_eq!(same, 1, "{info:?} is one of the two trees");
        }
        assert_eq!(world.leftovers(), [""; 0]);
        // The next snapshot removes what nobody needs.
        drop(world.files.remove_snapshot(None, THREAD, "last").await);
        world.take("last").await;
        let own: u64 = world.list().await.iter().map(|info| info.own_bytes).sum();
        assert!(own <= world.bytes().await);
        assert!(!world.kept("unsettled").exists());
        world.remove("last").await;
        world.restore("a").await;
        assert_eq!(which(&world.tree()), "a");
        assert!(world.ledger().await.is_some());
    }
    assert!(unknown > 0, "it was killed in the middle of a change");
    assert!(seen[0] > 0 && seen[1] > 0, "it was killed at different moments: {seen:?}");
    for info in world.list().await {
        world.remove(&info.name).await;
    }
    assert_eq!(world.objects(), [""; 0], "nothing is left that nobody needs");
}
