//! Discipline parameters. One entry in [`params!`](crate::params!) becomes the field, its range check, the command-line
//! key, the Python keyword and the row in the documentation.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeBounds;

pub use crate::build_error::BuildError;
pub use crate::foreign::FixedSwitch;
use crate::foreign::reciprocal;
use crate::gauge::Gauge;
use crate::reason::Why;
use crate::settings::Settings;
pub use crate::value::{Bytes, ParameterValue, range_in_words};

/// The description of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Its name, as in `red:maxp=0.1`.
    pub name: &'static str,
    /// Other accepted names: the papers', tc's, those of ns-2 and ns-3.
    pub also: &'static [&'static str],
    /// Names that other programs use for its reciprocal, such as ns-2's `linterm_` for 1/maxp.
    pub inverse: &'static [&'static str],
    /// Names in earlier releases, accepted until the next release.
    pub renamed_from: &'static [&'static str],
    /// Its meaning, in one or more sentences.
    pub doc: String,
    /// The kind of value, with its unit.
    pub kind: String,
    /// The default as text.
    pub default: String,
    /// The allowed range in words; empty if unrestricted.
    pub range: String,
}

/// A named set of values, from a paper or an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name, as written in `red:preset=ns2`.
    pub name: &'static str,
    /// The source of these values.
    pub about: &'static str,
    /// The values that differ from the defaults.
    pub settings: &'static [(&'static str, &'static str)],
}

/// The settings of a discipline; [`params!`](crate::params!) implements it.
pub trait Params: Clone + Default + 'static {
    /// Every parameter, in documentation order.
    fn parameters() -> Vec<Parameter<Self>>;
    /// The presets. The first holds the defaults: `paper`, or `rfc` or `linux` for modern disciplines.
    fn presets() -> &'static [Preset];
    /// Reasons for this discipline's drops and marks, without those of nested disciplines.
    fn reasons() -> &'static [Why] {
        &[]
    }
    /// Gauges of this discipline, without those of nested disciplines.
    fn gauges() -> &'static [Gauge] {
        &[]
    }
    /// Switches of other programs that this discipline fixes.
    fn fixed() -> &'static [FixedSwitch] {
        &[]
    }

    /// The description of every parameter.
    fn fields() -> Vec<ParameterInfo> {
        let mut defaults = Self::default();
        Self::parameters().iter().map(|parameter| parameter.field(&mut defaults)).collect()
    }

    /// Every parameter with its value as text. Setting them all reproduces the settings.
    fn values(&self) -> Vec<(&'static str, String)> {
        let mut copy = self.clone();
        Self::parameters().iter().map(|parameter| (parameter.name, parameter.slot.show(&mut copy))).collect()
    }

    /// Nested disciplines by name and settings.
    fn nested(&self) -> Vec<(String, Settings)> {
        let mut copy = self.clone();
        Self::parameters().iter().flat_map(|parameter| parameter.slot.nested(&mut copy)).collect()
    }

    /// Sets one parameter from text.
    ///
    /// # Errors
    /// An unknown name, or a value that is not of the parameter's kind or range.
    fn set(&mut self, name: &str, value: &str) -> Result<(), BuildError> {
        set(&Self::parameters(), self, name, value)
    }

    /// The defaults changed by `settings` in order. `preset`, if given, must come first.
    ///
    /// # Errors
    /// The first setting that cannot be applied.
    fn from_settings(settings: &[(&str, &str)]) -> Result<Self, BuildError> {
        let mut config = Self::default();
        if settings.is_empty() {
            return Ok(config);
        }
        let parameters = Self::parameters();
        for (_, preset) in settings.iter().filter(|(name, _)| *name == "preset") {
            let found = Self::presets().iter().find(|p| p.name == *preset);
            let names = || Self::presets().iter().map(|p| p.name).collect();
            let preset = found.ok_or_else(|| BuildError::unknown("preset", preset, names()))?;
            preset.settings.iter().try_for_each(|(name, value)| set(&parameters, &mut config, name, value))?;
        }
        let mut others = settings.iter().filter(|(name, _)| *name != "preset");
        others.try_for_each(|(name, value)| set(&parameters, &mut config, name, value))?;
        Ok(config)
    }
}

fn set<C: Params>(parameters: &[Parameter<C>], config: &mut C, name: &str, value: &str) -> Result<(), BuildError> {
    if let Some(fixed) = C::fixed().iter().find(|fixed| fixed.names.contains(&name)) {
        return fixed.check(name, value);
    }
    let named = parameters.iter().find(|parameter| parameter.answers_to(name));
    let names = || parameters.iter().map(|parameter| parameter.name).collect();
    let unknown = || BuildError::unknown("parameter", name, names());
    let parameter = named.ok_or_else(unknown)?;
    let (name, result) = match parameter.inverse.iter().find(|inverse| **inverse == name) {
        Some(inverse) => (*inverse, parameter.set_inverse(config, value)),
        None => (parameter.name, parameter.slot.set(config, value)),
    };
    result.map_err(|expected| BuildError::BadValue { name, value: value.to_string(), expected })
}

/// A parameter of the settings `C`.
pub struct Parameter<C> {
    name: &'static str,
    also: &'static [&'static str],
    inverse: &'static [&'static str],
    renamed_from: &'static [&'static str],
    doc: &'static [&'static str],
    slot: Box<dyn ValueAccess<C>>,
}

impl<C: 'static> Parameter<C> {
    /// The parameter `name` with values in `range`. `at` returns a reference to its value. `also`, `inverse` and
    /// `renamed_from` are its other names, as in [`ParameterInfo`].
    pub fn new<V: ParameterValue + 'static>(
        name: &'static str,
        [also, inverse, renamed_from]: [&'static [&'static str]; 3],
        doc: &'static [&'static str],
        range: impl RangeBounds<V::Scalar> + 'static,
        at: fn(&mut C) -> &mut V,
    ) -> Parameter<C> {
        Parameter { name, also, inverse, renamed_from, doc, slot: Box::new(FieldAccess { range, at }) }
    }

    fn answers_to(&self, name: &str) -> bool {
        self.name == name || [self.also, self.inverse, self.renamed_from].iter().any(|names| names.contains(&name))
    }

    /// Sets it to the reciprocal of a number, or returns the expected values.
    fn set_inverse(&self, config: &mut C, value: &str) -> Result<(), String> {
        let expected = |range: &str| {
            let range = if range.is_empty() { "a number" } else { range };
            alloc::format!("a number above 0 whose reciprocal, `{}`, is {range}", self.name)
        };
        let reciprocal = reciprocal(value).ok_or_else(|| expected(&self.slot.range()))?;
        self.slot.set(config, &reciprocal).map_err(|range| expected(&range))
    }

    fn field(&self, defaults: &mut C) -> ParameterInfo {
        let lines: Vec<&str> = self.doc.iter().map(|line| line.trim()).collect();
        ParameterInfo {
            name: self.name,
            also: self.also,
            inverse: self.inverse,
            renamed_from: self.renamed_from,
            doc: lines.join(" "),
            kind: self.slot.kind(),
            default: self.slot.show(defaults),
            range: self.slot.range(),
        }
    }
}

/// Access to a value inside the settings `C`.
trait ValueAccess<C> {
    fn kind(&self) -> String;
    fn range(&self) -> String;
    fn show(&self, settings: &mut C) -> String;
    fn nested(&self, settings: &mut C) -> Vec<(String, Settings)>;
    fn set(&self, settings: &mut C, text: &str) -> Result<(), String>;
}

/// A value that is a field of the settings.
struct FieldAccess<C, V, R> {
    range: R,
    at: fn(&mut C) -> &mut V,
}

impl<C, V: ParameterValue, R: RangeBounds<V::Scalar>> ValueAccess<C> for FieldAccess<C, V, R> {
    fn kind(&self) -> String {
        V::kind()
    }
    fn range(&self) -> String {
        range_in_words(&self.range)
    }
    fn show(&self, settings: &mut C) -> String {
        (self.at)(settings).show()
    }
    fn nested(&self, settings: &mut C) -> Vec<(String, Settings)> {
        (self.at)(settings).nested()
    }
    fn set(&self, settings: &mut C, text: &str) -> Result<(), String> {
        let value = V::read(text)?;
        match value.scalar() {
            Some(scalar) if !self.range.contains(&scalar) => Err(range_in_words(&self.range)),
            _ => {
                *(self.at)(settings) = value;
                Ok(())
            }
        }
    }
}

/// A value in a shared block of settings.
struct BlockAccess<C, B> {
    slot: Box<dyn ValueAccess<B>>,
    block: fn(&mut C) -> &mut B,
}

impl<C, B> ValueAccess<C> for BlockAccess<C, B> {
    fn kind(&self) -> String {
        self.slot.kind()
    }
    fn range(&self) -> String {
        self.slot.range()
    }
    fn show(&self, settings: &mut C) -> String {
        self.slot.show((self.block)(settings))
    }
    fn nested(&self, settings: &mut C) -> Vec<(String, Settings)> {
        self.slot.nested((self.block)(settings))
    }
    fn set(&self, settings: &mut C, text: &str) -> Result<(), String> {
        self.slot.set((self.block)(settings), text)
    }
}

/// The parameters of a block listed in `names`, or all if empty. Documentation lines replace the block's own.
///
/// # Panics
/// If the block has no parameter of a name.
pub fn included<C: 'static, B: Params>(
    names: &[(&str, &'static [&'static str])],
    block: fn(&mut C) -> &mut B,
) -> Vec<Parameter<C>> {
    let mut all = B::parameters();
    let mut chosen = Vec::new();
    for (name, doc) in names {
        let found = all.iter().position(|parameter| parameter.name == *name).expect("the block has this parameter");
        let parameter = all.remove(found);
        chosen.push(Parameter { doc: if doc.is_empty() { parameter.doc } else { doc }, ..parameter });
    }
    let chosen = if names.is_empty() { all } else { chosen };
    let of_block = |Parameter { name, also, inverse, renamed_from, doc, slot }| Parameter {
        name,
        also,
        inverse,
        renamed_from,
        doc,
        slot: Box::new(BlockAccess { slot, block }) as Box<dyn ValueAccess<C>>,
    };
    chosen.into_iter().map(of_block).collect()
}

/// Declares a discipline's settings. Each entry has documentation, name, kind and default. A range, other accepted
/// names (`also`), names of the reciprocal (`inverse`) and names in earlier releases (`renamed_from`) are optional. Presets follow the entries, then the
/// reasons for drops and marks, and the gauges.
///
/// `with red: RedSettings` after the name includes a block of shared settings. In the body, `red { limit, minth = None
/// }` places parameters of that block, optionally with another default. Documentation before a name replaces the
/// block's. `red {}` places all of them.
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $config:ident $(with $block:ident : $of:ty)? {
            $(
                $(#[doc = $doc:literal])+
                $field:ident : $ty:ty = $default:expr $(, in $range:expr)? $(, also $($alias:literal)+)?
                    $(, inverse $($inverse:literal)+)? $(, renamed_from $($old:literal)+)? ;
            )*
            $(
                $from:ident { $($(#[doc = $other_doc:literal])* $shared:ident $(= $other:expr)?),* $(,)? }
                $(
                    $(#[doc = $next_doc:literal])+
                    $next:ident : $next_ty:ty = $next_default:expr
                        $(, in $next_range:expr)? $(, also $($next_alias:literal)+)?
                        $(, inverse $($next_inverse:literal)+)? $(, renamed_from $($next_old:literal)+)? ;
                )*
            )*
        }
        presets {
            $( $preset:literal $about:literal { $($key:literal = $value:literal),* $(,)? } )*
        }
        $(reasons { $($why:ident),+ })?
        $(gauges { $($gauge:expr;)+ })?
        $(fixed { $($($switch:literal)+ = $switched:literal, $otherwise:literal;)+ })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $config {
            $(#[doc = "Settings shared with other disciplines."] pub $block: $of,)?
            $( $(#[doc = $doc])+ pub $field: $ty, )*
            $($( $(#[doc = $next_doc])+ pub $next: $next_ty, )*)*
        }

        impl Default for $config {
            fn default() -> Self {
                #[allow(unused_mut, reason = "not every block has other defaults here")]
                let mut config = $config {
                    $($block: <$of>::default(),)?
                    $($field: $default,)*
                    $($($next: $next_default,)*)*
                };
                $($($( config.$from.$shared = $other; )?)*)*
                config
            }
        }

        impl $crate::params::Params for $config {
            fn parameters() -> alloc::vec::Vec<$crate::params::Parameter<$config>> {
                #[allow(unused_mut, reason = "only a block comes on top")]
                let mut all = alloc::vec![
                    $($crate::parameter!($field, [$($($alias),+)?], [$($($inverse),+)?], [$($($old),+)?], [$($doc),+], $($range)?)),*
                ];
                $(
                    let names: &[(&str, &'static [&'static str])] = &[$((stringify!($shared), &[$($other_doc),*])),*];
                    all.extend($crate::params::included(names, |config: &mut $config| &mut config.$from));
                    $(all.push($crate::parameter!(
                        $next, [$($($next_alias),+)?], [$($($next_inverse),+)?], [$($($next_old),+)?], [$($next_doc),+], $($next_range)?
                    ));)*
                )*
                all
            }

            fn presets() -> &'static [$crate::params::Preset] {
                &[$($crate::params::Preset { name: $preset, about: $about, settings: &[$(($key, $value)),*] }),*]
            }

            $(fn reasons() -> &'static [$crate::Why] {
                &[$($crate::Why::$why),+]
            })?

            $(fn gauges() -> &'static [$crate::Gauge] {
                use $crate::Gauge;
                const GAUGES: &[Gauge] = &[$($gauge),+];
                GAUGES
            })?

            $(fn fixed() -> &'static [$crate::params::FixedSwitch] {
                &[$($crate::params::FixedSwitch {
                    names: &[$($switch),+], value: $switched, otherwise: $otherwise,
                }),+]
            })?
        }
    };
}

/// Makes the parameter of a field of the settings.
#[doc(hidden)]
#[macro_export]
macro_rules! parameter {
    ($field:ident, $also:tt, $inverse:tt, $renamed_from:tt, $doc:tt, $($range:expr)?) => {
        $crate::params::Parameter::new(
            stringify!($field),
            [&$also, &$inverse, &$renamed_from],
            &$doc,
            $crate::range!($($range)?),
            |config: &mut Self| &mut config.$field,
        )
    };
}

/// The given range, or the full range.
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
