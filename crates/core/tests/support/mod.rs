//! Golden files: what was once looked at and found right.

use std::path::Path;

/// Compares `text` with the file at `path`, below the crate; with `BLESS=1` in the environment writes it instead.
/// Whoever blesses says in the commit why the text moved.
pub fn golden(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        return std::fs::write(&file, text).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let blessed =
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}; `make bless` writes it"));
    let moved: Vec<String> = changes(&blessed, text);
    assert!(moved.is_empty(), "{path} has moved; if that is right, `make bless`:\n{}", moved.join("\n"));
}

/// Lines that differ, old and new.
fn changes(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let line = |lines: &[&str], n: usize| lines.get(n).copied().unwrap_or("(none)").to_string();
    let differing = (0..old.len().max(new.len())).filter(|&n| old.get(n) != new.get(n));
    differing.map(|n| format!("line {}:\n  was {}\n  now {}", n + 1, line(&old, n), line(&new, n))).collect()
}
