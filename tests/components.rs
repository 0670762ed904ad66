//! What the components import: that is all they can do.

use handhold_artifact::{Artifact, FILE_TOOLS, READ_TOOLS};

/// The aim for the size of a component: small enough to ship with anything.
const MAX_BYTES: usize = 576 << 10;

fn imports(artifact: Artifact) -> Vec<&'static str> {
    artifact.imports.lines().collect()
}

#[test]
fn read_tools_imports_the_reader_and_nothing_to_write_with() {
    assert_eq!(imports(READ_TOOLS), ["handhold:fs/types@0.1.0", "handhold:fs/reader@0.1.0"]);
}

#[test]
fn file_tools_imports_reader_and_writer() {
    assert_eq!(
        imports(FILE_TOOLS),
        ["handhold:fs/types@0.1.0", "handhold:fs/reader@0.1.0", "handhold:fs/writer@0.1.0"]
    );
}

/// The list is made when the component is built; here it is read from the bytes once more.
#[test]
fn the_bytes_themselves_say_the_same() {
    for artifact in [READ_TOOLS, FILE_TOOLS] {
        let decoded = wit_component::decode(artifact.component).expect("a component");
        let wit_component::DecodedWasm::Component(resolve, world) = decoded else {
            panic!("not a component");
        };
        let world = &resolve.worlds[world];
        let names: Vec<String> =
            world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
        assert_eq!(names, imports(artifact), "{}", artifact.world);
        let exports: Vec<String> =
            world.exports.keys().map(|key| resolve.name_world_key(key)).collect();
        let wanted = ["handhold:fs/tools@0.1.0", "handhold:fs/results@0.1.0"];
        assert_eq!(exports, wanted, "{}", artifact.world);
        for name in names {
            assert!(!name.starts_with("wasi:"), "{} imports {name}", artifact.world);
        }
    }
}

/// A tool that writes is not in the component that reads, not even by name.
#[test]
fn read_tools_has_no_code_that_writes() {
    let has = |artifact: Artifact, text: &str| {
        artifact.component.windows(text.len()).any(|bytes| bytes == text.as_bytes())
    };
    for text in ["Replaced ", "Created ", "Deleted ", "Moved "] {
        assert!(has(FILE_TOOLS, text), "the search finds {text:?} where it is");
        assert!(!has(READ_TOOLS, text), "read-tools has {text:?}");
    }
}

#[test]
fn components_are_small() {
    for artifact in [READ_TOOLS, FILE_TOOLS] {
        let bytes = artifact.component.len();
        assert!(bytes <= MAX_BYTES, "{} has {bytes} bytes", artifact.world);
    }
}

/// The manifests keep the arrows: the rules depend on nothing of ours, the library on nothing but
/// the rules, and a host never on the guest.
#[test]
fn no_dependency_points_back() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let ours = |manifest: &str| -> Vec<String> {
        let text = std::fs::read_to_string(root.join(manifest)).expect("the manifest is there");
        let manifest: toml::Table = toml::from_str(&text).expect("the manifest is TOML");
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        let mut names: Vec<String> = dependencies
            .into_iter()
            .flat_map(toml::Table::keys)
            .filter(|name| name.starts_with("handhold"))
            .cloned()
            .collect();
        names.sort();
        names
    };
    assert!(ours("guest/core/Cargo.toml").is_empty());
    assert!(ours("guest/artifact/Cargo.toml").is_empty());
    assert_eq!(ours("guest/tools/Cargo.toml"), ["handhold-core"]);
    assert_eq!(ours("host/Cargo.toml"), ["handhold-core"]);
    assert_eq!(ours("host/cli/Cargo.toml"), ["handhold", "handhold-artifact"]);
    assert!(ours("xtask/Cargo.toml").is_empty());
}
