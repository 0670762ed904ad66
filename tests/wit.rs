//! Rules that the WIT keeps: everything is documented and gated, and every error ends openly.

use std::path::Path;

use wit_parser::{Resolve, Stability, TypeDefKind, TypeOwner, WorldItem};

fn resolve() -> (Resolve, wit_parser::PackageId) {
    let mut resolve = Resolve::default();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let (package, _) = resolve.push_dir(dir).expect("the WIT is valid");
    (resolve, package)
}

fn check(what: &str, docs: Option<&str>, stability: &Stability) {
    assert!(docs.is_some_and(|docs| docs.trim().ends_with('.')), "{what} is not documented");
    assert!(*stability != Stability::Unknown, "{what} is not gated");
}

#[test]
fn every_item_is_documented_and_gated() {
    let (resolve, package) = resolve();
    let package = &resolve.packages[package];
    assert!(package.docs.contents.is_some());
    for (name, interface) in &package.interfaces {
        let interface = &resolve.interfaces[*interface];
        check(name, interface.docs.contents.as_deref(), &interface.stability);
        for (item, function) in &interface.functions {
            check(
                &format!("{name}.{item}"),
                function.docs.contents.as_deref(),
                &function.stability,
            );
        }
        for (item, id) in &interface.types {
            let ty = &resolve.types[*id];
            let named = format!("{name}.{item}");
            assert!(matches!(ty.owner, TypeOwner::Interface(_)));
            // What another interface has documented is only used here.
            if !matches!(ty.kind, TypeDefKind::Type(wit_parser::Type::Id(_))) {
                check(&named, ty.docs.contents.as_deref(), &ty.stability);
            }
            check_parts(&named, &ty.kind);
        }
    }
    for (name, world) in &package.worlds {
        let world = &resolve.worlds[*world];
        check(name, world.docs.contents.as_deref(), &world.stability);
        for item in world.imports.values().chain(world.exports.values()) {
            if let WorldItem::Interface { stability, .. } = item {
                assert!(*stability != Stability::Unknown, "an item of {name} is not gated");
            }
        }
    }
}

fn check_parts(named: &str, kind: &TypeDefKind) {
    let parts: Vec<(&String, Option<&String>)> = match kind {
        TypeDefKind::Record(record) => {
            record.fields.iter().map(|field| (&field.name, field.docs.contents.as_ref())).collect()
        }
        TypeDefKind::Variant(variant) => {
            variant.cases.iter().map(|case| (&case.name, case.docs.contents.as_ref())).collect()
        }
        TypeDefKind::Enum(choices) => {
            choices.cases.iter().map(|case| (&case.name, case.docs.contents.as_ref())).collect()
        }
        _ => Vec::new(),
    };
    for (part, docs) in parts {
        assert!(
            docs.is_some_and(|docs| docs.trim().ends_with('.')),
            "{named}.{part} is not documented"
        );
    }
}

#[test]
fn functions_that_can_fail_say_so() {
    let (resolve, package) = resolve();
    let infallible = [
        "[method]toolbox.definitions",
        "[method]toolbox.prompt",
        "[method]toolbox.call",
        "[method]output.push",
        "[method]output.next-block",
        "[method]output.media",
        "[method]output.finish",
    ];
    for interface in resolve.packages[package].interfaces.values() {
        for (name, function) in &resolve.interfaces[*interface].functions {
            let fallible = matches!(
                function.result,
                Some(wit_parser::Type::Id(id))
                    if matches!(resolve.types[id].kind, TypeDefKind::Result(_))
            );
            assert!(fallible || infallible.contains(&name.as_str()), "{name} cannot fail");
        }
    }
}

#[test]
fn errors_end_with_a_case_for_everything_else() {
    let (resolve, package) = resolve();
    let types = resolve.packages[package].interfaces["types"];
    let id = resolve.interfaces[types].types["error-code"];
    let TypeDefKind::Variant(variant) = &resolve.types[id].kind else { panic!("no variant") };
    let last = variant.cases.last().expect("the variant has cases");
    assert_eq!(last.name, "other");
    assert!(last.ty.is_some());
}

/// A list can be asked for in parts: what asks for one has a limit.
#[test]
fn lists_are_bounded() {
    let (resolve, package) = resolve();
    let types = resolve.packages[package].interfaces["types"];
    let types = &resolve.interfaces[types].types;
    for request in ["read-request", "glob-request", "grep-request"] {
        let TypeDefKind::Record(record) = &resolve.types[types[request]].kind else {
            panic!("{request} is no record");
        };
        for field in ["offset", "limit", "max-bytes"] {
            assert!(record.fields.iter().any(|f| f.name == field), "{request} has no {field}");
        }
    }
}
