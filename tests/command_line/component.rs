//! The component itself, and the help.

use std::fs;

use crate::process::*;

#[test]
fn a_component_is_printed_or_written_and_shows_its_imports() {
    let dir = temp();
    let imports = "handhold:fs/types@0.1.0\nhandhold:fs/reader@0.1.0\n";
    run(dir.path(), &["component", "read-tools", "--imports"]).printed(0, imports);
    let imports = format!("{imports}handhold:fs/writer@0.1.0\n");
    run(dir.path(), &["component", "file-tools", "--imports"]).printed(0, &imports);
    for world in ["read-tools", "file-tools"] {
        run(dir.path(), &["component", world, "-o", "a.wasm"]).printed(0, "");
        let written = fs::read(dir.path().join("a.wasm")).unwrap();
        assert!(written.starts_with(b"\0asm\x0d\0\x01\0"), "it is no component");
        let output = command(dir.path(), &["component", world]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout == written, "{world} is another when it is printed");
    }
    assert_eq!(entries(dir.path()), ["a.wasm"]);
}

#[test]
fn help_names_every_command() {
    let dir = temp();
    let help = run(dir.path(), &["--help"]);
    assert_eq!((help.code, &*help.err), (Some(0), ""));
    for name in ["call", "batch", "offload", "tools", "prompt", "component"] {
        assert!(help.out.contains(&format!("\n  {name} ")), "{}", help.out);
        let own = run(dir.path(), &[name, "--help"]);
        assert_eq!((own.code, &*own.err), (Some(0), ""));
        assert!(own.out.contains(&format!("Usage: handhold {name}")), "{}", own.out);
    }
    let version = run(dir.path(), &["--version"]);
    version.printed(0, concat!("handhold ", env!("CARGO_PKG_VERSION"), "\n"));
}
