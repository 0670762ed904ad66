//! The commands, one file each.

pub(crate) mod batch;
pub(crate) mod call;
pub(crate) mod component;
pub(crate) mod offload;
pub(crate) mod prompt;
pub(crate) mod threads;
pub(crate) mod tools;
