//! Sources as users write them: `web:pages=10,size=pareto2(12KB,1.2)`.

use aqm::BuildError;
use aqm::settings::pairs;

use crate::model::{FileLoader, Protocol, SenderInfo};
use crate::registry::{self, GroupSource};

aqm::named_settings! {
    /// A source and its settings.
    Traffic, "a source, such as \"ftp\" or \"telnet:gap=exp(1s)\""
}

impl Traffic {
    /// Every parameter with its value, as text.
    ///
    /// # Errors
    /// An unknown source, or the first setting that cannot be applied.
    pub fn resolve(&self) -> Result<Vec<(&'static str, String)>, BuildError> {
        registry::find(&self.name)?.resolve(&pairs(&self.settings))
    }

    /// Builds the source for flows of `sender`.
    ///
    /// # Errors
    /// An unknown source, one that the sender cannot carry, invalid settings, or a missing or malformed file.
    pub fn build(&self, sender: &SenderInfo, files: &mut FileLoader<'_>) -> Result<GroupSource, BuildError> {
        let carried = registry::find(&self.name)?.carried_by(sender.protocol);
        let other = if sender.protocol == Protocol::Tcp { Protocol::Udp } else { Protocol::Tcp };
        if !carried {
            return Err(BuildError::Conflict(format!("this source works over {} only", other.name())));
        }
        registry::build(&self.name, &pairs(&self.settings), sender, files)
    }
}
