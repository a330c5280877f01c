//! Kinds of parameter values, with parsing and printing.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Bound, RangeBounds};

use crate::settings::Settings;
use crate::time::Span;
use crate::units::{Level, Limit, Rate, parse_bytes, show_bytes};

/// A kind of parameter value.
pub trait ParameterValue: Sized {
    /// The type that ranges compare.
    type Scalar: PartialOrd + fmt::Display;
    /// The kind in words, with its unit.
    fn kind() -> String;
    /// Parses the value.
    ///
    /// # Errors
    /// The expected form.
    fn read(text: &str) -> Result<Self, String>;
    /// Prints the value as a user would write it.
    fn show(&self) -> String;
    /// The value to compare with a range, if any.
    fn scalar(&self) -> Option<Self::Scalar> {
        None
    }
    /// Nested disciplines in the value, with their settings.
    fn nested(&self) -> Vec<(String, Settings)> {
        Vec::new()
    }
}

macro_rules! simple_value {
    ($($ty:ty, $kind:literal, $read:expr, $show:expr;)*) => {$(
        impl ParameterValue for $ty {
            type Scalar = $ty;
            fn kind() -> String { $kind.to_string() }
            fn read(text: &str) -> Result<$ty, String> { $read(text) }
            fn show(&self) -> String { $show(self) }
            fn scalar(&self) -> Option<$ty> { Some(*self) }
        }
    )*};
}

simple_value! {
    u32, "whole number", |t: &str| t.trim().parse().map_err(|_| "a whole number".to_string()), u32::to_string;
    i32, "whole number", |t: &str| t.trim().parse().map_err(|_| "a whole number".to_string()), i32::to_string;
    f64, "number", read_number, f64::to_string;
    bool, "on or off", read_bool, |b: &bool| if *b { "on".to_string() } else { "off".to_string() };
    Span, "time", |t: &str| Span::parse(t).map_err(String::from), Span::to_string;
    Rate, "rate", |t: &str| Rate::parse(t).map_err(String::from), Rate::to_string;
    Limit, "packets or bytes", |t: &str| Limit::parse(t).map_err(String::from), Limit::to_string;
    Level, "packets, bytes or share of the limit", |t: &str| Level::parse(t).map_err(String::from), Level::to_string;
    Bytes, "bytes", |t: &str| parse_bytes(t).map(Bytes).map_err(String::from), Bytes::to_string;
}

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show_bytes(self.0))
    }
}

fn read_number(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|n| n.is_finite()).ok_or_else(|| "a number".to_string())
}

fn read_bool(text: &str) -> Result<bool, String> {
    match text.trim() {
        "on" | "true" | "yes" | "1" => Ok(true),
        "off" | "false" | "no" | "0" => Ok(false),
        _ => Err("on or off".to_string()),
    }
}

/// An optional value: `auto` leaves the choice to the discipline.
impl<V: ParameterValue> ParameterValue for Option<V> {
    type Scalar = V::Scalar;
    fn kind() -> String {
        format!("{}, or auto", V::kind())
    }
    fn read(text: &str) -> Result<Self, String> {
        if text.trim() == "auto" {
            return Ok(None);
        }
        V::read(text).map(Some).map_err(|expected| format!("{expected}, or auto"))
    }
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "auto".to_string(), ParameterValue::show)
    }
    fn scalar(&self) -> Option<V::Scalar> {
        self.as_ref().and_then(ParameterValue::scalar)
    }
}

/// A range in words: `0 to 1`, `at least 1`, `more than 0`.
pub fn range_in_words<S: fmt::Display>(range: &impl RangeBounds<S>) -> String {
    let low = match range.start_bound() {
        Bound::Included(low) => Some((low.to_string(), "at least")),
        Bound::Excluded(low) => Some((low.to_string(), "more than")),
        Bound::Unbounded => None,
    };
    let high = match range.end_bound() {
        Bound::Included(high) => Some((high.to_string(), "at most")),
        Bound::Excluded(high) => Some((high.to_string(), "less than")),
        Bound::Unbounded => None,
    };
    match (low, high) {
        (Some((low, "at least")), Some((high, "at most"))) => format!("{low} to {high}"),
        (Some((low, above)), Some((high, below))) => format!("{above} {low} and {below} {high}"),
        (Some((bound, word)), None) | (None, Some((bound, word))) => format!("{word} {bound}"),
        (None, None) => String::new(),
    }
}

/// Declares a parameter with a fixed set of values.
///
/// `choice! { /// doc  pub enum Spacing { /// doc  Uniform = "uniform", /// doc  Wait = "wait" } }`
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $crate::params::ParameterValue for $name {
            type Scalar = bool;
            fn kind() -> alloc::string::String {
                [$($word),+].join(" or ")
            }
            fn read(text: &str) -> Result<Self, alloc::string::String> {
                match text.trim() {
                    $($word => Ok($name::$variant),)+
                    _ => Err(Self::kind()),
                }
            }
            fn show(&self) -> alloc::string::String {
                match self { $($name::$variant => $word.into()),+ }
            }
        }
    };
}
