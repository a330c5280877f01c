//! The guide agrees with the code: its examples are valid, its error message is the real one, and every key has a row.

use headgate_scenario::{Cc, Changes, Recovery, Scenario, ScenarioError};

const GUIDE: &str = include_str!("../../../docs/guide/scenarios.md");
const TRANSPORT: &str = include_str!("../../../docs/guide/transport.md");

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    let (scenario, warnings) = Scenario::read_warned(text, "guests.toml", &Changes::default(), &())?;
    assert_eq!(warnings, [""; 0], "the guide uses current names only");
    Ok(scenario)
}

/// The code blocks in language `kind`.
fn blocks(kind: &str) -> Vec<&'static str> {
    let fence = format!("```{kind}\n");
    GUIDE.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Completes an example to a whole file.
fn completed(fragment: &str) -> String {
    let qdiscs = if fragment.starts_with("qdiscs") { "" } else { "qdiscs = ['droptail']\n" };
    let link =
        if fragment.contains("[[link]]") { "" } else { "link = { rate = '1Mbit/s', delay = '0s', limit = '9p' }\n" };
    let flows = if fragment.contains("[[tcp]]") { "" } else { "tcp = [{ name = 'web' }]\n" };
    format!("name = 'fragment'\nduration = '9s'\n{link}{flows}{qdiscs}{fragment}")
}

#[test]
fn the_examples_are_valid() {
    let texts = blocks("toml").into_iter();
    let texts = texts.map(|text| if text.starts_with("name") { text.to_string() } else { completed(text) });
    let scenarios = texts.map(|text| read(&text).unwrap_or_else(|error| panic!("{error}")));
    let names: Vec<String> = scenarios.map(|scenario| scenario.name).collect();
    assert_eq!(names[..2], ["two", "guests"]);
    assert!(names[2..].iter().all(|name| name == "fragment"), "{names:?}");
}

#[test]
fn the_error_is_the_one_that_is_shown() {
    let shown = blocks("").into_iter().find(|block| block.starts_with("error:")).unwrap();
    let misspelt = blocks("toml")[1].replacen("delay", "dealy", 1);
    assert_eq!(read(&misspelt).unwrap_err().to_string(), shown.trim_end());
}

#[test]
fn every_key_has_its_row_in_its_section() {
    let sections: Vec<(&str, &str)> = GUIDE.split("\n## ").filter_map(|section| section.split_once('\n')).collect();
    for (heading, wrong) in [
        ("At the top", "none = 1"),
        ("`[link]`", "link.none = 1"),
        ("`[link]`", "link = [{ none = 1 }]"),
        ("`[link]`", "link.reverse.none = 1"),
        ("`[[tcp]]`", "tcp = [{ none = 1 }]"),
        ("`[[udp]]`", "udp = [{ none = 1 }]"),
        ("`[classify]`", "classify.none = 1"),
        ("`[classify]`", "class = [{ none = 1 }]"),
        ("`[record]`", "record.none = 1"),
    ] {
        let help = read(wrong).unwrap_err().help.unwrap();
        let (_, text) = sections.iter().find(|(head, _)| head.starts_with(heading)).unwrap();
        let rows: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
        for key in help.strip_prefix("known keys: ").unwrap().split(", ") {
            let is_key = |name: &str| name.trim_matches('`').rsplit('.').next() == Some(key);
            let named = rows.iter().any(|row| row.split(", ").any(is_key));
            assert!(named, "{heading} has no row for `{key}`");
        }
    }
}

#[test]
fn the_defaults_are_those_of_the_guide() {
    let head =
        "name = 'd'\nduration = '9s'\nqdiscs = ['droptail']\n[link]\nrate = '1Mbit/s'\ndelay = '0s'\nlimit = '9p'\n";
    let (_, section) = GUIDE.split_once("## `[[tcp]]`").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    for (column, profile) in [(3, "rfc"), (4, "ns2"), (5, "linux")] {
        let default = read(&format!("{head}[[tcp]]\nprofile = '{profile}'")).unwrap_or_else(|error| panic!("{error}"));
        let mut spelt = format!("{head}[[tcp]]\n");
        let mut keys = 0;
        for cells in section.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>()) {
            // A cell with one value, perhaps followed by its RFC in brackets.
            let Some(value) = cells.get(column).and_then(|cell| cell.strip_prefix('`')?.split('`').next()) else {
                continue;
            };
            let key = cells[1].trim_matches('`');
            // Keys of a single controller are refused with all others.
            let single = cells[2].strip_prefix("with `").and_then(|rest| rest.split_once("` only"));
            let refused = single.is_some_and(|(cc, _)| cc != default.tcp[0].cc.name());
            if !matches!(key, "name" | "key" | "profile") && !refused {
                spelt += &format!("{key} = {value}\n");
                keys += 1;
            }
        }
        assert!(keys >= 17, "{keys} defaults found for {profile}");
        let spelt = read(&spelt).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(spelt, default, "{profile}");
    }
}

#[test]
fn the_headers_defaults_are_those_of_the_guide() {
    let (_, section) = GUIDE.split_once("\n## Headers").unwrap();
    let rows = section.split("\n## ").next().unwrap().lines().map(|line| line.split(" | ").collect::<Vec<_>>());
    let mut spelt = String::from("[[tcp]]\n");
    for cells in rows.filter(|cells| cells.len() == 3 && cells[2].starts_with('`')) {
        let keys = cells[0].trim_start_matches("| ").split(", ").map(|key| key.trim_matches('`'));
        let values: Vec<&str> =
            cells[2].trim_end_matches(" |").split(", ").map(|value| value.trim_matches('`')).collect();
        keys.enumerate().for_each(|(i, key)| spelt += &format!("{key} = {}\n", values[i.min(values.len() - 1)]));
    }
    assert_eq!(spelt.lines().count(), 6, "{spelt}");
    let head =
        "name = 'd'\nduration = '9s'\nqdiscs = ['droptail']\nlink = { rate = '1Mbit/s', delay = '0s', limit = '9p' }\n";
    let tcp = |group: &str| read(&format!("{head}{group}")).unwrap_or_else(|error| panic!("{error}")).tcp.remove(0);
    assert_eq!(tcp(&spelt), tcp("[[tcp]]"));
}

#[test]
fn the_guide_lists_every_congestion_controller() {
    let (_, table) = TRANSPORT.split_once("| --- | --- | --- |\n").unwrap();
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    let expected: Vec<String> =
        Cc::ALL.iter().map(|cc| format!("| `{cc}` | {} | {} |", cc.summary(), cc.citation())).collect();
    assert_eq!(rows, expected, "docs/guide/transport.md against crates/scenario/src/cc.rs");
    let (_, table) = TRANSPORT.split_once("| `recovery` | what it does | defined in |\n| --- | --- | --- |\n").unwrap();
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    let recovery = |recovery: &Recovery| format!("| `{recovery}` | {} | {} |", recovery.summary(), recovery.citation());
    assert_eq!(rows, Recovery::ALL.iter().map(recovery).collect::<Vec<_>>(), "against crates/scenario/src/cc.rs");
    let row = GUIDE.lines().find(|line| line.starts_with("| `cc` |")).unwrap();
    let named: Vec<&str> = row.split("`\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let names: Vec<&str> = Cc::ALL.iter().map(|cc| cc.name()).collect();
    assert_eq!(named[..names.len()], names, "the row of `cc` in docs/guide/scenarios.md");
}
