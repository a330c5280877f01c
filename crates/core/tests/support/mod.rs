//! Golden files: recorded output that a reviewer has approved.

use std::path::Path;

/// Compares `text` with the file at `path` in the crate. With `BLESS=1` in the environment, as `make {target}` sets it,
/// writes the file instead. The commit that blesses a change says why the text changed.
pub fn golden(path: &str, text: &str, target: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        return std::fs::write(&file, text).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let blessed =
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}; `make {target}` writes it"));
    let moved = changes(&blessed, text);
    assert!(moved.is_empty(), "{path} has moved; if that is right, `make {target}`:\n{moved}");
}

/// The lines from the first to the last difference, old before new.
fn changes(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    let part = |sign: &str, lines: &[&str]| -> String {
        lines[same..lines.len() - rest].iter().map(|line| format!("{sign} {line}\n")).collect()
    };
    part("-", &old) + &part("+", &new)
}
