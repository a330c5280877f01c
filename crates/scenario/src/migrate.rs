//! Rewrites a scenario file with the current names of keys and values. Comments, order and layout stay.

use toml::de::{DeTable, DeValue};

use crate::error::{ScenarioError, SourceText};
use crate::read::syntax_fault;
use crate::schema::{Edit, EditText, NameChange, Renamed, rename, rename_parameters, rename_swept, respell};

/// A file's text with current names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The new text; the old one if nothing has an old name.
    pub text: String,
    /// Line, from 1, and text of each change: `` `overhead` is called `send_jitter` now ``.
    pub changes: Vec<(u32, String)>,
}

/// Replaces old names of keys and parameters, and old spellings of values, in a scenario's text. `file` is its name in
/// errors.
///
/// # Errors
/// The text is not TOML, or has a key under its old and its new name.
pub fn migrate(text: &str, file: &str) -> Result<Migrated, ScenarioError> {
    let source = SourceText { file, text, changes: Vec::new() };
    let mut tree = DeTable::parse(text).map_err(|error| source.explain(syntax_fault(&error), String::new()))?;
    let mut old = Renamed::default();
    if let Some(DeValue::Table(sweep)) = tree.get_ref().get("sweep").map(toml::Spanned::get_ref) {
        rename_swept(sweep, &mut old);
    }
    let renamed =
        rename(tree.get_mut(), text.len(), &mut old).and_then(|()| respell(tree.get_mut(), text.len(), &mut old));
    renamed.map_err(|fault| source.explain(fault, String::new()))?;
    rename_parameters(tree.get_mut(), &mut old);
    let line = |change: &NameChange| source.locate(change.span.clone()).0;
    let mut changes: Vec<_> = old.changes.into_iter().map(|change| (line(&change), change.text)).collect();
    changes.sort();
    Ok(Migrated { text: with_edits(text, old.edits), changes })
}

/// `text` with its edits made.
fn with_edits(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut new = text.to_string();
    for Edit { span, text: change } in edits.into_iter().rev() {
        match change {
            EditText::Is(text) => new.replace_range(span, &text),
            EditText::EntryAfter(entry) => insert_after(&mut new, span.end, &entry),
            EditText::Removed => remove_entry(&mut new, span),
        }
    }
    new
}

/// Inserts an entry after the one that ends at `end`: on the next line, or behind a comma in an inline table.
fn insert_after(text: &mut String, end: usize, entry: &str) {
    let line = text[..end].rfind('\n').map_or(0, |newline| newline + 1);
    if text[line..end].contains('{') {
        return text.insert_str(end, &format!(", {entry}"));
    }
    let indent = text[line..].find(|c: char| !c.is_whitespace()).map_or("", |first| &text[line..line + first]);
    let inserted = format!("\n{indent}{entry}");
    let line_end = text[end..].find(['\r', '\n']).map_or(text.len(), |newline| end + newline);
    text.insert_str(line_end, &inserted);
}

/// Removes an entry with its line if it is alone there, else with one comma.
fn remove_entry(text: &mut String, span: std::ops::Range<usize>) {
    let line = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &text[span.end..];
    let end = span.end + rest.find('\n').map_or(rest.len(), |newline| newline + 1);
    if text[line..span.start].trim().is_empty() && text[span.end..end].trim().is_empty() {
        text.replace_range(line..end, "");
    } else if let Some(rest) = rest.trim_start_matches([' ', '\t']).strip_prefix(',') {
        let end = text.len() - rest.trim_start_matches([' ', '\t']).len();
        text.replace_range(span.start..end, "");
    } else {
        let before = text[..span.start].trim_end_matches([' ', '\t']);
        let start = before.strip_suffix(',').map_or(span.start, str::len);
        text.replace_range(start..span.end, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changes, Scenario};

    const HEAD: &str = "name = \"n\"\nduration = \"1s\"\nqdiscs = [\"red\"]\n\
        link = { rate = \"10Mbit/s\", delay = \"10ms\", limit = \"100p\" }\n";

    /// The migrated text after the head. Checks that it means the same and reads without a warning.
    fn migrated(tail: &str) -> String {
        let old = format!("{HEAD}{tail}");
        let new = migrate(&old, "old.toml").unwrap().text;
        let read = |text: &str| Scenario::read_warned(text, "a.toml", &Changes::default(), &()).unwrap();
        let ((was, warned), (is, warnings)) = (read(&old), read(&new));
        assert_eq!((was, warnings.len()), (is, 0), "{new}");
        assert_eq!(new == old, warned.is_empty());
        new[HEAD.len()..].to_string()
    }

    #[test]
    fn old_spellings_are_replaced_and_comments_stay() {
        let old = "[[tcp]]\n  cc = \"newreno\"   # as ns-2\n  flows = 2\n";
        let new = "[[tcp]]\n  cc = \"reno\"   # as ns-2\n  recovery = \"newreno\"\n  flows = 2\n";
        assert_eq!(migrated(old), new);
        assert_eq!(migrated("tcp = [{ cc = \"sack\" }]\n"), "tcp = [{ cc = \"reno\", recovery = \"sack\" }]\n");
        assert_eq!(migrated("[[tcp]]\ncc = \"cubic\"\n"), "[[tcp]]\ncc = \"cubic\"\n");
    }

    #[test]
    fn overhead_becomes_send_jitter() {
        let new = "[[tcp]]\n  send_jitter = \"1ms\"  # ns-2\n";
        assert_eq!(migrated("[[tcp]]\n  overhead = \"1ms\"  # ns-2\n"), new);
        assert_eq!(
            migrated("tcp = [{ overhead = '1ms', flows = 2 }]\n"),
            "tcp = [{ send_jitter = '1ms', flows = 2 }]\n"
        );
        assert_eq!(migrated("tcp = [{ \"overhead\" = '1ms' }]\n"), "tcp = [{ send_jitter = '1ms' }]\n");
    }

    #[test]
    fn old_names_in_a_sweep_are_replaced() {
        let old = "[[tcp]]\nname = \"web\"\noverhead = \"1ms\"\n\n[sweep.grid]\ntcp.overhead = [\"0s\"]  # all\n\
            web.overhead = [\"1ms\", \"2ms\"]\n\"web.overhead\" = [\"3ms\"]\n[sweep.latin]\n\
            web = { overhead = { from = \"0s\", to = \"1ms\" } }\n[sweep.list.tcp]\noverhead = [\"1ms\"]\n";
        let Migrated { text, changes } = migrate(old, "old.toml").unwrap();
        assert_eq!(text, old.replace("overhead", "send_jitter"));
        let lines: Vec<u32> = changes.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [3, 6, 7, 8, 10, 12]);
        assert!(changes.iter().all(|(_, change)| change == "`overhead` is called `send_jitter` now"), "{changes:?}");
    }

    #[test]
    fn old_parameters_of_disciplines_are_replaced_in_texts_tables_and_nested_disciplines() {
        let tail = "[[tcp]]\n";
        let link = "link = { rate = \"10Mbit/s\", delay = \"10ms\", limit = \"100p\", reverse = { qdisc = \"";
        let old = format!(
            "name = \"n\"\nduration = \"1s\"\n\
            qdiscs = [\"red_penalty:places=3\", {{ name = \"red_penalty\", rate_kept = 0.5 }}]  # both\n\
            {link}tbf:rate=1Mbit/s,child=[red_penalty:drops_grew=3]\" }} }}\n{tail}"
        );
        let Migrated { text, changes } = migrate(&old, "old.toml").unwrap();
        let [places, kept, grew] = ["max_penalized", "flow_rate_factor", "drop_rate_factor"];
        assert_eq!(text, old.replace("places", places).replace("rate_kept", kept).replace("drops_grew", grew));
        let expected = [("places", places), ("rate_kept", kept), ("drops_grew", grew)];
        let mut expected = expected.map(|(old, new)| format!("`{old}` is called `{new}` now"));
        expected.sort();
        let mut found: Vec<String> = changes.into_iter().map(|(_, change)| change).collect();
        found.sort();
        assert_eq!(found, expected);
        let read = |text: &str| Scenario::read_warned(text, "a.toml", &Changes::default(), &()).unwrap();
        let ((was, warned), (is, warnings)) = (read(&old), read(&text));
        assert_eq!((was, warned.len(), warnings.len()), (is, 3, 0));
    }

    #[test]
    fn an_old_parameter_on_the_command_line_is_read_with_one_warning() {
        let changes = |qdisc: &str| Changes { qdiscs: Vec::from([qdisc.to_string()]), ..Changes::default() };
        let text = format!("{HEAD}[[tcp]]\n");
        let read = |qdisc| Scenario::read_warned(&text, "a.toml", &changes(qdisc), &()).unwrap();
        let ((old, warnings), (new, none)) = (read("red_penalty:places=3"), read("red_penalty:max_penalized=3"));
        assert_eq!((old, none.len()), (new, 0));
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("`places` is called `max_penalized` now"), "{}", warnings[0]);
    }

    #[test]
    fn groups_and_links_may_be_called_by_an_old_name() {
        let same =
            "[[tcp]]\nname = \"overhead\"\n[sweep.grid]\noverhead.window = [9]\nlink.overhead.rate = [\"1Mbit/s\"]\n";
        assert_eq!(migrate(same, "same.toml").unwrap(), Migrated { text: same.to_string(), changes: Vec::new() });
    }

    #[test]
    fn a_change_overrides_a_key_under_either_name() {
        let jitter = |key: &str, set: &[&str]| {
            let changes = Changes { set: set.iter().map(ToString::to_string).collect(), ..Changes::default() };
            let text = format!("{HEAD}[[tcp]]\n{key} = \"1ms\"\n");
            Scenario::read(&text, "a.toml", &changes).unwrap().tcp[0].send_jitter.to_string()
        };
        for file in ["overhead", "send_jitter"] {
            for change in ["overhead", "send_jitter"] {
                assert_eq!(jitter(file, &[&format!("tcp.{change}=2ms")]), "2ms", "{change} over {file}");
            }
            assert_eq!(jitter(file, &["tcp.overhead=2ms", "tcp.send_jitter=3ms"]), "3ms");
            assert_eq!(jitter(file, &["tcp.send_jitter=2ms", "tcp.overhead=3ms"]), "3ms");
        }
    }

    #[test]
    fn rack_becomes_a_recovery_in_every_combination() {
        assert_eq!(
            migrated("[[tcp]]\ncc = \"cubic\"\nrack = true\n"),
            "[[tcp]]\ncc = \"cubic\"\nrecovery = \"rack\"\n"
        );
        assert_eq!(migrated("tcp = [{ rack = false, flows = 2 }]\n"), "tcp = [{ flows = 2 }]\n");
        for cc in ["", "cc = \"cubic\"", "cc = \"sack\"", "cc = \"newreno\""] {
            for recovery in ["", "recovery = \"sack\"", "recovery = \"rack\"", "recovery = \"newreno\""] {
                for rack in ["", "rack = true", "rack = false"] {
                    let entries: Vec<&str> =
                        [cc, recovery, rack].into_iter().filter(|entry| !entry.is_empty()).collect();
                    let lines = format!("[[tcp]]\n{}\n", entries.join("\n"));
                    let inline = format!("tcp = [{{ {} }}]\n", entries.join(", "));
                    if Scenario::read(&format!("{HEAD}{lines}"), "a.toml", &Changes::default()).is_ok() {
                        migrated(&lines);
                        migrated(&inline);
                    }
                }
            }
        }
    }
}
