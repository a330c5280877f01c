//! Conservation: no packet vanishes and none comes from nowhere, at any link and in the network as a whole.

/// Where the packets are, at the end of a run, that hosts have sent: data and what answers it, over the whole run. Each
/// count is kept on its own, and `sent` by the transports themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Packets that hosts gave to their access links. Of a source of datagrams whom nobody tells anything, the next is
    /// made when the one before reaches its first queue: no more than one of each is on its access link.
    pub sent: u64,
    /// Packets that reached their hosts. A receiver of data acts when the last queue sends it, with the time at which it
    /// will be there: data on its last wire counts here.
    pub delivered: u64,
    /// Packets that disciplines dropped.
    pub dropped: u64,
    /// Packets lost on their way.
    pub lost: u64,
    /// Packets in queues.
    pub queued: u64,
    /// Packets between a queue and the next, or behind a link whose packets come out in their own time.
    pub between: u64,
    /// Packets on the access link of the host that sent them, or of the one they are for.
    pub on_access: u64,
}

impl Balance {
    /// Whether every packet that was sent is somewhere, and only once.
    pub fn holds(&self) -> bool {
        let under_way = self.queued + self.between + self.on_access;
        self.sent == self.delivered + self.dropped + self.lost + under_way
    }
}
