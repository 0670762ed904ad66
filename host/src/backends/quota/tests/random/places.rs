//! Where random changes are made.

use handhold_core::types::FileKind;

use super::super::*;
use super::{Place, write_to};

pub(super) struct InMemory(pub(super) Quota);

impl Place for InMemory {
    fn quota(&self) -> &Quota {
        &self.0
    }

    async fn count(&self) -> Usage {
        add_up(&*self.0.inner).await.expect("a count")
    }

    async fn copy(&self) -> Box<dyn Backend> {
        let copy = Memory::new();
        let mut todo = vec!["/".to_owned()];
        while let Some(path) = todo.pop() {
            for entry in self.0.ls_info(&path, 0, 1000).await.expect("a page").entries {
                if entry.kind == FileKind::Directory {
                    // A directory is made with a file in it.
                    let file = format!("{}/x", entry.path);
                    write_to(&copy, &file, 0).await.expect("written");
                    copy.remove(&file, false).await.expect("removed");
                    todo.push(entry.path);
                } else {
                    let size = usize::try_from(entry.size).expect("a size");
                    write_to(&copy, &entry.path, size).await.expect("written");
                }
            }
        }
        Box::new(copy)
    }

    async fn lose(&self) {
        let mut entry = self.0.ledger.begin(crate::backends::Turn::Look).await.expect("a turn");
        entry.mark_busy().await.expect("marked");
    }
}

#[cfg(target_os = "linux")]
pub(super) struct InDirectory {
    site: super::super::site::Site,
    quota: Quota,
}

#[cfg(target_os = "linux")]
impl InDirectory {
    pub(super) fn new(limits: QuotaLimits) -> Self {
        let site = super::super::site::Site::new();
        std::fs::create_dir_all(site.inside("")).expect("made");
        // A link to a directory that may come and go.
        std::os::unix::fs::symlink("a/b", site.inside("l")).expect("made");
        Self { quota: site.quota(limits), site }
    }
}

#[cfg(target_os = "linux")]
impl Place for InDirectory {
    fn quota(&self) -> &Quota {
        &self.quota
    }

    async fn count(&self) -> Usage {
        super::super::site::count(&self.site.inside(""))
    }

    async fn copy(&self) -> Box<dyn Backend> {
        let away = self.site.root().join("copy");
        drop(std::fs::remove_dir_all(&away));
        let copied = std::process::Command::new("cp")
            .args(["-a".as_ref(), self.site.inside("").as_os_str(), away.as_os_str()])
            .status();
        assert!(copied.expect("cp").success());
        let copy = crate::backends::AgentFiles::at_ambient_path(self.site.root());
        Box::new(copy.thread(None, "copy").expect("an id"))
    }

    async fn lose(&self) {
        std::fs::write(self.site.root().join(".handhold/usage/thread"), "lost").ok();
    }
}
