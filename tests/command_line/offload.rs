//! The results of other tools: what is passed on, and what is printed in its place.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::process::*;

/// The built-in limit in bytes.
const LIMIT: usize = 80_000;

/// What a process that takes a result has done.
struct Took {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Took {
    /// Fails unless it printed this to standard output and nothing else.
    #[track_caller]
    fn passed(&self, bytes: &[u8]) {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
        assert!(self.out == bytes, "{} bytes are not these {}", self.out.len(), bytes.len());
    }

    /// What it printed in the place of the result.
    #[track_caller]
    fn notice(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
        let text = std::str::from_utf8(&self.out).unwrap();
        assert!(text.ends_with('\n') && text.contains(" is too large to show: "), "{text}");
        assert!(text.len() < 16 << 10, "{} bytes are shown", text.len());
        text
    }

    /// Fails unless it could not do its work, and said why on standard error alone.
    #[track_caller]
    fn could_not(&self, parts: &[&str]) {
        assert_eq!((self.code, self.out.len()), (Some(2), 0), "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "no {part:?}: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

fn take(mut command: Command, input: &[u8]) -> Took {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A process that does not read its input ends before all is written.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    let err = String::from_utf8(output.stderr).unwrap();
    Took { code: output.status.code(), out: output.stdout, err }
}

/// Hands the result of the tool `web` over.
fn offload(dir: &Path, args: &[&str], input: &[u8]) -> Took {
    take(command(dir, &[&["offload", "--tool", "web"], args].concat()), input)
}

/// Bytes without any order, which are no text.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[4]
    };
    (0..len).map(|_| next()).collect()
}

/// Numbered lines, of which there are so many.
fn lines(n: usize) -> String {
    (1..=n).map(|n| format!("line {n} is here\n")).collect()
}

fn results(dir: &TempDir) -> std::path::PathBuf {
    dir.path().join("agent_files/default/large_tool_result")
}

#[test]
fn what_is_within_the_limit_is_passed_on_byte_for_byte_and_nothing_is_made() {
    let dir = temp();
    let all: Vec<u8> = (0..=255).collect();
    let inputs = [
        b"".to_vec(),
        b"\n".to_vec(),
        b"\n\n".to_vec(),
        b"no final newline".to_vec(),
        b"\r\nwindows\r\n\r".to_vec(),
        b"\0".to_vec(),
        b"\xff\xfe\xfd".to_vec(),
        b"half a character \xf0\x9f\x98".to_vec(),
        b"\xef\xbb\xbfa mark".to_vec(),
        b"\xff\xfeu\0t\0f\0".to_vec(),
        all,
        noise(10),
        noise(LIMIT - 1),
        noise(LIMIT),
        "é".repeat(LIMIT / 2).into_bytes(),
        "\n".repeat(LIMIT).into_bytes(),
        // A character that the limit ends, and one that it would split.
        format!("{}😀", "x".repeat(LIMIT - 4)).into_bytes(),
        [&*vec![b'x'; LIMIT - 2], b"\xf0\x9f"].concat(),
    ];
    for input in &inputs {
        for args in [
            &[][..],
            &["--call-id", "x"],
            &["--is-error"],
            &["--read-only"],
            &["--tenant", "acme", "--thread", "alice"],
        ] {
            offload(dir.path(), args, input).passed(input);
        }
    }
    assert_eq!(entries(dir.path()), [""; 0], "something was made");
}

#[test]
fn one_byte_over_the_limit_is_saved_byte_for_byte_and_a_notice_is_printed() {
    let dir = temp();
    let inputs = [
        vec![b'x'; LIMIT + 1],
        noise(LIMIT + 1),
        noise(3 << 20),
        vec![0; LIMIT + 1],
        vec![0xff; LIMIT + 1],
        format!("{}😀", "x".repeat(LIMIT - 3)).into_bytes(),
        [&*vec![b'x'; LIMIT], b"\xf0\x9f\x98"].concat(),
        [&*vec![b'\n'; LIMIT], b"\r"].concat(),
    ];
    for (n, input) in inputs.iter().enumerate() {
        let id = format!("call-{n}");
        let took = offload(dir.path(), &["--call-id", &id], input);
        let notice = took.notice();
        let said = format!("The result of web is too large to show: {} bytes (", input.len());
        assert!(notice.starts_with(&said), "{notice}");
        let said = format!(" All of it is saved in /large_tool_result/{id}.");
        assert!(notice.contains(&said), "{notice}");
        assert!(fs::read(results(&dir).join(&id)).unwrap() == *input, "{id} is no copy");
    }
    assert_eq!(entries(&results(&dir)).len(), inputs.len());
}

#[test]
fn limits_are_those_of_the_configuration() {
    let dir = temp();
    let config = |text: &str| fs::write(dir.path().join("config.toml"), text).unwrap();
    let offload_of = |tool: &str, input: &[u8]| {
        let args = ["offload", "--tool", tool, "--config", "config.toml"];
        take(command(dir.path(), &args), input)
    };
    let large = vec![b'x'; LIMIT + 1];
    config(
        "[offload]\ntokens = 1\n[offload.tools.web]\ntokens = 2\n[offload.tools.db]\nenabled = false",
    );
    offload_of("web", b"12345678").passed(b"12345678");
    assert!(offload_of("web", b"123456789").notice().contains(": 9 bytes (9 B), 1 line."));
    offload_of("other", b"1234").passed(b"1234");
    offload_of("other", b"12345").notice();
    offload_of("db", &large).passed(&large);
    // A tool's own limit is one of the name it has.
    config("[tools.write_file]\nname = 'put'\ntokens = 1");
    offload_of("put", b"12345").notice();
    offload_of("write_file", b"12345").passed(b"12345");
    // What shows pages is never saved, whatever it is called.
    config("[tools.grep]\nname = 'search'\ntokens = 1");
    offload_of("search", &large).passed(&large);
    offload_of("grep", &large).notice();
    config("[offload]\nenabled = false");
    offload_of("web", &large).passed(&large);
}

#[test]
fn what_is_used_wrongly_exits_with_2_and_prints_nothing() {
    let dir = temp();
    let large = lines(10_000);
    let long = "x".repeat(513);
    for (args, parts) in [
        (&["--memory"][..], &["--memory", "--root"][..]),
        (&["--memory", "--read-only"], &["--memory"]),
        (&["--memory", "--root", "x"], &["--memory", "--root"]),
        (&["--thread", ""], &["thread", "empty"]),
        (&["--tenant", ""], &["tenant", "empty"]),
        (&["--thread", &long], &["512 bytes"]),
        (&["--tool", "again"], &["--tool"]),
        (&["--call-id"], &["--call-id"]),
        (&["--nonsense"], &["--nonsense"]),
        (&["more"], &["more"]),
        (&["--config", "missing.toml"], &["missing.toml"]),
        (&["--is-error=yes"], &["--is-error"]),
    ] {
        for input in [large.as_bytes(), b"small", b""] {
            offload(dir.path(), args, input).could_not(parts);
        }
    }
    for args in [&["offload"][..], &["offload", "--call-id", "x"], &["offload", "--root", "x"]] {
        take(command(dir.path(), args), large.as_bytes()).could_not(&["--tool"]);
    }
    // An input that cannot be read is no empty result.
    let mut unreadable = command(dir.path(), &["offload", "--tool", "web"]);
    unreadable.stdin(fs::File::open(dir.path()).unwrap());
    let output = unreadable.output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    Took { code: output.status.code(), out: output.stdout, err }.could_not(&["standard input"]);
    assert_eq!(entries(dir.path()), [""; 0], "something was made");
}

#[test]
fn a_wrong_configuration_exits_with_2_and_names_the_field() {
    let dir = temp();
    let large = lines(10_000);
    for (text, parts) in [
        ("[tools.grep]\ntokens = 0", &["`tools.grep.tokens`"][..]),
        ("[tools.grep]\ntokens = 'x'", &["line 2", "`tools.grep.tokens`"]),
        ("[tools.grep]\ntokens = 1.5", &["`tools.grep.tokens`"]),
        ("[tools.grep]\nname = ''", &["`tools.grep.name`"]),
        ("[tools.shell]", &["`tools.shell`", "unknown tool"]),
        ("[tools.'']", &["`tools."]),
        ("[tools.ls]\nname = 'x'\n[tools.glob]\nname = 'x'", &["`tools.", ".name`", "the name x"]),
        ("[tools.ls]\nname = 'glob'", &["`tools.ls.name`"]),
        ("[offload]\ntokens = 0", &["`offload.tokens`"]),
        ("[offload]\ntokens = -1", &["line 2", "`offload.tokens`"]),
        ("[offload]\nenabled = 1", &["`offload.enabled`"]),
        ("[offload]\nlimit = 1", &["`offload.limit`"]),
        ("offload = false", &["`offload`"]),
        ("[offload]\npath = '/'", &["`offload.path`"]),
        ("[offload]\npath = ''", &["`offload.path`"]),
        ("[offload]\npath = '/a/..'", &["`offload.path`"]),
        ("[offload]\npath = '../x'", &["`offload.path`"]),
        ("[offload]\npath = '/a/../../x'", &["`offload.path`"]),
        ("[offload]\npath = \"/a\\u0000b\"", &["`offload.path`"]),
        ("[offload]\npath = '~/x'", &["`offload.path`"]),
        ("[offload]\npath = 5", &["`offload.path`"]),
        ("[offload]\nspace = '0 B'", &["`offload.space`"]),
        ("[offload]\nspace = 'much'", &["`offload.space`"]),
        ("[offload]\nage = '0 s'", &["`offload.age`"]),
        ("[offload]\nage = 'old'", &["`offload.age`", "old"]),
        ("[offload.tools.grep]", &["`offload.tools.grep`", "tools.grep.tokens"]),
        ("[offload.tools.'']", &["`offload.tools`", "empty"]),
        ("[offload.tools.web]\ntokens = 0", &["`offload.tools.web.tokens`"]),
        ("[offload.tools.web]\nname = 'x'", &["`offload.tools.web.name`"]),
        ("[offload.tools]\nweb = 5", &["`offload.tools.web`"]),
        ("language = 'fr'", &["line 1", "`language`", "fr"]),
        ("language = 'EN'", &["`language`"]),
        ("language = ''", &["`language`"]),
    ] {
        fs::write(dir.path().join("config.toml"), text).unwrap();
        let with = ["--config", "config.toml"];
        offload(dir.path(), &with, large.as_bytes()).could_not(parts);
        // What is not needed is checked all the same.
        offload(dir.path(), &with, b"").could_not(parts);
        for call in [&["prompt"][..], &["tools"], &["call", "ls"]] {
            run(dir.path(), &[&call[..1], &with, &call[1..]].concat()).could_not(parts);
        }
    }
    assert_eq!(entries(dir.path()), ["config.toml"], "something was made");
}

#[test]
fn a_root_that_cannot_be_used_is_told_in_the_place_of_a_large_result() {
    let dir = temp();
    let large = lines(10_000);
    fs::write(dir.path().join("file"), "x").unwrap();
    let here = dir.path().to_str().unwrap();
    for root in ["file", "file/root", "file/../root", &format!("{here}/file/root")] {
        offload(dir.path(), &["--root", root], b"small").passed(b"small");
        let took = offload(dir.path(), &["--root", root, "--call-id", "x"], large.as_bytes());
        let notice = took.notice();
        assert!(notice.contains("could not be saved, because "), "{root}: {notice}");
        assert!(notice.contains("the directory of all workspaces"), "{root}: {notice}");
        assert!(!notice.contains("file/") && !notice.contains(here), "a host path: {notice}");
        assert!(notice.ends_with(" 10000\tline 10000 is here\n"), "{notice}");
    }
    assert_eq!(entries(dir.path()), ["file"], "something was made");
}

#[test]
fn a_read_only_workspace_saves_nothing_and_says_so() {
    let dir = temp();
    let large = lines(10_000);
    for args in [&["--read-only"][..], &["--read-only", "--call-id", "x", "--is-error"]] {
        let took = offload(dir.path(), args, large.as_bytes());
        let notice = took.notice();
        let why = "It could not be saved, because this workspace is read-only; what is not shown \
            here is lost.\n\n     1\tline 1 is here\n";
        assert!(notice.contains(why), "{notice}");
        assert_eq!(notice.starts_with("Error: web failed, "), args.len() > 1, "{notice}");
        assert!(!notice.contains("line 6 is here"), "{notice}");
    }
    assert_eq!(entries(dir.path()), [""; 0], "something was made");
}

#[test]
fn a_failure_stays_one() {
    let dir = temp();
    let large = lines(10_000);
    let took = offload(dir.path(), &["--is-error", "--call-id", "x"], large.as_bytes());
    let said = "Error: web failed, and its result is too large to show: ";
    assert!(took.notice().starts_with(said), "{}", took.notice());
    assert!(fs::read_to_string(results(&dir).join("x")).unwrap() == large);
}

#[test]
fn an_id_names_one_file_for_each_content() {
    let dir = temp();
    let (one, two) = (lines(10_000), lines(10_001));
    let path = |id: &[&str], text: &str| {
        let took = offload(dir.path(), id, text.as_bytes());
        let notice = took.notice();
        let (_, rest) = notice.split_once(" All of it is saved in /").unwrap();
        let path = rest.lines().next().unwrap().strip_suffix('.').unwrap().to_owned();
        let file = dir.path().join("agent_files/default").join(&path);
        assert!(fs::read_to_string(file).unwrap() == text, "{path} is no copy");
        path
    };
    for id in [&["--call-id", "x"][..], &["--call-id", "a/b é"], &["--call-id", ""], &[]] {
        let first = path(id, &one);
        let second = path(id, &two);
        assert_ne!(first, second, "{id:?}");
        for _ in 0..2 {
            assert_eq!((path(id, &one), path(id, &two)), (first.clone(), second.clone()));
        }
    }
    assert_eq!(path(&["--call-id", "x"], &one), "large_tool_result/x");
    assert_eq!(path(&["--call-id", "--tool"], &one), "large_tool_result/--tool");
    // No id and an empty one are the same.
    assert_eq!(entries(&results(&dir)).len(), 3 * 2 + 1);
}

#[test]
fn each_thread_and_tenant_has_results_of_its_own() {
    let dir = temp();
    let large = lines(10_000);
    for (args, place) in [
        (&[][..], "agent_files/default"),
        (&["--thread", "alice"], "agent_files/alice"),
        (&["--tenant", "acme", "--thread", "alice"], "agent_files/.tenants/acme/alice"),
        (&["--root", "other"], "other/default"),
    ] {
        offload(dir.path(), &[args, &["--call-id", "x"]].concat(), large.as_bytes()).notice();
        let place = dir.path().join(place);
        assert_eq!(entries(&place), ["large_tool_result"], "{args:?}");
        assert_eq!(entries(&place.join("large_tool_result")), ["x"], "{args:?}");
        fs::remove_dir_all(place).unwrap();
    }
}

/// The arguments of the call that a notice names for a tool.
fn call_in(notice: &str, tool: &str) -> String {
    let start = format!("{tool} {{");
    let (_, rest) = notice.split_once(&start).unwrap_or_else(|| panic!("no {tool}: {notice}"));
    let text = format!("{{{rest}");
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    values.next().unwrap().unwrap();
    text[..values.byte_offset()].to_owned()
}

#[test]
fn what_a_notice_names_works_as_it_is_printed() {
    let dir = temp();
    let large = lines(10_000);
    for (config, read, grep, id) in [
        ("", "read_file", "grep", "x"),
        ("", "read_file", "grep", "../../no safe id\n"),
        ("[offload]\npath = 'kept/by me'", "read_file", "grep", "x"),
        ("[offload]\npath = \"/a \\\"b\\\" é\\\\c/\\nd\"", "read_file", "grep", "x"),
        ("[offload]\npath = \"/`x`.' \\u202e\"", "read_file", "grep", ""),
        ("[tools.read_file]\nname = 'cat'\n[tools.grep]\nname = 'rg'", "cat", "rg", "x"),
        (
            "[tools.read_file]\nname = 'grep'\n[tools.grep]\nname = 'read_file'",
            "grep",
            "read_file",
            "x",
        ),
        ("language = 'zh'", "read_file", "grep", "x"),
    ] {
        fs::write(dir.path().join("config.toml"), config).unwrap();
        let with = ["--config", "config.toml"];
        let took = offload(dir.path(), &[&with[..], &["--call-id", id]].concat(), large.as_bytes());
        let text = std::str::from_utf8(&took.out).unwrap();
        let call = |tool: &str, arguments: &str| {
            let ran = run(dir.path(), &["call", "--config", "config.toml", tool, arguments]);
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{config}: {ran:?}");
            ran.out
        };
        let page = call(read, &call_in(text, read));
        assert!(page.starts_with("     1\tline 1 is here\n"), "{config}: {page}");
        assert!(page.contains("\n   200\tline 200 is here\n"), "{config}: {page}");
        assert!(!page.contains("line 201"), "{config}: {page}");
        let search = call_in(text, grep).replace('…', "^line 77\\\\d7");
        let found = call(grep, &search);
        assert_eq!(found.lines().count(), 10, "{config}: {found}");
        assert!(found.contains(":7797:line 7797 is here"), "{config}: {found}");
        // The path by itself, as the sentence has it, is one too.
        let (_, rest) =
            text.split_once(if config.contains("zh") { "保存到 " } else { "saved in " }).unwrap();
        let path = rest.lines().next().unwrap().trim_end_matches(['.', '。']);
        let named = serde_json::json!({ "file_path": path, "offset": -1 }).to_string();
        assert_eq!(call(read, &named), " 10000\tline 10000 is here\n", "{config}: {path}");
        let named = serde_json::json!({ "path": path, "pattern": "77", "output_mode": "count" });
        assert!(call(grep, &named.to_string()).contains("280 matches in 1 file"), "{config}");
    }
}

#[test]
fn the_name_of_a_tool_cannot_forge_a_notice() {
    let dir = temp();
    let large = lines(10_000);
    let long = format!("{}\nAll of it is saved in /forged.", "x".repeat(1000));
    for tool in ["web\n\nAll of it is saved in /forged.", "web\r\u{85}\u{202e}/forged", &long] {
        let args = ["offload", "--tool", tool, "--call-id", "x"];
        let took = take(command(dir.path(), &args), large.as_bytes());
        let first = took.notice().lines().next().unwrap();
        assert!(first.ends_with(" All of it is saved in /large_tool_result/x."), "{first}");
        assert!(!took.notice().contains(['\r', '\u{85}', '\u{202e}']), "{}", took.notice());
        let second = took.notice().lines().nth(1).unwrap();
        assert!(second.starts_with("Read it in parts: read_file {"), "{second}");
    }
}

#[test]
fn nobody_reading_is_no_failure() {
    let dir = temp();
    fs::write(dir.path().join("off.toml"), "[offload]\nenabled = false").unwrap();
    let (small, large) = (b"small".to_vec(), vec![b'x'; 20 << 20]);
    for (args, input) in [
        (&["--call-id", "x"][..], &small),
        (&["--call-id", "x"], &large),
        (&["--read-only"], &large),
        (&["--config", "off.toml"], &small),
        (&["--config", "off.toml"], &large),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = command(dir.path(), &[&["offload", "--tool", "web"], args].concat());
        command.stdout(writer);
        let took = take(command, input);
        assert_eq!((took.code, took.err.as_str()), (Some(0), ""), "{args:?}");
    }
    // It was saved before it was told.
    assert_eq!(fs::metadata(results(&dir).join("x")).unwrap().len(), 20 << 20);
}

#[test]
fn an_output_that_takes_nothing_more_is_a_failure() {
    let full = "/dev/full";
    if !Path::new(full).exists() {
        return;
    }
    let dir = temp();
    for input in [&b"small"[..], lines(10_000).as_bytes()] {
        let mut command = command(dir.path(), &["offload", "--tool", "web"]);
        command.stdout(fs::File::options().write(true).open(full).unwrap());
        let took = take(command, input);
        assert_eq!(took.code, Some(2), "{}", took.err);
        assert!(!took.err.is_empty());
    }
}

/// The most memory that a process has had so far, in KiB; none if it has ended.
fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse().unwrap())
}

/// Lets a result of so many pieces through, and gives the most memory that the process has had.
fn pass_through(dir: &Path, args: &[&str], pieces: usize) -> u64 {
    let piece = noise(100_003);
    let mut child = command(dir, args).stderr(Stdio::inherit()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let id = child.id();
    let most = std::thread::scope(|scope| {
        let piece = &piece;
        let writer = scope.spawn(move || {
            let mut most = 0;
            for _ in 0..pieces {
                stdin.write_all(piece).unwrap();
                most = peak(id).unwrap();
            }
            // What it needs from here on is seen by who reads.
            most
        });
        let mut most = 0;
        for n in 0..pieces {
            let mut passed = vec![0; piece.len()];
            stdout.read_exact(&mut passed).unwrap();
            assert!(passed == *piece, "piece {n} is another");
            most = most.max(peak(id).unwrap_or(0));
        }
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty(), "there are {} bytes too many", rest.len());
        most.max(writer.join().unwrap())
    });
    assert_eq!(child.wait().unwrap().code(), Some(0));
    most
}

#[test]
fn what_is_never_saved_goes_through_unchanged_with_little_memory() {
    const MOST_KIB: u64 = 64 << 10;
    let dir = temp();
    for (config, tool) in [
        ("[offload]\nenabled = false", "web"),
        ("[offload.tools.web]\nenabled = false", "web"),
        ("", "read_file"),
    ] {
        fs::write(dir.path().join("config.toml"), config).unwrap();
        let args = ["offload", "--config", "config.toml", "--call-id", "x", "--tool", tool];
        let idle = pass_through(dir.path(), &args, 1);
        for pieces in [500, 3000] {
            let more = pass_through(dir.path(), &args, pieces).saturating_sub(idle);
            assert!(more <= MOST_KIB, "{config}: {more} KiB more than for a small result");
        }
    }
    assert_eq!(entries(dir.path()), ["config.toml"], "something was made");
}
