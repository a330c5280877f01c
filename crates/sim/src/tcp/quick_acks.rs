//! Quick ACKs: a receiver of Linux does not delay the first acknowledgements of a connection, since the sender's window is
//! small and grows with each of them.
//!
//! | event | ACKs at once | Linux 6.1 |
//! | --- | --- | --- |
//! | the first segment | half of the receive window in segments, at most 16 | `tcp_event_data_recv`, `tcp_incr_quickack` |
//! | a segment after a pause longer than the timeout | as many again | `tcp_event_data_recv` |
//! | a segment that has arrived before | as many again | `tcp_data_queue`, `tcp_enter_quickack_mode` |
//! | the mark that begins an echo | 2 | `__tcp_ecn_check_ce` |
//!
//! Each acknowledgement sent counts, also one that would not have been delayed (`tcp_dec_quickack_mode`). Linux compares a
//! pause with the receiver's own timeout; receivers here have none, and compare it with `min_rto`.

use aqm::{Span, Time};

/// How many acknowledgements leave at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuickAcks {
    left: u32,
    /// When the last segment arrived; `None` before the first one.
    last_data: Option<Time>,
}

impl QuickAcks {
    /// A segment arrives, `old` if it has arrived in order before. `most` ACKs leave at once at the start.
    pub fn on_data(&mut self, most: u32, old: bool, begins_echo: bool, timeout: Span, now: Time) {
        let paused = self.last_data.is_none_or(|last| now - last > timeout);
        let granted = match paused || old {
            true => most,
            false if begins_echo => 2.min(most),
            false => 0,
        };
        self.left = self.left.max(granted);
        self.last_data = Some(now);
    }

    pub fn any_left(&self) -> bool {
        self.left > 0
    }

    pub fn on_ack(&mut self) {
        self.left = self.left.saturating_sub(1);
    }
}
