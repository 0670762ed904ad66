//! What results that are saved take together, and for how long they stay.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use handhold::backend::Backend;
use handhold::backends::Memory;
use handhold::{KEPT_RESULTS, Offloaded, Toolbox, Workspace};
use handhold_conformance::runtime;
use handhold_conformance::world::{Directory, THREAD};

use crate::{configured, workspace};

/// How large a result is: over the built-in limit.
const SIZE: usize = 100_000;

/// A result that differs from that of another number.
fn result(n: usize) -> Vec<u8> {
    format!("result {n:04} ").into_bytes().into_iter().cycle().take(SIZE).collect()
}

/// Hands a result over, and looks on after every piece.
fn save(
    toolbox: &Toolbox,
    workspace: &Workspace,
    id: &str,
    text: &[u8],
    piece: usize,
    look: impl Fn(),
) -> Offloaded {
    let end = runtime().block_on(async {
        let mut output = toolbox.output(workspace, "web", Some(id)).await.unwrap();
        for piece in text.chunks(piece) {
            output.push(piece).await.unwrap();
            look();
        }
        output.finish(false).await.unwrap()
    });
    look();
    end.offloaded.expect("it is over the limit")
}

/// The name of the result number `n`: later ones come first in a list.
fn id(n: usize) -> String {
    format!("call-{:04}", 9999 - n)
}

fn results(directory: &Directory) -> PathBuf {
    directory.workspace().join("large_tool_result")
}

/// How many bytes all files in a directory have.
fn bytes_in(dir: PathBuf) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten();
    entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn a_thousand_results_never_take_more_space_than_they_may() {
    const SPACE: u64 = 5 << 20;
    let toolbox = configured("[offload]\nspace = \"5 MiB\"");
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    fs::create_dir_all(directory.workspace()).unwrap();
    fs::write(directory.workspace().join("mine.txt"), "mine").unwrap();
    let look = || {
        let drafts = directory.root().join(".handhold/tmp");
        let taken = bytes_in(results(&directory)) + bytes_in(drafts);
        assert!(taken <= SPACE + SIZE as u64, "{taken} bytes are taken");
    };
    for n in 0..1000 {
        let saved = save(&toolbox, &workspace, &id(n), &result(n), 30_000, look);
        assert_eq!(saved.path, Some(format!("/large_tool_result/{}", id(n))), "{}", saved.text);
        for kept in n.saturating_sub(KEPT_RESULTS - 1)..=n {
            let path = results(&directory).join(id(kept));
            assert_eq!(fs::metadata(path).unwrap().len(), SIZE as u64, "{kept} after {n}");
        }
        // What need not go stays.
        let fit = usize::try_from(SPACE).unwrap() / SIZE;
        let count = fs::read_dir(results(&directory)).unwrap().count();
        assert_eq!(count, fit.min(n + 1), "after {n}");
    }
    for n in 1000 - KEPT_RESULTS..1000 {
        assert!(fs::read(results(&directory).join(id(n))).unwrap() == result(n), "{n}");
    }
    assert_eq!(fs::read_to_string(directory.workspace().join("mine.txt")).unwrap(), "mine");
    directory.check_outside();
}

#[test]
fn results_in_memory_take_no_more_space_than_they_may_either() {
    let toolbox = configured("[offload]\nspace = \"2500 KB\"");
    let memory = Memory::new();
    let workspace = Workspace::new(memory.clone());
    for n in 0..100 {
        save(&toolbox, &workspace, &id(n), &result(n), SIZE, || {});
        let page = runtime().block_on(memory.ls_info("/large_tool_result", 0, 1000)).unwrap();
        let names: BTreeSet<String> = page.entries.into_iter().map(|entry| entry.path).collect();
        assert_eq!(names.len(), 25.min(n + 1), "after {n}");
        for kept in n.saturating_sub(KEPT_RESULTS - 1)..=n {
            assert!(
                names.contains(&format!("/large_tool_result/{}", id(kept))),
                "{kept} after {n}"
            );
        }
    }
}

/// Makes results of so many hours before, each with its number as its name.
fn plant(directory: &Directory, hours: &[u64]) {
    fs::create_dir_all(results(directory)).unwrap();
    for (n, hours) in hours.iter().enumerate() {
        let file = fs::File::create(results(directory).join(format!("{n:03}"))).unwrap();
        let time = SystemTime::now() - Duration::from_secs(hours * 3600);
        file.set_modified(time).unwrap();
    }
}

/// The numbers that are left of what was planted.
fn left(directory: &Directory) -> Vec<usize> {
    let entries = fs::read_dir(results(directory)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut numbers: Vec<usize> = names.filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn results_that_are_too_old_go_but_the_newest_stay() {
    let toolbox = configured("[offload]\nage = \"1 d\"");
    let day = 24;
    for (hours, kept) in [
        // All are too old: the newest stay, whatever their names.
        ((1..=30).map(|n| n * 2 * day).collect::<Vec<u64>>(), (0..20).collect::<Vec<usize>>()),
        ((1..=30).rev().map(|n| n * 2 * day).collect(), (10..30).collect()),
        // Some are too old.
        ((0..30).map(|n| if n < 5 { 2 * day } else { day - 1 }).collect(), (5..30).collect()),
        ((0..30).map(|n| if n < 25 { 2 * day } else { 1 }).collect(), (10..30).collect()),
        // None is, or there are few.
        (vec![day - 1; 30], (0..30).collect()),
        (vec![100 * day; 20], (0..20).collect()),
        (vec![100 * day; 3], (0..3).collect()),
    ] {
        let directory = Directory::new();
        let workspace = workspace(&directory, THREAD);
        plant(&directory, &hours);
        // What is small is no reason to look.
        let small = runtime().block_on(async {
            let mut output = toolbox.output(&workspace, "web", Some("x")).await.unwrap();
            output.push(b"small").await.unwrap();
            output.finish(false).await.unwrap()
        });
        assert_eq!(small.offloaded, None);
        assert_eq!(left(&directory).len(), hours.len());
        let saved = save(&toolbox, &workspace, "x", &result(0), SIZE, || {});
        assert_eq!(saved.path.as_deref(), Some("/large_tool_result/x"));
        assert_eq!(left(&directory), kept, "{hours:?}");
        directory.check_outside();
    }
}

#[test]
fn only_files_directly_in_the_directory_are_results() {
    let toolbox = configured("[offload]\nage = \"1 d\"\nspace = \"2200 KB\"");
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    plant(&directory, &[]);
    let place = results(&directory);
    fs::create_dir_all(place.join("sub/sub")).unwrap();
    let old = SystemTime::now() - Duration::from_secs(400 * 24 * 3600);
    for path in ["sub/old", "sub/sub/old", "../old", "../../old"] {
        let file = fs::File::create(place.join(path)).unwrap();
        file.set_len(10 << 20).unwrap();
        file.set_modified(old).unwrap();
    }
    symlink("../old", place.join("link")).unwrap();
    symlink(directory.outside(), place.join("out")).unwrap();
    for n in 0..50 {
        let saved = save(&toolbox, &workspace, &id(n), &result(n), SIZE, || {});
        assert!(saved.path.is_some(), "{}", saved.text);
    }
    for path in ["sub/old", "sub/sub/old", "../old", "../../old", "link"] {
        assert_eq!(fs::metadata(place.join(path)).unwrap().len(), 10 << 20, "{path}");
    }
    assert!(place.join("out").is_symlink());
    // Three others, and as many results as fit.
    assert_eq!(fs::read_dir(&place).unwrap().count(), 3 + 22);
    directory.check_outside();
}

#[test]
fn a_result_that_is_larger_than_all_may_be_is_cut_and_says_so() {
    const SPACE: usize = 5 << 20;
    let toolbox = configured("[offload]\nspace = \"5 MiB\"");
    let text = "é😀".repeat(3 << 20);
    for (piece, size) in [(100, 6 << 20), (65_537, text.len()), (1 << 20, text.len())] {
        let directory = Directory::new();
        let workspace = workspace(&directory, THREAD);
        let text = &text.as_bytes()[..size];
        let cut = save(&toolbox, &workspace, "x", text, piece, || {});
        assert_eq!(cut.path.as_deref(), Some("/large_tool_result/x"), "{}", cut.text);
        let saved = usize::try_from(cut.saved).unwrap();
        assert!(saved <= SPACE && saved > SPACE - (1 << 20) - 4, "{saved} bytes are saved");
        let file = fs::read(results(&directory).join("x")).unwrap();
        assert!(file == text[..saved], "it is not the front of the result");
        assert!(String::from_utf8(file).is_ok(), "a character is split");
        let said = format!(
            "Only its first {saved} bytes are saved, in /large_tool_result/x, because saved results \
             may take no more space; the rest is lost."
        );
        assert!(cut.text.contains(&said), "{}", cut.text);
        assert!(cut.notice.contains(&said), "{}", cut.notice);
        directory.check_outside();
    }
}

#[test]
fn a_retry_of_what_is_saved_changes_nothing_even_if_there_is_no_room_for_two() {
    let toolbox = configured("[offload]\nspace = \"150 KB\"");
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    for attempt in 0..3 {
        let saved = save(&toolbox, &workspace, "x", &result(0), 30_000, || {});
        assert_eq!(
            saved.path.as_deref(),
            Some("/large_tool_result/x"),
            "{attempt}: {}",
            saved.text
        );
        assert_eq!((saved.size, saved.saved), (SIZE as u64, SIZE as u64), "attempt {attempt}");
        assert_eq!(fs::read_dir(results(&directory)).unwrap().count(), 1, "attempt {attempt}");
    }
}

#[test]
fn the_newest_results_stay_as_far_as_they_take_half_of_the_space() {
    let toolbox = configured("[offload]\nspace = \"1050 KB\"\nage = \"1 s\"");
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    for n in 0..10 {
        save(&toolbox, &workspace, &id(n), &result(n), 30_000, || {});
    }
    let large = vec![b'x'; 1 << 20];
    let cut = save(&toolbox, &workspace, "large", &large, 30_000, || {});
    assert!(cut.text.contains("because saved results may take no more space;"), "{}", cut.text);
    assert_eq!(cut.saved, 550_000);
    for kept in 5..10 {
        let file = fs::read(results(&directory).join(id(kept))).unwrap();
        assert!(file == result(kept), "{kept}");
    }
    assert_eq!(fs::read_dir(results(&directory)).unwrap().count(), 6);
    assert_eq!(bytes_in(results(&directory)), 1_050_000);
    directory.check_outside();
}

#[test]
fn a_result_that_is_dropped_or_fails_removes_no_other() {
    let toolbox = configured("[offload]\nspace = \"5 MiB\"");
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    for n in 0..50 {
        save(&toolbox, &workspace, &id(n), &result(n), SIZE, || {});
    }
    let count = || fs::read_dir(results(&directory)).unwrap().count();
    assert_eq!(count(), 50);
    for pieces in [1, 4, 20] {
        runtime().block_on(async {
            let mut output = toolbox.output(&workspace, "web", Some("dropped")).await.unwrap();
            for _ in 0..pieces {
                output.push(&vec![b'x'; 1 << 20]).await.unwrap();
            }
            drop(output);
        });
        assert_eq!(count(), 50, "after {pieces} pieces");
    }
    // What comes to its end makes room.
    save(&toolbox, &workspace, "whole", &vec![b'x'; 2 << 20], 1 << 20, || {});
    assert!(count() < 50);
    directory.check_outside();
}

/// Numbers without any order.
struct Numbers(u64);

impl Numbers {
    /// One that is less than `most`.
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

#[test]
fn whatever_comes_the_answers_are_true_and_the_bound_holds() {
    const SPACE: u64 = 3_000_000;
    const STEPS: usize = 600;
    let toolbox = configured("[offload]\nspace = \"3 MB\"");
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    // The first is always tight, the second now and then.
    for most in [400_000, 60_000] {
        let directory = Directory::new();
        let workspace = workspace(&directory, THREAD);
        // Paths in the order in which they were made.
        let mut made: Vec<(String, u64)> = Vec::new();
        let (mut whole, mut less, mut retries) = (0, 0, 0);
        for step in 0..STEPS {
            let id = format!("id-{}", numbers.below(40));
            // Few contents, so that some come again under the same id.
            let content = numbers.below(3);
            let size = 81_000 + content * most / 3 + numbers.below(2) * 1000;
            let text: Vec<u8> = result(content).into_iter().cycle().take(size).collect();
            let answer = save(&toolbox, &workspace, &id, &text, 1 + numbers.below(60_000), || {});
            // Those that take half of the space together stay.
            let mut taken = 0;
            for (path, size) in made.iter().rev().take(KEPT_RESULTS) {
                taken += size;
                let place = directory.workspace().join(&path[1..]);
                let may_go = taken > SPACE / 2;
                assert!(may_go || place.exists(), "step {step}: {path} is gone");
            }
            match &answer.path {
                Some(path) => {
                    let file = fs::read(directory.workspace().join(&path[1..])).unwrap();
                    let saved = usize::try_from(answer.saved).unwrap();
                    assert!(file == text[..saved], "step {step}: {path} is no copy");
                    let says_all = answer.text.contains(&format!("All of it is saved in {path}."));
                    assert_eq!(says_all, saved == size, "step {step}: {}", answer.text);
                    (whole, less) = (whole + u32::from(says_all), less + u32::from(!says_all));
                    if made.iter().any(|(known, _)| known == path) {
                        retries += 1;
                    } else {
                        made.push((path.clone(), answer.saved));
                    }
                }
                None => {
                    less += 1;
                    let why = "because saved results may take no more space;";
                    assert!(answer.text.contains(why), "step {step}: {}", answer.text);
                }
            }
            made.retain(|(path, _)| directory.workspace().join(&path[1..]).exists());
            let there = fs::read_dir(results(&directory)).unwrap().count();
            assert_eq!(there, made.len(), "step {step}: something has no answer");
            let taken = bytes_in(results(&directory));
            assert!(taken <= SPACE, "step {step}: {taken} bytes are taken");
        }
        assert!(whole > 0 && retries > 0, "{whole} whole, {less} not, {retries} retries");
        directory.check_outside();
    }
}

#[test]
fn a_result_with_the_id_of_another_is_cut_where_any_other_is() {
    let toolbox = configured("[offload]\nspace = \"220 KB\"");
    let mut saved = Vec::new();
    for id in ["first", "second"] {
        let directory = Directory::new();
        let workspace = workspace(&directory, THREAD);
        save(&toolbox, &workspace, "first", &result(0), 30_000, || {});
        let large = [result(1), result(2)].concat();
        let cut = save(&toolbox, &workspace, id, &large, 30_000, || {});
        assert!(fs::read(results(&directory).join("first")).unwrap() == result(0));
        saved.push(cut.saved);
    }
    assert_eq!(saved, [120_000, 120_000]);
}

#[test]
fn results_that_take_all_the_space_do_not_keep_out_the_next_for_ever() {
    let toolbox = configured("[offload]\nspace = \"1 MiB\"\nage = \"1 s\"");
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    let large = vec![b'x'; 4 << 20];
    save(&toolbox, &workspace, "large", &large, 1 << 16, || {});
    std::thread::sleep(Duration::from_millis(1500));
    // A conversation goes on, and has more results than may always stay.
    let mut saved = 0;
    for n in 0..3 * KEPT_RESULTS {
        saved +=
            u32::from(save(&toolbox, &workspace, &id(n), &result(n), SIZE, || {}).path.is_some());
    }
    assert!(saved > 0, "one large result keeps all others out");
}
