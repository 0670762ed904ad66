//! What is planted where results are saved: it is left alone, and nothing outside is reached.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use handhold::Media;
use handhold_conformance::runtime;
use serde_json::json;

use super::{RESULTS, configured, result, save, save_with, saved, strict};
use crate::site::{Site, facts};
use crate::special::{Watch, fifo, socket};

/// Targets that lead from a directory `depth` names below the workspace to the canaries.
fn ways_out(site: &Site, depth: usize) -> Vec<PathBuf> {
    let up = "../".repeat(depth + 2);
    let mut ways = vec![site.canary(), Path::new(&up).join("canary")];
    // By way of another link, and of something that does not exist.
    let (link, hole) = (site.inside("way-out"), site.inside("hole"));
    if !link.is_symlink() {
        symlink("../../canary", &link).unwrap();
        symlink("../../canary/nothing", &hole).unwrap();
    }
    let inside = "../".repeat(depth);
    ways.extend(["way-out", "hole"].map(|name| Path::new(&inside).join(name)));
    ways
}

#[test]
fn a_directory_for_results_that_leads_out_is_not_used() {
    let deep = configured("[offload]\ntokens = 25\npath = \"/a/b/results\"");
    for (toolbox, path, links) in [
        (strict(), "/large_tool_result", &["large_tool_result"][..]),
        (&deep, "/a/b/results", &["a", "a/b", "a/b/results"]),
    ] {
        for link in links {
            let site = Site::new();
            for target in ways_out(&site, link.matches('/').count()) {
                let place = site.inside(link);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                symlink(&target, &place).unwrap();
                let before = (facts(&site.canary()), facts(&site.directory.workspace()));
                for id in [Some("x"), None, Some("../../canary/x")] {
                    let refused = save_with(toolbox, &site, id, &result("inside"));
                    let why = format!("because writing to {path} is not permitted;");
                    assert!(refused.text.contains(&why), "{link}: {}", refused.text);
                    assert_eq!(refused.path, None);
                }
                let after = (facts(&site.canary()), facts(&site.directory.workspace()));
                assert_eq!(after, before, "{link} to {}", target.display());
                site.directory.check_outside();
                fs::remove_file(place).unwrap();
            }
        }
    }
}

#[test]
fn an_image_is_not_saved_outside_either() {
    let site = Site::new();
    symlink("../../canary", site.inside(RESULTS)).unwrap();
    let before = facts(&site.canary());
    let image = Media { media_type: "image/png".to_owned(), data: b"no image".repeat(1000) };
    let text = runtime().block_on(async {
        let mut output = strict().output(site.workspace(), "web", Some("x")).await.unwrap();
        output.media(&image).await.unwrap()
    });
    let text = text.expect("it is no image");
    assert!(text.contains("because writing to /large_tool_result is not permitted;"), "{text}");
    assert_eq!(facts(&site.canary()), before);
    site.directory.check_outside();
}

#[test]
fn a_directory_for_results_that_leads_elsewhere_inside_is_followed() {
    let site = Site::new();
    fs::create_dir_all(site.inside("kept/here")).unwrap();
    symlink("kept/here", site.inside(RESULTS)).unwrap();
    let text = result("inside");
    assert_eq!(saved(&site, Some("x"), &text), "/large_tool_result/x");
    assert_eq!(site.read("kept/here/x"), text);
    // Where it leads back in from outside it is as good as outside.
    fs::remove_file(site.inside(RESULTS)).unwrap();
    symlink(site.inside("kept"), site.inside(RESULTS)).unwrap();
    assert_eq!(save(&site, Some("y"), &text).path, None);
    assert!(!site.inside("kept/y").exists());
}

#[test]
fn a_place_for_results_that_is_no_directory_is_told() {
    let site = Site::new();
    let place = site.inside(RESULTS);
    for make in
        [|place: &Path| fs::write(place, "mine").unwrap(), fifo, |place: &Path| drop(socket(place))]
    {
        make(&place);
        let before = facts(&site.directory.workspace());
        let refused = save(&site, Some("x"), &result("inside"));
        let why = "because /large_tool_result is not a directory;";
        assert!(refused.text.contains(why), "{}", refused.text);
        assert_eq!(facts(&site.directory.workspace()), before);
        site.directory.check_outside();
        fs::remove_file(&place).unwrap();
    }
}

/// What makes something at a place.
type Plant = Box<dyn Fn(&Path)>;

/// What is planted under the name of a result.
fn planted(site: &Site) -> Vec<(&'static str, Plant)> {
    let canary = site.canary();
    let (same, dir) = (canary.join("same.txt"), canary.clone());
    vec![
        ("link to the same content", Box::new(move |place| symlink(&same, place).unwrap())),
        (
            "relative link to the same content",
            Box::new(|place| symlink("../../../canary/same.txt", place).unwrap()),
        ),
        ("link to a directory", Box::new(move |place| symlink(&dir, place).unwrap())),
        (
            "link to nothing outside",
            Box::new(|place| symlink("../../../canary/nothing", place).unwrap()),
        ),
        (
            "link to another file",
            Box::new(|place| {
                fs::write(place.parent().unwrap().join("../other.txt"), "other").unwrap();
                symlink("../other.txt", place).unwrap();
            }),
        ),
        ("link to its directory", Box::new(|place| symlink(".", place).unwrap())),
        ("directory", Box::new(|place| fs::create_dir(place).unwrap())),
        ("file", Box::new(|place| fs::write(place, "mine").unwrap())),
        ("empty file", Box::new(|place| fs::write(place, "").unwrap())),
        ("file of the same size", Box::new(|place| fs::write(place, result("enside")).unwrap())),
        ("FIFO", Box::new(fifo)),
        ("socket", Box::new(|place| drop(socket(place)))),
    ]
}

#[test]
fn what_has_the_name_of_a_result_is_left_alone() {
    let site = Site::new();
    let text = result("inside");
    fs::write(site.canary().join("same.txt"), &text).unwrap();
    fs::create_dir(site.inside(RESULTS)).unwrap();
    let name = saved(&site, None, &text);
    let hash = name.strip_prefix("/large_tool_result/result.").unwrap().to_owned();
    for (what, plant) in planted(&site) {
        for taken in 1..=3 {
            // The names that are tried before the one that is free.
            let names = ["x".to_owned(), format!("x.{hash}"), format!("x.{hash}.2")];
            for name in &names[..taken] {
                plant(&site.inside(RESULTS).join(name));
            }
            let look = || -> Vec<_> {
                let places = names[..taken].iter().map(|name| site.inside(RESULTS).join(name));
                places.chain([site.canary()]).map(|place| facts(&place)).collect()
            };
            let before = look();
            let watch = Watch::new(&[&site.canary().join("same.txt"), &site.canary()]);
            let path = saved(&site, Some("x"), &text);
            let again = saved(&site, Some("x"), &text);
            assert!(!watch.has_seen_an_opening(), "{what}: a canary was opened");
            let wanted = ["", ".2", ".3"][taken - 1];
            assert_eq!(path, format!("/large_tool_result/x.{hash}{wanted}"), "{what}");
            assert_eq!(again, path, "{what}: it is there already");
            assert_eq!(look(), before, "{what} was changed");
            fs::remove_file(site.inside(&path[1..])).unwrap();
            for name in &names[..taken] {
                let place = site.inside(RESULTS).join(name);
                drop(fs::remove_file(&place).or_else(|_| fs::remove_dir(&place)));
            }
        }
    }
    assert_eq!(site.read("other.txt"), "other");
    site.directory.check_outside();
}

#[test]
fn a_result_for_which_every_name_is_taken_is_told() {
    let site = Site::new();
    let text = result("inside");
    let name = saved(&site, None, &text);
    let hash = name.strip_prefix("/large_tool_result/result.").unwrap();
    site.write(&format!("{RESULTS}/x"), "mine");
    site.write(&format!("{RESULTS}/x.{hash}"), "mine");
    for n in 2..200 {
        site.write(&format!("{RESULTS}/x.{hash}.{n}"), "mine");
    }
    let before = facts(&site.directory.workspace());
    let refused = save(&site, Some("x"), &text);
    let why = "because /large_tool_result has something else under every name for it;";
    assert!(refused.text.contains(why), "{}", refused.text);
    assert_eq!(facts(&site.directory.workspace()), before);
    site.directory.check_outside();
}

#[test]
fn a_link_at_the_name_that_leads_nowhere_stays_and_is_not_filled() {
    let site = Site::new();
    fs::create_dir(site.inside(RESULTS)).unwrap();
    for target in ["nothing", "x", "../nothing/at/all", "../large_tool_result/x/y", "./"] {
        symlink(target, site.inside(RESULTS).join("x")).unwrap();
        let path = saved(&site, Some("x"), &result("inside"));
        assert_ne!(path, "/large_tool_result/x", "{target}");
        fs::remove_file(site.inside(&path[1..])).unwrap();
        let left = fs::read_link(site.inside(RESULTS).join("x")).unwrap();
        assert_eq!(left, Path::new(target));
        assert_eq!(fs::read_dir(site.inside(RESULTS)).unwrap().count(), 1, "{target}");
        assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 1, "{target}");
        site.directory.check_outside();
        fs::remove_file(site.inside(RESULTS).join("x")).unwrap();
    }
}

#[test]
fn a_file_with_another_name_outside_is_never_overwritten() {
    let site = Site::new();
    fs::create_dir(site.inside(RESULTS)).unwrap();
    fs::hard_link(site.canary().join("file.txt"), site.inside(RESULTS).join("x")).unwrap();
    let before = facts(&site.canary());
    let path = saved(&site, Some("x"), &result("inside"));
    assert_ne!(path, "/large_tool_result/x");
    assert_eq!(facts(&site.canary()), before);
    // What looks the same is the same file, and stays what it is.
    let text = result("same");
    fs::write(site.canary().join("same.txt"), &text).unwrap();
    fs::hard_link(site.canary().join("same.txt"), site.inside(RESULTS).join("y")).unwrap();
    let before = facts(&site.canary());
    assert_eq!(saved(&site, Some("y"), &text), "/large_tool_result/y");
    assert_eq!(facts(&site.canary()), before);
}

#[test]
fn an_id_never_leads_out_of_the_directory_for_results() {
    let site = Site::new();
    let before = facts(&site.canary());
    let long = "../".repeat(400);
    for id in
        ["..", ".", "../x", "../../canary/file.txt", "/x", "a/b", "a\0b", "~/x", "\u{202e}", &long]
    {
        let path = saved(&site, Some(id), &result("inside"));
        let name = path.strip_prefix("/large_tool_result/").unwrap();
        assert!(!name.contains('/') && !name.starts_with('.'), "{path}");
        site.call("read_file", json!({ "file_path": path })).good();
    }
    assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(site.inside(RESULTS)).unwrap().count(), 10);
    assert_eq!(facts(&site.canary()), before);
    site.directory.check_outside();
}
