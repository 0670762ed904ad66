//! Every data case on every front end: one trial each, named `front end::tool/case`.

use std::path::{Path, PathBuf};

use handhold_conformance::case::Case;
use handhold_conformance::front_ends::ALL;
use handhold_conformance::run::run;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files = Vec::new();
    find(&cases, &mut files);
    files.sort();
    let mut trials = Vec::new();
    for file in files {
        let name = file
            .strip_prefix(&cases)
            .expect("a case is beneath the cases")
            .with_extension("")
            .to_string_lossy()
            .into_owned();
        let case = match Case::load(&file) {
            Ok(case) => case,
            Err(error) => {
                let message = format!("{error:#}");
                trials.push(Trial::test(name, move || Err(Failed::from(message))));
                continue;
            }
        };
        for front_end in ALL {
            if case.needs.iter().any(|need| !front_end.can(need)) {
                continue;
            }
            let case = case.clone();
            trials.push(Trial::test(format!("{}::{name}", front_end.name()), move || {
                run(&case, *front_end).map_err(|error| Failed::from(format!("{error:#}")))
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn find(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("the cases can be read") {
        let path = entry.expect("the cases can be read").path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
}
