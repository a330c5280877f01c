//! Tables as a file gives them: every key that exists, none filled in.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use super::Key;

/// A value that may be absent, with its place in the text.
pub(crate) type At<T> = Option<Spanned<T>>;

/// The keys of a table, or of a part of one, as a file gives them.
pub(crate) trait RawTable: Default {
    /// What to say that such a table is.
    const EXPECTING: &'static str = "a table";

    /// All keys, in the order in which they are listed and written.
    fn keys() -> Vec<Key>;

    /// The names of all keys, in the same order.
    fn names() -> Vec<&'static str>;

    /// Takes the value of the key `name`, which the table knows.
    ///
    /// # Errors
    /// The value is not of the key's kind.
    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Reads a table. serde's own `flatten` would lose unknown keys and the places of values.
pub(crate) fn deserialize<'de, T: RawTable, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(TableVisitor(PhantomData))
}

struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: RawTable> Visitor<'de> for TableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTING)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let (mut table, names) = (T::default(), T::names());
        while let Some(name) = map.next_key_seed(KnownKey(&names))? {
            table.take(&name, &mut map)?;
        }
        Ok(table)
    }
}

/// One of these names of keys. Another is refused here, where its place is known.
struct KnownKey<'a>(&'a [&'static str]);

impl<'de> DeserializeSeed<'de> for KnownKey<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KnownKey<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<String, E> {
        if self.0.contains(&name) {
            return Ok(name.to_string());
        }
        Err(E::custom(format!("unknown field `{name}`, expected one of `{}`", self.0.join("`, `"))))
    }
}
