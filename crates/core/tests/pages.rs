//! Every discipline has a file, a row in the registry and a page. The page's tables match the registry.

use std::collections::BTreeSet;
use std::path::Path;

use aqm::registry::{DisciplineEntry, ENTRIES, Family, Group, Listing};
use aqm::{Gauge, ParameterInfo, Preset, Qdisc, Why};

/// From this crate to the pages.
const PAGES: &str = "../../docs/disciplines";
const CLAIMS: &str = "tests/verify";

/// The file names in a folder of this crate, without extension and without `besides`.
fn names(folder: &str, besides: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let paths = entries.unwrap_or_else(|error| panic!("{folder}: {error}")).map(|entry| entry.unwrap().path());
    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_string();
    paths.map(|path| stem(&path)).filter(|name| name != besides).collect()
}

#[test]
fn files_rows_and_pages_have_the_same_names() {
    let rows: BTreeSet<String> = ENTRIES.iter().map(|entry| entry.name.to_string()).collect();
    assert_eq!(names("src/disciplines", "mod"), rows, "files in src/disciplines against rows of the registry");
    assert_eq!(names(PAGES, "README"), rows, "pages in docs/disciplines against rows of the registry");
}

#[test]
fn the_tables_on_every_page_are_those_of_the_registry() {
    for entry in ENTRIES {
        let path = format!("{PAGES}/{}.md", entry.name);
        let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path));
        let page = page.unwrap_or_else(|error| panic!("{path}: {error}"));
        let tables = filled(&page, entry).unwrap_or_else(|missing| panic!("{path} has no {missing}"));
        crate::support::golden(&path, &tables, "docs");
    }
}

/// The tests of claims, without the senders that they share.
fn claims() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(CLAIMS);
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_discipline_has_a_claim_and_every_discipline_of_a_paper_an_oracle() {
    let claims = claims();
    let oracles = names("tests/oracle", "main");
    for DisciplineEntry { listing: Listing { name, .. }, group, .. } in ENTRIES {
        let named = [format!("\"{name}\""), format!("\"{name}:"), format!("fn {name}_")];
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{CLAIMS}/{name}.rs")).is_file();
        assert!(
            own || named.iter().any(|words| claims.contains(words)),
            "{name}: no file in {CLAIMS} tests its claims"
        );
        let defined = *group != Group::Modern;
        assert!(!defined || oracles.contains(*name), "{name}: tests/oracle/{name}.rs is missing");
    }
}

#[test]
fn every_page_has_its_picture_its_figure_and_the_command_that_draws_it() {
    for Listing { name, .. } in ENTRIES.iter().map(|entry| &entry.listing) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGES).join(format!("{name}.md"));
        let page = std::fs::read_to_string(&path).unwrap();
        let marker = page.lines().find(|line| line.starts_with("<!-- figure: "));
        let spec = marker.and_then(|line| line.strip_prefix("<!-- figure: ")?.strip_suffix(" -->"));
        let spec: Qdisc = spec.unwrap_or_else(|| panic!("{name}.md has no marker of a figure")).parse().unwrap();
        assert_eq!(spec.name, *name, "{name}.md: the figure's discipline");
        for figure in [format!("{name}.svg"), format!("sketch-{name}.svg")] {
            assert!(page.contains(&format!("](../figures/{figure})")), "{name}.md: `make figures` draws {figure}");
            assert!(path.with_file_name(format!("../figures/{figure}")).is_file(), "docs/figures/{figure} is missing");
        }
    }
}

#[test]
fn the_index_lists_every_row_by_group() {
    let mut page = String::from(
        "# The disciplines\n\n`headgate list` prints these tables; each name leads to its page.\n\n\
         - **Protects**: limits unresponsive flows.\n- **Per flow**: keeps state for each flow.\n\
         - **ECN**: can mark packets instead of dropping them.\n\
         - **Schedules**: sends packets of different flows in an order of its own, not in order of arrival.\n",
    );
    for group in Group::ALL.iter() {
        page += &format!("\n## {}\n\n", capitalized(group.about()));
        page += "| | idea | protects | per flow | ECN | schedules | from |\n";
        page += "| --- | --- | --- | --- | --- | --- | --- |\n";
        for entry in ENTRIES.iter().filter(|entry| entry.group == *group) {
            let DisciplineEntry { listing: Listing { name, summary, citation, .. }, abilities, .. } = entry;
            let marks = [abilities.protects, abilities.per_flow, abilities.ecn, abilities.schedules];
            let marks = marks.map(|can| if can { " yes |" } else { " |" }).concat();
            page += &format!("| [`{name}`]({name}.md) | {} |{marks} {} |\n", cell(summary), cell(citation));
        }
    }
    crate::support::golden(&format!("{PAGES}/README.md"), &page, "docs");
}

#[test]
fn the_readme_lists_every_row_by_family() {
    const README: &str = "../../README.md";
    // The package registry shows the README too, and relative links would not work there.
    const SITE: &str = "https://github.com/headgate/headgate/blob/main/docs/disciplines";
    let mut table = String::from("| family | disciplines |\n| --- | --- |\n");
    for family in Family::ALL {
        let members = ENTRIES.iter().filter(|entry| entry.family == *family);
        let links: Vec<String> = members
            .map(|DisciplineEntry { listing: Listing { name, .. }, display_name, .. }| {
                format!("[{display_name}]({SITE}/{name}.md)")
            })
            .collect();
        table += &format!("| {} | {} |\n", capitalized(family.about()), links.join(", "));
    }
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(README)).unwrap();
    let filled = between(&readme, "disciplines", "/disciplines", &table)
        .unwrap_or_else(|missing| panic!("{README} has no {missing}"));
    crate::support::golden(README, &filled, "docs");
}

/// `page` with the registry's tables between its markers; the closing marker is added where it is missing.
fn filled(page: &str, entry: &DisciplineEntry) -> Result<String, String> {
    let settings = [fields(&entry.fields()), presets(entry.presets())].join("\n");
    let page = between(page, &format!("params: {}", entry.name), "/params", &settings)?;
    let reasons = reasons(&entry.reasons(&[]).unwrap());
    let state = [gauges(entry.gauges()), reasons].into_iter().filter(|table| !table.is_empty());
    between(&page, &format!("gauges: {}", entry.name), "/gauges", &state.collect::<Vec<_>>().join("\n"))
}

/// `page` with `text` between two markers, of which the second is added where it is missing.
fn between(page: &str, open: &str, close: &str, text: &str) -> Result<String, String> {
    let [open, close] = [open, close].map(|marker| format!("<!-- {marker} -->\n"));
    let (before, after) = page.split_once(&open).ok_or(open.clone())?;
    let after = after.split_once(&close).map_or(after, |(_, after)| after);
    Ok(format!("{before}{open}\n{text}\n{close}{after}"))
}

fn capitalized(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

fn fields(fields: &[ParameterInfo]) -> String {
    let mut table = String::from("| parameter | meaning | takes | default |\n| --- | --- | --- | --- |\n");
    for ParameterInfo { name, also, inverse, doc, kind, default, range, .. } in fields {
        let same = std::iter::once(name).chain(*also).map(|name| format!("`{name}`"));
        let reciprocals = inverse.iter().map(|inverse| format!("`{inverse}` (1/{name})"));
        let names: Vec<String> = same.chain(reciprocals).collect();
        let takes = if range.is_empty() { kind.clone() } else { format!("{kind}: {range}") };
        table += &format!("| {} | {} | {takes} | `{default}` |\n", names.join(", also "), cell(doc));
    }
    table
}

fn presets(presets: &[Preset]) -> String {
    let mut table = String::from("| preset | whose values | settings |\n| --- | --- | --- |\n");
    for Preset { name, about, settings } in presets {
        let settings: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let settings = if settings.is_empty() { "the defaults".into() } else { format!("`{}`", settings.join(",")) };
        table += &format!("| `{name}` | {} | {settings} |\n", cell(about));
    }
    table
}

/// The gauges that [`Port::gauges`](aqm::Port::gauges) and events report.
fn gauges(gauges: &[Gauge]) -> String {
    if gauges.is_empty() {
        return String::new();
    }
    let mut table = String::from("| gauge | of | unit | is |\n| --- | --- | --- | --- |\n");
    for Gauge { name, unit, about, of_flow } in gauges {
        let of = if *of_flow { "[flow](../guide/explain.md#decisions)" } else { "queue" };
        table += &format!("| `{name}` | {of} | {unit} | {} |\n", cell(about));
    }
    table
}

fn reasons(reasons: &[Why]) -> String {
    let rows = reasons.iter().map(|why| format!("| `{}` | {} |\n", why.name(), cell(why.about())));
    format!("| reason | drops or marks a packet because |\n| --- | --- |\n{}", rows.collect::<String>())
}

/// Escapes bars, which would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
