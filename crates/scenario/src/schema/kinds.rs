//! The kinds of values that keys have.

use std::fmt::{self, Debug, Display};

use headgate_core::params::{Bytes, Value};
use headgate_core::{Limit, Rate, Span};
use serde::de::DeserializeOwned;
use toml::Spanned;

use super::Form;
use crate::check::LARGEST_PACKET;
use crate::fields::{AnyOf, Field, One};
use crate::record::Traced;
use crate::values::{AnyTable, OrOff, Quantity, Seeds, Words};
use crate::{qdisc, start, traffic};

/// A kind of value, as a file writes it.
pub(crate) trait Shape {
    /// What a file's value is read as.
    type Raw: DeserializeOwned + Clone + Debug;

    /// How such values are written.
    fn form() -> Form;
}

/// A kind of value that says all of its key: it is read, checked and written by itself.
pub(crate) trait Setting: Shape {
    /// The value in a scenario.
    type Value: Clone;
    /// What ranges are stated in.
    type Scalar: PartialOrd + Display;

    /// What to compare with a range, if anything.
    fn scalar(raw: &Self::Raw) -> Option<Self::Scalar>;
    /// The value as scenarios have it; it is within its key's range.
    fn value(raw: Self::Raw) -> Self::Value;
    /// The value as a file writes it.
    fn show(value: &Self::Value) -> String;
}

/// A size of packets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Size(pub(crate) u64);

/// What packets can have is told in bytes, what they cannot with the unit that fits it.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self <= LARGEST_PACKET { write!(f, "{}B", self.0) } else { Display::fmt(&Bytes(self.0), f) }
    }
}

/// Values that a file writes as they are: the type, its form, and what to compare with a range.
macro_rules! plain {
    ($($type:ty, $words:literal, $python:literal, $json:literal, $scalar:ty, $compare:expr, $show:literal;)+) => {$(
        impl Shape for $type {
            type Raw = $type;

            fn form() -> Form {
                Form::new($words, $python, $json)
            }
        }

        impl Setting for $type {
            type Value = $type;
            type Scalar = $scalar;

            fn scalar(raw: &$type) -> Option<$scalar> {
                $compare(*raw)
            }
            fn value(raw: $type) -> $type {
                raw
            }
            fn show(value: &$type) -> String {
                format!($show, value)
            }
        }
    )+};
}

plain! {
    u32, "whole number", "int", r#"{"type": "integer"}"#, u32, Some, "{}";
    // `{:?}` keeps the point of a whole number, and every digit of any other.
    f64, "number", "float", r#"{"type": "number"}"#, f64, Some, "{:?}";
    bool, "true or false", "bool", r#"{"type": "boolean"}"#, bool, |_| None, "{}";
}

/// A text with a unit.
fn quantity(kind: &str, python: &str) -> Form {
    Form::new(kind, python, r#"{"type": "string", "pattern": "^ *[0-9.eE-]+ *[A-Za-z/]+ *$"}"#)
}

/// Quantities: the type, and what Python calls it.
macro_rules! quantities {
    ($($type:ty, $python:literal;)+) => {$(
        impl Shape for $type {
            type Raw = Quantity<$type>;

            fn form() -> Form {
                quantity(&<$type as Value>::kind(), $python)
            }
        }

        impl Setting for $type {
            type Value = $type;
            type Scalar = $type;

            fn scalar(raw: &Quantity<$type>) -> Option<$type> {
                Some(raw.0)
            }
            fn value(raw: Quantity<$type>) -> $type {
                raw.0
            }
            fn show(value: &$type) -> String {
                format!("\"{value}\"")
            }
        }
    )+};
}

quantities! {
    Span, "Time";
    Rate, "Rate";
    Limit, "Room";
}

impl Shape for Size {
    type Raw = Quantity<Bytes>;

    fn form() -> Form {
        quantity("size", "Size")
    }
}

impl Setting for Size {
    type Value = u32;
    type Scalar = Size;

    fn scalar(raw: &Quantity<Bytes>) -> Option<Size> {
        Some(Size(raw.0.0))
    }
    fn value(raw: Quantity<Bytes>) -> u32 {
        raw.0.0.try_into().unwrap_or(u32::MAX)
    }
    fn show(value: &u32) -> String {
        format!("\"{}\"", Bytes((*value).into()))
    }
}

/// A value, or the word `"off"` for none.
macro_rules! or_off {
    ($($type:ty),+) => {$(
        impl Shape for Option<$type> {
            type Raw = OrOff<$type>;

            fn form() -> Form {
                <$type>::form().or_off()
            }
        }

        impl Setting for Option<$type> {
            type Value = Option<$type>;
            type Scalar = $type;

            fn scalar(raw: &OrOff<$type>) -> Option<$type> {
                raw.0
            }
            fn value(raw: OrOff<$type>) -> Option<$type> {
                raw.0
            }
            fn show(value: &Option<$type>) -> String {
                value.as_ref().map_or_else(|| "\"off\"".to_string(), <$type as Setting>::show)
            }
        }
    )+};
}

or_off!(u32, Span, Rate);

/// One of a few words.
impl<T: Words + DeserializeOwned + Debug> Shape for T {
    type Raw = T;

    fn form() -> Form {
        let words: Vec<String> = T::WORDS.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        Form::new(words.join(", "), "str", format!(r#"{{"enum": [{}]}}"#, words.join(", ")))
    }
}

impl<T: Words + DeserializeOwned + Debug> Setting for T {
    type Value = T;
    type Scalar = bool;

    fn scalar(_: &T) -> Option<bool> {
        None
    }
    fn value(raw: T) -> T {
        raw
    }
    fn show(value: &T) -> String {
        format!("\"{}\"", value.word())
    }
}

impl Shape for String {
    type Raw = String;

    fn form() -> Form {
        Form::new("text", "str", r#"{"type": "string"}"#)
    }
}

impl<T: Shape> Shape for Vec<T> {
    type Raw = Vec<Spanned<T::Raw>>;

    fn form() -> Form {
        T::form().list()
    }
}

impl<F: Field + Clone + Debug> Shape for One<F> {
    type Raw = One<F>;

    fn form() -> Form {
        let whole = Form::new(F::expecting(), "int | str", r#"{"type": ["integer", "string"]}"#);
        if F::WHOLE { whole } else { Form::new(F::expecting(), "str", r#"{"type": "string"}"#) }
    }
}

impl<F: Field + Clone + Debug> Shape for AnyOf<F> {
    type Raw = AnyOf<F>;

    fn form() -> Form {
        let Form { words, json, .. } = One::<F>::form();
        let json = format!(r#"{{"anyOf": [{json}, {{"type": "array", "items": {json}, "minItems": 1}}]}}"#);
        Form::new(format!("{words}, or a list of such"), "Several", json)
    }
}

impl Shape for Seeds {
    type Raw = Seeds;

    fn form() -> Form {
        let json = r#"{"anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": {"type": "integer"}}]}"#;
        Form::new("a count, or a list of whole numbers", "int | Sequence[int]", json)
    }
}

/// A discipline or a source: a text, or a table with its `name` and settings.
fn named(words: &str, python: &str) -> Form {
    Form::new(words, python, r#"{"anyOf": [{"type": "string"}, {"type": "object", "required": ["name"]}]}"#)
}

impl Shape for qdisc::Written {
    type Raw = qdisc::Written;

    fn form() -> Form {
        named("discipline", "str | Qdisc")
    }
}

impl Shape for traffic::Written {
    type Raw = traffic::Written;

    fn form() -> Form {
        named("source", "str | Traffic | Mapping[str, Any]")
    }
}

impl Shape for start::Written {
    type Raw = start::Written;

    fn form() -> Form {
        Form::new("time, two times to draw from, or a table", "Start", r#"{"type": ["string", "object"]}"#)
    }
}

impl Shape for Traced {
    type Raw = Traced;

    fn form() -> Form {
        Form::new("group, or one of its flows", "str", r#"{"type": "string"}"#)
    }
}

impl Shape for AnyTable {
    type Raw = AnyTable;

    fn form() -> Form {
        Form::new("table", "Mapping[str, Any]", r#"{"type": "object"}"#)
    }
}
