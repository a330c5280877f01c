//! The kinds of values: how a file writes them, how they are read and shown.

use std::fmt::{self, Debug, Display};

use aqm::params::{Bytes, ParameterValue};
use aqm::{Framing, Limit, Qdisc, Rate, Span, nearest};
use headgate_traffic::Traffic;
use toml::Spanned;
use toml::de::{DeInteger, DeValue};

use super::Form;
use super::units::{quantity, unitless};
use crate::cc::{Cc, Recovery, UdpCc};
use crate::check::LARGEST_PACKET;
use crate::classify::FlowKey;
use crate::error::Fault;
use crate::fair::FairUnit;
use crate::medium::EcnTreatment;
use crate::model::Events;
use crate::record::Traced;
use crate::values::{Profile, RateOf, WordChoice};

/// A value in the tree of a file, with its location.
pub(crate) type Node<'t> = Spanned<DeValue<'t>>;

/// A kind of value, as a file writes it.
pub(crate) trait ValueKind: Sized + Clone + Debug {
    /// Description of a list of such values, for "expected ..." in error messages.
    const SEVERAL: &'static str = "a list";

    /// Whether a bare number is a value, too.
    const NUMBERS: bool = false;

    fn form() -> Form {
        match Self::NUMBERS {
            true => Form::new(Self::expecting(), "int | str", r#"{"type": ["integer", "string"]}"#),
            false => Form::new(Self::expecting(), "str", r#"{"type": "string"}"#),
        }
    }

    /// Description of such a value, for "expected ..." in error messages.
    fn expecting() -> String;

    /// Reads the value of a text.
    fn from_text(text: &str) -> Result<Self, String> {
        Err(format!("expected {}, found {text:?}", Self::expecting()))
    }

    /// Reads the value of a bare number.
    fn from_number(number: &str) -> Result<Self, String> {
        Err(format!("expected {}, found {number}", Self::expecting()))
    }

    /// Reads a value: a text or a number, unless the kind has others.
    fn read(node: &Node<'_>) -> Result<Self, Fault> {
        let read = match node.get_ref() {
            DeValue::String(text) => Self::from_text(text),
            DeValue::Integer(number) => match whole::<i128>(number) {
                Some(number) => Self::from_number(&number.to_string()),
                None => return mismatch(node, &Self::expecting()),
            },
            DeValue::Float(_) => Self::from_number(&<f64 as ValueKind>::read(node)?.to_string()),
            _ => return mismatch(node, &Self::expecting()),
        };
        read.map_err(|message| Fault::value(node.span(), message))
    }
}

/// A kind of value that can be written to a file.
pub(crate) trait Show {
    fn show(&self) -> String;
}

pub(crate) trait Ranged {
    /// The type of a range's bounds.
    type Scalar: PartialOrd + Display;

    /// The number to compare with a range, if there is one.
    fn scalar(&self) -> Option<Self::Scalar>;
}

pub(crate) fn mismatch<T>(node: &Node<'_>, expected: &str) -> Result<T, Fault> {
    let found = match node.get_ref() {
        DeValue::String(text) => format!("string {text:?}"),
        DeValue::Integer(number) => format!("integer `{number}`"),
        DeValue::Float(number) => format!("floating point `{number}`"),
        DeValue::Boolean(on) => format!("boolean `{on}`"),
        DeValue::Datetime(_) => "a date or a time of day".to_string(),
        DeValue::Array(_) => "a list".to_string(),
        DeValue::Table(_) => "a table".to_string(),
    };
    Err(Fault::value(node.span(), format!("expected {expected}, found {found}")))
}

pub(crate) fn whole<T: TryFrom<i128>>(number: &DeInteger<'_>) -> Option<T> {
    T::try_from(i128::from_str_radix(number.as_str(), number.radix()).ok()?).ok()
}

/// Suggests the nearest of the known names, as a question.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// A packet size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Size(pub(crate) u64);

impl From<u32> for Size {
    fn from(bytes: u32) -> Size {
        Size(bytes.into())
    }
}

/// Does not overflow for a size within the range of its key.
impl From<Size> for u32 {
    fn from(size: Size) -> u32 {
        size.0.try_into().unwrap_or(u32::MAX)
    }
}

/// In bytes up to the largest packet, beyond it in the unit that fits.
impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self <= LARGEST_PACKET { write!(f, "{}B", self.0) } else { Display::fmt(&Bytes(self.0), f) }
    }
}

impl Show for Size {
    fn show(&self) -> String {
        format!("\"{}\"", Bytes(self.0))
    }
}

/// Values that a file writes as they are: type, form, expected value, reader, format.
macro_rules! plain {
    ($($type:ty, $words:literal, $python:literal, $json:literal, $expecting:literal, $read:expr, $show:literal;)+) => {$(
        impl ValueKind for $type {
            fn form() -> Form {
                Form::new($words, $python, $json)
            }
            fn expecting() -> String {
                $expecting.to_string()
            }
            fn read(node: &Node<'_>) -> Result<$type, Fault> {
                let read: fn(&DeValue<'_>) -> Option<$type> = $read;
                read(node.get_ref()).map_or_else(|| mismatch(node, $expecting), Ok)
            }
        }

        impl Show for $type {
            fn show(&self) -> String {
                format!($show, self)
            }
        }
    )+};
}

plain! {
    u32, "whole number", "int", r#"{"type": "integer"}"#, "a whole number from 0 to 4294967295",
        |value| value.as_integer().and_then(whole), "{}";
    u64, "whole number", "int", r#"{"type": "integer"}"#, "a whole number, 0 or more",
        |value| value.as_integer().and_then(whole), "{}";
    // `{:?}` keeps the point of a whole number, and every digit of any other.
    f64, "number", "float", r#"{"type": "number"}"#, "a number", |value| match value {
        DeValue::Integer(number) => whole(number).map(|number: i64| number as f64),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }, "{:?}";
    bool, "true or false", "bool", r#"{"type": "boolean"}"#, "true or false",
        |value| value.as_bool(), "{}";
}

impl ValueKind for String {
    fn form() -> Form {
        Form::new("text", "str", r#"{"type": "string"}"#)
    }
    fn expecting() -> String {
        "a text in quotes".to_string()
    }
    fn read(node: &Node<'_>) -> Result<String, Fault> {
        node.get_ref().as_str().map_or_else(|| mismatch(node, "a text in quotes"), |text| Ok(text.to_string()))
    }
}

impl Show for String {
    fn show(&self) -> String {
        toml::Value::from(self.as_str()).to_string()
    }
}

/// Refuses a queue limit above the buffer of any router. Reading has already refused zero.
fn check_limit(limit: Limit) -> Result<Limit, String> {
    let most = match limit {
        Limit::Packets(_) => Limit::Packets(10_000_000),
        Limit::Bytes(_) => Limit::Bytes(10_000_000_000),
    };
    if limit <= most { Ok(limit) } else { Err(format!("must be at most {most}, not {limit}")) }
}

/// Quantities: type, constructor from text, name in the documentation, name in Python, unit.
macro_rules! quantities {
    ($($type:ty, $make:expr, $words:expr, $python:literal, $unit:literal;)+) => {$(
        impl ValueKind for $type {
            fn form() -> Form {
                Form::new($words, $python, r#"{"type": "string", "pattern": "^ *[0-9.eE-]+ *[A-Za-z/]+ *$"}"#)
            }
            fn expecting() -> String {
                "a number with its unit, in quotes".to_string()
            }
            fn from_text(text: &str) -> Result<$type, String> {
                quantity(text, $unit).and_then($make)
            }
            fn from_number(number: &str) -> Result<$type, String> {
                unitless(number, $unit).and_then($make)
            }
        }
    )+};
}

quantities! {
    Span, Ok, Span::kind(), "Time", "ms";
    Rate, Ok, Rate::kind(), "Rate", "Mbit/s";
    Limit, check_limit, Limit::kind(), "Room", "p";
    Size, |bytes: Bytes| Ok(Size(bytes.0)), "size", "Size", "B";
}

/// A number of bytes per packet, or the name of a framing.
impl ValueKind for Framing {
    const NUMBERS: bool = true;

    fn expecting() -> String {
        "bytes per packet such as \"38B\", or the name of a framing such as \"ethernet\"".to_string()
    }
    fn from_text(text: &str) -> Result<Framing, String> {
        Framing::parse(text)
    }
    fn from_number(number: &str) -> Result<Framing, String> {
        Framing::parse(number)
    }
}

macro_rules! quoted {
    ($($type:ty),+) => {$(
        impl Show for $type {
            fn show(&self) -> String {
                self.to_string().show()
            }
        }
    )+};
}

quoted!(Span, Rate, Limit, Qdisc, Framing, Traffic, Traced, FlowKey);

macro_rules! ranged {
    ($($type:ty),+) => {$(
        impl Ranged for $type {
            type Scalar = $type;

            fn scalar(&self) -> Option<$type> {
                Some(*self)
            }
        }
    )+};
}

ranged!(u32, f64, Span, Rate, Size);

/// A value, or the word `"off"` for none.
impl<T: ValueKind> ValueKind for Option<T> {
    fn form() -> Form {
        T::form().or_off()
    }
    fn expecting() -> String {
        format!("{}, or \"off\"", T::expecting())
    }
    fn read(node: &Node<'_>) -> Result<Option<T>, Fault> {
        if node.get_ref().as_str() == Some("off") {
            return Ok(None);
        }
        T::read(node).map(Some).map_err(|mut fault| {
            fault.message = fault.message.replacen(&T::expecting(), &Self::expecting(), 1);
            fault
        })
    }
}

impl<T: Show> Show for Option<T> {
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "\"off\"".to_string(), T::show)
    }
}

impl<T: Show> Show for Spanned<T> {
    fn show(&self) -> String {
        self.get_ref().show()
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(&self) -> String {
        format!("[{}]", self.iter().map(T::show).collect::<Vec<_>>().join(", "))
    }
}

impl<T: Ranged> Ranged for Option<T> {
    type Scalar = T::Scalar;

    fn scalar(&self) -> Option<T::Scalar> {
        self.as_ref().and_then(T::scalar)
    }
}

/// A word from a list.
macro_rules! words {
    ($($type:ty),+) => {$(
        impl ValueKind for $type {
            fn form() -> Form {
                let words: Vec<String> = <$type>::WORDS.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                Form::new(words.join(", "), "str", format!(r#"{{"enum": [{}]}}"#, words.join(", ")))
            }
            fn expecting() -> String {
                format!("a {}: {}", <$type>::WHAT, <$type>::known())
            }
            fn from_text(text: &str) -> Result<$type, String> {
                <$type>::parse(text)
            }
        }

        /// As scenario files write it.
        impl Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    )+

        quoted!($($type),+);
    };
}

words!(Cc, EcnTreatment, Recovery, Events, FairUnit, Profile, RateOf, UdpCc);

impl<T: ValueKind> ValueKind for Vec<Spanned<T>> {
    fn form() -> Form {
        T::form().list()
    }
    fn expecting() -> String {
        T::SEVERAL.to_string()
    }
    fn read(node: &Node<'_>) -> Result<Self, Fault> {
        let Some(items) = node.get_ref().as_array() else { return mismatch(node, T::SEVERAL) };
        items.iter().map(|item| T::read(item).map(|value| Spanned::new(item.span(), value))).collect()
    }
}
