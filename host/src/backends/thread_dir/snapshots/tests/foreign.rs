//! Other programs that change the workspace and know nothing of us.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Runs something again and again until it is dropped.
struct Meanwhile {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Meanwhile {
    fn new(mut act: impl FnMut(u64) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            for n in 0.. {
                if told.load(Ordering::Relaxed) {
                    break;
                }
                act(n);
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_written_all_the_time_is_never_kept_in_part() {
    let world = World::new();
    let size = 1 << 20;
    world.put("a", vec![0; size]);
    let path = world.at("a");
    let writer = Meanwhile::new(move |n| {
        // In place: all of it is one byte, but not at every moment.
        let byte = u8::try_from(n % 251).expect("a byte");
        let file = fs::OpenOptions::new().write(true).open(&path).expect("a file");
        std::os::unix::fs::FileExt::write_all_at(&file, &vec![byte; size], 0).expect("written");
        std::thread::sleep(Duration::from_millis(n % 8));
    });
    let mut taken = Vec::new();
    for n in 0..30 {
        let name = n.to_string();
        match world.try_take(&name, NONE).await {
            Ok(_) => taken.push(name),
            Err(SnapshotError::Storage(ErrorCode::Unavailable(why))) => {
                assert_eq!(why, "the file \"/a\" keeps changing");
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    drop(writer);
    for name in &taken {
        world.restore(name).await;
        let content = fs::read(world.at("a")).expect("a file");
        assert_eq!(content.len(), size);
        assert!(content.iter().all(|byte| *byte == content[0]), "snapshot {name} is of two times");
    }
    assert_eq!(world.leftovers(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn exchanging_directories_for_links_leads_nowhere() {
    let world = World::new();
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("canary"), "canary").expect("written");
    world.put("d/canary", "inside");
    world.put("e/f/canary", "inside");
    let (top, target) = (world.at(""), outside.path().to_owned());
    let swapper = Meanwhile::new(move |_| {
        for dir in ["d", "e/f"] {
            let (dir, away) = (top.join(dir), top.join("away"));
            if fs::rename(&dir, &away).is_ok() {
                std::os::unix::fs::symlink(&target, &dir).expect("a link");
                fs::remove_file(&dir).expect("removed");
                fs::rename(&away, &dir).expect("moved");
            }
        }
    });
    let mut taken = 0;
    for n in 0..60 {
        // It may fail, but not see what is outside.
        taken += usize::from(world.try_take(&n.to_string(), NONE).await.is_ok());
        drop(world.files.diff(None, THREAD, "0", None).await);
    }
    drop(swapper);
    assert!(taken > 0);
    for object in world.objects() {
        assert_eq!(fs::read(world.kept("objects").join(object)).expect("a file"), b"inside");
    }
    assert_eq!(fs::read(outside.path().join("canary")).expect("a file"), b"canary");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_come_and_go_do_no_harm() {
    let world = World::new();
    for n in 0..40 {
        world.put(format!("stays/{n}"), "content");
    }
    let top = world.at("");
    let writer = Meanwhile::new(move |n| {
        let dir = top.join(format!("comes/{}", n % 5));
        drop(fs::create_dir_all(dir.join("deep/er")));
        drop(fs::write(dir.join("deep/er/file"), n.to_string()));
        drop(fs::rename(dir.join("deep"), dir.join("moved")));
        drop(fs::remove_dir_all(top.join(format!("comes/{}", (n + 2) % 5))));
    });
    let mut taken = Vec::new();
    for n in 0..20 {
        let name = n.to_string();
        match world.try_take(&name, NONE).await {
            Ok(_) => taken.push(name),
            Err(SnapshotError::Storage(ErrorCode::Unavailable(_))) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    drop(writer);
    assert!(!taken.is_empty());
    for name in taken {
        world.restore(&name).await;
        assert_eq!(names(&world.at("stays")).len(), 40);
    }
}

#[tokio::test]
async fn a_write_in_the_tick_of_a_snapshot_is_in_the_next() {
    let world = World::new();
    for n in 0..20_u64 {
        // The same size, in place, right after the file was copied.
        world.put("a", format!("{:04}", 2 * n));
        world.take(&format!("one{n}")).await;
        world.put("a", format!("{:04}", 2 * n + 1));
        world.take(&format!("two{n}")).await;
    }
    for n in 0..20_u64 {
        for (name, number) in [("one", 2 * n), ("two", 2 * n + 1)] {
            world.restore(&format!("{name}{n}")).await;
            let content = fs::read_to_string(world.at("a")).expect("a file");
            assert_eq!(content, format!("{number:04}"));
        }
    }
}
