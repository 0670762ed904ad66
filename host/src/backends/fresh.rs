//! A workspace in which nothing is overwritten that has changed since it was read.

mod seen;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::seen::Seen;
use crate::backend::{
    Backend, BytesPage, Condition, Draft, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest,
    LsPage, ReadOutcome, ReadRequest, Removed, View, WriteRequest, Written,
};

/// Refuses with `conflict` to replace a file that has changed since the session read it or wrote
/// it last. A file that it never read may be replaced; reading it again lifts the refusal.
///
/// Reading is what `read_file` does with text. Appending replaces nothing and is not refused. Before
/// a move replaces a file, that file is looked at; a change between the look and the move is not
/// noticed.
#[derive(Clone)]
pub struct Fresh {
    inner: Arc<dyn Backend>,
    seen: Arc<Seen>,
}

impl Fresh {
    /// A workspace as one session uses it.
    #[must_use]
    pub fn new(inner: Arc<dyn Backend>, seen: Arc<Seen>) -> Self {
        Self { inner, seen }
    }

    /// The path under which a file is remembered: several paths may lead to it.
    async fn real(&self, path: &str) -> String {
        self.inner.resolve(path, true).await.unwrap_or_else(|_| path.to_owned())
    }

    /// What must hold for a write, given what was seen.
    fn condition(&self, real: &str, asked: Condition) -> Result<Condition, ErrorCode> {
        let Some(seen) = self.seen.version(real) else { return Ok(asked) };
        match asked {
            Condition::Always => Ok(Condition::Matches(seen)),
            Condition::Matches(version) if version != seen => Err(ErrorCode::Conflict),
            asked => Ok(asked),
        }
    }

    /// Checks that what a move would replace has not changed since it was seen. What is gone, or
    /// is no file any more, is not replaced.
    async fn check_replaced(&self, path: &str) -> Result<(), ErrorCode> {
        let real = self.inner.resolve(path, false).await.unwrap_or_else(|_| path.to_owned());
        let Some(seen) = self.seen.version(&real) else { return Ok(()) };
        match self.inner.read_bytes(&real, 0, 0).await {
            Ok(page) if page.version != seen => Err(ErrorCode::Conflict),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Backend for Fresh {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        self.inner.ls_info(path, offset, limit).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        let path = request.path.clone();
        let outcome = self.inner.read(request).await?;
        let version = match &outcome {
            ReadOutcome::Lines(page) => Some(&page.version),
            ReadOutcome::Unchanged(version) => Some(version),
            ReadOutcome::Binary(_) => None,
        };
        if let Some(version) = version {
            self.seen.note(&self.real(&path).await, version);
        }
        Ok(outcome)
    }

    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        self.inner.read_bytes(path, offset, length).await
    }

    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode> {
        self.inner.glob_info(request, view).await
    }

    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        self.inner.grep_raw(request, view).await
    }

    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode> {
        self.inner.resolve(path, follow_last).await
    }

    fn without_links(&self) -> Option<Arc<dyn Backend>> {
        Some(Arc::new(Self { inner: self.inner.without_links()?, ..self.clone() }))
    }

    async fn write(&self, mut request: WriteRequest) -> Result<Written, ErrorCode> {
        let real = self.real(&request.path).await;
        let (asked, dry_run) = (request.condition.clone(), request.dry_run);
        request.condition = self.condition(&real, asked.clone())?;
        let retry = (asked == Condition::Always && request.condition != asked)
            .then(|| request.path.clone());
        let written = match (self.inner.write(request.clone()).await, retry) {
            // What is gone is not overwritten.
            (Err(ErrorCode::Conflict), Some(path))
                if matches!(self.inner.ls_info(&path, 0, 0).await, Err(ErrorCode::NotFound)) =>
            {
                let absent = WriteRequest { condition: Condition::Absent, ..request };
                self.inner.write(absent).await.map_err(|error| match error {
                    // It is there again.
                    ErrorCode::AlreadyExists => ErrorCode::Conflict,
                    error => error,
                })?
            }
            (result, _) => result?,
        };
        if !dry_run {
            self.seen.note(&real, &written.version);
        }
        Ok(written)
    }

    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        let (real, dry_run) = (self.real(&request.path).await, request.dry_run);
        let seen = self.seen.version(&real).map(Condition::Matches);
        let mut first = request.clone();
        if let (Condition::Always, Some(seen)) = (&request.condition, &seen) {
            first.condition = seen.clone();
        }
        let knows_all = seen.is_none_or(|seen| seen == first.condition);
        let (written, knows_all) = match self.inner.append(first.clone()).await {
            Err(ErrorCode::Conflict) if first.condition != request.condition => {
                (self.inner.append(request).await?, false)
            }
            result => (result?, knows_all),
        };
        // Something foreign in front of it is still unread.
        if !dry_run && (knows_all || written.previous_size.is_none()) {
            self.seen.note(&real, &written.version);
        }
        Ok(written)
    }

    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        self.inner.draft(directory).await
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        let real = self.inner.resolve(path, false).await;
        let removed = self.inner.remove(path, recursive).await?;
        self.seen.forget(real.as_deref().unwrap_or(path));
        Ok(removed)
    }

    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        if overwrite {
            self.check_replaced(destination).await?;
        }
        let real = self.inner.resolve(source, false).await;
        self.inner.rename(source, destination, overwrite).await?;
        self.seen.forget(real.as_deref().unwrap_or(source));
        let there = self.inner.resolve(destination, false).await;
        self.seen.forget(there.as_deref().unwrap_or(destination));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
