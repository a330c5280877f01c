//! State of options that most flows do without. It is allocated only if the group has one of them.

use super::undo::UndoState;
use crate::tcp::TcpSettings;
use crate::tcp::rto::RttDeviation;

/// State of the options `rttvar_by_round` and `undo`.
#[derive(Clone, Debug, Default)]
pub struct SenderOptions {
    /// Deviation of round-trip times, with `rttvar_by_round`.
    pub deviation: RttDeviation,
    /// The last reduction, with `undo`.
    pub undo: Option<UndoState>,
}

impl SenderOptions {
    /// The state of a new connection, if its group has one of the options.
    pub fn new(config: &TcpSettings) -> Option<Box<SenderOptions>> {
        // Model-based controls have windows of their own.
        let undo = (config.undo && !config.models()).then(UndoState::default);
        (config.rttvar_by_round || undo.is_some()).then(|| Box::new(SenderOptions { undo, ..SenderOptions::default() }))
    }
}
