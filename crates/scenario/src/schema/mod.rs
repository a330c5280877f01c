//! The schema of scenario files. Each key is stated once, in a `table!` or `keys!` declaration: its meaning, kind,
//! default and range. Reading, checking and writing follow from it, and so do the guide's tables, Python's keywords and
//! the JSON Schema.

pub(crate) mod declare;
mod file;
mod group;
mod kinds;
mod link;
mod parameters;
pub(crate) mod raw;
mod renamed;
mod tcp;
mod udp;
mod units;

use std::ops::{Bound, RangeBounds};

use toml::Spanned;

use crate::check::{Section, within};
use crate::error::Fault;

pub(crate) use file::{RawClass, RawClassify, RawRecord, RawRun, RawScenario};
pub use group::Access;
pub(crate) use group::{RawAccess, RawEndpoints, RawGroup, RawHeaders, RawStart};
pub(crate) use kinds::{Node, Ranged, Show, Size, ValueKind, did_you_mean, mismatch, whole};
pub(crate) use link::{RawDirection, RawLink, RawLinks, RawMedium, RawStep};
pub(crate) use parameters::rename_parameters;
pub(crate) use raw::{Entries, Located, RawTable};
pub(crate) use renamed::{Edit, EditText, NameChange, Renamed, rename, rename_swept, respell};
pub(crate) use tcp::RawTcp;
pub use tcp::TcpSettings;
pub(crate) use udp::RawUdp;
pub use udp::UdpSettings;

/// A key of a table, as documented to users.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Names in earlier releases. They still work, with a warning.
    pub also: &'static [&'static str],
    /// Its meaning, in Markdown.
    pub meaning: String,
    /// How its values are written.
    pub form: Form,
    /// The least value, as a file writes it.
    pub least: Bound<String>,
    /// The greatest value, as a file writes it.
    pub most: Bound<String>,
    /// The default, in Markdown.
    pub default: String,
    /// The default in the profile `ns2`.
    pub ns2: String,
    /// The default in the profile `linux`.
    pub linux: String,
    /// The release that introduced it.
    pub since: &'static str,
    /// Whether a `table!` declares the key: it is then read, checked and written without the rest of the file.
    pub is_setting: bool,
}

/// The keys at the top of a file. Keys of inner tables are in their [`Form`].
pub fn keys() -> Vec<Key> {
    RawScenario::keys()
}

/// How a file writes values of one kind.
#[derive(Clone, Debug)]
pub struct Form {
    /// In words, unit included.
    pub words: String,
    /// As a Python annotation.
    pub python: String,
    /// As a JSON Schema.
    pub json: String,
    /// The keys inside, if it is a table or a list of tables.
    pub keys: Option<fn() -> Vec<Key>>,
}

/// Release of the keys that state none.
pub(crate) const FIRST_RELEASE: &str = "0.1";

impl Form {
    pub(crate) fn new(words: impl Into<String>, python: &str, json: impl Into<String>) -> Form {
        Form { words: words.into(), python: python.to_string(), json: json.into(), keys: None }
    }

    /// A table of the schema, named after its Rust type.
    pub(crate) fn table(raw: &str, keys: fn() -> Vec<Key>) -> Form {
        let name = raw.trim_start_matches("Raw");
        Form {
            keys: Some(keys),
            ..Form::new("table", &format!("{name}Keys"), format!(r##"{{"$ref": "#/$defs/{name}"}}"##))
        }
    }

    /// A discipline or a source: a text, or a table with its `name` and settings.
    pub(crate) fn named(words: &str, python: &str) -> Form {
        Form::new(words, python, r#"{"anyOf": [{"type": "string"}, {"type": "object", "required": ["name"]}]}"#)
    }

    /// This form, or the word `"off"`.
    fn or_off(self) -> Form {
        let python = if self.python == "int" { "int | str".to_string() } else { self.python };
        let json = format!(r#"{{"anyOf": [{}, {{"const": "off"}}]}}"#, self.json);
        Form { words: format!("{}, or off", self.words), python, json, keys: None }
    }

    /// A list of this form.
    fn list(self) -> Form {
        let python = format!("Sequence[{}]", self.python);
        let json = format!(r#"{{"type": "array", "items": {}}}"#, self.json);
        Form { words: format!("list of {}", self.words), python, json, keys: self.keys }
    }
}

fn ranged<K: Ranged>(raw: &Located<K>, range: &impl RangeBounds<K::Scalar>) -> Result<(), Fault> {
    let given = raw.as_ref().and_then(|raw| raw.get_ref().scalar().map(|scalar| Spanned::new(raw.span(), scalar)));
    given.map_or(Ok(()), |given| within(given, (range.start_bound(), range.end_bound())).map(drop))
}

/// The fault for a refused value, located at the value, or at the section if it is a default.
fn refused<T>(raw: &Located<T>, section: &Section, message: String) -> Fault {
    Fault::value(section.span_of(raw), message)
}

/// A value without a location, for writing a file.
pub(crate) fn given<T>(value: T) -> Located<T> {
    Some(Spanned::new(0..0, value))
}

/// A default, in Markdown.
fn shown<T: Show>(value: &T) -> String {
    format!("`{}`", value.show())
}

/// A table on one line.
fn inline(table: &impl Entries) -> String {
    let entries: Vec<String> = table.entries().into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// Least and greatest value of a range, as a file writes them.
type KeyRange = (Bound<String>, Bound<String>);

const UNBOUNDED: KeyRange = (Bound::Unbounded, Bound::Unbounded);

fn bounds<K: Ranged>(range: &impl RangeBounds<K::Scalar>) -> KeyRange {
    let shown = |bound: Bound<&K::Scalar>| bound.map(ToString::to_string);
    (shown(range.start_bound()), shown(range.end_bound()))
}
