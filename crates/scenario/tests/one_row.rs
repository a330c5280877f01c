//! Code names a congestion controller only in its row, its own file and its tests.

use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust source below `folder`.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.extend((path.extension() == Some("rs".as_ref())).then_some(path)),
        }
    }
}

/// The variants of `Cc` that a line of code names.
fn named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let uses = code.match_indices("Cc::").filter(|(at, _)| !code[..*at].ends_with(char::is_alphanumeric));
    let word = |at: usize| code[at..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let variants = uses.map(|(at, _)| word(at + 4)).filter(|word| word.chars().any(char::is_lowercase));
    variants.filter(|word| word.starts_with(char::is_uppercase)).collect()
}

#[test]
fn no_code_names_a_controller_except_its_row_and_its_own_file() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for krate in ["core", "traffic", "scenario", "measure", "sim", "live", "py"] {
        sources(&crates.join(krate).join("src"), &mut files);
    }
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            // The default controller has to be named.
            let default = line.trim_start().starts_with("cc: ");
            if !default && (!named(line).is_empty() || line.contains("UdpCc::Tfrc")) {
                found.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "ask `Cc::needs` instead of naming a controller:\n{}", found.join("\n"));
}
