//! Sources as users write them: `web:pages=10,size=pareto2(12KB,1.2)`.

use std::fmt;
use std::str::FromStr;

use headgate_core::BuildError;
use headgate_core::settings::{self, Settings};

use crate::kind::{Files, Protocol, Sender};
use crate::registry::{self, Plan};

/// A source and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Its name in the registry.
    pub name: String,
    /// Parameter and value, in the order written.
    pub settings: Settings,
}

impl Traffic {
    /// The source called `name`, with no settings.
    pub fn named(name: &str) -> Traffic {
        Traffic { name: name.to_string(), settings: Vec::new() }
    }

    /// Adds one setting. A value may hold `,`, `;` and `=` only between brackets.
    ///
    /// # Errors
    /// What is wrong with it, if it cannot be written or was given before.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        settings::add(&mut self.settings, name, value)
    }

    /// Every parameter with its value, as text.
    ///
    /// # Errors
    /// An unknown source, or the first setting that cannot be applied.
    pub fn resolve(&self) -> Result<Vec<(&'static str, String)>, BuildError> {
        registry::find(&self.name)?.resolve(&self.pairs())
    }

    /// The source, ready for flows of `sender` to start.
    ///
    /// # Errors
    /// An unknown source, one that the sender cannot carry, a setting that cannot be applied, values that do not fit
    /// each other, a file that is not there or cannot be understood.
    pub fn plan(&self, sender: &Sender, files: &mut Files<'_>) -> Result<Plan, BuildError> {
        let carried = registry::find(&self.name)?.carried_by(sender.protocol);
        let other = if sender.protocol == Protocol::Tcp { Protocol::Udp } else { Protocol::Tcp };
        if !carried {
            return Err(BuildError::Conflict(format!("it is a source for {} alone", other.name())));
        }
        registry::plan(&self.name, &self.pairs(), sender, files)
    }

    fn pairs(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        settings::write(f, &self.name, &self.settings)
    }
}

/// Reads the form alone: whether there is such a source, the registry says.
impl FromStr for Traffic {
    type Err = String;

    fn from_str(text: &str) -> Result<Traffic, String> {
        let form = || format!("expected a source, such as \"ftp\" or \"telnet:gap=exp(1s)\", found {text:?}");
        let (name, settings) = settings::read(text)?.ok_or_else(form)?;
        Ok(Traffic { name: name.to_string(), settings })
    }
}
