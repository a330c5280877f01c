//! Tables as a file gives them: every key that exists, none filled in.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Key, Node, mismatch};
use crate::error::Fault;

/// A value that may be absent, with its place in the text.
pub(crate) type At<T> = Option<Spanned<T>>;

/// The keys of a table, or of a part of one, as a file gives them.
pub(crate) trait RawTable: Default {
    /// What to say that such a table is.
    const EXPECTING: &'static str;

    /// All keys, in the order in which they are listed and written.
    fn keys() -> Vec<Key>;

    /// The names of all keys, in the same order.
    fn names() -> Vec<&'static str>;

    /// Takes the value of the key `name`, which the table knows.
    ///
    /// # Errors
    /// The value is not of the key's kind.
    fn take(&mut self, name: &str, value: &Node<'_>) -> Result<(), Fault>;

    /// The table with these entries.
    ///
    /// # Errors
    /// A key that there is not, a value that is not of its key's kind.
    fn of(entries: &DeTable<'_>) -> Result<Self, Fault> {
        let (mut table, names) = (Self::default(), Self::names());
        for (key, value) in entries {
            if !names.contains(&key.get_ref().as_ref()) {
                return Err(Fault::unknown(key.span(), names));
            }
            table.take(key.get_ref(), value)?;
        }
        Ok(table)
    }
}

/// Reads a table.
pub(crate) fn read<T: RawTable>(node: &Node<'_>) -> Result<T, Fault> {
    match node.get_ref() {
        DeValue::Table(entries) => T::of(entries),
        _ => mismatch(node, T::EXPECTING),
    }
}

/// Reads the value of a key.
pub(crate) fn value<T: super::Kind>(node: &Node<'_>) -> Result<At<T>, Fault> {
    T::read(node).map(|value| Some(Spanned::new(node.span(), value)))
}
