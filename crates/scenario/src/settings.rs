//! Settings as tables write them: `{ name = "red", maxp = 0.1 }`. Disciplines and sources of traffic are written alike;
//! what a text, a table or a list among their settings means is each one's own.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

/// What stands for one setting in a table of this kind.
pub(crate) trait Grammar {
    /// What the table is of, as in "the source has no `name`".
    const WHAT: &'static str;
    /// What a setting may be.
    const EXPECTED: &'static str;

    /// A text.
    fn text(text: &str) -> String {
        text.to_string()
    }

    /// A table inside the table.
    fn table<'de, A: MapAccess<'de>>(_: A) -> Result<String, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }

    /// A list.
    fn list<'de, A: SeqAccess<'de>>(list: A) -> Result<String, A::Error>;
}

/// The `name` in a table; every other key is given to `add` with its value.
pub(crate) fn named<'de, G: Grammar, A: MapAccess<'de>>(
    mut table: A,
    mut add: impl FnMut(&str, &str) -> Result<(), String>,
) -> Result<String, A::Error> {
    let mut name = String::new();
    while let Some((key, setting)) = table.next_entry::<String, Setting<G>>()? {
        if key == "name" { name = setting.text } else { add(&key, &setting.text).map_err(A::Error::custom)? }
    }
    if name.is_empty() {
        return Err(A::Error::custom(format!("the {} has no `name`", G::WHAT)));
    }
    Ok(name)
}

/// One setting, as the text that a registry reads.
struct Setting<G> {
    text: String,
    of: PhantomData<G>,
}

struct SettingVisitor<G>(PhantomData<G>);

impl<'de, G: Grammar> Visitor<'de> for SettingVisitor<G> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(G::EXPECTED)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(G::text(text))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
    }
    fn visit_bool<E: Error>(self, on: bool) -> Result<String, E> {
        Ok(if on { "on" } else { "off" }.to_string())
    }
    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<String, A::Error> {
        G::table(table)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<String, A::Error> {
        G::list(list)
    }
}

impl<'de, G: Grammar> Deserialize<'de> for Setting<G> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(SettingVisitor::<G>(PhantomData))?;
        Ok(Setting { text, of: PhantomData })
    }
}
