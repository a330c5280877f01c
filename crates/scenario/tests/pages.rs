//! Files generated from the schema are up to date: the guide's tables, Python's keywords, the JSON Schema.

use std::ops::Bound;
use std::path::Path;

use aqm::params::range_in_words;
use headgate_scenario::{FOREIGN_NAMES, Key, keys};

const GUIDE: &str = "../../docs/guide/scenarios.md";
const PYTHON: &str = "../../python/headgate/build/keys.py";
const JSON: &str = "../../docs/reference/scenario.schema.json";

/// Keys with a table of their own, shared by both kinds of groups.
const HEADERS: [&str; 6] = ["source", "destination", "source_port", "destination_port", "dscp", "label"];

/// Top-level keys that are not keywords in Python: objects with their own classes, and keys that other commands read.
const NO_KEYWORDS: [&str; 7] = ["link", "tcp", "udp", "class", "qdiscs", "sweep", "expect"];

/// Keys that only `[[link]]` requires.
const ENDS: [&str; 3] = ["name", "from", "to"];

/// Compares a file with the text that the schema gives, or writes it if `BLESS=1`.
fn golden(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        return std::fs::write(&file, expected).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == expected, "{path} is not what the schema says; if the schema is right, `make docs`");
}

/// The keys of the table at `path`.
fn table(path: &[&str]) -> Vec<Key> {
    path.iter().fold(keys(), |keys, name| {
        let key = keys.into_iter().find(|key| key.name == *name).unwrap_or_else(|| panic!("no key is called {name}"));
        (key.form.keys.unwrap_or_else(|| panic!("{name} is no table")))()
    })
}

/// A key's meaning, with its words, its range, and its release if that is not the first.
fn meaning(key: &Key) -> String {
    let words: Vec<&str> = key.form.words.split(", ").filter(|word| word.starts_with('"')).collect();
    let told = words.iter().all(|word| key.meaning.contains(word));
    let words: Vec<String> = words.iter().filter(|_| !told).map(|word| format!("`{word}`")).collect();
    let meaning = if words.is_empty() { key.meaning.clone() } else { format!("{}: {}", key.meaning, words.join(", ")) };
    let range = range_in_words(&(key.least.clone(), key.most.clone()));
    let since = if key.since == "0.1" { String::new() } else { format!("since {}", key.since) };
    [meaning, range, since].into_iter().filter(|part| !part.is_empty()).collect::<Vec<String>>().join("; ")
}

fn rows(keys: &[Key], with_profiles: bool) -> String {
    let head = if with_profiles {
        "| key | meaning | `rfc` | `ns2` | `linux` |\n| --- | --- | --- | --- | --- |\n"
    } else {
        "| key | meaning | default |\n| --- | --- | --- |\n"
    };
    format!("{head}{}", keys.iter().map(|key| row("", key, with_profiles)).collect::<String>())
}

/// A row of a table: the key, after the path of its section.
fn row(path: &str, key: &Key, with_profiles: bool) -> String {
    let same = |other: &String| !key.is_setting && *other == key.default && !other.is_empty();
    let others = [&key.ns2, &key.linux].map(|other| format!(" {} |", if same(other) { "the same" } else { other }));
    let others = if with_profiles { others.concat() } else { String::new() };
    format!("| `{path}{}` | {} | {} |{others}\n", key.name, meaning(key), key.default)
}

/// Rows for the keys of `[link.reverse]` whose default is not the link's.
fn reverse() -> String {
    let link = table(&["link"]);
    let is_own = |key: &Key| link.iter().all(|other| (other.name, &other.default) != (key.name, &key.default));
    let keys = table(&["link", "reverse"]).into_iter().filter(is_own);
    keys.map(|key| row("reverse.", &key, false)).collect()
}

/// `page` with `text` between the markers of `name`.
fn filled(page: &str, name: &str, text: &str) -> String {
    let (open, close) = (format!("<!-- keys: {name} -->\n"), format!("<!-- /keys: {name} -->\n"));
    let (before, rest) = page.split_once(&open).unwrap_or_else(|| panic!("{GUIDE} has no {open}"));
    let (_, after) = rest.split_once(&close).unwrap_or_else(|| panic!("{GUIDE} has no {close}"));
    format!("{before}{open}\n{text}\n{close}{after}")
}

#[test]
fn the_tables_of_the_guide_are_those_of_the_schema() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(GUIDE)).unwrap();
    let (headers, tcp): (Vec<Key>, Vec<Key>) = table(&["tcp"]).into_iter().partition(|key| HEADERS.contains(&key.name));
    let udp: Vec<Key> = table(&["udp"]).into_iter().filter(|key| !HEADERS.contains(&key.name)).collect();
    let names = HEADERS.map(|name| format!("`{name}`")).join(", ");
    let below = format!("| {names} | what the packets' headers say: [below](#headers) | |");
    let page = filled(&page, "top", &rows(&keys(), false));
    let page = filled(&page, "link", &format!("{}{}", rows(&table(&["link"]), false), reverse()));
    let page = filled(&page, "tcp", &format!("{}{below} | |\n", rows(&tcp, true)));
    let page = filled(&page, "udp", &format!("{}{below}\n", rows(&udp, false)));
    let page = filled(&page, "headers", &rows(&headers, false));
    let page = filled(&page, "classify", &rows(&table(&["classify"]), false));
    let page = filled(&page, "class", &rows(&table(&["class"]), false));
    golden(GUIDE, &filled(&page, "record", &rows(&table(&["record"]), false)));
}

/// A `TypedDict` of these keys.
fn class(name: &str, base: &str, about: &str, keys: impl IntoIterator<Item = Key>) -> String {
    let mut text = format!("\n\nclass {name}({base}, total=False):\n    \"\"\"{about}\"\"\"\n\n");
    for key in keys {
        let underscore = if key.name == "from" { "_" } else { "" };
        text += &format!("    {}{underscore}: {}\n", key.name, key.form.python);
    }
    text
}

/// Old names of keywords by class, as the text of a Python mapping.
fn old_names() -> String {
    let tables: [(&str, &[&str]); 9] = [
        ("AccessKeys", &["tcp", "access"]),
        ("StepKeys", &["link", "schedule"]),
        ("DirectionKeys", &["link", "reverse"]),
        ("LinkKeys", &["link"]),
        ("TcpKeys", &["tcp"]),
        ("UdpKeys", &["udp"]),
        ("ClassKeys", &["class"]),
        ("ClassifyKeys", &["classify"]),
        ("RecordKeys", &["record"]),
    ];
    let top = [keys(), table(&["link"])].concat();
    let tables =
        tables.into_iter().map(|(name, path)| (name, table(path))).chain([("TopKeys", keys()), ("DumbbellKeys", top)]);
    let mut text =
        "\n\n#: Names of keywords in the release before, by class.\nOLD_NAMES: Mapping[str, Mapping[str, str]] = {\n"
            .to_string();
    for (name, keys) in tables {
        let renamed = keys.iter().flat_map(|key| key.also.iter().map(|old| format!("\"{old}\": \"{}\"", key.name)));
        let renamed: Vec<String> = renamed.collect();
        if !renamed.is_empty() {
            text += &format!("    \"{name}\": {{{}}},\n", renamed.join(", "));
        }
    }
    text + "}\n"
}

/// Names of other tools for keywords, as the text of a Python mapping.
fn foreign_names() -> String {
    let names: String =
        FOREIGN_NAMES.iter().map(|(foreign, name)| format!("    \"{foreign}\": \"{name}\",\n")).collect();
    format!("\n#: Names that other tools use for our keywords.\nFOREIGN_NAMES: Mapping[str, str] = {{\n{names}}}\n")
}

#[test]
fn the_keywords_of_python_are_the_keys_of_the_schema() {
    let plain = |name: &str, about: &str, path: &[&str]| class(name, "TypedDict", about, table(path));
    let (ends, both): (Vec<Key>, Vec<Key>) = table(&["link"]).into_iter().partition(|key| ENDS.contains(&key.name));
    let top = keys().into_iter().filter(|key| !NO_KEYWORDS.contains(&key.name));
    let text = [
        "\"\"\"The keys of each section of a scenario file as keywords; `make docs` writes them from crates/scenario.\n\n\
         docs/guide/scenarios.md says what each means. A quantity is a text with its unit, as in a file, or a number in the unit\n\
         that its type names in quantities.py.\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from collections.abc import Mapping, Sequence\n\
         from typing import Any, TypedDict\n\n\
         from headgate.build.named import Qdisc, Traffic\n\
         from headgate.build.quantities import Rate, Room, Several, Size, Start, Time\n"
            .to_string(),
        plain("AccessKeys", "The access link of each flow: `access`, `sender` or `receiver`.", &["tcp", "access"]),
        plain("StepKeys", "One step of a schedule of rates.", &["link", "schedule"]),
        plain("DirectionKeys", "One direction of a link: `[link.reverse]`.", &["link", "reverse"]),
        class("BothDirections", "TypedDict", "Both directions of a link: `[link]`.", both),
        class("LinkKeys", "BothDirections", "`[[link]]`; `from` is written `from_`.", ends),
        plain("TcpKeys", "`[[tcp]]`.", &["tcp"]),
        plain("UdpKeys", "`[[udp]]`.", &["udp"]),
        plain("ClassKeys", "`[[class]]`.", &["class"]),
        plain("ClassifyKeys", "`[classify]`.", &["classify"]),
        plain("RecordKeys", "`[record]`.", &["record"]),
        class("TopKeys", "TypedDict", "The keys at the top of a file, `[classify]` and `[record]`.", top),
        "\n\nclass DumbbellKeys(TopKeys, BothDirections, total=False):\n    \"\"\"The keywords of `Dumbbell`: the keys at the top of a file, and those of its only link.\"\"\"\n".to_string(),
        old_names(),
        foreign_names(),
    ];
    golden(PYTHON, &text.concat());
}

/// The JSON Schema of a table. Appends the schemas of nested tables to `tables`.
fn object(keys: Vec<Key>, tables: &mut Vec<(String, String)>) -> String {
    let required: Vec<String> =
        keys.iter().filter(|key| key.default == "required").map(|key| format!("\"{}\"", key.name)).collect();
    let properties: Vec<String> = keys.into_iter().map(|key| property(&key, tables)).collect();
    let required =
        if required.is_empty() { String::new() } else { format!(", \"required\": [{}]", required.join(", ")) };
    format!(
        "{{\"type\": \"object\", \"additionalProperties\": false{required}, \"properties\": {{\n{}\n}}}}",
        properties.join(",\n")
    )
}

fn property(key: &Key, tables: &mut Vec<(String, String)>) -> String {
    if let (Some(inner), Some((_, rest))) = (key.form.keys, key.form.json.split_once("#/$defs/")) {
        let name = rest.split('"').next().unwrap().to_string();
        if !tables.iter().any(|(known, _)| *known == name) {
            tables.push((name.clone(), String::new()));
            let inside = object(inner(), tables);
            tables.iter_mut().find(|(known, _)| *known == name).unwrap().1 = inside;
        }
    }
    let edge = |edge: &Bound<String>, word: &str| match edge {
        Bound::Included(edge) => format!(", \"{word}imum\": {edge}"),
        Bound::Excluded(edge) => format!(", \"exclusive{}imum\": {edge}", if word == "min" { "Min" } else { "Max" }),
        Bound::Unbounded => String::new(),
    };
    let edges = format!("{}{}", edge(&key.least, "min"), edge(&key.most, "max"));
    let mut json = key.form.json.clone();
    for kind in ["integer", "number"] {
        json = json.replace(&format!("{{\"type\": \"{kind}\"}}"), &format!("{{\"type\": \"{kind}\"{edges}}}"));
    }
    let default = if key.default.is_empty() { String::new() } else { format!(" Default: {}.", key.default) };
    let text = format!("{}.{default}", key.meaning).replace('\\', "\\\\").replace('"', "\\\"");
    format!("  \"{}\": {{\"description\": \"{text}\", \"allOf\": [{json}]}}", key.name)
}

#[test]
fn the_json_schema_is_that_of_the_schema() {
    let mut tables = Vec::new();
    let top = object(keys(), &mut tables);
    tables.sort();
    let tables: Vec<String> = tables.into_iter().map(|(name, table)| format!("\"{name}\": {table}")).collect();
    let top = top.strip_prefix('{').unwrap().strip_suffix('}').unwrap();
    let head = "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n\"title\": \"Headgate scenario\"";
    golden(JSON, &format!("{{\n{head},\n{top},\n\"$defs\": {{\n{}\n}}}}\n", tables.join(",\n")));
}
