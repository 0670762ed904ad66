//! The commands, one file each.

pub(crate) mod batch;
pub(crate) mod call;
pub(crate) mod component;
pub(crate) mod tools;
