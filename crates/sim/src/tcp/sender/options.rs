//! State of options that most flows do without. It is allocated only if the group has one of them.

use super::undo::UndoState;
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

/// How far data has filled the window within the last round trip (`tcp_cwnd_validate` in Linux).
///
/// | Linux | here |
/// | --- | --- |
/// | is_cwnd_limited, max_packets_out | `filled`, `most` |
/// | cwnd_usage_seq | `round_end` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowUse {
    filled: bool,
    /// The most segments outstanding; not updated once the window was filled.
    most: u32,
    /// The round trip ends when all segments before this one are acknowledged.
    round_end: u32,
}

impl WindowUse {
    /// Records the segments from `una` to `next` as outstanding. `filled` tells whether they fill the window.
    pub fn record(&mut self, filled: bool, una: u32, next: u32) {
        let more = !self.filled && next - una > self.most;
        if una >= self.round_end || filled || more {
            *self = WindowUse { filled, most: next - una, round_end: next };
        }
    }

    /// Whether the window was filled, or in slow start more than half of it (`tcp_is_cwnd_limited`).
    pub fn permits_growth(&self, cwnd: u32, in_slow_start: bool) -> bool {
        self.filled || in_slow_start && cwnd < 2 * self.most
    }
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
