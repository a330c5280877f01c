//! Names and parameters, as the registries of disciplines and sources list them.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use crate::params::{BuildError, FixedSwitch, ParameterInfo, Params, Preset};

/// Parameters with their values as text, or the first setting that cannot be applied.
pub type ResolvedSettings = Result<Vec<(&'static str, String)>, BuildError>;

/// The description of a discipline or a traffic source.
pub struct Listing {
    /// The name users write.
    pub name: &'static str,
    /// One line on the idea.
    pub summary: &'static str,
    /// The publication that defines it.
    pub citation: &'static str,
    fields: fn() -> Vec<ParameterInfo>,
    presets: fn() -> &'static [Preset],
    fixed: fn() -> &'static [FixedSwitch],
    resolve: fn(&[(&str, &str)]) -> ResolvedSettings,
}

impl Listing {
    /// The listing of an item with the settings `C`.
    pub const fn of<C: Params>(name: &'static str, summary: &'static str, citation: &'static str) -> Listing {
        let resolve = |settings: &[(&str, &str)]| C::from_settings(settings).map(|config| config.values());
        Listing { name, summary, citation, fields: C::fields, presets: C::presets, fixed: C::fixed, resolve }
    }

    /// Its parameters.
    pub fn fields(&self) -> Vec<ParameterInfo> {
        (self.fields)()
    }

    /// The presets. The first holds the defaults: `paper`, or `rfc` or `linux` for modern disciplines.
    pub fn presets(&self) -> &'static [Preset] {
        (self.presets)()
    }

    /// Switches of other programs whose value it fixes.
    pub fn fixed(&self) -> &'static [FixedSwitch] {
        (self.fixed)()
    }

    /// Every parameter with its value as text, after `settings` are applied.
    ///
    /// # Errors
    /// The first setting that cannot be applied.
    pub fn resolve(&self, settings: &[(&str, &str)]) -> ResolvedSettings {
        (self.resolve)(settings)
    }
}

/// Finds `name` among `entries`; `what` is `discipline` or `source`.
///
/// # Errors
/// [`BuildError::UnknownName`], with the nearest name.
pub fn find_in<E: Deref<Target = Listing>>(
    entries: &'static [E],
    what: &'static str,
    name: &str,
) -> Result<&'static E, BuildError> {
    entries.iter().find(|entry| entry.name == name).ok_or_else(|| unknown(entries, what, name))
}

/// The error that no entry is called `name`.
pub fn unknown<E: Deref<Target = Listing>>(entries: &[E], what: &'static str, name: &str) -> BuildError {
    BuildError::unknown(what, name, entries.iter().map(|entry| entry.name).collect())
}
