//! Changes to a scenario from outside its file. They are made in the TOML tree before it is read, so a change can set
//! every key and is checked like the file.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::error::{Fault, SourceText};
use crate::groups::{Kind, default_name};
use crate::network::DUMBBELL;
use crate::qdisc_changes;
use crate::schema::did_you_mean;

/// Changes to make while a scenario file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// `PATH=VALUE` each, applied in order: `link.rate=20Mbit/s`, `tcp.cc=cubic` (all TCP groups), `NAME.rate=8Mbit/s`
    /// (one group), `link.NAME.rate=..`, `class.NAME.weight=3`, `class.weight=1` (all classes), `qdisc.red.maxp=0.2`
    /// (every discipline of that name, also in `qdiscs` below). A value that is not TOML is taken as text.
    pub set: Vec<String>,
    /// Disciplines that replace the file's; empty keeps the file's.
    pub qdiscs: Vec<String>,
    /// Runs seeds 1 to this count instead of the file's.
    pub seeds: Option<u32>,
}

impl Changes {
    /// All changes in order of application.
    pub(crate) fn list(&self) -> Vec<Change> {
        let set = self.set.iter().map(|change| Change { flag: ChangeOption::Set, text: change.clone() });
        let qdiscs = self.qdiscs.iter().map(|qdisc| Change { flag: ChangeOption::Qdisc, text: qdisc.clone() });
        let seeds = self.seeds.map(|count| Change { flag: ChangeOption::Seeds, text: count.to_string() });
        set.chain(qdiscs).chain(seeds).collect()
    }
}

pub(crate) struct Change {
    flag: ChangeOption,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeOption {
    Set,
    Qdisc,
    Seeds,
}

impl Change {
    /// Whether this sets a parameter of a discipline. Such changes are made last, after the disciplines are chosen.
    fn is_of_qdisc(&self) -> bool {
        self.flag == ChangeOption::Set && self.text.split(['.', '=']).next().is_some_and(|step| step.trim() == "qdisc")
    }
}

/// As written on a command line.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = match self.flag {
            ChangeOption::Set => "--set",
            ChangeOption::Qdisc => "--qdisc",
            ChangeOption::Seeds => "--seeds",
        };
        write!(f, "{flag} {}", self.text)
    }
}

pub(crate) fn apply<'c>(source: &'c SourceText<'_>, tree: &mut DeTable<'c>) -> Result<(), Fault> {
    let mut qdiscs = Vec::new();
    for (index, change) in source.changes.iter().enumerate() {
        let span = source.change_span(index);
        match change.flag {
            ChangeOption::Set if change.is_of_qdisc() => {}
            ChangeOption::Set => set(tree, &change.text, &span)?,
            ChangeOption::Qdisc => qdiscs.push(Spanned::new(span, text(&change.text))),
            ChangeOption::Seeds => put_at(tree, &["seeds"], &relocated(value(&change.text), &span))?,
        }
    }
    if let Some(span) = qdiscs.first().map(Spanned::span) {
        put_at(tree, &["qdiscs"], &Spanned::new(span, DeValue::Array(DeArray::from_iter(qdiscs))))?;
    }
    let mut of_qdiscs = source.changes.iter().enumerate().filter(|(_, change)| change.is_of_qdisc());
    of_qdiscs.try_for_each(|(index, change)| set(tree, &change.text, &source.change_span(index)))
}

/// A value that is not TOML is taken as text.
fn value(written: &str) -> DeValue<'_> {
    DeValue::parse(written).map_or_else(|_| text(written), Spanned::into_inner)
}

fn text(text: &str) -> DeValue<'_> {
    DeValue::String(Cow::Borrowed(text))
}

/// Maximum number of names in a path. It limits the depth of the tree, as the parser does for a file's text.
const MOST_STEPS: usize = 4;

/// Makes one `PATH=VALUE` change, located at `span`.
fn set<'c>(tree: &mut DeTable<'c>, change: &'c str, span: &Range<usize>) -> Result<(), Fault> {
    let wrong_form = || Fault::plain(span.clone(), "a change has the form PATH=VALUE, such as `link.rate=20Mbit/s`");
    let (path, value) = change.split_once('=').ok_or_else(wrong_form)?;
    let path_steps: Vec<&str> = path.split('.').map(str::trim).collect();
    if path_steps.iter().any(|step| step.is_empty()) {
        return Err(wrong_form());
    }
    if path_steps.len() > MOST_STEPS {
        return Err(Fault::plain(
            span.clone(),
            format!("no key lies deeper than {MOST_STEPS} names, as in `link.core.reverse.rate`"),
        ));
    }
    let value = relocated(self::value(value.trim()), span);
    match path_steps.as_slice() {
        ["link", inner @ ..] if !inner.is_empty() => put_in_links(tree, inner, &value),
        ["qdisc", name, setting] => qdisc_changes::set(tree, name, setting, &value),
        ["qdisc", ..] => Err(Fault::plain(span.clone(), "a discipline's setting is written `qdisc.red.maxp=0.1`")),
        [_] | ["classify" | "record", ..] => put_at(tree, &path_steps, &value),
        [kind @ ("tcp" | "udp" | "class"), key] => put_in_all(tree, kind, &[key], &value),
        ["class", name, key] => put_in_class(tree, name, key, &value),
        [kind @ ("tcp" | "udp"), name, key, ..] if is_group(tree, kind, name) => {
            let path = &path_steps[1..].join(".");
            Err(Fault::plain(span.clone(), format!("`{name}` is a group, not a key of [[{kind}]]: write `{path}`"))
                .help(format!("`{kind}.{key}` sets it in every [[{kind}]]")))
        }
        [kind @ ("tcp" | "udp"), inner @ ..] => put_in_all(tree, kind, inner, &value),
        [name, inner @ ..] => put_in_group(tree, name, inner, &value),
        [] => Err(wrong_form()),
    }
}

/// Locates the whole value at `span`.
fn relocated<'c>(value: DeValue<'c>, span: &Range<usize>) -> Spanned<DeValue<'c>> {
    let inner = |value: Spanned<DeValue<'c>>| relocated(value.into_inner(), span);
    let value = match value {
        DeValue::Array(items) => DeValue::Array(items.into_iter().map(inner).collect()),
        DeValue::Table(entries) => DeValue::Table(
            entries
                .into_iter()
                .map(|(key, value)| (Spanned::new(span.clone(), key.into_inner()), inner(value)))
                .collect(),
        ),
        plain => plain,
    };
    Spanned::new(span.clone(), value)
}

/// Puts `value` at `path_steps` below `table`; creates missing tables.
fn put_at<'c>(table: &mut DeTable<'c>, path_steps: &[&str], value: &Spanned<DeValue<'c>>) -> Result<(), Fault> {
    let (step, rest) = path_steps.split_first().expect("a path has a step");
    let key = || Spanned::new(value.span(), Cow::Owned((*step).to_string()));
    if rest.is_empty() {
        // Replacing only the value would keep the old key's location.
        table.remove(*step);
        table.insert(key(), value.clone());
        return Ok(());
    }
    if !table.contains_key(*step) {
        table.insert(key(), Spanned::new(value.span(), DeValue::Table(DeTable::new())));
    }
    match table.get_mut(*step).map(Spanned::get_mut) {
        Some(DeValue::Table(inner)) => put_at(inner, rest, value),
        _ => Err(Fault::plain(value.span(), format!("`{step}` is not a table: nothing can be set in it"))),
    }
}

/// The tables of all groups of one kind, or of all classes.
fn groups<'t, 'c>(tree: &'t mut DeTable<'c>, kind: &str) -> Vec<&'t mut DeTable<'c>> {
    let Some(DeValue::Array(groups)) = tree.get_mut(kind).map(Spanned::get_mut) else { return Vec::new() };
    groups.iter_mut().filter_map(|group| as_table(group.get_mut())).collect()
}

fn as_table<'t, 'c>(value: &'t mut DeValue<'c>) -> Option<&'t mut DeTable<'c>> {
    match value {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// Whether `wanted` names a group of this kind, and not one of its keys.
fn is_group(tree: &mut DeTable<'_>, kind: &str, wanted: &str) -> bool {
    let Some(kind) = [Kind::Tcp, Kind::Udp].into_iter().find(|each| each.name() == kind) else { return false };
    let mut groups = groups(tree, kind.name()).into_iter().enumerate();
    groups.any(|(index, group)| group_name(group, kind, index) == wanted && !group.contains_key(wanted))
}

/// A group's name, or its default name.
fn group_name(group: &DeTable<'_>, kind: Kind, index: usize) -> String {
    name_of(group).unwrap_or_else(|| default_name(kind, index))
}

fn put_in_all<'c>(
    tree: &mut DeTable<'c>,
    kind: &str,
    inner: &[&str],
    value: &Spanned<DeValue<'c>>,
) -> Result<(), Fault> {
    let groups = groups(tree, kind);
    if groups.is_empty() {
        return Err(Fault::plain(value.span(), format!("there is no [[{kind}]] to set anything in")));
    }
    groups.into_iter().try_for_each(|group| put_at(group, inner, value))
}

/// Puts the value into every link, or into the link whose name begins the path.
fn put_in_links<'c>(tree: &mut DeTable<'c>, inner: &[&str], value: &Spanned<DeValue<'c>>) -> Result<(), Fault> {
    let is_network = matches!(tree.get("link").map(Spanned::get_ref), Some(DeValue::Array(_)));
    let (wanted, rest) = match inner {
        [wanted, rest @ ..] if !rest.is_empty() && *wanted != "reverse" => (*wanted, rest),
        _ if is_network => return put_in_all(tree, "link", inner, value),
        _ => return put_at(tree, &[&["link"], inner].concat(), value),
    };
    let mut known = Vec::new();
    let links = match is_network {
        true => groups(tree, "link"),
        false => tree.get_mut("link").and_then(|link| as_table(link.get_mut())).into_iter().collect(),
    };
    for link in links {
        match link_name(link, is_network) {
            name if name == wanted => return put_at(link, rest, value),
            name => known.push(name),
        }
    }
    Err(unknown_name("no link is", wanted, &known, value.span()))
}

fn put_in_group<'c>(
    tree: &mut DeTable<'c>,
    wanted: &str,
    inner: &[&str],
    value: &Spanned<DeValue<'c>>,
) -> Result<(), Fault> {
    let mut known = ["link", "record", "tcp", "udp", "classify", "class"].map(String::from).to_vec();
    for kind in [Kind::Tcp, Kind::Udp] {
        for (index, group) in groups(tree, kind.name()).into_iter().enumerate() {
            let name = group_name(group, kind, index);
            if name == wanted {
                return put_at(group, inner, value);
            }
            if !known.contains(&name) {
                known.push(name);
            }
        }
    }
    if groups(tree, "class").into_iter().any(|class| name_of(class).as_deref() == Some(wanted)) {
        let path = [&["class", wanted], inner].concat().join(".");
        return Err(Fault::plain(value.span(), format!("`{wanted}` is a class: write `{path}`")));
    }
    Err(unknown_name("no section or group is", wanted, &known, value.span()))
}

/// Classes have a path of their own because a class and a group may share a name.
fn put_in_class<'c>(
    tree: &mut DeTable<'c>,
    wanted: &str,
    key: &str,
    value: &Spanned<DeValue<'c>>,
) -> Result<(), Fault> {
    let mut known = Vec::new();
    for class in groups(tree, "class") {
        match name_of(class) {
            Some(name) if name == wanted => return put_at(class, &[key], value),
            name => known.extend(name),
        }
    }
    Err(unknown_name("no class is", wanted, &known, value.span()))
}

/// A link's name, or its default name.
fn link_name(link: &DeTable<'_>, of_several: bool) -> String {
    let text = |key: &str| link.get(key).and_then(|value| value.get_ref().as_str());
    match (text("name"), text("from"), text("to")) {
        (Some(name), ..) => name.to_string(),
        (None, Some(from), Some(to)) if of_several => format!("{from}-{to}"),
        _ => DUMBBELL.to_string(),
    }
}

fn name_of(table: &DeTable<'_>) -> Option<String> {
    table.get("name").and_then(|name| name.get_ref().as_str()).map(str::to_string)
}

pub(crate) fn unknown_name(what: &str, wanted: &str, known: &[String], span: Range<usize>) -> Fault {
    let guess = did_you_mean(wanted, known.iter().map(String::as_str));
    let fault = Fault::plain(span, format!("{what} called `{wanted}`{guess}"));
    if known.is_empty() { fault } else { fault.help(format!("known: {}", known.join(", "))) }
}
