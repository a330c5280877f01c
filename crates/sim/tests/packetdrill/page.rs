//! The tables of `docs/reference/packetdrill.md`: one row per script, and one per script that does not pass.

use crate::packetdrill::causes::cause;
use crate::packetdrill::replay::{Report, Verdict};

/// The marker of the tables in the page.
const BEGIN: &str = "<!-- scripts -->\n";
const END: &str = "<!-- /scripts -->\n";

/// A script's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub script: String,
    pub outcome: String,
    pub checked: String,
    pub unchecked: String,
    /// The first difference or the missing counterpart, with its line; empty if the script passes.
    pub difference: String,
}

impl Row {
    pub fn new(script: String, report: &Report) -> Row {
        let at = |line: &usize, text: &str| format!("line {line}: {text}");
        let (outcome, difference) = match &report.verdict {
            Verdict::Passes => ("passes", String::new()),
            Verdict::Differs(line, text) => ("differs", at(line, text)),
            Verdict::NotApplicable(line, text) => ("not applicable", at(line, text)),
        };
        let unchecked: Vec<String> = report.unchecked.iter().map(|name| format!("`{name}`")).collect();
        Row {
            script,
            outcome: outcome.into(),
            checked: report.checked.to_string(),
            unchecked: unchecked.join(", "),
            difference,
        }
    }

    fn passes(&self) -> bool {
        self.outcome == "passes"
    }
}

/// The text between the markers. A script that does not pass and has no declared cause is an error.
pub fn render(rows: &[Row]) -> Result<String, String> {
    let count = |outcome: &str| rows.iter().filter(|row| row.outcome == outcome).count();
    let mut text = format!(
        "{} scripts: {} pass, {} differ, {} not applicable.\n\n\
         | script | outcome | checks | not checked |\n| --- | --- | --- | --- |\n",
        rows.len(),
        count("passes"),
        count("differs"),
        count("not applicable")
    );
    for Row { script, outcome, checked, unchecked, .. } in rows {
        text += &format!("| `{script}` | {outcome} | {checked} | {unchecked} |\n");
    }
    text += "\n| script | first difference | whose rule |\n| --- | --- | --- |\n";
    for Row { script, difference, .. } in rows.iter().filter(|row| !row.passes()) {
        let cause = cause(script).ok_or_else(|| format!("{script}, {difference}: declare its cause in `causes.rs`"))?;
        text += &format!("| `{script}` | {difference} | {cause} |\n");
    }
    Ok(text)
}

/// The rows that `page` records: four cells in the first table, three in the second.
pub fn recorded(page: &str) -> Vec<Row> {
    let between = between(page).1;
    let cells = between.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let cells: Vec<Vec<&str>> = cells.map(|line| line.split(" | ").collect()).collect();
    let differences: Vec<_> = cells.iter().filter(|cells| cells.len() == 3).collect();
    let scripts = cells.iter().filter(|cells| cells.len() == 4);
    scripts
        .map(|cells| Row {
            script: cells[0].trim_end_matches('`').into(),
            outcome: cells[1].into(),
            checked: cells[2].into(),
            unchecked: cells[3].into(),
            difference: differences.iter().find(|row| row[0] == cells[0]).map_or("", |row| row[1]).into(),
        })
        .collect()
}

/// The page with `text` between its markers.
pub fn filled(page: &str, text: &str) -> String {
    let (before, _, after) = between(page);
    format!("{before}{BEGIN}{text}{END}{after}")
}

fn between(page: &str) -> (&str, &str, &str) {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
        let (text, after) = rest.split_once(END)?;
        Some((before, text, after))
    });
    parts.unwrap_or_else(|| panic!("the page needs the markers {BEGIN} and {END}"))
}
