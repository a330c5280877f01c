//! How single values are read: each says what it expected in the words of whoever wrote the file.

use std::fmt;
use std::marker::PhantomData;

use headgate_core::params::{Bytes, Value};
use headgate_core::{Limit, Rate, Span, nearest};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Unexpected, Visitor};

use crate::cc::Cc;
use crate::model::{Events, UdpCc};
use crate::recovery::Recovery;

/// A quantity with a unit.
#[derive(Clone, Debug)]
pub(crate) struct Quantity<V>(pub(crate) V);

/// A kind of quantity, with a unit to suggest to one who wrote none.
pub(crate) trait Unit: Value {
    const UNIT: &'static str;
}

impl Unit for Span {
    const UNIT: &'static str = "ms";
}
impl Unit for Rate {
    const UNIT: &'static str = "Mbit/s";
}
impl Unit for Limit {
    const UNIT: &'static str = "p";
}
impl Unit for Bytes {
    const UNIT: &'static str = "B";
}

/// Reads a quantity from the text of a TOML string.
pub(crate) fn read<V: Unit>(text: &str) -> Result<V, String> {
    match text.trim() {
        // Not `nan` or `inf`, which are numbers to Rust alone.
        bare if bare.ends_with(|c: char| c.is_ascii_digit()) && bare.parse::<f64>().is_ok() => Err(unitless::<V>(bare)),
        negative if negative.starts_with('-') => Err(format!("must not be negative, found {text:?}")),
        _ => V::read(text).map_err(|expected| format!("expected {expected}, found {text:?}")),
    }
}

pub(crate) fn unitless<V: Unit>(number: &str) -> String {
    if number.starts_with('-') {
        return format!("must not be negative, found {number}");
    }
    // Most quantities must be more than zero: a unit would not help.
    let read = if number.parse() == Ok(0.0) { String::new() } else { format!("{number}{}", V::UNIT) };
    match V::read(&read) {
        Ok(_) => format!("a bare number has no unit; write {read:?}"),
        Err(expected) => format!("expected {expected}, found {number}"),
    }
}

/// What can be read from text, and refuses a bare number in its own words.
pub(crate) trait FromText: Sized {
    fn expecting() -> String;
    fn from_text(text: &str) -> Result<Self, String>;
    fn from_number(number: &str) -> String {
        format!("expected {}, found {number}", Self::expecting())
    }
}

pub(crate) struct TextVisitor<T>(PhantomData<T>);

impl<T> Default for TextVisitor<T> {
    fn default() -> Self {
        TextVisitor(PhantomData)
    }
}

impl<T: FromText> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&T::expecting())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).map_err(E::custom)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Err(E::custom(T::from_number(&number.to_string())))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        Err(E::custom(T::from_number(&number.to_string())))
    }
}

impl<'de, V: Unit> Deserialize<'de> for Quantity<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor(PhantomData))
    }
}

macro_rules! deserialize_from_text {
    ($($ty:ty),+) => {$(
        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TextVisitor(PhantomData))
            }
        }
    )+};
}

deserialize_from_text!(Cc, Recovery, Events, Profile, UdpCc, OrOff<Span>, OrOff<Rate>);

impl<V: Unit> FromText for Quantity<V> {
    fn expecting() -> String {
        "a number with its unit, in quotes".to_string()
    }
    fn from_text(text: &str) -> Result<Self, String> {
        read(text).map(Quantity)
    }
    fn from_number(number: &str) -> String {
        unitless::<V>(number)
    }
}

/// Which defaults a group of flows starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Today's, from the RFCs.
    Rfc,
    /// Those of ns-2, which the papers used.
    Ns2,
}

impl Profile {
    /// The default of a key: that of ns-2 if the key has one and this is its profile.
    pub(crate) fn choose<T>(self, default: T, ns2: Option<T>) -> T {
        match self {
            Profile::Rfc => default,
            Profile::Ns2 => ns2.unwrap_or(default),
        }
    }
}

/// A choice among a few words.
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// What is chosen.
    const WHAT: &'static str;
    /// Every choice with its word, in the order in which they are listed to the user.
    const WORDS: &'static [(&'static str, Self)];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, choice)| *choice == self).map_or("", |(word, _)| word)
    }
}

impl Words for UdpCc {
    const WHAT: &'static str = "congestion control of UDP";
    const WORDS: &'static [(&'static str, UdpCc)] = &[("off", UdpCc::Off), ("tfrc", UdpCc::Tfrc)];
}

impl Words for Events {
    const WHAT: &'static str = "choice of events";
    const WORDS: &'static [(&'static str, Events)] =
        &[("off", Events::Off), ("drops", Events::Drops), ("decisions", Events::Decisions), ("all", Events::All)];
}

impl Words for Profile {
    const WHAT: &'static str = "profile";
    const WORDS: &'static [(&'static str, Profile)] = &[("rfc", Profile::Rfc), ("ns2", Profile::Ns2)];
}

impl<T: Words> FromText for T {
    fn expecting() -> String {
        let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
        format!("a {}: {}", T::WHAT, words.join(", "))
    }
    fn from_text(text: &str) -> Result<T, String> {
        let words = || T::WORDS.iter().map(|(word, _)| *word);
        let found = T::WORDS.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice);
        found.ok_or_else(|| {
            let guess = nearest(text, words()).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
            let known: Vec<&str> = words().collect();
            format!("unknown {} `{text}`{guess} (known: {})", T::WHAT, known.join(", "))
        })
    }
}

/// As scenario files have it.
impl fmt::Display for Cc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// As scenario files have it.
impl fmt::Display for UdpCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// As scenario files have it.
impl fmt::Display for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A value, or `"off"` for none.
#[derive(Clone, Debug)]
pub(crate) struct OrOff<T>(pub(crate) Option<T>);

impl<V: Unit> FromText for OrOff<V> {
    fn expecting() -> String {
        format!("a {} with its unit, or \"off\"", V::kind())
    }
    fn from_text(text: &str) -> Result<Self, String> {
        if text == "off" { Ok(OrOff(None)) } else { read(text).map(|value| OrOff(Some(value))) }
    }
    fn from_number(number: &str) -> String {
        unitless::<V>(number)
    }
}

struct CountOrOff;

impl Visitor<'_> for CountOrOff {
    type Value = OrOff<u32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of packets, or \"off\"")
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<OrOff<u32>, E> {
        let count = u32::try_from(number);
        count.map(|count| OrOff(Some(count))).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<OrOff<u32>, E> {
        if text == "off" { Ok(OrOff(None)) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
    }
}

impl<'de> Deserialize<'de> for OrOff<u32> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountOrOff)
    }
}

/// A table of anything.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a table")]
pub(crate) struct AnyTable {}

/// Seeds: a count (1, 2, ... n), or a list.
#[derive(Clone, Debug)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

impl Seeds {
    /// More runs than anyone waits for.
    pub(crate) const MOST: u64 = 10_000;
}

struct SeedsVisitor;

impl<'de> Visitor<'de> for SeedsVisitor {
    type Value = Seeds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a count such as 10, or a list such as [1, 5, 9]")
    }
    fn visit_i64<E: Error>(self, count: i64) -> Result<Seeds, E> {
        match u64::try_from(count) {
            Ok(count @ 1..=Seeds::MOST) => Ok(Seeds((1..=count).collect())),
            _ => Err(E::custom(format!("the count of seeds must be 1 to {}, not {count}", Seeds::MOST))),
        }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Seeds, A::Error> {
        let mut seeds = Vec::new();
        while let Some(seed) = list.next_element()? {
            if seeds.contains(&seed) {
                return Err(A::Error::custom(format!("seed {seed} is given twice")));
            }
            if seeds.len() as u64 == Seeds::MOST {
                return Err(A::Error::custom(format!("more than {} seeds", Seeds::MOST)));
            }
            seeds.push(seed);
        }
        if seeds.is_empty() { Err(A::Error::custom("the list of seeds is empty")) } else { Ok(Seeds(seeds)) }
    }
}

impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeedsVisitor)
    }
}
