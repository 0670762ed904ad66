//! A place to attack: a workspace, and beside it a tree that no tool may reach.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use handhold::backends::AgentFiles;
use handhold::{
    BackendFactory, CallContext, Policy, SharedDirectory, Threads, ToolCall, Workspace,
};
use handhold_conformance::world::{CANARY, Directory, THREAD};
use handhold_conformance::{runtime, shared_toolbox};
use rustix::fs::{CWD, RenameFlags};
use serde_json::Value;

/// How long one race lasts.
const RACE_TIME: Duration = Duration::from_secs(3);

/// How long any call may take that has nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often something is swapped before it is made anew.
const SWAPS: usize = 60;

/// A workspace, and beside it a tree of canaries.
pub(crate) struct Site {
    pub(crate) directory: Directory,
    threads: Threads,
    workspace: Workspace,
    staged: AtomicU64,
}

/// What a call answers.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The code of the failure; none if the call succeeded.
    pub(crate) code: Option<String>,
    pub(crate) text: String,
    pub(crate) structured: Value,
}

impl Answer {
    /// Fails unless the call succeeded.
    pub(crate) fn good(self) -> Self {
        assert!(self.code.is_none(), "{}", self.text);
        self
    }

    /// Fails unless the call failed with this code.
    pub(crate) fn failed(self, code: &str) -> Self {
        assert_eq!(self.code.as_deref(), Some(code), "{}", self.text);
        self
    }

    /// A list of strings in the structured form.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        let list = self.structured[key].as_array().unwrap_or_else(|| panic!("{self:?}"));
        list.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    }

    /// Fails if the answer shows anything of a canary.
    fn check_secrets(&self) {
        let shown = self.text.contains(CANARY) || self.structured.to_string().contains(CANARY);
        assert!(!shown, "a canary is shown: {self:?}");
        assert_ne!(self.code.as_deref(), Some("internal"), "{}", self.text);
    }
}

impl Site {
    /// Makes an empty workspace, and the canaries.
    pub(crate) fn new() -> Self {
        Self::with(Policy::default())
    }

    /// Makes an empty workspace with a policy, and the canaries.
    pub(crate) fn with(policy: Policy) -> Self {
        Self::in_directory(Directory::new(), policy)
    }

    /// Makes an empty workspace with shared directories, and the canaries. Of each: where it is
    /// shown, its name beside the workspace, and whether it may not be changed.
    pub(crate) fn with_mounts(mounts: &[(&str, &str, bool)]) -> Self {
        let directory = Directory::new();
        let shared = |(path, dir, read_only): &(&str, &str, bool)| SharedDirectory {
            path: (*path).to_owned(),
            dir: directory.base().join(dir),
            read_only: *read_only,
        };
        let policy = Policy { mounts: mounts.iter().map(shared).collect(), ..Policy::default() };
        Self::in_directory(directory, policy)
    }

    fn in_directory(directory: Directory, policy: Policy) -> Self {
        let files = AgentFiles::at_ambient_path(directory.root());
        let threads = Threads::in_directory(files, policy).unwrap();
        let workspace = workspace(&threads, THREAD);
        fs::create_dir_all(directory.workspace()).unwrap();
        let site = Self { directory, threads, workspace, staged: AtomicU64::new(0) };
        fs::create_dir(site.base("stage")).unwrap();
        // The same names as in the workspace, so that whoever gets here finds what he is after.
        plant(&site.canary(), CANARY);
        fs::write(site.canary().join("CANARY.txt"), CANARY).unwrap();
        for (name, mode) in [("", 0o751), ("sub", 0o715), ("file.txt", 0o604)] {
            let path = site.canary().join(name);
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        site
    }

    /// The workspace, for calls that are made past [`Site::call`].
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The workspace of another thread.
    pub(crate) fn other(&self, thread: &str) -> Workspace {
        workspace(&self.threads, thread)
    }

    /// A path beside the workspace.
    pub(crate) fn base(&self, name: &str) -> PathBuf {
        self.directory.base().join(name)
    }

    /// The tree that no tool may reach.
    pub(crate) fn canary(&self) -> PathBuf {
        self.base("canary")
    }

    /// A path in the workspace.
    pub(crate) fn inside(&self, path: &str) -> PathBuf {
        self.directory.workspace().join(path)
    }

    /// Makes a file in the workspace.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.inside(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What a file in the workspace holds.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.inside(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Makes one call and waits for it, but not for ever.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.call_in(&self.workspace, tool, arguments)
    }

    /// The same in the workspace of any thread.
    pub(crate) fn call_in(&self, workspace: &Workspace, tool: &str, arguments: Value) -> Answer {
        let answer = runtime().block_on(async {
            tokio::time::timeout(PATIENCE, ask(workspace, tool, &arguments)).await
        });
        let answer = answer.unwrap_or_else(|_| panic!("{tool} {arguments} does not come back"));
        answer.check_secrets();
        let base = self.directory.base().to_string_lossy().into_owned();
        // A link's own target is content of the workspace.
        assert!(tool == "ls" || !answer.text.contains(&base), "a host path: {}", answer.text);
        answer
    }

    /// Makes calls from two threads, over and over, while another thread attacks.
    pub(crate) fn race(&self, attack: impl Fn() + Sync, calls: &[(&str, Value)]) {
        self.race_and_check(attack, calls, |_, _| {});
    }

    /// The same, and looks at every answer.
    pub(crate) fn race_and_check(
        &self,
        attack: impl Fn() + Sync,
        calls: &[(&str, Value)],
        check: impl Fn(&str, &Answer) + Sync,
    ) {
        self.race_steps(attack, calls.len(), |step| {
            let (tool, arguments) = &calls[step];
            check(tool, &self.call(tool, arguments.clone()));
        });
    }

    /// Takes steps from two threads, over and over, while another thread attacks.
    pub(crate) fn race_steps(
        &self,
        attack: impl Fn() + Sync,
        steps: usize,
        step: impl Fn(usize) + Sync,
    ) {
        let end = Instant::now() + RACE_TIME;
        let goes_on = || Instant::now() < end;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while goes_on() {
                    attack();
                }
            });
            for start in [0, steps / 2] {
                let step = &step;
                scope.spawn(move || {
                    for n in (0..steps).cycle().skip(start) {
                        if !goes_on() {
                            break;
                        }
                        step(n);
                    }
                });
            }
        });
    }

    /// Puts what the makers make at `place` in turn, quickly, in the place of whatever is there: in
    /// one step, or, every fifth time, in two.
    pub(crate) fn swap(&self, place: &Path, makers: &[&dyn Fn(&Path)]) {
        let n = self.staged.fetch_add(1, Ordering::Relaxed);
        let stage = |what: &str| self.base(&format!("stage/{n}.{what}"));
        let staged: Vec<PathBuf> = (0..makers.len()).map(|slot| stage(&slot.to_string())).collect();
        let old = stage("old");
        for turn in 0..SWAPS {
            let slot = turn % makers.len();
            let new = &staged[slot];
            let exchange = RenameFlags::EXCHANGE;
            if turn % 5 < 4 && rustix::fs::renameat_with(CWD, new, CWD, place, exchange).is_ok() {
                continue;
            }
            if fs::symlink_metadata(new).is_err() {
                makers[slot](new);
            }
            // A tool may be quicker: then this swap comes to nothing, and the next one follows.
            drop(fs::rename(place, &old));
            drop(fs::rename(new, place));
            drop(fs::rename(&old, new));
            discard(&old);
        }
        staged.iter().for_each(|path| discard(path));
    }

    /// Swaps `place` between what `make` makes and links to `target`, a path beneath the canaries.
    pub(crate) fn swap_with_links(&self, place: &Path, target: &str, make: fn(&Path)) {
        let depth = place.strip_prefix(self.directory.workspace()).unwrap().components().count();
        let relative = Path::new(&"../".repeat(depth + 1)).join("canary").join(target);
        let absolute = self.canary().join(target);
        let link = |target: &Path, new: &Path| symlink(target, new).unwrap();
        self.swap(place, &[&|new| link(&relative, new), &make, &|new| link(&absolute, new)]);
    }

    /// Fails if a canary has come into the workspace.
    pub(crate) fn check_inside(&self) {
        for (path, facts) in facts(&self.directory.root()) {
            let found = String::from_utf8_lossy(&facts.content).contains(CANARY);
            assert!(!found, "{} holds a canary", path.display());
        }
    }
}

/// The workspace of a thread.
fn workspace(threads: &Threads, thread: &str) -> Workspace {
    let context = CallContext { thread: thread.to_owned(), ..CallContext::default() };
    Workspace::shared(threads.backend(&context).unwrap())
}

/// Makes one call of the component in this process.
async fn ask(workspace: &Workspace, tool: &str, arguments: &Value) -> Answer {
    let call = ToolCall { tool: tool.to_owned(), arguments: arguments.to_string(), call_id: None };
    let result = shared_toolbox().call(workspace, call).await;
    let structured: Value = serde_json::from_str(&result.structured).unwrap();
    let code = structured.pointer("/error/code").and_then(Value::as_str).map(str::to_owned);
    assert_eq!(result.is_error, code.is_some(), "{}", result.text);
    Answer { code, text: result.text, structured }
}

/// Makes a directory with a file, and one in a directory.
pub(crate) fn plant(place: &Path, text: &str) {
    fs::create_dir_all(place.join("sub")).unwrap();
    fs::write(place.join("file.txt"), format!("{text} one\n")).unwrap();
    fs::write(place.join("sub/inner.txt"), format!("{text} two\n")).unwrap();
}

/// Removes whatever is there, if anything is.
pub(crate) fn discard(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => drop(fs::remove_dir_all(path)),
        Ok(_) => drop(fs::remove_file(path)),
        Err(_) => {}
    }
}

/// All about an entry that a change of it would change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) mode: u32,
    owner: (u32, u32),
    inode: (u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
    pub(crate) content: Vec<u8>,
}

/// All about a tree. Links are not followed.
pub(crate) fn facts(tree: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut all = BTreeMap::new();
    let mut todo = vec![tree.to_owned()];
    while let Some(path) = todo.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let mut content = Vec::new();
        if found.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if found.is_file() {
            content = fs::read(&path).unwrap();
        }
        let facts = Facts {
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
            inode: (found.ino(), found.nlink()),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
            content,
        };
        all.insert(path, facts);
    }
    all
}
