//! What Wasmtime makes of the WIT.

wasmtime::component::bindgen!({
    path: "../wit",
    world: "file-tools",
    imports: { default: async },
    exports: { default: async },
    with: {
        "handhold:fs/types@0.1.0": crate::bindings::types,
        "handhold:fs/writer.draft": crate::state::OpenDraft,
    },
});

/// The interface `types`: its records are those of `handhold_core`, and it has no functions, so
/// that there is nothing to link.
#[expect(dead_code, unreachable_pub, reason = "generated code names all of this and calls none")]
pub mod types {
    pub use handhold_core::types::*;
    use wasmtime::component::{HasData, Linker};

    pub trait Host {}
    impl<T: ?Sized> Host for T {}

    pub trait HostWithStore<T> {}
    impl<T, D: ?Sized> HostWithStore<T> for D {}

    #[expect(clippy::unnecessary_wraps, reason = "the form of a generated function")]
    pub fn add_to_linker<T, D: HasData>(
        _: &mut Linker<T>,
        _: fn(&mut T) -> D::Data<'_>,
    ) -> wasmtime::Result<()> {
        Ok(())
    }
}
