//! Tables as a file gives them: a field for each key of the schema, empty where the file gives no value.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Key, Node, ValueKind, mismatch};
use crate::error::Fault;

/// An optional value with its location.
pub(crate) type Located<T> = Option<Spanned<T>>;

/// The keys of a table or part as a file gives them.
pub(crate) trait RawTable: Default + ValueKind {
    /// All keys, in the order of listing and writing.
    fn keys() -> Vec<Key>;

    fn names() -> Vec<&'static str>;

    /// Sets the key `name`, which the table has.
    fn take(&mut self, name: &str, value: &Node<'_>) -> Result<(), Fault>;

    /// Reads the table's entries. Refuses unknown keys and values of the wrong kind.
    fn of(entries: &DeTable<'_>) -> Result<Self, Fault> {
        let (mut table, names) = (Self::default(), Self::names());
        for (key, value) in entries {
            if !names.contains(&key.get_ref().as_ref()) {
                return Err(Fault::unknown(key.span(), key.get_ref(), names));
            }
            table.take(key.get_ref(), value)?;
        }
        Ok(table)
    }
}

/// A table or part that can be written.
pub(crate) trait Entries {
    /// Keys with their values as a file writes them, in the order of the declaration. Keys without a value are left
    /// out.
    fn entries(&self) -> Vec<(&'static str, String)>;
}

pub(crate) fn read<T: RawTable>(node: &Node<'_>) -> Result<T, Fault> {
    match node.get_ref() {
        DeValue::Table(entries) => T::of(entries),
        _ => mismatch(node, &T::expecting()),
    }
}

pub(crate) fn value<T: ValueKind>(node: &Node<'_>) -> Result<Located<T>, Fault> {
    T::read(node).map(|value| Some(Spanned::new(node.span(), value)))
}
