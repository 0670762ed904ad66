//! Links of real directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::CWD;

use super::site::{site, snapshot};
use super::*;

/// Ways to what the mounts hide, by links of the base.
const TO_HIDDEN: [&str; 7] = [
    "/to-m/hidden",
    "/to-hidden",
    "/to-root/m/hidden",
    "/to-d/m/hidden",
    "/d/up/m/hidden",
    "/to-m/sub/hidden",
    "/to-root/to-root/d/up/to-m/hidden",
];

#[tokio::test]
async fn no_link_leads_to_what_is_hidden() {
    let site = site();
    let all = &site.all;
    let before = snapshot(&site.base);
    for path in TO_HIDDEN {
        let gone = Some(ErrorCode::NotFound);
        assert_eq!(get(all, path).await.err(), gone, "{path}");
        assert_eq!(ls(all, path).await.err(), gone, "{path}");
        assert_eq!(put(all, path, "x").await.err(), gone, "{path}");
        assert_eq!(all.append(write_request(path, "x")).await.err(), gone, "{path}");
        assert_eq!(grep(all, grep_request(path, "hidden")).await.err(), gone, "{path}");
        assert_eq!(all.resolve(path, true).await.err(), gone, "{path}");
        // The link itself is not hidden.
        if path != "/to-hidden" {
            assert_eq!(all.remove(path, true).await.err(), gone, "{path}");
            assert_eq!(all.rename(path, "/got", true).await.err(), gone, "{path}");
            assert_eq!(all.rename(path, "/m/got", true).await.err(), gone, "{path}");
        }
        assert_eq!(all.rename("/a", &format!("{path}/x"), true).await.err(), gone, "{path}");
    }
    for path in ["/to-m", "/to-root/m", "/to-d/m"] {
        let gone = Some(ErrorCode::NotFound);
        assert_eq!(ls(all, path).await.err(), gone, "{path}");
        assert_eq!(glob(all, glob_request(path, "**")).await.err(), gone, "{path}");
        assert_eq!(put(all, &format!("{path}/new"), "x").await.err(), gone, "{path}");
        match all.draft(path).await {
            Ok(mut draft) => {
                assert_eq!(draft.publish("new", Condition::Always).await.err(), gone, "{path}");
            }
            Err(error) => assert_eq!(Some(error), gone, "{path}"),
        }
    }
    // By a link, a directory on the way to a mount point is fixed too.
    for path in ["/to-root/d", "/d/up/d"] {
        assert_eq!(all.remove(path, true).await.err(), Some(ErrorCode::NotPermitted), "{path}");
        assert_eq!(all.rename(path, "/got", true).await, Err(ErrorCode::NotPermitted), "{path}");
    }
    assert_eq!(snapshot(&site.base), before);
    // Walks and listings show it nowhere.
    for path in ["/", "/to-root", "/d/up", "/to-d", "/to-root/to-d"] {
        assert_eq!(matched(all, path, "hidden").await, [""; 0], "{path}");
        assert_eq!(found(all, path, "hidden").await, [""; 0], "{path}");
    }
    let named = GlobRequest { include_ignored: true, ..glob_request("/to-root", "m/sub/hidden") };
    assert_eq!(glob(all, named).await.expect("a page").total, 0);
    assert_eq!(ls(all, "/to-d").await.expect("a page"), ["/to-d/f", "/to-d/up"]);
    assert_eq!(
        ls(all, "/to-root").await.expect("a page"),
        [
            "/to-root/a",
            "/to-root/d/",
            "/to-root/out",
            "/to-root/real/",
            "/to-root/to-d",
            "/to-root/to-dangling",
            "/to-root/to-hidden",
            "/to-root/to-m",
            "/to-root/to-root",
        ]
    );
}

#[tokio::test]
async fn links_that_lead_elsewhere_work_as_ever() {
    let site = site();
    let all = &site.all;
    assert_eq!(get(all, "/to-d/f").await.as_deref(), Ok("base d f"));
    assert_eq!(get(all, "/real/to-a").await.as_deref(), Ok("base a"));
    assert_eq!(get(all, "/to-root/to-d/f").await.as_deref(), Ok("base d f"));
    assert_eq!(get(all, "/m/to-x").await.as_deref(), Ok("mount x"));
    put(all, "/real/to-a", "new").await.expect("a write");
    assert_eq!(fs::read_to_string(site.base.join("a")).expect("a file"), "new");
    assert!(fs::symlink_metadata(site.base.join("real/to-a")).expect("a link").is_symlink());
    assert_eq!(found(all, "/to-d", "f").await, ["/to-d/f"]);
    assert_eq!(all.resolve("/to-d/f", true).await.as_deref(), Ok("/d/f"));
    assert_eq!(all.resolve("/m/to-x", true).await.as_deref(), Ok("/m/x"));
    assert_eq!(all.resolve("/m/to-x", false).await.as_deref(), Ok("/m/to-x"));
    // A link of a mount does not lead out of it, nor one of the base.
    assert_eq!(ls(all, "/m/up").await.err(), Some(ErrorCode::NotPermitted));
    assert_eq!(get(all, "/out/x").await.err(), Some(ErrorCode::NotPermitted));
    all.remove("/to-hidden", false).await.expect("the link is removed");
    all.rename("/to-m", "/moved", false).await.expect("the link is moved");
    assert_eq!(fs::read_to_string(site.base.join("m/hidden")).expect("a file"), "hidden");
    assert_eq!(fs::read_link(site.base.join("moved")).expect("a link"), Path::new("m"));
    // What is shown is the same without links, as far as none has to be followed.
    let strict = all.without_links().expect("there can be links");
    assert_eq!(get(&*strict, "/m/x").await.as_deref(), Ok("mount x"));
    assert_eq!(get(&*strict, "/d/f").await.as_deref(), Ok("base d f"));
    assert_eq!(get(&*strict, "/to-d/f").await, Err(ErrorCode::NotFound));
    assert_eq!(get(&*strict, "/m/to-x").await, Err(ErrorCode::NotFound));
}

#[tokio::test]
async fn a_link_in_the_way_is_hidden() {
    let site = site();
    let all = &site.all;
    let root = ls(all, "/").await.expect("a page");
    assert_eq!(
        root,
        [
            "/a",
            "/d/",
            "/m/",
            "/out",
            "/real/",
            "/to-d",
            "/to-dangling",
            "/to-hidden",
            "/to-m",
            "/to-root",
            "/way/",
        ]
    );
    assert_eq!(ls(all, "/way").await.expect("a page"), ["/way/m/"]);
    assert_eq!(get(all, "/way/x").await, Err(ErrorCode::NotFound));
    assert_eq!(put(all, "/way/x", "").await.err(), Some(ErrorCode::NotPermitted));
    let mut draft = match all.draft("/way").await {
        Ok(draft) => draft,
        Err(error) => return assert_eq!(error, ErrorCode::NotPermitted),
    };
    assert_eq!(draft.publish("x", Condition::Always).await.err(), Some(ErrorCode::NotPermitted));
    assert_eq!(get(all, "/way/m/x").await.as_deref(), Ok("mount x"));
    assert_eq!(get(all, "/real/x").await.as_deref(), Ok("base x"));
    assert_eq!(found(all, "/way", "**").await, ["/way/m/s/y", "/way/m/x"]);
}

/// While somebody exchanges a link, nothing hidden is seen or written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_exchanged_meanwhile_leads_nowhere() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let site = Arc::new(site());
    fs::create_dir(site.base.join("swap")).expect("a directory");
    fs::write(site.base.join("swap/hidden"), "open").expect("a file");
    let stop = Arc::new(AtomicBool::new(false));
    let racer = {
        let (base, stop) = (site.base.clone(), Arc::clone(&stop));
        std::thread::spawn(move || {
            let (link, dir) = (base.join("spare"), base.join("swap"));
            symlink("m", &link).expect("a link");
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &link, CWD, &dir, rustix::fs::RenameFlags::EXCHANGE)
                    .expect("an exchange");
            }
        })
    };
    let mut read = 0;
    for n in 0..2000 {
        if let Ok(content) = get(&site.all, "/swap/hidden").await {
            assert_eq!(content, "open");
            read += 1;
        }
        // What is written goes to the directory or nowhere.
        if n % 10 == 0 {
            drop(put(&site.all, &format!("/swap/new{n}"), "x").await);
            drop(site.all.remove("/swap/sub", true).await);
        }
    }
    stop.store(true, Ordering::Relaxed);
    racer.join().expect("no panic");
    let mut hidden: Vec<String> = snapshot(&site.base.join("m"))
        .into_iter()
        .map(|(path, _)| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    hidden.sort();
    assert_eq!(hidden, ["hidden", "hidden", "sub"]);
    assert!(read > 0, "it was never there to read");
}
