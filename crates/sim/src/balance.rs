//! Conservation: no packet vanishes and none comes from nowhere, at any link and in the network as a whole.

use crate::outcome::{LinkRow, Outcome};

/// Where the packets are, at the end of a run, that came to a first queue from a host: data and what answers it, over
/// the whole run. Each count is kept on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Packets that came into the network.
    pub entered: u64,
    /// Packets that left their last link for their host.
    pub delivered: u64,
    /// Packets that disciplines dropped.
    pub dropped: u64,
    /// Packets lost on their way.
    pub lost: u64,
    /// Packets in queues.
    pub queued: u64,
    /// Packets between a queue and the next, or behind a link whose packets come out in their own time.
    pub travelling: u64,
}

impl Balance {
    /// Whether every packet that entered is somewhere, and only once.
    pub fn holds(&self) -> bool {
        self.entered == self.delivered + self.dropped + self.lost + self.queued + self.travelling
    }
}

impl LinkRow {
    /// Whether what arrived, with what waited when counting began, was sent or dropped or waits still.
    pub fn conserves(&self) -> bool {
        let [before, after] = self.queued;
        self.counts.arrived + before == self.counts.sent + self.counts.dropped() + after
    }
}

impl Outcome {
    /// The law of conservation: at every link, and for the network as a whole.
    pub fn conserves(&self) -> bool {
        self.balance.holds() && self.links.iter().all(LinkRow::conserves)
    }
}
