//! The log of tests that did not run, for want of a program or a permission.
//!
//! libtest has no way to skip a test while it runs, so such a test counts as passed. It calls [`skip`] instead of returning
//! silently. `make test` ends with a line that counts the log's entries, and CI refuses an entry without a stated reason.

#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;

/// Environment variable: the file to which each skipped test appends a line of JSON. `tests/skips.py` reads it.
const LOG: &str = "HEADGATE_SKIPPED";

/// Logs that a test, or a part of it, does not run because `need` is not met. `need` is a name of `tests/needs.py`.
///
/// # Panics
/// If the log cannot be written.
#[track_caller]
pub fn skip(need: &str) {
    let place = std::panic::Location::caller();
    let thread = std::thread::current();
    let test = format!("{}:{} {}", place.file(), place.line(), thread.name().unwrap_or(""));
    eprintln!("skipped: {test} needs {need}");
    if let Some(log) = std::env::var_os(LOG) {
        let entry = serde_json::json!({ "test": test.trim_end(), "needs": [need] });
        // One write of a short line: programs that run at the same time do not mix theirs.
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .and_then(|mut file| file.write_all(format!("{entry}\n").as_bytes()));
        written.unwrap_or_else(|error| panic!("{LOG}={}: {error}", log.display()));
    }
}

/// Whether a program is installed. If not, logs that the test does not run for want of `need`.
#[track_caller]
pub fn has(program: &str, need: &str) -> bool {
    // `ip` and `tc` know -V alone, Go neither option: what counts is that the program starts.
    let found = Command::new(program).arg("-V").output().is_ok();
    if !found {
        skip(need);
    }
    found
}
