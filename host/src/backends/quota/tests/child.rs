//! Processes that use a workspace: this test program, run again.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use handhold_core::types::Condition;

use super::site::open;
use super::*;
use crate::backends::AgentFiles;

const ROLE: &str = "HANDHOLD_TEST_ROLE";
const ROOT: &str = "HANDHOLD_TEST_ROOT";

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Makes files of 1000 bytes until there is no room.
    FillBytes,
    /// Makes small files in new directories, and then without, until there is no room.
    FillFiles,
    /// Changes everything in all ways, and never ends.
    Mix,
    /// Has a draft of 60 bytes, and never ends.
    Draft,
}

const ROLES: [Role; 4] = [Role::FillBytes, Role::FillFiles, Role::Mix, Role::Draft];

/// How many changes one process makes at once.
const TASKS: usize = 32;

pub(super) const BYTES: QuotaLimits = QuotaLimits { bytes: Some(300_500), ..NONE };
pub(super) const FILES: QuotaLimits = QuotaLimits { files: Some(301), ..NONE };
pub(super) const BOTH: QuotaLimits =
    QuotaLimits { bytes: Some(50_000), files: Some(60), file_bytes: Some(9_000) };

/// A process that is killed when it is dropped.
pub(super) struct Process(Child);

impl Process {
    /// Starts a process, and waits until it begins.
    pub(super) fn start(role: Role, root: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "backends::quota::tests::child::play", "--ignored", "--nocapture"])
            .env(ROLE, format!("{role:?}"))
            .env(ROOT, root)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        while !lines.next().expect("it has begun").expect("a line").contains("begin") {}
        // Nobody reads the rest.
        std::thread::spawn(move || lines.for_each(drop));
        Self(child)
    }

    pub(super) fn kill(mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("it has ended");
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        match self.0.try_wait().expect("a state") {
            Some(status) => {
                assert!(status.success(), "{status}");
                true
            }
            None => false,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn play() {
    let (Ok(role), Some(root)) = (std::env::var(ROLE), std::env::var_os(ROOT)) else { return };
    let role = ROLES.into_iter().find(|known| format!("{known:?}") == role).expect("a role");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let root = Path::new(&root);
        let files = AgentFiles::at_ambient_path(root);
        let process = u64::from(std::process::id());
        #[expect(clippy::print_stdout, reason = "it is how the other process learns")]
        {
            println!("begin");
        }
        let tasks: Vec<_> = (0..TASKS as u64)
            .map(|task| {
                // Most are of one host, as it should be; some have nothing to do with each other.
                let files = match task % 8 {
                    0 => AgentFiles::at_ambient_path(root),
                    _ => files.clone(),
                };
                tokio::spawn(act(role, files, process, task))
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    });
}

async fn act(role: Role, files: AgentFiles, process: u64, task: u64) {
    match role {
        Role::FillBytes => fill_bytes(&open(&files, BYTES), process, task).await,
        Role::FillFiles => fill_files(&open(&files, FILES), process, task).await,
        Role::Mix => mix(&open(&files, BOTH), process, task).await,
        Role::Draft => {
            let quota = open(&files, bytes(100));
            let mut draft = quota.draft("/").await.expect("a draft");
            // The first of them gets it.
            drop(draft.push(vec![0; 60]).await);
            std::future::pending::<()>().await;
        }
    }
}

async fn fill_bytes(quota: &Quota, process: u64, task: u64) {
    for n in 0.. {
        let path = format!("/{}/{process}-{task}-{}", task % 3, n / 3);
        let full = match n % 3 {
            // New, longer, and as a whole.
            0 => write(quota, &path, 1000).await,
            1 => append(quota, &path, 1000).await,
            _ => write(quota, &path, 3000).await,
        };
        match full {
            Ok(()) => {}
            Err(ErrorCode::QuotaExceeded) => return,
            Err(error) => panic!("{error:?}"),
        }
    }
}

async fn fill_files(quota: &Quota, process: u64, task: u64) {
    for (n, deep) in
        (0..).map(|n| (n, true)).take_while(|(n, _)| *n < 20).chain((20..).map(|n| (n, false)))
    {
        let name = format!("{process}-{task}-{n}");
        let path = if deep { format!("/{}/{name}/d/f", task % 3) } else { format!("/{name}") };
        match write(quota, &path, 1).await {
            Ok(()) => {}
            Err(ErrorCode::QuotaExceeded) if deep => {}
            Err(ErrorCode::QuotaExceeded) => return,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Changes of all kinds. The numbers come from a simple generator, so that no two tasks do the
/// same.
async fn mix(quota: &Quota, process: u64, task: u64) {
    let mut seed = process.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(task + 1);
    let mut next = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    loop {
        let mut path = || format!("/{}/{}/{}", next(4), next(3), next(4));
        let (one, other) = (path(), path());
        let size = usize::try_from(next(4000)).unwrap_or(0);
        let result = match next(10) {
            0..3 => write(quota, &one, size).await,
            3..5 => append(quota, &one, size / 4).await,
            5 => quota.remove(&one, true).await.map(drop),
            6 => quota.remove(&format!("/{}", next(4)), true).await.map(drop),
            7 => quota.rename(&one, &other, true).await,
            8 => quota.rename(&format!("/{}", next(4)), &format!("/{}/x/y", next(4)), false).await,
            _ => draft(quota, &one, size).await,
        };
        match result {
            Err(ErrorCode::Unavailable(why)) => panic!("{why}"),
            Err(ErrorCode::Other(why)) => panic!("{why:?}"),
            _ => {}
        }
        if next(50) == 0 {
            tokio::time::sleep(Duration::from_millis(next(3))).await;
        }
    }
}

async fn draft(quota: &Quota, directory: &str, size: usize) -> Result<(), ErrorCode> {
    let mut draft = quota.draft(directory).await?;
    for part in [size / 2, size - size / 2] {
        draft.push(vec![b'd'; part]).await?;
    }
    if !size.is_multiple_of(3) {
        draft.publish("d", Condition::Always).await?;
    }
    Ok(())
}
