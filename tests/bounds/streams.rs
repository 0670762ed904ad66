//! The result of a tool may have any size, and takes little memory all the same.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use handhold::{Toolbox, Workspace};
use handhold_conformance::runtime;
use handhold_conformance::world::{Directory, THREAD};

use crate::cli::Offload;
use crate::{configured, peak, workspace};

/// How large a large result is: 1 GB.
const LARGE: u64 = 1_000_000_000;

/// How large a small one is, which is saved too.
const SMALL: u64 = 200_000;

/// How many bytes come at once: not as many as are taken at once.
const PIECE: usize = 700_000;

/// How much more memory a large result may take than a small one.
const MOST_KIB: u64 = 64 << 10;

/// How many bytes a line has, where there are lines.
const LINE: u64 = 128;

/// Fills a buffer with what a result has from `offset` on, which is a multiple of 8 as the length
/// is. No two parts are the same.
fn fill(buffer: &mut [u8], offset: u64, lines: bool) {
    for (n, block) in buffer.chunks_exact_mut(8).enumerate() {
        let at = offset + 8 * n as u64;
        // The mixing function of splitmix64.
        let mut mixed = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        block.copy_from_slice(&mixed.to_le_bytes());
        for byte in &mut *block {
            *byte = b'a' + (*byte & 15);
        }
        if lines && (at + 8).is_multiple_of(LINE) {
            block[7] = b'\n';
        }
    }
}

/// The pieces of a result.
fn pieces(size: u64, lines: bool) -> impl Iterator<Item = Vec<u8>> {
    (0..size).step_by(PIECE).map(move |offset| {
        let length = usize::try_from(size - offset).unwrap().min(PIECE);
        let mut piece = vec![0; length];
        fill(&mut piece, offset, lines);
        piece
    })
}

/// Fails unless a file is the whole result.
fn check_file(path: &Path, size: u64, lines: bool) {
    let mut file = fs::File::open(path).unwrap();
    assert_eq!(file.metadata().unwrap().len(), size);
    for (n, wanted) in pieces(size, lines).enumerate() {
        let mut piece = vec![0; wanted.len()];
        file.read_exact(&mut piece).unwrap();
        assert!(piece == wanted, "{} differs in piece {n}", path.display());
    }
}

/// Does work in a process that does nothing else, in which the test of this name runs alone.
fn alone(test: &str, work: impl FnOnce()) {
    const ALONE: &str = "HANDHOLD_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return work();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(ALONE, "1");
    let output = command.output().unwrap();
    let (out, err) = (&output.stdout, &output.stderr);
    let text = [String::from_utf8_lossy(out), String::from_utf8_lossy(err)].concat();
    assert!(output.status.success() && text.contains(" 1 passed;"), "{text}");
}

/// Hands a result over, and gives the most memory that this process has had.
fn stream(toolbox: &Toolbox, workspace: &Workspace, id: &str, size: u64, lines: bool) -> u64 {
    let ended = runtime().block_on(async {
        let mut output = toolbox.output(workspace, "web", Some(id)).await.unwrap();
        let mut given = 0;
        for piece in pieces(size, lines) {
            given += output.push(&piece).await.unwrap().len();
        }
        assert!(given <= 80_000, "{given} bytes were passed on");
        output.finish(false).await.unwrap()
    });
    let offloaded = ended.offloaded.unwrap();
    assert_eq!(offloaded.path.as_deref(), Some(&*format!("/large_tool_result/{id}")));
    assert_eq!((offloaded.size, offloaded.saved), (size, size));
    assert!(offloaded.text.len() < 16 << 10, "{} bytes are shown", offloaded.text.len());
    let count = if lines { size.div_ceil(LINE) } else { 1 };
    let said = format!(", {count} line{}.", if count == 1 { "" } else { "s" });
    assert!(offloaded.text.contains(&said), "{}", offloaded.text);
    peak(std::process::id()).unwrap()
}

#[test]
fn a_result_of_a_gigabyte_takes_little_memory() {
    alone("streams::a_result_of_a_gigabyte_takes_little_memory", || {
        let toolbox = configured("[limits]\nmemory = \"16 MiB\"\n[offload]\nspace = \"4 GB\"");
        let directory = Directory::new();
        let workspace = workspace(&directory, THREAD);
        let results = directory.workspace().join("large_tool_result");
        for lines in [false, true] {
            let idle = stream(&toolbox, &workspace, "small", SMALL, lines);
            // The second time, it is compared with what is there.
            for retry in [false, true] {
                let more = stream(&toolbox, &workspace, "large", LARGE, lines) - idle;
                assert!(more <= MOST_KIB, "{more} KiB more than for a small one, retry: {retry}");
                assert_eq!(fs::read_dir(&results).unwrap().count(), 2);
            }
            check_file(&results.join("large"), LARGE, lines);
            check_file(&results.join("small"), SMALL, lines);
            fs::remove_dir_all(&results).unwrap();
        }
        directory.check_outside();
    });
}

/// Gives a process a result, and gives the most memory that it has had.
fn offload(directory: &Directory, id: &str, size: u64, lines: bool) -> u64 {
    let mut process = Offload::start(&directory.root(), "", &["--call-id", id]);
    for piece in pieces(size, lines) {
        process.push(&piece);
    }
    process.close();
    let mut most = 0;
    // What it has needed is told only as long as it lives.
    while let Some(now) = peak(process.id()) {
        most = now;
        std::thread::yield_now();
    }
    let shown = String::from_utf8(process.end()).unwrap();
    let saved = format!(" All of it is saved in /large_tool_result/{id}.\n");
    assert!(shown.contains(&saved) && shown.len() < 16 << 10, "{shown}");
    assert!(most > 0, "the process has ended too soon");
    most
}

#[test]
fn a_process_takes_a_result_of_a_gigabyte_with_little_memory() {
    let directory = Directory::new();
    let results = directory.workspace().join("large_tool_result");
    for lines in [false, true] {
        let idle = offload(&directory, "small", SMALL, lines);
        let more = offload(&directory, "large", LARGE, lines).saturating_sub(idle);
        assert!(more <= MOST_KIB, "{more} KiB more than for a small one");
        check_file(&results.join("large"), LARGE, lines);
        fs::remove_dir_all(&results).unwrap();
    }
    directory.check_outside();
}
