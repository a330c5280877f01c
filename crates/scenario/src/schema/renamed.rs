//! Keys and values renamed since earlier releases. The old names still work, with a warning.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Key, keys};
use crate::cc::Recovery;
use crate::error::Fault;
use crate::values::WordChoice;

/// The old names and spellings of a file.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    /// A change for each.
    pub(crate) changes: Vec<NameChange>,
    /// Edits of the file's text that replace them, in no order.
    pub(crate) edits: Vec<Edit>,
}

/// The change from an old name or spelling to the current one.
#[derive(Debug)]
pub(crate) struct NameChange {
    /// Location of the old name or spelling.
    pub(crate) span: Range<usize>,
    /// The change in words: `` `overhead` is called `send_jitter` now ``.
    pub(crate) text: String,
    /// `name` or `spelling`.
    what: &'static str,
}

impl NameChange {
    /// The warning to the user of the file.
    pub(crate) fn warning(self) -> Fault {
        let NameChange { span, text, what } = self;
        Fault::plain(span, format!("{text}: the old {what} works until the next release"))
    }
}

/// A replacement in a file's text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) span: Range<usize>,
    pub(crate) text: EditText,
}

/// The new text of an [`Edit`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditText {
    Is(String),
    /// The old text, and an entry behind it.
    EntryAfter(String),
    /// Removes the entry with its line or its comma.
    Removed,
}

/// A key that has old names, or whose table has such keys.
struct RenamedKey {
    name: &'static str,
    also: &'static [&'static str],
    inner: Box<[RenamedKey]>, // Of its exact size: a vector collected from keys keeps their memory, 40 KB.
}

impl RenamedKey {
    /// The keys among `keys` that are renamed themselves or in their tables.
    fn among(keys: Vec<Key>) -> Box<[RenamedKey]> {
        let inner = |key: &Key| key.form.keys.map_or_else(Box::default, |keys| RenamedKey::among(keys()));
        let all = keys.into_iter().map(|key| RenamedKey { name: key.name, also: key.also, inner: inner(&key) });
        all.filter(|key| !(key.also.is_empty() && key.inner.is_empty())).collect()
    }
}

/// Renames every key to its current name, with a warning. Keys located beyond `end` come from changes, which override
/// the file. Refuses a key that the file, or one change, gives under both names.
pub(crate) fn rename(file: &mut DeTable<'_>, end: usize, renamed: &mut Renamed) -> Result<(), Fault> {
    // Collected once: the documentation of all keys takes longer to make than a scenario to read.
    static RENAMED: LazyLock<Box<[RenamedKey]>> = LazyLock::new(|| RenamedKey::among(keys()));
    rename_in(file, &RENAMED, end, renamed)
}

fn rename_in(table: &mut DeTable<'_>, keys: &[RenamedKey], end: usize, renamed: &mut Renamed) -> Result<(), Fault> {
    for key in keys {
        for old in key.also {
            let Some((old_key, value)) = table.remove_entry(*old) else { continue };
            let span = old_key.span();
            let current = table.get_key_value(key.name).map(|(name, _)| name.span().start);
            if current.is_some_and(|current| current == span.start || current.max(span.start) <= end) {
                let message = format!("{}, which is given too", renaming(old, key.name));
                return Err(Fault::plain(span, message));
            }
            if current.is_none_or(|current| current < span.start) {
                table.remove(key.name);
                table.insert(Spanned::new(span.clone(), Cow::Borrowed(key.name)), value);
            }
            renamed.add(old, key.name, span, key.name.to_string());
        }
        if let Some(value) = table.get_mut(key.name) {
            rename_inside(value, &key.inner, end, renamed)?;
        }
    }
    Ok(())
}

fn renaming(old: &str, current: &str) -> String {
    format!("`{old}` is called `{current}` now")
}

impl Renamed {
    /// Records the change from the name `old` at `span` to `current`.
    pub(super) fn change(&mut self, old: &str, current: &str, span: Range<usize>) {
        self.changes.push(NameChange { span, text: renaming(old, current), what: "name" });
    }

    /// Records the edit that writes `text` at `span`.
    pub(super) fn edit(&mut self, span: Range<usize>, text: String) {
        self.edits.push(Edit { span, text: EditText::Is(text) });
    }

    /// Adds the change from the name `old` at `span` to `current`, and the edit that replaces the name by `text`.
    fn add(&mut self, old: &str, current: &str, span: Range<usize>, text: String) {
        self.change(old, current, span.clone());
        self.edit(span, text);
    }
}

/// Renames keys in a table, or in each table of a list.
fn rename_inside(
    value: &mut Spanned<DeValue<'_>>,
    keys: &[RenamedKey],
    end: usize,
    renamed: &mut Renamed,
) -> Result<(), Fault> {
    match value.get_mut() {
        DeValue::Table(table) => rename_in(table, keys, end, renamed),
        DeValue::Array(items) => items.iter_mut().try_for_each(|item| rename_inside(item, keys, end, renamed)),
        _ => Ok(()),
    }
}

/// Gives every `[[tcp]]` its `recovery`, which earlier releases set by `cc` and `rack`. Values located beyond `end`
/// come from changes, which override the file. Refuses values that contradict each other.
pub(crate) fn respell(file: &mut DeTable<'_>, end: usize, renamed: &mut Renamed) -> Result<(), Fault> {
    let Some(DeValue::Array(groups)) = file.get_mut("tcp").map(Spanned::get_mut) else { return Ok(()) };
    let tables = groups.iter_mut().filter_map(|group| match group.get_mut() {
        DeValue::Table(table) => Some(table),
        _ => None,
    });
    for table in tables {
        let before = Spelling::of(table);
        cc_with_recovery(table, end, &mut renamed.changes);
        rack(table, end, &mut renamed.changes)?;
        before.edits(table, &mut renamed.edits);
    }
    Ok(())
}

/// Locations of the keys by which a `[[tcp]]` gave its loss recovery, before they were rewritten.
struct Spelling {
    /// The value of `cc`, if it names a recovery.
    cc: Option<Range<usize>>,
    recovery: Option<Range<usize>>,
    /// The entry `rack = ...`.
    rack: Option<Range<usize>>,
}

impl Spelling {
    fn of(table: &DeTable<'_>) -> Spelling {
        let is_old = |recovery: &Recovery| !matches!(recovery, Recovery::Reno | Recovery::Rack);
        Spelling {
            cc: recovery_in(table, "cc").filter(|(recovery, _)| is_old(recovery)).map(|(_, span)| span),
            recovery: table.get("recovery").map(Spanned::span),
            rack: table.get_key_value("rack").map(|(key, value)| key.span().start..value.span().end),
        }
    }

    /// The edits that lead to `after`.
    fn edits(self, after: &DeTable<'_>, edits: &mut Vec<Edit>) {
        let value = recovery_in(after, "recovery").map(|(recovery, _)| format!("\"{recovery}\""));
        let entry = value.as_ref().map(|value| format!("recovery = {value}"));
        let has_recovery = self.recovery.is_some() || self.rack.is_some();
        if let Some(span) = self.cc {
            edits.push(Edit { span: span.clone(), text: EditText::Is("\"reno\"".to_string()) });
            if let (false, Some(entry)) = (has_recovery, &entry) {
                edits.push(Edit { span: span.end..span.end, text: EditText::EntryAfter(entry.clone()) });
            }
        }
        let Some(span) = self.rack else { return };
        match (self.recovery, entry, value) {
            (Some(given), _, Some(value)) => {
                edits.push(Edit { span: given, text: EditText::Is(value) });
                edits.push(Edit { span, text: EditText::Removed });
            }
            (None, Some(entry), _) => edits.push(Edit { span, text: EditText::Is(entry) }),
            _ => edits.push(Edit { span, text: EditText::Removed }),
        }
    }
}

/// Collects warnings and edits for old names in `[sweep]`, whose keys are paths such as `tcp.window`, or `web.window`
/// for the group `web`. A path may be one name in quotes.
pub(crate) fn rename_swept(sweep: &DeTable<'_>, renamed: &mut Renamed) {
    for table in sweep.iter().filter_map(|(_, value)| as_table(value)) {
        swept_in(table, None, renamed);
    }
}

/// `section` is the first name of the path to `table`.
fn swept_in(table: &DeTable<'_>, section: Option<&str>, renamed: &mut Renamed) {
    for (name, value) in table {
        let path = name.get_ref().as_ref();
        let (before, last) = path.rsplit_once('.').map_or(("", path), |(before, last)| (before, last));
        let first = before.split('.').find(|step| !step.is_empty());
        let known = section.or(first).map_or_else(keys, swept_keys);
        if let Some((key, old)) = known.iter().find_map(|key| Some((key, key.also.iter().find(|old| **old == last)?))) {
            let text = if before.is_empty() { key.name.to_string() } else { format!("\"{before}.{}\"", key.name) };
            renamed.add(old, key.name, name.span(), text);
        } else if let Some(inner) = as_table(value) {
            swept_in(inner, section.or(first).or(Some(path)), renamed);
        }
    }
}

/// The keys of a section, or of both kinds of groups if `section` is the name of a group.
fn swept_keys(section: &str) -> Vec<Key> {
    let top = keys();
    let inner = |name: &str| top.iter().find(|key| key.name == name).and_then(|key| key.form.keys);
    match inner(section) {
        Some(keys) => keys(),
        None => ["tcp", "udp"].into_iter().filter_map(inner).flat_map(|keys| keys()).collect(),
    }
}

fn as_table<'a, 'i>(value: &'a Spanned<DeValue<'i>>) -> Option<&'a DeTable<'i>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn text_value(value: &'static str, location: &Range<usize>) -> Spanned<DeValue<'static>> {
    Spanned::new(location.clone(), DeValue::String(Cow::Borrowed(value)))
}

/// The recovery that the key names, with its location.
fn recovery_in(table: &DeTable<'_>, key: &str) -> Option<(Recovery, Range<usize>)> {
    let value = table.get(key)?;
    let (_, recovery) = Recovery::WORDS.iter().find(|(word, _)| value.get_ref().as_str() == Some(word))?;
    Some((*recovery, value.span()))
}

fn set_text(table: &mut DeTable<'_>, key: &'static str, value: &'static str, location: &Range<usize>) {
    table.remove(key);
    table.insert(Spanned::new(location.clone(), Cow::Borrowed(key)), text_value(value, location));
}

fn add_respelling(changes: &mut Vec<NameChange>, span: &Range<usize>, old: &str, new: &str) {
    let text = format!("`{old}` is written `{new}` now");
    changes.push(NameChange { span: span.clone(), text, what: "spelling" });
}

/// Replaces a `cc` that names a recovery. In earlier releases, such a `cc` set Reno's window law and that recovery.
/// `"reno"` alone still means RFC 5681, except in the profile `linux`. Other values get a warning.
fn cc_with_recovery(table: &mut DeTable<'_>, end: usize, changes: &mut Vec<NameChange>) {
    let Some((recovery, span)) = recovery_in(table, "cc").filter(|(word, _)| *word != Recovery::Rack) else { return };
    let is_old = recovery != Recovery::Reno;
    let is_linux = table.get("profile").is_some_and(|profile| profile.get_ref().as_str() == Some("linux"));
    if is_linux && !is_old {
        return;
    }
    let given = table.get("recovery").map(Spanned::span);
    if given.is_none_or(|given| is_old && span.start > end && given.start <= end) {
        set_text(table, "recovery", recovery.name(), &span);
    }
    if is_old {
        set_text(table, "cc", "reno", &span);
        let new = format!("cc = \"reno\", recovery = \"{recovery}\"");
        add_respelling(changes, &span, &format!("cc = \"{recovery}\""), &new);
    }
}

/// Replaces the former key `rack` by `recovery`.
fn rack(table: &mut DeTable<'_>, end: usize, changes: &mut Vec<NameChange>) -> Result<(), Fault> {
    let Some(value) = table.get("rack") else { return Ok(()) };
    let (span, on) = match value.get_ref() {
        DeValue::Boolean(on) => (value.span(), *on),
        _ => return Err(Fault::value(value.span(), "expected true or false")),
    };
    let new = if on { "rack" } else { "sack" };
    match recovery_in(table, "recovery") {
        Some((_, given)) if given.start > end && span.start <= end => {}
        Some((other, _)) if !other.is_selective() && on => {
            let message = format!("`rack` needs selective acknowledgements, which `{other}` does not use");
            return Err(Fault::value(span, message));
        }
        Some((other, _)) if !other.is_selective() => {}
        None if !on && !table.contains_key("cc") => {}
        _ => set_text(table, "recovery", new, &span),
    }
    table.remove("rack");
    add_respelling(changes, &span, &format!("rack = {on}"), &format!("recovery = \"{new}\""));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{RawScenario, RawTable, RawTcp};

    /// The schema as it would be if `window` had been called `rwnd`.
    fn renamed(text: &str) -> Result<(String, Vec<String>), String> {
        fn tcp() -> Vec<Key> {
            let window = |key: Key| if key.name == "window" { Key { also: &["rwnd"], ..key } } else { key };
            RawTcp::keys().into_iter().map(window).collect()
        }
        let mut keys = RawScenario::keys();
        keys.iter_mut().filter(|key| key.name == "tcp").for_each(|key| key.form.keys = Some(tcp));
        let keys = RenamedKey::among(keys);
        let (mut file, mut renamed) = (DeTable::parse(text).unwrap(), Renamed::default());
        rename_in(file.get_mut(), &keys, text.len(), &mut renamed).map_err(|fault| fault.message)?;
        Ok((
            format!("{:?}", file.get_ref()),
            renamed.changes.into_iter().map(|change| change.warning().message).collect(),
        ))
    }

    #[test]
    fn a_key_is_read_under_its_old_name_with_a_warning() {
        let (file, warnings) = renamed("[[tcp]]\nrwnd = 9\n[[tcp]]\nwindow = 7\n").unwrap();
        assert!(!file.contains("rwnd") && file.matches("window").count() == 2, "{file}");
        assert_eq!(warnings, ["`rwnd` is called `window` now: the old name works until the next release"]);
    }

    #[test]
    fn a_key_under_both_names_is_refused() {
        let error = renamed("[[tcp]]\nrwnd = 9\nwindow = 7\n").unwrap_err();
        assert_eq!(error, "`rwnd` is called `window` now, which is given too");
    }
}
