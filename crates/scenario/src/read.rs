//! From text to a scenario, or to an error that says where and what instead.

use std::ops::Range;

use headgate_core::nearest;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::changes::{self, Changes};
use crate::error::{Fault, ScenarioError, Source};
use crate::inputs::Files;
use crate::model::Scenario;
use crate::resolve;
use crate::schema::{RawScenario, rename, respell};

impl Scenario {
    /// Reads a scenario from the text of a TOML file, with `changes` made to it first. `file` is what errors call it.
    ///
    /// # Errors
    /// The first fault found: not TOML, an unknown key, a value of the wrong kind or out of range, values that do not
    /// fit each other, a discipline that cannot be built.
    pub fn read(text: &str, file: &str, changes: &Changes) -> Result<Scenario, ScenarioError> {
        Scenario::read_with(text, file, changes, &())
    }

    /// The same for a scenario that names files, which `files` reads.
    ///
    /// # Errors
    /// Those of [`read`](Scenario::read), and a file that cannot be read or used.
    pub fn read_with(text: &str, file: &str, changes: &Changes, files: &dyn Files) -> Result<Scenario, ScenarioError> {
        Scenario::read_warned(text, file, changes, files).map(|(scenario, _)| scenario)
    }

    /// The same, and a warning for each key that is written under the name of an earlier release.
    ///
    /// # Errors
    /// Those of [`read_with`](Scenario::read_with).
    pub fn read_warned(
        text: &str,
        file: &str,
        changes: &Changes,
        files: &dyn Files,
    ) -> Result<(Scenario, Vec<String>), ScenarioError> {
        let source = Source { file, text, changes: changes.list() };
        let mut tree = DeTable::parse(text).map_err(|error| source.explain(syntax(&error), String::new()))?;
        let mut warnings = Vec::new();
        // Before the changes, which name keys of today, and after them, for those that do not.
        let renamed = rename(tree.get_mut(), &mut warnings).and_then(|()| changes::apply(&source, tree.get_mut()));
        let renamed = renamed.and_then(|()| rename(tree.get_mut(), &mut warnings));
        let read = renamed.and_then(|()| respell(tree.get_mut(), text.len(), &mut warnings)).and_then(|()| {
            let raw = RawScenario::deserialize(Deserializer::from(tree.clone()));
            resolve::scenario(raw.map_err(|error| unreadable(&error, tree.get_ref()))?, files)
        });
        let explained = |fault: Fault| {
            let key = path_of(&fault, tree.get_ref());
            source.explain(fault, key)
        };
        let scenario = read.map_err(explained)?;
        let warned = |fault| explained(fault).to_string().replacen("error: ", "", 1);
        Ok((scenario, warnings.into_iter().map(warned).collect()))
    }
}

/// The path of the key concerned; a fault of the file as a whole spans nothing and concerns none.
fn path_of(fault: &Fault, tree: &DeTable<'_>) -> String {
    let place = if fault.span.is_empty() { None } else { key_at(tree, &fault.span) };
    match (place, &fault.missing) {
        (Some(section), Some(key)) => format!("{section}.{key}"),
        (place, missing) => place.or(missing.clone()).unwrap_or_default(),
    }
}

fn syntax(error: &toml::de::Error) -> Fault {
    Fault::plain(error.span().unwrap_or(0..0), format!("this is not TOML: {}", error.message()))
}

/// Puts what the deserializer says in the words of whoever wrote the file.
fn unreadable(error: &toml::de::Error, tree: &DeTable<'_>) -> Fault {
    let span = error.span().unwrap_or(0..0);
    let message = error.message();
    if message.starts_with("unknown field") {
        return unknown_key(span, message, tree);
    }
    let kind = ["invalid type: ", "invalid value: "].iter().find_map(|kind| message.strip_prefix(kind));
    let Some((found, expected)) = kind.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return Fault::value(span, message);
    };
    let key = key_at(tree, &span);
    let expected = match expected {
        "a sequence" if key.as_deref() == Some("tcp") => "groups headed [[tcp]], in double brackets",
        "a sequence" if key.as_deref() == Some("udp") => "groups headed [[udp]], in double brackets",
        "a sequence" if key.as_deref() == Some("class") => "classes headed [[class]], in double brackets",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "f64" => "a number",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number, 0 or more",
        other => other,
    };
    let found = match found {
        "map" => "a table",
        "sequence" => "a list",
        other => other,
    };
    Fault::value(span, format!("expected {expected}, found {found}"))
}

/// `message` lists the known keys, each between backticks, after what it expected.
fn unknown_key(span: Range<usize>, message: &str, tree: &DeTable<'_>) -> Fault {
    let listed = message.rsplit_once(", expected ").map_or("", |(_, listed)| listed);
    let known: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    let path = key_at(tree, &span).unwrap_or_default();
    let (section, key) = path.rsplit_once('.').unwrap_or(("", &path));
    let place = match section.split_once('[') {
        _ if section.is_empty() => String::new(),
        Some((kind, rest)) => match rest.split_once('.') {
            Some((_, inner)) => format!(" in [{kind}.{inner}]"),
            None => format!(" in [[{kind}]]"),
        },
        None => format!(" in [{section}]"),
    };
    let guess = nearest(key, known.iter().copied()).map(|name| format!("; did you mean `{name}`?"));
    Fault::plain(span, format!("unknown key `{key}`{place}{}", guess.unwrap_or_default()))
        .help(format!("known keys: {}", known.join(", ")))
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

/// The rest of the path inside a value, with the dot or bracket it begins with.
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
