//! State of options that most flows do without. It is allocated only if the group has one of them.

use crate::tcp::TcpSettings;
use crate::tcp::rto::RttDeviation;

/// State of the options `rttvar_by_round`.
#[derive(Clone, Debug, Default)]
pub struct SenderOptions {
    /// Deviation of round-trip times, with `rttvar_by_round`.
    pub deviation: RttDeviation,
}

impl SenderOptions {
    /// The state of a new connection, if its group has one of the options.
    pub fn new(config: &TcpSettings) -> Option<Box<SenderOptions>> {
        config.rttvar_by_round.then(Box::default)
    }
}
