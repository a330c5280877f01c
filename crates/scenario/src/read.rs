//! Reads a scenario from text, or returns an error with location and correction.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::changes::{self, Changes};
use crate::error::{Fault, ScenarioError, SourceText};
use crate::foreign_names;
use crate::inputs::Files;
use crate::model::Scenario;
use crate::resolve;
use crate::schema::{NameChange, RawScenario, RawTable, Renamed, did_you_mean, rename, rename_parameters, respell};
use crate::texts;

impl Scenario {
    /// Reads a scenario from TOML text, with `changes` applied. `file` is the name of the text in errors.
    ///
    /// # Errors
    /// The first fault found: invalid TOML, an unknown key, a value of the wrong kind or out of range, contradictory
    /// values, or a discipline that cannot be built.
    pub fn read(text: &str, file: &str, changes: &Changes) -> Result<Scenario, ScenarioError> {
        Scenario::read_with(text, file, changes, &())
    }

    /// Like [`read`](Scenario::read), for a scenario that names files. `files` reads them.
    ///
    /// # Errors
    /// As for [`read`](Scenario::read), and a file that cannot be read or used.
    pub fn read_with(text: &str, file: &str, changes: &Changes, files: &dyn Files) -> Result<Scenario, ScenarioError> {
        Scenario::read_warned(text, file, changes, files).map(|(scenario, _)| scenario)
    }

    /// Like [`read_with`](Scenario::read_with), with a warning for each key under an earlier release's name.
    ///
    /// # Errors
    /// As for [`read_with`](Scenario::read_with).
    pub fn read_warned(
        text: &str,
        file: &str,
        changes: &Changes,
        files: &dyn Files,
    ) -> Result<(Scenario, Vec<String>), ScenarioError> {
        let source = SourceText { file, text, changes: changes.list() };
        let mut tree = DeTable::parse(text).map_err(|error| source.explain(syntax_fault(&error), String::new()))?;
        let mut old = Renamed::default();
        // Old names are replaced twice: before the changes, so that they find the current names, and after them,
        // because changes may use old names too.
        let renamed =
            rename(tree.get_mut(), text.len(), &mut old).and_then(|()| changes::apply(&source, tree.get_mut()));
        let renamed = renamed.and_then(|()| rename(tree.get_mut(), text.len(), &mut old));
        let renamed = renamed.and_then(|()| respell(tree.get_mut(), text.len(), &mut old));
        rename_parameters(tree.get_mut(), &mut old);
        let read = renamed.and_then(|()| {
            let raw = RawScenario::of(tree.get_ref())?;
            texts::check(tree.get_ref())?;
            resolve::scenario(raw, files)
        });
        let explained = |fault: Fault| {
            let key = path_of(&fault, tree.get_ref());
            source.explain(if fault.known.is_empty() { fault } else { unknown_key(fault, &key) }, key)
        };
        let scenario = read.map_err(explained)?;
        let warned = |change: NameChange| explained(change.warning()).to_string().replacen("error: ", "", 1);
        Ok((scenario, old.changes.into_iter().map(warned).collect()))
    }
}

/// Path of the key at fault. A fault of the whole file has an empty span and no key.
fn path_of(fault: &Fault, tree: &DeTable<'_>) -> String {
    let path = if fault.span.is_empty() { None } else { key_at(tree, &fault.span) };
    // All keys of a change have the same location, which does not tell them apart. For an unknown key, `fault.message`
    // holds its name.
    let path = path.map(|path| match path.rsplit_once('.') {
        Some((section, _)) if !fault.known.is_empty() => format!("{section}.{}", fault.message),
        _ => path,
    });
    match (path, &fault.missing) {
        (Some(section), Some(key)) => format!("{section}.{key}"),
        (path, missing) => path.or(missing.clone()).unwrap_or_default(),
    }
}

pub(crate) fn syntax_fault(error: &toml::de::Error) -> Fault {
    Fault::plain(error.span().unwrap_or(0..0), format!("this is not TOML: {}", error.message()))
}

fn unknown_key(fault: Fault, path: &str) -> Fault {
    let (section, key) = path.rsplit_once('.').unwrap_or(("", path));
    let heading = match section.split_once('[') {
        _ if section.is_empty() => String::new(),
        Some((kind, rest)) => match rest.split_once('.') {
            Some((_, inner)) => format!(" in [{kind}.{inner}]"),
            None => format!(" in [[{kind}]]"),
        },
        None => format!(" in [{section}]"),
    };
    let guess = match foreign_names::key_for(key, &fault.known) {
        Some(key) => format!("; did you mean `{key}`?"),
        None => did_you_mean(key, fault.known.iter().copied()),
    };
    let help = format!("known keys: {}", fault.known.join(", "));
    Fault { message: format!("unknown key `{key}`{heading}{guess}"), ..fault.help(help) }
}

/// The path of the innermost key or value at `span`, such as `tcp[0].access.rate`.
fn key_at(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    let holds = |other: Range<usize>| other.contains(&span.start);
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref();
        let inner = key_in(value, span).map(|path| format!("{name}{path}"));
        inner.or_else(|| (holds(key.span()) || holds(value.span())).then(|| name.to_string()))
    })
}

/// The rest of the path inside a value, with its leading dot or bracket.
fn key_in(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<String> {
    match value.get_ref() {
        DeValue::Table(table) => key_at(table, span).map(|path| format!(".{path}")),
        DeValue::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let inner = key_in(item, span).map(|path| format!("[{index}]{path}"));
            inner.or_else(|| item.span().contains(&span.start).then(|| format!("[{index}]")))
        }),
        _ => None,
    }
}
