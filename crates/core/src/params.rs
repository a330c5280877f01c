//! Parameters of disciplines: one entry in [`params!`](crate::params!) becomes the field, the range check, the
//! command-line key, the Python keyword and the table on the doc page.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeBounds;

pub use crate::build_error::BuildError;
pub use crate::value::{Bytes, Value, range_in_words};

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
