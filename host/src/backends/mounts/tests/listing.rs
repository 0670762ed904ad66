//! `ls`, with mount points in it.

use super::*;

#[tokio::test]
async fn mount_points_and_the_way_to_them_are_listed_once() {
    let base = memory(&[("/b/x", "1"), ("/m/hidden", "2"), ("/z", "3")]).await;
    let mount = memory(&[("/file", "4")]).await;
    let all = mounts(
        &base,
        &[
            ("/m", mount.clone()),
            ("/b/deep/er", mount.clone()),
            ("/new/way", mount.clone()),
            ("/new/zoo", mount.clone()),
        ],
    );
    assert_eq!(ls(&all, "/").await.expect("a page"), ["/b/", "/m/", "/new/", "/z"]);
    assert_eq!(ls(&all, "/b").await.expect("a page"), ["/b/deep/", "/b/x"]);
    assert_eq!(ls(&all, "/b/deep").await.expect("a page"), ["/b/deep/er/"]);
    assert_eq!(ls(&all, "/b/deep/er").await.expect("a page"), ["/b/deep/er/file"]);
    assert_eq!(ls(&all, "/new").await.expect("a page"), ["/new/way/", "/new/zoo/"]);
    assert_eq!(ls(&all, "/m").await.expect("a page"), ["/m/file"]);
    assert_eq!(ls(&all, "/m/file").await.expect("a page"), ["/m/file"]);
    assert_eq!(ls(&all, "/new/x").await, Err(ErrorCode::NotFound));
    assert_eq!(ls(&all, "/m/hidden").await, Err(ErrorCode::NotFound));
    let page = all.ls_info("/new", 0, 1).await.expect("a page");
    assert_eq!((page.entries[0].size, page.entries[0].modified), (0, 0));
    for path in ["/", "/b", "/new", "/b/deep", "/m"] {
        assert_eq!(get(&all, path).await, Err(ErrorCode::IsDirectory), "{path}");
    }
    assert_eq!(get(&all, "/new/x").await, Err(ErrorCode::NotFound));
}

#[tokio::test]
async fn a_file_in_the_way_is_hidden() {
    let base = memory(&[("/a", "in the way"), ("/b", "beside")]).await;
    let mount = memory(&[("/file", "x")]).await;
    let all = mounts(&base, &[("/a/b/c", mount.clone())]);
    assert_eq!(ls(&all, "/").await.expect("a page"), ["/a/", "/b"]);
    assert_eq!(ls(&all, "/a").await.expect("a page"), ["/a/b/"]);
    assert_eq!(get(&all, "/a").await, Err(ErrorCode::IsDirectory));
    assert_eq!(get(&all, "/a/b").await, Err(ErrorCode::IsDirectory));
    assert_eq!(get(&all, "/a/x").await, Err(ErrorCode::NotFound));
    assert_eq!(get(&all, "/a/b/c/file").await.as_deref(), Ok("x"));
    assert_eq!(found(&all, "/", "**").await, ["/a/b/c/file", "/b"]);
    assert_eq!(found(&all, "/a", "**").await, ["/a/b/c/file"]);
    assert_eq!(found(&all, "/", "/a").await, [""; 0]);
    assert_eq!(matched(&all, "/", "in the way|x|beside").await, ["/a/b/c/file", "/b"]);
    assert_eq!(put(&all, "/a/x", "").await.err(), Some(ErrorCode::NotPermitted));
    assert_eq!(put(&all, "/a/b", "").await.err(), Some(ErrorCode::IsDirectory));
    assert_eq!(all.remove("/a", true).await.err(), Some(ErrorCode::NotPermitted));
    assert_eq!(all.rename("/b", "/a/x", true).await, Err(ErrorCode::NotPermitted));
    assert_eq!(get(&*base, "/a").await.as_deref(), Ok("in the way"));
}

/// Pages of every size are the whole, whatever is hidden and added where.
#[tokio::test]
async fn pages_are_exact() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mount: Arc<dyn Backend> = memory(&[]).await;
    // Each bit says whether the base has an entry, and whether something is mounted there.
    for base_has in 0..256_u32 {
        let base = memory(&[]).await;
        for (n, name) in names.iter().enumerate().filter(|(n, _)| base_has & (1 << n) != 0) {
            let path = if n % 2 == 0 { format!("/{name}") } else { format!("/{name}/x") };
            put(&*base, &path, "").await.expect("a write");
        }
        for mounted in [0b1_u32, 0b1000_0001, 0b0110_1100, 0b1011_0000, 0b1111_1111] {
            let points = names.iter().enumerate().filter(|(n, _)| mounted & (1 << n) != 0);
            // Some are on the way only.
            let points: Vec<String> = points
                .map(|(n, name)| if n % 3 == 0 { format!("/{name}/m") } else { format!("/{name}") })
                .collect();
            let list: Vec<(&str, Arc<dyn Backend>)> =
                points.iter().map(|point| (point.as_str(), Arc::clone(&mount))).collect();
            let all = mounts(&base, &list);
            let expected: Vec<String> = names
                .iter()
                .enumerate()
                .filter(|(n, _)| (base_has | mounted) & (1 << n) != 0)
                .map(|(n, name)| {
                    let is_dir = mounted & (1 << n) != 0 || n % 2 == 1;
                    format!("/{name}{}", if is_dir { "/" } else { "" })
                })
                .collect();
            for limit in [0, 1, 2, 3, 5, 9] {
                for offset in 0..10_usize {
                    let page = all.ls_info("/", offset as u64, limit as u64).await.expect("a page");
                    let entries: Vec<String> = page.entries.iter().map(shown).collect();
                    let wanted: Vec<&String> = expected.iter().skip(offset).take(limit).collect();
                    assert_eq!(entries.iter().collect::<Vec<_>>(), wanted, "{points:?}");
                    assert_eq!(page.total, expected.len() as u64);
                    assert!(page.is_directory);
                }
            }
        }
    }
}
