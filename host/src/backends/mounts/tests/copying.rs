//! Moving from one layer to another.

use std::sync::atomic::Ordering;

use super::probe::Probe;
use super::*;

const MIB: usize = 1 << 20;

#[tokio::test]
async fn a_file_goes_over_a_border_in_pieces() {
    let content = "0123456789".repeat(350_000);
    let (base, mount) = (memory(&[]).await, memory(&[]).await);
    put(&*base, "/big", &content).await.expect("a write");
    put(&*base, "/empty", "").await.expect("a write");
    let source = Arc::new(Probe::new(base.clone()));
    let target = Arc::new(Probe::new(mount.clone()));
    let all = mounts(&source, &[("/m", target.clone())]);
    all.rename("/big", "/m/new/dir/big", false).await.expect("it is moved");
    all.rename("/empty", "/m/empty", false).await.expect("it is moved");
    assert_eq!(ls(&all, "/").await.expect("a page"), ["/m/"]);
    let size = all.read_bytes("/m/new/dir/big", 0, 1).await.expect("a page").size;
    assert_eq!(size, content.len() as u64);
    for at in [0, MIB - 1, MIB, 3 * MIB, content.len() - 3] {
        let page = mount.read_bytes("/new/dir/big", at as u64, 3).await.expect("a page");
        assert_eq!(page.data, &content.as_bytes()[at..(at + 3).min(content.len())]);
    }
    assert!(source.largest_read.load(Ordering::Relaxed) <= MIB as u64);
    assert!(target.largest_push.load(Ordering::Relaxed) <= MIB as u64);
    assert_eq!(mount.read_bytes("/empty", 0, 1).await.expect("a page").size, 0);
    all.rename("/m/empty", "/back", false).await.expect("it is moved back");
    assert_eq!(ls(&*base, "/").await.expect("a page"), ["/back"]);
}

#[tokio::test]
async fn what_is_there_is_replaced_only_when_told_to() {
    let base = memory(&[("/f", "new"), ("/g/x", "")]).await;
    let mount = memory(&[("/f", "old"), ("/d/x", "")]).await;
    let all = mounts(&base, &[("/m", mount.clone())]);
    assert_eq!(all.rename("/f", "/m/f", false).await, Err(ErrorCode::AlreadyExists));
    assert_eq!(all.rename("/f", "/m/d", false).await, Err(ErrorCode::AlreadyExists));
    assert_eq!(all.rename("/f", "/m/d", true).await, Err(ErrorCode::IsDirectory));
    assert_eq!(all.rename("/f", "/m/f/x", true).await, Err(ErrorCode::NotADirectory));
    assert_eq!(all.rename("/no", "/m/f", true).await, Err(ErrorCode::NotFound));
    assert_eq!(all.rename("/f/no", "/m/f", true).await, Err(ErrorCode::NotADirectory));
    let text = "the directory /g cannot be moved to /m/g, which is stored elsewhere; move its \
                files one by one";
    let refused = all.rename("/g", "/m/g", true).await;
    assert_eq!(refused, Err(ErrorCode::InvalidArguments(text.to_owned())));
    assert_eq!(get(&*mount, "/f").await.as_deref(), Ok("old"));
    assert_eq!(get(&*base, "/f").await.as_deref(), Ok("new"));
    all.rename("/f", "/m/f", true).await.expect("it is moved");
    assert_eq!(get(&*mount, "/f").await.as_deref(), Ok("new"));
    assert_eq!(get(&*base, "/f").await, Err(ErrorCode::NotFound));
}

/// Whenever the source changes, it stays as it is, and what was there stays or the copy goes.
#[tokio::test]
async fn a_source_that_changes_is_not_lost() {
    let mut conflicts = 0;
    // More reads than there are: the last ones change nothing.
    for reads in 1..9 {
        for there in [None, Some("old")] {
            let mount = memory(&[]).await;
            if let Some(content) = there {
                put(&*mount, "/f", content).await.expect("a write");
            }
            let source = Probe::new(memory(&[("/f", "first")]).await).restless("/f", reads);
            let source = Arc::new(source);
            let all = mounts(&source, &[("/m", mount.clone())]);
            let moved = all.rename("/f", "/m/f", true).await;
            let (from, to) = (get(&*source, "/f").await, get(&*mount, "/f").await);
            match moved {
                Ok(()) => {
                    assert_eq!(from, Err(ErrorCode::NotFound));
                    assert!(matches!(to.as_deref(), Ok("first" | "changed")), "{to:?}");
                }
                Err(error) => {
                    conflicts += 1;
                    assert_eq!(error, ErrorCode::Conflict);
                    assert_eq!(from.as_deref(), Ok("changed"));
                    match there {
                        None => assert_eq!(to, Err(ErrorCode::NotFound)),
                        Some(_) => assert!(matches!(to.as_deref(), Ok("old" | "first"))),
                    }
                }
            }
        }
    }
    assert!(conflicts >= 2, "the file changed while it was moved {conflicts} times");
}

#[tokio::test]
async fn a_copy_whose_source_stays_is_removed_again() {
    let source = Arc::new(
        Probe::new(memory(&[("/f", "kept")]).await)
            .keeping(ErrorCode::Unavailable("no".to_owned())),
    );
    let mount = memory(&[]).await;
    let all = mounts(&source, &[("/m", mount.clone())]);
    let moved = all.rename("/f", "/m/f", false).await;
    assert_eq!(moved, Err(ErrorCode::Unavailable("no".to_owned())));
    assert_eq!(get(&*mount, "/f").await, Err(ErrorCode::NotFound));
    assert_eq!(get(&all, "/f").await.as_deref(), Ok("kept"));
}

/// Of two moves at once one succeeds: there are not two copies in the end.
#[tokio::test]
async fn a_copy_whose_source_somebody_else_has_taken_is_removed_again() {
    let source = Probe::new(memory(&[("/f", "taken")]).await).keeping(ErrorCode::NotFound);
    let mount = memory(&[]).await;
    let all = mounts(&Arc::new(source), &[("/m", mount.clone())]);
    assert_eq!(all.rename("/f", "/m/f", false).await, Err(ErrorCode::Conflict));
    assert_eq!(get(&*mount, "/f").await, Err(ErrorCode::NotFound));
}

/// One backend at two places: a file can be moved onto itself, and is still there.
#[tokio::test]
async fn a_file_that_is_moved_onto_itself_stays() {
    let base = memory(&[("/f", "kept")]).await;
    let all = mounts(&base, &[("/m", base.clone())]);
    assert_eq!(all.rename("/f", "/m/f", false).await, Err(ErrorCode::AlreadyExists));
    assert_eq!(all.rename("/f", "/m/f", true).await, Err(ErrorCode::Conflict));
    assert_eq!(get(&*base, "/f").await.as_deref(), Ok("kept"));
    all.rename("/f", "/m/g", true).await.expect("it is moved");
    assert_eq!(get(&*base, "/g").await.as_deref(), Ok("kept"));
    assert_eq!(get(&*base, "/f").await, Err(ErrorCode::NotFound));
}
