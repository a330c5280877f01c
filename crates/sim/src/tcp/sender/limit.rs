//! What keeps a sender from sending another segment.

use super::{TcpSender, TcpSettings};

/// What keeps a sender from sending another segment, apart from its access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendLimit {
    /// Congestion control: the congestion window, pacing, or the repair of losses.
    Link,
    /// The receive window or the send buffer.
    Window,
    /// All data that the source has supplied is sent, and no loss is being repaired.
    Source,
}

impl TcpSender {
    /// Whether the limit is looked at now: at each event once all data is sent, otherwise at about one segment of eight.
    /// Limits last for round trips, and a look after each acknowledgement would take 5 % of a run's instructions.
    #[inline]
    pub fn is_sample_point(&self) -> bool {
        // The multiplier is 2^32 over the golden ratio: its multiples have no period that pairs of segments could miss.
        self.next_new == self.end || self.next_new.wrapping_mul(0x9e37_79b9) < u32::MAX / 8
    }

    /// What keeps the sender from sending another segment. Call after [`poll`](TcpSender::poll) returned `None`.
    #[inline]
    pub fn limit(&self, config: &TcpSettings) -> SendLimit {
        let flight = self.flight();
        if self.next_new == self.end && self.una >= self.recover {
            SendLimit::Source
        } else if flight >= config.window || (config.send_buffer.is_some() && flight >= config.buffered_segments()) {
            SendLimit::Window
        } else {
            SendLimit::Link
        }
    }
}
