//! What the ledger says.

use std::sync::Mutex;

use async_trait::async_trait;
use handhold_core::types::{
    BytesPage, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome, ReadRequest,
    Removed, Written,
};

use super::*;
use crate::backend::{Draft, View};
use crate::backends::{Ledger, Turn};

#[tokio::test]
async fn everything_is_charged_and_released() {
    let quota = in_memory(NONE);
    assert_eq!(checked(&quota).await, taken(0, 0));
    write(&quota, "/a/b", 5).await.expect("written");
    assert_eq!(checked(&quota).await, taken(5, 2));
    append(&quota, "/a/b", 3).await.expect("written");
    append(&quota, "/a/c", 2).await.expect("written");
    assert_eq!(checked(&quota).await, taken(10, 3));
    quota.rename("/a/c", "/a/b", true).await.expect("moved");
    assert_eq!(checked(&quota).await, taken(2, 2));
    quota.rename("/a", "/x/y/a", false).await.expect("moved");
    assert_eq!(checked(&quota).await, taken(2, 4));
    assert_eq!(quota.remove("/x", false).await, Err(ErrorCode::NotEmpty));
    assert_eq!(quota.rename("/x", "/x/y/z", false).await.map_err(|_| ()), Err(()));
    assert_eq!(checked(&quota).await, taken(2, 4));
    quota.remove("/x", true).await.expect("removed");
    assert_eq!(checked(&quota).await, taken(0, 0));
    assert_eq!(quota.remove("/x", true).await, Err(ErrorCode::NotFound));
}

/// Removes a file by its version, where that is another one and where it is the same.
async fn remove_versions(quota: &Quota) {
    let old = quota.write(request("/a", 5)).await.expect("written").version;
    let new = quota.write(request("/a", 7)).await.expect("written").version;
    assert_eq!(quota.remove_version("/a", &old).await, Err(ErrorCode::Conflict));
    assert_eq!(quota.usage().await, Ok(taken(7, 1)));
    let removed = Removed { files: 1, directories: 0, bytes: 7 };
    assert_eq!(quota.remove_version("/a", &new).await, Ok(removed));
    assert_eq!(quota.remove_version("/a", &new).await, Err(ErrorCode::NotFound));
    write(quota, "/d/f", 1).await.expect("written");
    assert_eq!(quota.remove_version("/d", &new).await, Err(ErrorCode::Conflict));
    assert_eq!(checked(quota).await, taken(1, 2));
}

#[tokio::test]
async fn a_file_is_removed_at_its_version_alone_and_released() {
    remove_versions(&in_memory(NONE)).await;
    #[cfg(target_os = "linux")]
    {
        let site = super::site::Site::new();
        remove_versions(&site.quota(NONE)).await;
    }
}

#[tokio::test]
async fn what_others_changed_is_found_by_a_recount() {
    let quota = in_memory(bytes(10));
    write(&quota, "/a", 5).await.expect("written");
    quota.inner.write(request("/b/c", 5)).await.expect("written");
    assert_eq!(quota.usage().await, Ok(taken(5, 1)));
    assert_eq!(quota.recount().await, Ok(taken(10, 3)));
    assert_eq!(checked(&quota).await, taken(10, 3));
    assert_eq!(write(&quota, "/a", 6).await, Err(ErrorCode::QuotaExceeded));
}

#[tokio::test]
async fn numbers_that_cannot_be_are_counted_again() {
    let quota = in_memory(NONE);
    write(&quota, "/a", 5).await.expect("written");
    quota.inner.write(request("/b", 50)).await.expect("written");
    quota.remove("/b", false).await.expect("removed");
    assert_eq!(checked(&quota).await, taken(5, 1));
}

#[tokio::test]
async fn a_change_that_was_not_written_down_is_counted() {
    let ledger = MemoryLedger::new();
    let quota = Quota::new(Arc::new(Memory::new()), bytes(10), Arc::new(ledger.clone()));
    write(&quota, "/a", 5).await.expect("written");
    let mut entry = ledger.begin(Turn::Change).await.expect("a turn");
    assert_eq!(entry.usage(), Some(taken(5, 1)));
    entry.mark_busy().await.expect("marked");
    quota.inner.write(request("/b", 4)).await.expect("written");
    drop(entry);
    assert_eq!(ledger.begin(Turn::Look).await.expect("a turn").usage(), None);
    assert_eq!(write(&quota, "/c", 2).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(checked(&quota).await, taken(9, 2));
}

#[tokio::test]
async fn large_directories_are_counted_page_by_page() {
    let quota = in_memory(NONE);
    for n in 0..25_001 {
        quota.inner.write(request(&format!("/d/{n}"), 1)).await.expect("written");
    }
    assert_eq!(quota.usage().await, Ok(taken(25_001, 25_002)));
}

/// A backend whose changes fail when they are made.
struct Failing {
    memory: Memory,
    /// How a write fails, after it has made the parents.
    error: Mutex<Option<ErrorCode>>,
}

#[async_trait]
impl Backend for Failing {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        self.memory.ls_info(path, offset, limit).await
    }
    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        self.memory.read(request).await
    }
    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        self.memory.read_bytes(path, offset, length).await
    }
    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode> {
        self.memory.glob_info(request, view).await
    }
    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        self.memory.grep_raw(request, view).await
    }
    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode> {
        self.memory.resolve(path, follow_last).await
    }
    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        let error = self.error.lock().expect("an error").clone();
        match error {
            Some(error) if !request.dry_run => {
                let path = request.path.clone();
                self.memory.write(request).await?;
                self.memory.remove(&path, false).await?;
                Err(error)
            }
            _ => self.memory.write(request).await,
        }
    }
    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.write(request).await
    }
    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        self.memory.draft(directory).await
    }
    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        let removed = self.memory.remove(path, recursive).await?;
        let error = self.error.lock().expect("an error").clone();
        error.map_or(Ok(removed), Err)
    }
    async fn rename(&self, source: &str, to: &str, overwrite: bool) -> Result<(), ErrorCode> {
        let error = self.error.lock().expect("an error").clone();
        if let Some(error) = error {
            self.memory.write(request(to, 1)).await?;
            self.memory.remove(to, false).await?;
            return Err(error);
        }
        self.memory.rename(source, to, overwrite).await
    }
}

#[tokio::test]
async fn what_failed_halfway_is_charged_as_it_is() {
    let inner = Arc::new(Failing { memory: Memory::new(), error: Mutex::new(None) });
    let quota = Quota::new(inner.clone(), files(100), Arc::new(MemoryLedger::new()));
    write(&quota, "/file", 5).await.expect("written");
    for error in [ErrorCode::NotPermitted, ErrorCode::QuotaExceeded, ErrorCode::Other(None)] {
        *inner.error.lock().expect("an error") = Some(error.clone());
        let name = format!("{error:?}");
        assert_eq!(write(&quota, &format!("/{name}/w/f"), 3).await, Err(error.clone()));
        checked(&quota).await;
        assert_eq!(append(&quota, &format!("/{name}/a/b/f"), 3).await, Err(error.clone()));
        checked(&quota).await;
        let to = format!("/{name}/r/s/t/f");
        assert_eq!(quota.rename("/file", &to, false).await, Err(error.clone()));
        checked(&quota).await;
        *inner.error.lock().expect("an error") = None;
    }
    *inner.error.lock().expect("an error") = Some(ErrorCode::Unavailable("gone".to_owned()));
    assert!(quota.remove("/file", false).await.is_err());
    assert_eq!(checked(&quota).await.bytes, 0);
}

#[tokio::test]
async fn nothing_is_counted_that_no_limit_is_about() {
    let ledger = MemoryLedger::new();
    let inner = Arc::new(Memory::new());
    let limits = QuotaLimits { file_bytes: Some(5), ..NONE };
    let quota = Quota::new(inner, limits, Arc::new(ledger.clone()));
    assert_eq!(write(&quota, "/a", 6).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(write(&quota, "/a", 5).await, Ok(()));
    assert_eq!(ledger.begin(Turn::Look).await.expect("a turn").usage(), None);
    assert_eq!(checked(&quota).await, taken(5, 1));
    assert_eq!(write(&quota, "/b/c", 1).await, Ok(()));
    assert_eq!(ledger.begin(Turn::Look).await.expect("a turn").usage(), Some(taken(6, 3)));
}
