//! Errors of building a discipline or traffic source from user settings.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::names::nearest;

/// Why a discipline or traffic source could not be built from user settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// No discipline, source, parameter or preset has this name.
    UnknownName {
        /// `discipline`, `source`, `parameter` or `preset`.
        what: &'static str,
        /// The name as written.
        name: String,
        /// The most similar valid name.
        nearest: Option<String>,
        /// Every valid name.
        known: Vec<&'static str>,
    },
    /// The value has the wrong kind or is out of the parameter's range.
    BadValue {
        /// The parameter.
        name: &'static str,
        /// The value as written.
        value: String,
        /// A description of valid values.
        expected: String,
    },
    /// Tables that the system has no memory for.
    Memory {
        /// Their bytes; of a single table if the sum is not known.
        bytes: usize,
        /// The setting to change and how, such as "lower `flows`". `None` if no setting makes the tables large.
        remedy: Option<String>,
    },
    /// Values that contradict each other, such as `minth` above `maxth`.
    Conflict(String),
    /// A discipline inside this one cannot be built.
    Nested {
        /// The parameter that holds it.
        parameter: &'static str,
        /// The nested discipline as written.
        qdisc: String,
        /// Its error.
        error: Box<BuildError>,
    },
}

impl BuildError {
    /// An unknown `name` of kind `what` (`discipline`, `source`, `parameter`, `preset`); `known` lists valid names.
    pub fn unknown(what: &'static str, name: &str, known: Vec<&'static str>) -> BuildError {
        let nearest = nearest(name, known.iter().copied()).map(ToString::to_string);
        BuildError::UnknownName { what, name: name.to_string(), nearest, known }
    }

    /// The system refused memory for tables of `bytes`.
    pub(crate) fn memory(bytes: usize) -> BuildError {
        BuildError::Memory { bytes, remedy: None }
    }

    /// Whether the system refused memory, for this discipline or one inside it.
    pub(crate) fn is_memory(&self) -> bool {
        match self {
            BuildError::Nested { error, .. } => error.is_memory(),
            error => matches!(error, BuildError::Memory { .. }),
        }
    }

    /// The error message without the list of valid names.
    pub fn brief(&self) -> String {
        let guess = |nearest: &Option<String>| match nearest {
            Some(name) => format!("; did you mean `{name}`?"),
            None => String::new(),
        };
        match self {
            BuildError::UnknownName { what: "discipline", name, nearest, .. } => match suggest_alternative(name) {
                Some(advice) => format!("no discipline is called `{name}`: {advice}"),
                None => format!("no discipline is called `{name}`{}", guess(nearest)),
            },
            BuildError::UnknownName { what, name, nearest, .. } => format!("unknown {what} `{name}`{}", guess(nearest)),
            BuildError::BadValue { name, value, expected } => format!("`{name}` is \"{value}\", expected {expected}"),
            BuildError::Memory { bytes, remedy } => {
                let remedy = remedy.as_ref().map_or(String::new(), |remedy| format!(": {remedy}"));
                format!("the tables need {} of memory, more than the system gives{remedy}", size_in_words(*bytes))
            }
            BuildError::Conflict(why) => why.clone(),
            BuildError::Nested { parameter, qdisc, error } => {
                format!("in `{parameter}`, \"{qdisc}\": {}", error.brief())
            }
        }
    }
}

/// Bytes as people read them: `36.2 GB`, `12.3 MB`, `1.0 KB`.
fn size_in_words(bytes: usize) -> String {
    let (unit, scale) = match bytes {
        1_000_000_000.. => ("GB", 1e9),
        1_000_000.. => ("MB", 1e6),
        _ => ("KB", 1e3),
    };
    format!("{:.1} {unit}", bytes as f64 / scale)
}

/// A suggestion for a discipline of Linux or the literature that this crate lacks.
fn suggest_alternative(name: &str) -> Option<&'static str> {
    Some(match name.strip_prefix("sch_").unwrap_or(name) {
        "cake" | "fq_cake" | "sqm" => "use `cake`",
        "fifo" | "pfifo" | "bfifo" | "pfifo_fast" | "pfifo_head_drop" | "noqueue" => "use `droptail`",
        "htb" | "hfsc" | "cbq" | "ets" => "combine `prio` or `drr` with `tbf`",
        "wfq" | "wf2q" | "stfq" => "`fq` is similar",
        "wrr" | "qfq" => "`drr` is similar",
        "gred" | "wred" | "rio" => "`red` is similar",
        "pi2" => "`pie` and `dualpi2` are similar",
        "dualq" => "use `dualpi2`",
        "netem" => "use the keys `delay`, `jitter`, `loss` and `reorder` of [link]",
        _ => return None,
    })
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
