//! Shared directories: one kept from changes by another view of it, links between them, and several
//! threads in one.

mod circles;
mod races;
mod read_only;
mod together;

use serde_json::{Value, json};

use crate::site::{Site, plant};

/// What stands in the files of `/ro`, and nowhere else.
const SHARED: &str = "SHARED";

/// `/ro` and `/rw` show one directory, `/notes` and `/twin` another.
fn site() -> Site {
    let site = Site::with_mounts(&[
        ("/ro", "shared", true),
        ("/rw", "shared", false),
        ("/notes", "notes", false),
        ("/twin", "notes", false),
    ]);
    plant(&site.base("shared"), SHARED);
    plant(&site.base("notes"), "inside");
    site
}

/// The arguments of a move over whatever is there.
fn moved(source: &str, destination: &str) -> Value {
    json!({ "source": source, "destination": destination, "overwrite": true })
}
