use crate::export::Component;

#[cfg(not(feature = "write"))]
wit_bindgen::generate!({
    world: "read-tools",
    path: "../../wit",
    with: { "handhold:fs/types@0.1.0": handhold_core::types },
    pub_export_macro: true,
});

#[cfg(feature = "write")]
wit_bindgen::generate!({
    world: "file-tools",
    path: "../../wit",
    with: { "handhold:fs/types@0.1.0": handhold_core::types },
    pub_export_macro: true,
});

export!(Component);
