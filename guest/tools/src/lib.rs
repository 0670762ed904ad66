//! The handhold component: the tools of `handhold-core` over an imported backend.
//!
//! Two worlds are built from this crate: `read-tools`, and with the feature `write` `file-tools`.
//! There is nothing here but the boundary; rules and tools are in `handhold-core`.

#![cfg(target_family = "wasm")]

mod backend;
#[expect(unsafe_code, reason = "the component ABI needs exported functions with raw pointers")]
#[expect(unreachable_pub, reason = "generated; the WIT is the documentation")]
mod bindings;
mod export;
