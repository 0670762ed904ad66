//! A part of a workspace that one task changes, step by step, and what it must hold after each.
//!
//! A step follows from the owner's mark, its number and what is there, so that another process
//! knows it too.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// The largest content that one step writes, in lines.
const MAX_LINES: u64 = 400;

/// How many files an area has before more are removed than made.
const MANY_FILES: usize = 12;

/// A call.
pub(crate) type Call = (&'static str, Value);

/// What an area holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    /// Whose it is. Every line of every file has it.
    mark: String,
    /// The directory, as in `/a0`.
    top: String,
    /// The number of the next step.
    step: u64,
    /// Contents by path.
    pub(crate) files: BTreeMap<String, String>,
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    fn of<'a, T>(&mut self, items: &[&'a T]) -> &'a T
    where
        T: ?Sized,
    {
        items[usize::try_from(self.below(items.len() as u64)).unwrap()]
    }
}

impl Area {
    pub(crate) fn new(mark: &str, top: &str) -> Self {
        Self { mark: mark.to_owned(), top: top.to_owned(), step: 0, files: BTreeMap::new() }
    }

    /// The number of the next step.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// The area as it is after so many steps.
    pub(crate) fn after(mark: &str, top: &str, steps: u64) -> Self {
        let mut area = Self::new(mark, top);
        for _ in 0..steps {
            area.advance();
        }
        area
    }

    fn content(&self, numbers: &mut Numbers) -> String {
        let head = format!("== {} {}\n", self.mark, self.step);
        // Most are small; some take more than one write of the kernel's.
        let lines = if numbers.below(8) == 0 { MAX_LINES * 20 } else { MAX_LINES };
        let lines = numbers.below(lines);
        let body: String =
            (0..lines).map(|n| format!("{} {} {n}\n", self.mark, self.step)).collect();
        format!("{head}{body}{head}")
    }

    /// Takes the next step: the call for it.
    pub(crate) fn advance(&mut self) -> Call {
        let seed = self.mark.bytes().fold(self.step + 1, |seed, byte| {
            seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)
        });
        let mut numbers = Numbers(seed);
        let call = self.choose(&mut numbers);
        self.step += 1;
        call
    }

    fn choose(&mut self, numbers: &mut Numbers) -> Call {
        let kind = numbers.below(10);
        let full = self.files.len() >= MANY_FILES;
        if self.files.is_empty() || (kind < 4 && !full) {
            return self.write(numbers);
        }
        let paths: Vec<String> = self.files.keys().cloned().collect();
        let path = numbers.of(&paths.iter().map(String::as_str).collect::<Vec<_>>()).to_owned();
        match kind {
            4 => self.append(numbers, path),
            5 | 6 => self.edit(path),
            7 if !full => self.move_file(numbers, path),
            8 if !full => self.move_directory(&path),
            9 => self.delete_directory(&path),
            _ => self.delete_file(path),
        }
    }

    fn write(&mut self, numbers: &mut Numbers) -> Call {
        let path = self.place(numbers);
        let content = self.content(numbers);
        self.files.insert(path.clone(), content.clone());
        ("write_file", json!({ "file_path": path, "content": content }))
    }

    fn append(&mut self, numbers: &mut Numbers, path: String) -> Call {
        let more = self.content(numbers);
        self.files.get_mut(&path).unwrap().push_str(&more);
        ("write_file", json!({ "file_path": path, "content": more, "mode": "append" }))
    }

    /// Changes the first line, wherever it is repeated.
    fn edit(&mut self, path: String) -> Call {
        let content = self.files.get_mut(&path).unwrap();
        let old = format!("{}\n", content.lines().next().unwrap());
        let new = format!("== {} {}\n", self.mark, self.step);
        *content = content.replace(&old, &new);
        let edit = json!({
            "file_path": path, "old_string": old, "new_string": new, "replace_all": true,
        });
        ("edit_file", edit)
    }

    fn move_file(&mut self, numbers: &mut Numbers, source: String) -> Call {
        let destination = self.place(numbers);
        if destination == source {
            return self.edit(source);
        }
        let content = self.files.remove(&source).unwrap();
        self.files.insert(destination.clone(), content);
        let call = json!({ "source": source, "destination": destination, "overwrite": true });
        ("move_file", call)
    }

    fn move_directory(&mut self, path: &str) -> Call {
        let source = parent(path).to_owned();
        let destination = format!("{}/d{}", self.top, self.step);
        self.files = std::mem::take(&mut self.files)
            .into_iter()
            .map(|(path, content)| match path.strip_prefix(&format!("{source}/")) {
                Some(name) => (format!("{destination}/{name}"), content),
                None => (path, content),
            })
            .collect();
        ("move_file", json!({ "source": source, "destination": destination }))
    }

    fn delete_file(&mut self, path: String) -> Call {
        self.files.remove(&path);
        ("delete_file", json!({ "path": path }))
    }

    fn delete_directory(&mut self, path: &str) -> Call {
        let path = parent(path).to_owned();
        self.files.retain(|file, _| parent(file) != path);
        ("delete_file", json!({ "path": path, "recursive": true }))
    }

    /// A file in one of the directories, or in a new one.
    fn place(&self, numbers: &mut Numbers) -> String {
        let mut directories: BTreeSet<String> =
            self.files.keys().map(|path| parent(path).to_owned()).collect();
        if directories.len() < 3 {
            directories.insert(format!("{}/d{}", self.top, self.step));
        }
        let directories: Vec<&str> = directories.iter().map(String::as_str).collect();
        format!("{}/f{}.txt", numbers.of(&directories), numbers.below(4))
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').unwrap().0
}
