//! Entries as lines of JSON.

use std::io::{self, Write};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::*;

fn entry(path: &str) -> AuditEntry {
    AuditEntry {
        time: UNIX_EPOCH + Duration::from_millis(1_500_000_000_123),
        who: AuditContext { tenant: None, ..who() },
        operation: ChangeKind::Rename,
        path: path.to_owned(),
        destination: Some("/b".to_owned()),
        size: None,
        hash: None,
        removed: None,
        outcome: "ok",
    }
}

#[test]
fn entries_are_lines_of_json() {
    let sink = JsonLines::new(Vec::new());
    sink.record(&entry("/a"));
    let removed = Some(Removed { files: 1, directories: 2, bytes: 3 });
    sink.record(&AuditEntry { removed, destination: None, who: who(), ..entry("/a") });
    let text = String::from_utf8(sink.into_inner()).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(text.ends_with('\n'));
    assert_eq!(
        lines,
        [
            json!({
                "time": "2017-07-14T02:40:00.123Z", "thread": "t1", "call_id": "c1",
                "tool": "write_file", "operation": "rename", "path": "/a", "destination": "/b",
                "outcome": "ok",
            }),
            json!({
                "time": "2017-07-14T02:40:00.123Z", "tenant": "acme", "thread": "t1",
                "call_id": "c1", "tool": "write_file", "operation": "rename", "path": "/a",
                "removed": { "files": 1, "directories": 2, "bytes": 3 }, "outcome": "ok",
            }),
        ]
    );
}

#[test]
fn a_name_cannot_forge_a_line() {
    let path = "/a\n{\"outcome\":\"ok\"}\r\u{85}\u{7f}\u{202e}\u{0}é\u{2028}\u{2029}";
    let sink = JsonLines::new(Vec::new());
    sink.record(&entry(path));
    let text = String::from_utf8(sink.into_inner()).unwrap();
    assert_eq!(text.trim_end_matches('\n').chars().filter(|c| is_odd(*c)).count(), 0, "{text}");
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["path"], path);
}

fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202e}' | '\u{2028}' | '\u{2029}')
}

#[test]
fn a_time_out_of_range_is_no_panic() {
    let sink = JsonLines::new(Vec::new());
    for time in [UNIX_EPOCH - Duration::from_secs(9), UNIX_EPOCH + Duration::from_secs(1 << 40)] {
        sink.record(&AuditEntry { time, ..entry("/a") });
    }
    let text = String::from_utf8(sink.into_inner()).unwrap();
    assert!(text.contains("1970-01-01T00:00:00.000Z") && text.contains("9999-12-31"), "{text}");
}

#[tokio::test]
async fn content_is_in_no_line() {
    let sink = Arc::new(JsonLines::new(Vec::new()));
    let dynamic = Arc::clone(&sink) as Arc<dyn AuditSink>;
    let audit = Audit::new(Arc::new(Memory::new()), dynamic, who());
    audit.write(request("/f", b"TOPSECRET")).await.unwrap();
    audit.append(request("/f", b"TOPSECRET")).await.unwrap();
    let mut draft = audit.draft("/").await.unwrap();
    draft.push(b"TOPSECRET".to_vec()).await.unwrap();
    draft.publish("g", Condition::Always).await.unwrap();
    drop((audit, draft));
    let text = String::from_utf8(Arc::into_inner(sink).unwrap().into_inner()).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert!(!text.contains("TOPSECRET"), "{text}");
}

/// Takes a few bytes and fails, once.
#[derive(Default)]
struct Failing {
    written: Vec<u8>,
    calls: usize,
}

impl Write for Failing {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        match self.calls {
            1 => {
                self.written.extend_from_slice(&buffer[..5]);
                Ok(5)
            }
            2 => Err(io::ErrorKind::StorageFull.into()),
            _ => {
                self.written.extend_from_slice(buffer);
                Ok(buffer.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_sink_that_fails_fails_no_call_and_spoils_no_later_line() {
    let sink = Arc::new(JsonLines::new(Failing::default()));
    let dynamic = Arc::clone(&sink) as Arc<dyn AuditSink>;
    let audit = Audit::new(Arc::new(Memory::new()), dynamic, who());
    audit.write(request("/f", b"x")).await.unwrap();
    audit.write(request("/g", b"x")).await.unwrap();
    audit.write(request("/h", b"x")).await.unwrap();
    drop(audit);
    let written = Arc::into_inner(sink).unwrap().into_inner().written;
    let text = String::from_utf8(written).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    serde_json::from_str::<Value>(lines[0]).unwrap_err();
    for (line, path) in [(lines[1], "/g"), (lines[2], "/h")] {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["path"], path);
    }
}
