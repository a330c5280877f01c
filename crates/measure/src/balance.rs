//! Packet conservation: no packet vanishes or appears from nowhere, at any link and in the whole network.

/// Packets that hosts sent in the whole run, data and replies, by their location at the end. Each count is independent,
/// so their sum is a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Packets that transports passed to their access links.
    pub sent: u64,
    /// Packets delivered to hosts. A data packet counts when the last queue sends it, because its arrival time is then
    /// known.
    pub delivered: u64,
    /// Copies of packets that emulated media made.
    pub duplicated: u64,
    /// Packets that disciplines dropped.
    pub dropped: u64,
    /// Packets lost by emulated media.
    pub lost: u64,
    /// Packets in queues.
    pub queued: u64,
    /// Packets between two queues, or on a link that reorders packets or changes its rate.
    pub between: u64,
    /// Packets on the access link of their source or destination host.
    pub on_access: u64,
}

impl Balance {
    /// Whether every packet sent and every copy is counted exactly once.
    pub fn holds(&self) -> bool {
        let under_way = self.queued + self.between + self.on_access;
        self.sent + self.duplicated == self.delivered + self.dropped + self.lost + under_way
    }
}
