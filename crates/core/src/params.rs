//! Parameters of disciplines: one entry in [`params!`](crate::params!) becomes the field, the range check, the
//! command-line key, the Python keyword and the table on the doc page.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Bound, RangeBounds};

use crate::names::nearest;
use crate::time::Span;
use crate::units::{Level, Limit, Rate, parse_bytes, show_bytes};

/// What a user may know of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, as written in `red:maxp=0.1`.
    pub name: &'static str,
    /// Other names that work: the papers', tc's, ns-2's.
    pub also: &'static [&'static str],
    /// What it means, one or more sentences.
    pub doc: String,
    /// What kind of value it takes, unit included.
    pub kind: String,
    /// Its default, as a user would write it.
    pub default: String,
    /// The values allowed, in words; empty if every value of its kind is.
    pub range: String,
}

/// A named set of values: the paper's, an implementation's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name, as written in `red:preset=ns2`.
    pub name: &'static str,
    /// Whose values these are, with the source.
    pub about: &'static str,
    /// The values that differ from the defaults.
    pub settings: &'static [(&'static str, &'static str)],
}

/// The settings of a discipline; [`params!`](crate::params!) implements it.
pub trait Params: Clone + Default {
    /// Every parameter, in the order in which they are documented.
    fn fields() -> Vec<Field>;
    /// The presets, first the one whose values are the defaults: `paper`, or for modern ones `rfc` or `linux`.
    fn presets() -> &'static [Preset];
    /// Sets one parameter from text.
    ///
    /// # Errors
    /// An unknown name, or a value that is not of the parameter's kind or range.
    fn set(&mut self, name: &str, value: &str) -> Result<(), BuildError>;
    /// Every parameter with its value as text: setting them all again gives the same settings.
    fn values(&self) -> Vec<(&'static str, String)>;

    /// The defaults changed by `settings`, in order; `preset` may come first and is applied first.
    ///
    /// # Errors
    /// The first setting that cannot be applied.
    fn from_settings(settings: &[(&str, &str)]) -> Result<Self, BuildError> {
        let mut config = Self::default();
        for (_, preset) in settings.iter().filter(|(name, _)| *name == "preset") {
            let found = Self::presets().iter().find(|p| p.name == *preset);
            let names = || Self::presets().iter().map(|p| p.name);
            let preset = found.ok_or_else(|| BuildError::preset(preset, names()))?;
            preset.settings.iter().try_for_each(|(name, value)| config.set(name, value))?;
        }
        let others = settings.iter().filter(|(name, _)| *name != "preset");
        others.clone().try_for_each(|(name, value)| config.set(name, value))?;
        Ok(config)
    }
}

/// Why a discipline could not be built from what the user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no discipline of this name.
    UnknownDiscipline {
        /// What was written.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
        /// Every name there is.
        known: Vec<&'static str>,
    },
    /// The discipline has no parameter, or no preset, of this name.
    UnknownName {
        /// `parameter` or `preset`.
        what: &'static str,
        /// What was written.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
        /// Every name there is.
        known: Vec<&'static str>,
    },
    /// The value is not of the parameter's kind or not in its range.
    BadValue {
        /// The parameter.
        name: &'static str,
        /// What was written.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// The values do not fit each other, such as `minth` above `maxth`.
    Conflict(String),
    /// A discipline inside this one cannot be built.
    Nested {
        /// The parameter that names it.
        parameter: &'static str,
        /// The discipline, as it was written.
        qdisc: String,
        /// Why not.
        error: Box<BuildError>,
    },
}

impl BuildError {
    /// A parameter of an unknown name.
    pub fn parameter(name: &str, known: Vec<&'static str>) -> BuildError {
        Self::unknown("parameter", name, known)
    }

    fn preset(name: &str, known: impl Iterator<Item = &'static str>) -> BuildError {
        Self::unknown("preset", name, known.collect())
    }

    fn unknown(what: &'static str, name: &str, known: Vec<&'static str>) -> BuildError {
        let nearest = nearest(name, known.iter().copied()).map(ToString::to_string);
        BuildError::UnknownName { what, name: name.to_string(), nearest, known }
    }
}

impl BuildError {
    /// What is wrong, without the list of names that would have been right.
    pub fn brief(&self) -> String {
        let guess = |nearest: &Option<String>| match nearest {
            Some(name) => format!("; did you mean `{name}`?"),
            None => String::new(),
        };
        match self {
            BuildError::UnknownDiscipline { name, nearest, .. } => {
                format!("no discipline is called `{name}`{}", guess(nearest))
            }
            BuildError::UnknownName { what, name, nearest, .. } => format!("unknown {what} `{name}`{}", guess(nearest)),
            BuildError::BadValue { name, value, expected } => format!("`{name}` is \"{value}\", expected {expected}"),
            BuildError::Conflict(why) => why.clone(),
            BuildError::Nested { parameter, qdisc, error } => {
                format!("in `{parameter}`, \"{qdisc}\": {}", error.brief())
            }
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.brief())?;
        match self {
            BuildError::UnknownDiscipline { known, .. } | BuildError::UnknownName { known, .. } => {
                write!(f, " (known: {})", known.join(", "))
            }
            _ => Ok(()),
        }
    }
}

impl core::error::Error for BuildError {}

/// A kind of value a parameter can take.
pub trait Value: Sized {
    /// What ranges are stated in.
    type Scalar: PartialOrd + fmt::Display;
    /// The kind in words, unit included.
    fn kind() -> String;
    /// Reads it from text; the error says what was expected.
    ///
    /// # Errors
    /// What was expected instead.
    fn read(text: &str) -> Result<Self, String>;
    /// Writes it as a user would.
    fn show(&self) -> String;
    /// The value to compare with a range, if it has one.
    fn scalar(&self) -> Option<Self::Scalar>;
}

macro_rules! simple_value {
    ($($ty:ty, $kind:literal, $read:expr, $show:expr;)*) => {$(
        impl Value for $ty {
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

/// A value that may be left to the discipline, written `auto`.
impl<V: Value> Value for Option<V> {
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
        self.as_ref().map_or_else(|| "auto".to_string(), Value::show)
    }
    fn scalar(&self) -> Option<V::Scalar> {
        self.as_ref().and_then(Value::scalar)
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

/// Reads `text` for the parameter `name` and checks that it lies in `range`.
///
/// # Errors
/// A [`BuildError::BadValue`] that says what was expected.
pub fn read_in<V: Value>(name: &'static str, text: &str, range: &impl RangeBounds<V::Scalar>) -> Result<V, BuildError> {
    let bad = |expected| BuildError::BadValue { name, value: text.to_string(), expected };
    let value = V::read(text).map_err(bad)?;
    match value.scalar() {
        Some(scalar) if !range.contains(&scalar) => Err(bad(range_in_words(range))),
        _ => Ok(value),
    }
}

/// Declares a parameter that takes one of a few words.
///
/// `choice! { /// doc  pub enum Spacing { /// doc  Uniform = "uniform", /// doc  Wait = "wait" } }`
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $crate::params::Value for $name {
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
            fn scalar(&self) -> Option<bool> { None }
        }
    };
}

/// Declares a discipline's settings: each entry is the documentation, name, kind, default, and optionally the range
/// and other names under which it is known. Presets follow the fields.
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $config:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident : $ty:ty = $default:expr $(, in $range:expr)? $(, also $($alias:literal)+)? ;
            )+
        }
        presets {
            $( $preset:literal $about:literal { $($key:literal = $value:literal),* $(,)? } )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $config {
            $( $(#[doc = $doc])+ pub $field: $ty, )+
        }

        impl Default for $config {
            fn default() -> Self {
                $config { $($field: $default,)+ }
            }
        }

        impl $crate::params::Params for $config {
            fn fields() -> alloc::vec::Vec<$crate::params::Field> {
                use $crate::params::Value;
                let defaults = $config::default();
                alloc::vec![$($crate::params::Field {
                    name: stringify!($field),
                    also: &[$($($alias),+)?],
                    doc: [$($doc.trim()),+].join(" "),
                    kind: <$ty>::kind(),
                    default: defaults.$field.show(),
                    range: $crate::params::range_in_words::<<$ty as Value>::Scalar>(&$crate::range!($($range)?)),
                }),+]
            }

            fn presets() -> &'static [$crate::params::Preset] {
                &[$($crate::params::Preset { name: $preset, about: $about, settings: &[$(($key, $value)),*] }),+]
            }

            fn set(&mut self, name: &str, value: &str) -> Result<(), $crate::params::BuildError> {
                match name {
                    $(stringify!($field) $($(| $alias)+)? => {
                        self.$field = $crate::params::read_in(stringify!($field), value, &$crate::range!($($range)?))?;
                    })+
                    _ => {
                        let known = alloc::vec![$(stringify!($field)),+];
                        return Err($crate::params::BuildError::parameter(name, known));
                    }
                }
                Ok(())
            }

            fn values(&self) -> alloc::vec::Vec<(&'static str, alloc::string::String)> {
                alloc::vec![$((stringify!($field), $crate::params::Value::show(&self.$field))),+]
            }
        }
    };
}

/// A range, or everything where none was given.
#[doc(hidden)]
#[macro_export]
macro_rules! range {
    () => {
        ..
    };
    ($range:expr) => {
        $range
    };
}
