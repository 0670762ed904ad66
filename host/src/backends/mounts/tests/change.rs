//! Changes within layers, and of what is fixed.

use super::*;
use crate::backends::ReadOnly;

#[tokio::test]
async fn fixed_places_are_neither_removed_nor_moved_nor_replaced() {
    let base = memory(&[("/d/f", "x"), ("/d/m/hidden", "h"), ("/f", "file")]).await;
    let mount = memory(&[("/inner/x", "y")]).await;
    let all = mounts(&base, &[("/d/m", mount.clone()), ("/new/way", mount.clone())]);
    for path in ["/", "/d", "/d/m", "/new", "/new/way"] {
        for recursive in [true, false] {
            let removed = all.remove(path, recursive).await;
            assert_eq!(removed.err(), Some(ErrorCode::NotPermitted), "{path}");
        }
        assert_eq!(all.rename(path, "/other", true).await, Err(ErrorCode::NotPermitted));
        let expected = if path == "/" { ErrorCode::IsDirectory } else { ErrorCode::NotPermitted };
        assert_eq!(all.rename("/f", path, true).await, Err(expected), "{path}");
        assert_eq!(put(&all, path, "").await.err(), Some(ErrorCode::IsDirectory), "{path}");
        let appended = all.append(write_request(path, "")).await;
        assert_eq!(appended.err(), Some(ErrorCode::IsDirectory), "{path}");
        if path != "/" {
            let (directory, name) = path.rsplit_once('/').expect("a slash");
            let mut draft = all.draft(directory).await.expect("a draft");
            let published = draft.publish(name, Condition::Always).await;
            assert_eq!(published.err(), Some(ErrorCode::IsDirectory), "{path}");
        }
    }
    assert_eq!(get(&*base, "/d/f").await.as_deref(), Ok("x"));
    assert_eq!(get(&*base, "/d/m/hidden").await.as_deref(), Ok("h"));
    assert_eq!(ls(&*base, "/").await.expect("a page"), ["/d/", "/f"]);
    // What lies beside is free.
    assert_eq!(all.remove("/d/f", false).await.expect("it is removed").files, 1);
    assert_eq!(all.remove("/d/m/inner", true).await.expect("it is removed").directories, 1);
    put(&all, "/new/x", "").await.expect("a write beside a mount");
    assert_eq!(ls(&all, "/new").await.expect("a page"), ["/new/way/", "/new/x"]);
    put(&all, "/d/m", "").await.expect_err("still a directory");
}

#[tokio::test]
async fn errors_name_paths_as_they_are_shown() {
    let mount = memory(&[("/dir/x", "y")]).await;
    let all = mounts(&memory(&[]).await, &[("/m", mount.clone())]);
    let renamed = all.rename("/m/dir", "/m/dir/in", false).await;
    let text = "/m/dir cannot be moved into itself".to_owned();
    assert_eq!(renamed, Err(ErrorCode::InvalidPath(text)));
    let mut draft = all.draft("/m/dir").await.expect("a draft");
    let Err(ErrorCode::InvalidPath(text)) =
        draft.publish(&"n".repeat(300), Condition::Always).await
    else {
        panic!("the name is too long")
    };
    assert!(text.starts_with("/m/dir/nnn"), "{text}");
    let Err(ErrorCode::InvalidPath(text)) = all.read_bytes("/m/../..", 0, 1).await else {
        panic!("it climbs out")
    };
    assert!(text.starts_with("/m/../.. climbs"), "{text}");
}

#[tokio::test]
async fn a_draft_is_of_the_layer_of_its_directory() {
    let base = memory(&[("/m/hidden", "h")]).await;
    let (mount, inner) = (memory(&[]).await, memory(&[]).await);
    let all = mounts(&base, &[("/m", mount.clone()), ("/m/in/ner", inner.clone())]);
    for (directory, backend, path) in [
        ("/", &base, "/n"),
        ("/m", &mount, "/n"),
        ("/m/in", &mount, "/in/n"),
        ("/m/in/ner", &inner, "/n"),
        ("/m/in/ner/deep", &inner, "/deep/n"),
    ] {
        let mut draft = all.draft(directory).await.expect("a draft");
        draft.push(directory.as_bytes().to_vec()).await.expect("a push");
        draft.publish("n", Condition::Absent).await.expect("a file");
        assert_eq!(get(&**backend, path).await.as_deref(), Ok(directory));
        let again =
            all.draft(directory).await.expect("a draft").publish("n", Condition::Absent).await;
        assert_eq!(again.err(), Some(ErrorCode::AlreadyExists));
    }
    assert_eq!(get(&*base, "/m/hidden").await.as_deref(), Ok("h"));
    assert_eq!(ls(&*base, "/m").await.expect("a page"), ["/m/hidden"]);
}

#[tokio::test]
async fn a_read_only_mount_is_not_changed() {
    let mount = memory(&[("/x", "kept"), ("/d/x", "kept")]).await;
    let base = memory(&[("/f", "file"), ("/g/x", "file")]).await;
    let all = mounts(&base, &[("/m", Arc::new(ReadOnly::new(mount.clone())))]);
    let refused = Some(ErrorCode::NotPermitted);
    assert_eq!(put(&all, "/m/x", "").await.err(), refused);
    assert_eq!(all.append(write_request("/m/n", "")).await.err(), refused);
    assert_eq!(all.remove("/m/x", false).await.err(), refused);
    assert_eq!(all.rename("/m/x", "/m/y", false).await.err(), refused);
    assert_eq!(all.rename("/m/x", "/x", false).await.err(), refused);
    assert_eq!(all.rename("/m/x", "/f", true).await.err(), refused);
    assert_eq!(all.rename("/f", "/m/f", false).await.err(), refused);
    // Whatever else is wrong with it.
    for (from, to) in [("/f", "/m/x"), ("/g", "/m/g"), ("/m/d", "/d"), ("/m/no", "/no")] {
        assert_eq!(all.rename(from, to, false).await.err(), refused, "{from}");
    }
    assert_eq!(all.draft("/m").await.err(), refused);
    assert_eq!(get(&all, "/f").await.as_deref(), Ok("file"));
    assert_eq!(get(&all, "/m/x").await.as_deref(), Ok("kept"));
    assert_eq!(ls(&all, "/").await.expect("a page"), ["/f", "/g/", "/m/"]);
}

#[tokio::test]
async fn versions_and_conditions_are_those_of_the_layer() {
    let mount = memory(&[("/x", "one")]).await;
    let all = mounts(&memory(&[]).await, &[("/m", mount.clone())]);
    let version = all.read_bytes("/m/x", 0, 1).await.expect("a page").version;
    assert_eq!(version, mount.read_bytes("/x", 0, 1).await.expect("a page").version);
    let matching = |version: &str| WriteRequest {
        condition: Condition::Matches(version.to_owned()),
        ..write_request("/m/x", "two")
    };
    all.write(matching(&version)).await.expect("a write");
    assert_eq!(all.write(matching(&version)).await.err(), Some(ErrorCode::Conflict));
    assert_eq!(all.resolve("/m/x", true).await.as_deref(), Ok("/m/x"));
    assert_eq!(all.resolve("/m", true).await.as_deref(), Ok("/m"));
    assert_eq!(all.resolve("/", true).await.as_deref(), Ok("/"));
    assert!(all.without_links().is_none());
}
