//! Links as ways around the limits.

use std::os::unix::fs::symlink;

use super::*;

/// A workspace in which `/dir` leads to `/real`, `/file` to `/real/f`, `/broken` nowhere, and `/out`
/// out.
fn with_links(limits: QuotaLimits) -> Limited {
    let place = Limited::new(limits);
    fs::create_dir(place.site.inside("real")).unwrap();
    for (name, target) in
        [("dir", "real"), ("file", "real/f"), ("broken", "nowhere"), ("out", "../../canary")]
    {
        symlink(target, place.site.inside(name)).unwrap();
    }
    place
}

#[test]
fn a_file_that_is_written_by_way_of_links_is_charged_once() {
    let place = with_links(bytes(100));
    for size in [10, 100, 30] {
        for path in ["/file", "/dir/f", "/real/f"] {
            place.write("/real/f", size).good();
            place.write(path, 100).good();
            assert_eq!(place.check(), taken(100, 6));
            place.append(path, 1).failed("quota-exceeded");
            place.write(path, 50).good();
            place.append(path, 51).failed("quota-exceeded");
            assert_eq!(place.check(), taken(50, 6));
        }
    }
    place.write("/dir/x/y/z", 50).good();
    assert_eq!(place.check(), taken(100, 9));
    for path in ["/dir/x/y/w", "/dir/g"] {
        place.write(path, 1).failed("quota-exceeded");
    }
    assert_eq!(place.check(), taken(100, 9));
}

#[test]
fn directories_that_are_made_by_way_of_links_are_charged() {
    let place = with_links(files(8));
    place.write("/dir/a/b/c/f", 1).failed("quota-exceeded");
    place.write("/dir/a/b/f", 1).good();
    assert_eq!(place.check(), taken(1, 8));
    place.rename("/dir/a/b/f", "/dir/c/f").failed("quota-exceeded");
    place.rename("/dir/a/b/f", "/real/a/f").good();
    place.delete("/dir/a/b").good();
    assert_eq!(place.check(), taken(1, 7));
}

#[test]
fn what_leads_out_or_nowhere_charges_nothing() {
    let place = with_links(bytes(100));
    let before = place.check();
    for path in ["/out/new", "/out/sub/new", "/out/a/b/c"] {
        place.write(path, 10).failed("not-permitted");
        place.append(path, 10).failed("not-permitted");
    }
    for path in ["/broken", "/broken/x/y"] {
        place.write(path, 10).failed("not-found");
    }
    assert_eq!(place.check(), before);
    place.site.directory.check_outside();
}

#[test]
fn a_link_is_one_file_of_no_bytes_wherever_it_goes() {
    let place = with_links(bytes(100));
    place.write("/real/f", 60).good();
    for link in ["/file", "/dir", "/broken", "/out"] {
        place.rename(link, "/a/link").good();
        assert_eq!(place.check(), taken(60, 7), "{link}");
        // A file takes the place of the link, not of what it leads to.
        place.write("/new", 40).good();
        place.rename("/new", "/a/link").good();
        assert_eq!(place.check(), taken(100, 7), "{link}");
        place.delete("/a").good();
        assert_eq!(place.check().bytes, 60, "{link}");
        symlink("real/f", place.site.inside(&link[1..])).unwrap();
        fs::remove_file(place.site.directory.root().join(".handhold/usage").join(THREAD)).unwrap();
    }
    // A link takes the place of a file.
    place.write("/victim", 40).good();
    place.rename("/dir", "/victim").good();
    assert_eq!(place.check(), taken(60, 6));
}
