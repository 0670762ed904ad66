//! Whether two programs found the same.

use anyhow::{Context, Result, bail, ensure};

/// What is compared, beside the time.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// ripgrep's lines and ours must be the same; this many where that is known.
    Lines { what: &'static str, expected: Option<usize> },
    /// The page starts at this line of the large file, where each line holds its number.
    PageFrom(u64),
    /// The page is these last lines of the large file.
    LastPage { count: u64, total: u64 },
}

impl Check {
    /// Says what both found, or fails with the difference.
    pub(crate) fn compare(self, peer: &str, ours: &str) -> Result<String> {
        match self {
            Self::Lines { what, expected } => {
                same_lines(peer, ours, expected).map(|count| format!("{count} {what}"))
            }
            Self::PageFrom(start) => {
                let (first, last) = page(ours)?;
                ensure!(first == start, "the page starts at line {first}, not at {start}");
                Ok(format!("lines {first} to {last} of the file"))
            }
            Self::LastPage { count, total } => {
                let (first, last) = page(ours)?;
                let counted = peer.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
                ensure!(counted == Some(total), "wc counts {counted:?} lines, not {total}");
                ensure!(
                    last == total && last - first + 1 == count,
                    "the page has the lines {first} to {last} of {total}"
                );
                Ok(format!("lines {first} to {last} of the file"))
            }
        }
    }
}

/// Compares paths or matches, in whatever order they come.
fn same_lines(peer: &str, ours: &str, expected: Option<usize>) -> Result<usize> {
    // ripgrep names files from `./`, we from the root of the workspace; the rest is the same.
    let mut peer: Vec<&str> = peer.lines().filter_map(|line| line.strip_prefix('.')).collect();
    // Footers and notices do not start with a slash.
    let mut ours: Vec<&str> = ours.lines().filter(|line| line.starts_with('/')).collect();
    peer.sort_unstable();
    ours.sort_unstable();
    if peer != ours {
        let missing = peer.iter().find(|line| ours.binary_search(line).is_err());
        let surplus = ours.iter().find(|line| peer.binary_search(line).is_err());
        bail!(
            "ripgrep found {}, handhold {}; only ripgrep: {missing:?}; only handhold: {surplus:?}",
            peer.len(),
            ours.len()
        );
    }
    if let Some(expected) = expected {
        ensure!(ours.len() == expected, "both found {}, there are {expected}", ours.len());
    }
    ensure!(!ours.is_empty(), "both found nothing");
    Ok(ours.len())
}

/// The first and the last line of a page; every line must hold the number it is shown with.
fn page(text: &str) -> Result<(u64, u64)> {
    let mut first = None;
    let mut last = None;
    for line in text.lines() {
        let Some((number, content)) = line.split_once('\t') else { continue };
        let number: u64 = number.trim_start().parse().context("a line without a number")?;
        ensure!(
            content.split(' ').next() == Some(number.to_string().as_str()),
            "line {number} is shown as {content}"
        );
        ensure!(last.is_none_or(|last| last + 1 == number), "line {number} is out of order");
        first = first.or(Some(number));
        last = Some(number);
    }
    first.zip(last).context("the page has no lines")
}

#[cfg(test)]
mod tests {
    use super::Check;

    fn lines(peer: &str, ours: &str, expected: Option<usize>) -> bool {
        Check::Lines { what: "files", expected }.compare(peer, ours).is_ok()
    }

    #[test]
    fn the_same_lines_in_another_order_are_equal() {
        assert!(lines("./b\n./a\n", "/a\n/b\n\n[a notice]\n", Some(2)));
    }

    #[test]
    fn a_missing_line_a_surplus_line_and_nothing_at_all_are_failures() {
        assert!(!lines("./b\n./a\n", "/a\n", None));
        assert!(!lines("./a\n", "/a\n/b\n", None));
        assert!(!lines("", "", None));
        assert!(!lines("./a\n", "/a\n", Some(2)));
    }

    #[test]
    fn a_page_shows_each_line_under_its_own_number() {
        let check = Check::PageFrom(5);
        assert!(check.compare("", "     5\t5 some\n     6\t6 words\n\n[a footer]\n").is_ok());
        assert!(check.compare("", "     6\t6 some\n").is_err());
        assert!(check.compare("", "     5\t7 some\n").is_err());
        assert!(check.compare("", "     5\t5 some\n     7\t7 words\n").is_err());
        assert!(check.compare("", "").is_err());
    }

    #[test]
    fn the_last_page_ends_with_the_last_line() {
        let check = Check::LastPage { count: 2, total: 6 };
        assert!(check.compare("6 big.log\n", "     5\t5 some\n     6\t6 words\n").is_ok());
        assert!(check.compare("7 big.log\n", "     5\t5 some\n     6\t6 words\n").is_err());
        assert!(check.compare("6 big.log\n", "     6\t6 words\n").is_err());
    }
}
