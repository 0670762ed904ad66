//! The handhold components, built with this crate.
//!
//! A host takes these bytes; it does not depend on the guest.

/// A component and what it imports.
#[derive(Clone, Copy, Debug)]
pub struct Artifact {
    /// The world it is for.
    pub world: &'static str,
    /// The component.
    pub component: &'static [u8],
    /// The interfaces it imports, one a line.
    pub imports: &'static str,
}

/// Tools that can look and not touch.
pub const READ_TOOLS: Artifact = Artifact {
    world: "read-tools",
    component: include_bytes!(concat!(env!("OUT_DIR"), "/read-tools.wasm")),
    imports: include_str!(concat!(env!("OUT_DIR"), "/read-tools.imports")),
};

/// All file tools.
pub const FILE_TOOLS: Artifact = Artifact {
    world: "file-tools",
    component: include_bytes!(concat!(env!("OUT_DIR"), "/file-tools.wasm")),
    imports: include_str!(concat!(env!("OUT_DIR"), "/file-tools.imports")),
};
