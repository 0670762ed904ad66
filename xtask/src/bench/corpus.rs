//! The data that is searched: a tree of many small files, and one large file.
//!
//! Both are made once. A marker beside them, written last, says that they are
//! complete; without it, or when it speaks of another layout, they are made anew.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::bench::words::{Vocabulary, Xorshift};

/// Changes with every change of the layout or the content.
const LAYOUT: u32 = 1;
/// Files in the tree.
const FILES: usize = 50_000;
/// Directories in each directory of the three levels: 1 884 in all.
const FAN_OUT: usize = 12;
/// The smallest file; the largest is three times as long, so that the mean is 20 000 bytes.
const SMALLEST: usize = 10_000;
/// Bytes in the large file.
const LARGE: u64 = 1_000_000_000;
const EXTENSIONS: [&str; 4] = ["rs", "md", "txt", "json"];

/// In one line of each of three files.
pub(crate) const RARE: &str = "quartz.lantern(7)";
const RARE_IN: [usize; 3] = [1_234, 25_000, 48_765];
/// Matches the lines that are planted in one file of 500.
pub(crate) const REGEX: &str = r"[a-z]+ing \w+ified";

/// The thread whose workspace is the tree.
pub(crate) const TREE: &str = "bench";
/// The thread whose workspace holds the large file.
pub(crate) const BIG: &str = "big";
/// The name of the large file.
pub(crate) const BIG_FILE: &str = "big.log";

/// The data, complete.
pub(crate) struct Corpus {
    /// The directory of both threads.
    pub(crate) threads: PathBuf,
    /// Lines in the large file.
    pub(crate) big_lines: u64,
}

impl Corpus {
    /// Makes in `data` what is not there yet.
    pub(crate) fn prepare(data: &Path) -> Result<Self> {
        let threads = data.join("agent_files");
        let vocabulary = Vocabulary::new();
        once(data, &threads, TREE, |directory| make_tree(&vocabulary, directory))?;
        let lines = once(data, &threads, BIG, |directory| make_big(&vocabulary, directory))?;
        Ok(Self { threads, big_lines: lines })
    }

    /// The workspace of `thread` on the disk.
    pub(crate) fn workspace(&self, thread: &str) -> PathBuf {
        self.threads.join(thread)
    }
}

/// Fills the workspace of `thread` unless its marker says that this is done; either way
/// returns the number that `make` gave.
fn once(
    data: &Path,
    threads: &Path,
    thread: &str,
    make: impl FnOnce(&Path) -> Result<u64>,
) -> Result<u64> {
    let marker = data.join(format!("{thread}.complete"));
    let directory = threads.join(thread);
    let layout = format!("layout {LAYOUT}: ");
    if let Ok(content) = fs::read_to_string(&marker)
        && let Some(number) = content.strip_prefix(&layout)
        && let Ok(number) = number.trim_end().parse()
        && directory.is_dir()
    {
        return Ok(number);
    }
    eprintln!("making the data of the thread `{thread}` (1 GB, once) …");
    let started = Instant::now();
    for old in [&marker, &directory] {
        remove(old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    let number = make(&directory).with_context(|| format!("at {}", directory.display()))?;
    fs::write(&marker, format!("{layout}{number}\n"))
        .with_context(|| format!("cannot write {}", marker.display()))?;
    eprintln!("made in {:.1} s", started.elapsed().as_secs_f64());
    Ok(number)
}

fn remove(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)
    } else if path.exists() {
        fs::remove_file(path)
    } else {
        Ok(())
    }
}

/// Makes the tree; returns how many bytes it has.
fn make_tree(vocabulary: &Vocabulary, directory: &Path) -> Result<u64> {
    let mut text = Vec::with_capacity(4 * SMALLEST);
    let mut bytes = 0;
    for first in 0..FAN_OUT {
        for second in 0..FAN_OUT {
            for third in 0..FAN_OUT {
                fs::create_dir_all(leaf(directory, [first, second, third]))?;
            }
        }
    }
    for index in 0..FILES {
        text.clear();
        fill(vocabulary, index, &mut text);
        let place = [index, index / FAN_OUT, index / (FAN_OUT * FAN_OUT)].map(|n| n % FAN_OUT);
        let extension = EXTENSIONS.get(index % EXTENSIONS.len()).unwrap_or(&"txt");
        fs::write(leaf(directory, place).join(format!("n{index:05}.{extension}")), &text)?;
        bytes += u64::try_from(text.len())?;
    }
    Ok(bytes)
}

fn leaf(directory: &Path, [first, second, third]: [usize; 3]) -> PathBuf {
    directory.join(format!("a{first:02}/b{second:02}/c{third:02}"))
}

/// Makes the content of one file of the tree.
fn fill(vocabulary: &Vocabulary, index: usize, text: &mut Vec<u8>) {
    let mut generator = Xorshift::new(u64::try_from(index).unwrap_or(0));
    let length = SMALLEST + generator.below(2 * SMALLEST);
    let frequent = index % 50 != 49;
    let mut planted = planted(index);
    while text.len() < length {
        if text.len() >= length / 2
            && let Some(line) = planted.pop()
        {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        let columns = 40 + generator.below(60);
        vocabulary.line(&mut generator, columns, frequent, text);
    }
}

/// The lines of a file that are not left to chance.
fn planted(index: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if RARE_IN.contains(&index) {
        lines.push(format!("one {RARE} in this line"));
    }
    if index % 500 == 250 {
        lines.push(format!("there is something amplified in file {index}"));
    }
    if index % 10 == 3 {
        // Ends like a hit but is none, so that finding the ending is not enough.
        lines.push(format!("there is a simplified line in file {index}"));
    }
    lines
}

/// Makes the large file; returns how many lines it has. Each line starts with its number.
fn make_big(vocabulary: &Vocabulary, directory: &Path) -> Result<u64> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(directory.join(BIG_FILE))?);
    let mut generator = Xorshift::new(u64::MAX - 1);
    let mut line = Vec::new();
    let mut bytes = 0;
    let mut lines = 0;
    while bytes < LARGE {
        lines += 1;
        line.clear();
        write!(line, "{lines} ")?;
        let columns = 60 + generator.below(60);
        vocabulary.line(&mut generator, columns, true, &mut line);
        file.write_all(&line)?;
        bytes += u64::try_from(line.len())?;
    }
    file.into_inner().map_err(|error| error.into_error())?.sync_all()?;
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::{RARE, Vocabulary, fill};

    #[test]
    fn planted_lines_are_where_they_belong() {
        let vocabulary = Vocabulary::new();
        let content = |index| {
            let mut text = Vec::new();
            fill(&vocabulary, index, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        assert_eq!(content(1_234).matches(RARE).count(), 1);
        assert_eq!(content(1_235).matches(RARE).count(), 0);
        assert!(content(250).contains("something amplified"));
        assert!(content(0).contains(super::super::words::FREQUENT));
        assert!(!content(49).contains(super::super::words::FREQUENT));
    }
}
