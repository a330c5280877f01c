//! `include/aqm.h` is what cbindgen makes of the source. `BLESS=1` writes it.

use std::path::Path;

#[test]
fn the_header_is_what_the_source_declares() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(home.join("cbindgen.toml")).expect("the settings can be read");
    let mut made = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(home.join("src/lib.rs"))
        .generate()
        .expect("the source has what C can use")
        .write(&mut made);
    let made = String::from_utf8(made).expect("a header is text");
    let made = without_safety(&made);
    let header = home.join("include/aqm.h");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&header, &made).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&header).unwrap_or_default();
    assert!(
        committed == made,
        "{} is stale: `BLESS=1 cargo test -p headgate-capi --test all header`",
        header.display()
    );
}

/// The header without Rust's sections on safety, whose words are for this crate, and without blank ends of comments.
fn without_safety(header: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut skipping = false;
    for line in header.lines() {
        skipping = line.trim() == "// # Safety" || skipping && line.starts_with("//");
        if skipping && lines.last().is_some_and(|last| last.trim() == "//") {
            lines.pop();
        }
        if !skipping {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}
