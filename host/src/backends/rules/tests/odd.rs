//! A backend in which odd things happen.

use super::*;

/// A workspace in memory in which odd things happen.
#[derive(Clone)]
pub(super) struct Odd {
    pub(super) memory: Memory,
    /// A file that is made just before the directory is moved that it is in.
    pub(super) late: Option<&'static str>,
    /// A directory whose listing does not end.
    pub(super) endless: Option<&'static str>,
}

impl Odd {
    pub(super) fn over(memory: &Memory) -> Self {
        Self { memory: memory.clone(), late: None, endless: None }
    }
}

#[async_trait]
impl Backend for Odd {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        if self.endless != Some(path) {
            return self.memory.ls_info(path, offset, limit).await;
        }
        let entry = |n| FileInfo {
            path: format!("{path}/{n:09}"),
            kind: FileKind::File,
            size: 0,
            modified: 0,
            link_target: None,
        };
        let entries = (offset..offset + limit.min(100_000)).map(entry).collect();
        Ok(LsPage { entries, total: u64::MAX, undecodable: 0, is_directory: true })
    }
    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        self.memory.read(request).await
    }
    async fn read_bytes(&self, path: &str, at: u64, n: u64) -> Result<BytesPage, ErrorCode> {
        self.memory.read_bytes(path, at, n).await
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
        self.memory.write(request).await
    }
    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.memory.append(request).await
    }
    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        self.memory.draft(directory).await
    }
    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        self.memory.remove(path, recursive).await
    }
    async fn rename(&self, source: &str, to: &str, overwrite: bool) -> Result<(), ErrorCode> {
        if let Some(late) = self.late.filter(|late| late.starts_with(source)) {
            put(&self.memory, late, "late").await?;
        }
        self.memory.rename(source, to, overwrite).await
    }
}
