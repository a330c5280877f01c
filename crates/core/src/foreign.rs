//! Names of other programs whose values mean something else here: reciprocals, and switches that a discipline fixes.
//!
//! A name with the same meaning is listed as `also` at its parameter, and needs no code.

use alloc::format;
use alloc::string::{String, ToString};

use crate::params::BuildError;
use crate::value::ParameterValue;

/// Switches of ns-2 and ns-3 whose value the choice of the discipline fixes, such as `adaptive_` of RED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedSwitch {
    /// Its names.
    pub names: &'static [&'static str],
    /// The value that it has in this discipline.
    pub value: bool,
    /// The discipline to use for the other value.
    pub otherwise: &'static str,
}

impl FixedSwitch {
    /// Accepts the value that the discipline has.
    ///
    /// # Errors
    /// [`BuildError::BadValue`] if `value` is neither on nor off, or if it belongs to another discipline.
    pub(crate) fn check(&self, name: &str, value: &str) -> Result<(), BuildError> {
        let name = self.names.iter().find(|known| **known == name).copied().unwrap_or_default();
        let expected = match bool::read(value) {
            Ok(given) if given == self.value => return Ok(()),
            Ok(given) => {
                format!("{} in this discipline: write `{}` for {}", shown(!given), self.otherwise, shown(given))
            }
            Err(expected) => expected,
        };
        Err(BuildError::BadValue { name, value: value.to_string(), expected })
    }
}

fn shown(switch: bool) -> &'static str {
    if switch { "on" } else { "off" }
}

/// The reciprocal of a number as text; `None` unless it is above 0.
pub(crate) fn reciprocal(text: &str) -> Option<String> {
    let number: f64 = text.trim().parse().ok()?;
    (number > 0.0 && number.is_finite()).then(|| (1.0 / number).to_string())
}
