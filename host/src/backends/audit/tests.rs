use std::sync::Mutex;
use std::time::Duration;

use sha2::Digest;

mod lines;

use super::*;
use crate::backend::Condition;
use crate::backends::{Memory, ReadOnly};

/// Keeps all entries.
#[derive(Default)]
struct Kept(Mutex<Vec<AuditEntry>>);

impl AuditSink for Kept {
    fn record(&self, entry: &AuditEntry) {
        self.0.lock().unwrap().push(entry.clone());
    }
}

impl Kept {
    fn take(&self) -> Vec<AuditEntry> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// The one entry that there is.
    fn one(&self) -> AuditEntry {
        let entries = self.take();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.into_iter().next().unwrap()
    }
}

fn who() -> AuditContext {
    AuditContext {
        tenant: Some("acme".to_owned()),
        thread: "t1".to_owned(),
        call_id: Some("c1".to_owned()),
        tool: Some("write_file".to_owned()),
    }
}

fn audited(inner: impl Backend + 'static) -> (Arc<Kept>, Audit) {
    let kept = Arc::new(Kept::default());
    let audit = Audit::new(Arc::new(inner), Arc::clone(&kept) as Arc<dyn AuditSink>, who());
    (kept, audit)
}

fn request(path: &str, content: &[u8]) -> WriteRequest {
    WriteRequest {
        path: path.to_owned(),
        content: content.to_vec(),
        condition: Condition::Always,
        dry_run: false,
    }
}

fn sha256(content: &[u8]) -> Option<String> {
    Some(Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect())
}

#[tokio::test]
async fn every_change_is_one_entry() {
    let (kept, audit) = audited(Memory::new());
    audit.write(request("/a/f", b"one")).await.unwrap();
    let entry = kept.one();
    assert_eq!((entry.operation, &*entry.path), (ChangeKind::Write, "/a/f"));
    assert_eq!((entry.size, entry.hash, entry.outcome), (Some(3), sha256(b"one"), "ok"));
    assert_eq!((entry.who, entry.destination, entry.removed), (who(), None, None));

    audit.append(request("/a/f", b"more")).await.unwrap();
    let entry = kept.one();
    assert_eq!((entry.operation, entry.outcome), (ChangeKind::Append, "ok"));
    assert_eq!((entry.size, entry.hash), (Some(4), sha256(b"more")));

    audit.rename("/a/f", "/b", false).await.unwrap();
    let entry = kept.one();
    assert_eq!((entry.operation, entry.outcome), (ChangeKind::Rename, "ok"));
    assert_eq!((&*entry.path, entry.destination.as_deref()), ("/a/f", Some("/b")));
    assert_eq!((entry.size, entry.hash), (None, None));

    audit.write(request("/a/g", b"12345")).await.unwrap();
    kept.take();
    audit.remove("/a", true).await.unwrap();
    let entry = kept.one();
    assert_eq!((entry.operation, entry.outcome), (ChangeKind::Remove, "ok"));
    assert_eq!(entry.removed, Some(Removed { files: 1, directories: 1, bytes: 5 }));
}

#[tokio::test]
async fn what_fails_is_an_entry_too() {
    let (kept, audit) = audited(Memory::new());
    audit.write(request("/f", b"x")).await.unwrap();
    kept.take();
    let absent = WriteRequest { condition: Condition::Absent, ..request("/f", b"y") };
    assert_eq!(audit.write(absent.clone()).await, Err(ErrorCode::AlreadyExists));
    let entry = kept.one();
    assert_eq!((entry.outcome, entry.hash), ("already-exists", sha256(b"y")));
    assert_eq!(audit.append(absent).await, Err(ErrorCode::AlreadyExists));
    assert_eq!(kept.one().outcome, "already-exists");
    assert_eq!(audit.remove("/none", false).await, Err(ErrorCode::NotFound));
    let entry = kept.one();
    assert_eq!((entry.outcome, entry.removed), ("not-found", None));
    assert_eq!(audit.rename("/", "/x", false).await, Err(ErrorCode::NotPermitted));
    assert_eq!(kept.one().outcome, "not-permitted");

    let (kept, audit) = audited(ReadOnly::new(Arc::new(Memory::new())));
    audit.write(request("/f", b"x")).await.unwrap_err();
    assert_eq!(kept.one().outcome, "not-permitted");
}

#[tokio::test]
async fn reading_and_dry_runs_are_no_entries() {
    let (kept, audit) = audited(Memory::new());
    audit.write(request("/f", b"x")).await.unwrap();
    kept.take();
    let dry = WriteRequest { dry_run: true, ..request("/f", b"y") };
    audit.write(dry.clone()).await.unwrap();
    audit.append(dry).await.unwrap();
    audit.ls_info("/", 0, 9).await.unwrap();
    audit.read_bytes("/f", 0, 9).await.unwrap();
    audit.resolve("/f", true).await.unwrap();
    drop(audit.draft("/").await.unwrap());
    assert!(kept.take().is_empty());
    assert_eq!(audit.read_bytes("/f", 0, 9).await.unwrap().data, b"x");
}

#[tokio::test]
async fn a_draft_is_an_entry_when_it_is_published() {
    let (kept, audit) = audited(Memory::new());
    let mut draft = audit.draft("/results/").await.unwrap();
    draft.push(b"ab".to_vec()).await.unwrap();
    // Enough to be hashed elsewhere.
    let much = vec![b'c'; 200_000];
    draft.push(much.clone()).await.unwrap();
    assert!(kept.take().is_empty());
    audit.write(request("/results/taken", b"x")).await.unwrap();
    kept.take();
    draft.publish("taken", Condition::Absent).await.unwrap_err();
    let all = [b"ab".as_slice(), &much].concat();
    for (name, outcome) in [("taken", "already-exists"), ("free", "ok")] {
        if outcome == "ok" {
            draft.publish(name, Condition::Absent).await.unwrap();
        }
        let entry = kept.one();
        assert_eq!((entry.operation, entry.outcome), (ChangeKind::Publish, outcome));
        assert_eq!(entry.path, format!("/results/{name}"));
        assert_eq!((entry.size, entry.hash), (Some(200_002), sha256(&all)));
    }
    assert_eq!(audit.read_bytes("/results/free", 0, 2).await.unwrap().data, b"ab");
    let mut draft = audit.draft("/").await.unwrap();
    draft.publish("empty", Condition::Always).await.unwrap();
    let entry = kept.one();
    assert_eq!((&*entry.path, entry.size, entry.hash), ("/empty", Some(0), sha256(b"")));
}

/// A draft that takes nothing.
struct Full;

#[async_trait]
impl Draft for Full {
    async fn push(&mut self, _: Vec<u8>) -> Result<(), ErrorCode> {
        Err(ErrorCode::QuotaExceeded)
    }

    async fn publish(&mut self, _: &str, _: Condition) -> Result<Written, ErrorCode> {
        Ok(Written { size: 0, previous_size: None, version: "v".to_owned() })
    }
}

#[tokio::test]
async fn what_a_draft_did_not_take_is_not_in_its_hash() {
    let (kept, audit) = audited(Memory::new());
    let mut draft = AuditedDraft::new(Box::new(Full), audit, "/");
    assert_eq!(draft.push(b"x".to_vec()).await, Err(ErrorCode::QuotaExceeded));
    draft.publish("f", Condition::Always).await.unwrap();
    let entry = kept.one();
    assert_eq!((entry.size, entry.hash), (Some(0), sha256(b"")));
}

/// A backend that does not come to an end.
struct Stuck;

#[async_trait]
impl Backend for Stuck {
    async fn ls_info(&self, _: &str, _: u64, _: u64) -> Result<LsPage, ErrorCode> {
        std::future::pending().await
    }
    async fn read(&self, _: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        std::future::pending().await
    }
    async fn read_bytes(&self, _: &str, _: u64, _: u64) -> Result<BytesPage, ErrorCode> {
        std::future::pending().await
    }
    async fn glob_info(&self, _: GlobRequest, _: &View) -> Result<GlobPage, ErrorCode> {
        std::future::pending().await
    }
    async fn grep_raw(&self, _: GrepRequest, _: &View) -> Result<GrepPage, ErrorCode> {
        std::future::pending().await
    }
    async fn resolve(&self, _: &str, _: bool) -> Result<String, ErrorCode> {
        std::future::pending().await
    }
    async fn write(&self, _: WriteRequest) -> Result<Written, ErrorCode> {
        std::future::pending().await
    }
    async fn append(&self, _: WriteRequest) -> Result<Written, ErrorCode> {
        std::future::pending().await
    }
    async fn draft(&self, _: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        std::future::pending().await
    }
    async fn remove(&self, _: &str, _: bool) -> Result<Removed, ErrorCode> {
        std::future::pending().await
    }
    async fn rename(&self, _: &str, _: &str, _: bool) -> Result<(), ErrorCode> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_change_that_is_given_up_on_is_an_entry() {
    let (kept, audit) = audited(Stuck);
    let soon = Duration::from_millis(5);
    tokio::time::timeout(soon, audit.write(request("/f", b"x"))).await.unwrap_err();
    let entry = kept.one();
    assert_eq!((entry.outcome, &*entry.path, entry.hash), ("cancelled", "/f", sha256(b"x")));
    tokio::time::timeout(soon, audit.remove("/f", false)).await.unwrap_err();
    assert_eq!(kept.one().outcome, "cancelled");
    // Nothing was tried by a call that was never begun.
    drop(audit.remove("/f", false));
    assert!(kept.take().is_empty());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn changes_without_links_are_written_down_too() {
    let root = tempfile::tempdir().unwrap();
    let files = crate::backends::AgentFiles::at_ambient_path(root.path());
    let (kept, audit) = audited(files.thread(None, "t").unwrap());
    let strict = audit.without_links().unwrap();
    strict.write(request("/f", b"x")).await.unwrap();
    assert_eq!(kept.one().path, "/f");
    assert!(audited(Memory::new()).1.without_links().is_none());
}
