//! Why a discipline or a source of traffic could not be built.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::names::nearest;

/// Why a discipline could not be built from what the user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no discipline or source of this name, or it has no such parameter or preset.
    UnknownName {
        /// `discipline`, `source`, `parameter` or `preset`.
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
    /// None of the `known` disciplines, sources, parameters or presets, which `what` says, is called `name`.
    pub fn unknown(what: &'static str, name: &str, known: Vec<&'static str>) -> BuildError {
        let nearest = nearest(name, known.iter().copied()).map(ToString::to_string);
        BuildError::UnknownName { what, name: name.to_string(), nearest, known }
    }

    /// What is wrong, without the list of names that would have been right.
    pub fn brief(&self) -> String {
        let guess = |nearest: &Option<String>| match nearest {
            Some(name) => format!("; did you mean `{name}`?"),
            None => String::new(),
        };
        match self {
            BuildError::UnknownName { what: "discipline", name, nearest, .. } => {
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
            BuildError::UnknownName { known, .. } => write!(f, " (known: {})", known.join(", ")),
            _ => Ok(()),
        }
    }
}

impl core::error::Error for BuildError {}
