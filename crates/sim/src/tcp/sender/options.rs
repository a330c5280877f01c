//! State of options that most flows do without. It is allocated only if the group has one of them.

use super::undo::UndoState;
use super::window_use::WindowUse;
use crate::tcp::TcpSettings;
use crate::tcp::rto::RttDeviation;

/// State of the options `rttvar_by_round`, `undo` and `recent_use`.
#[derive(Clone, Debug, Default)]
pub struct SenderOptions {
    /// Deviation of round-trip times, with `rttvar_by_round`.
    pub deviation: RttDeviation,
    /// The last reduction, with `undo`.
    pub undo: Option<UndoState>,
    /// Use of the window, with `recent_use`.
    pub window_use: WindowUse,
}

impl SenderOptions {
    /// The state of a new connection, if its group has one of the options.
    pub fn new(config: &TcpSettings) -> Option<Box<SenderOptions>> {
        // Model-based controls have windows of their own.
        let undo = (config.undo && !config.models()).then(UndoState::default);
        let any = config.rttvar_by_round || config.recent_use || undo.is_some();
        any.then(|| Box::new(SenderOptions { undo, ..SenderOptions::default() }))
    }
}
