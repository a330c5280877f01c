//! The tables of the guide match the registry.

use std::path::Path;

use aqm::registry::Listing;
use aqm::{ParameterInfo, Preset};
use headgate_traffic::registry::{ENTRIES, SourceEntry};

/// From this crate to the guide.
const GUIDE: &str = "../../docs/guide/traffic.md";

#[test]
fn the_tables_of_the_guide_are_those_of_the_registry() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(GUIDE);
    let written = std::fs::read_to_string(&file).unwrap();
    let filled = filled(
        &filled(&written, "sources", &sources()),
        "parameters",
        &ENTRIES.iter().map(section).collect::<String>(),
    );
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        return std::fs::write(&file, filled).unwrap();
    }
    assert!(written == filled, "the tables of {GUIDE} have moved; if that is right, `make docs`");
}

/// `page` with `text` between the markers of `name`.
fn filled(page: &str, name: &str, text: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n"));
    let (before, rest) = page.split_once(&open).unwrap_or_else(|| panic!("{GUIDE} has no {open}"));
    let (_, after) = rest.split_once(&close).unwrap_or_else(|| panic!("{GUIDE} has no {close}"));
    format!("{before}{open}\n{}\n\n{close}{after}", text.trim())
}

fn sources() -> String {
    let mut table = String::from("| source | what it sends | over | from |\n| --- | --- | --- | --- |\n");
    for SourceEntry { listing: Listing { name, summary, citation, .. }, protocols } in ENTRIES {
        let over: Vec<&str> = protocols.iter().map(|protocol| protocol.name()).collect();
        table += &format!("| [`{name}`](#{name}) | {summary} | {} | {citation} |\n", over.join(", "));
    }
    table
}

fn section(entry: &SourceEntry) -> String {
    let mut text =
        format!("### `{}`\n\n| parameter | meaning | takes | default |\n| --- | --- | --- | --- |\n", entry.name);
    for ParameterInfo { name, doc, kind, default, range, .. } in entry.fields() {
        let takes = if range.is_empty() { kind } else { format!("{kind}: {range}") };
        let default = if default.is_empty() { "none".to_string() } else { format!("`{default}`") };
        text += &format!("| `{name}` | {doc} | {takes} | {default} |\n");
    }
    text += "\n| preset | whose values | settings |\n| --- | --- | --- |\n";
    for Preset { name, about, settings } in entry.presets() {
        let settings: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let settings = if settings.is_empty() { "the defaults".into() } else { format!("`{}`", settings.join(",")) };
        text += &format!("| `{name}` | {about} | {settings} |\n");
    }
    text + "\n"
}
