use aqm::Span;

/// One write of a source to its connection: when it begins, and how much it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceWrite {
    /// When it begins.
    pub after: WriteStart,
    /// Its amount of data.
    pub data: WriteAmount,
    /// Opens a new connection: TCP begins with its initial window and no path information, and undelivered data of an
    /// earlier connection is discarded. No effect on UDP.
    pub new_connection: bool,
    /// Whether a user waits for it, as for a file or a web object. Its completion time is measured.
    pub transfer: bool,
}

/// The start of a write. The delay of a flow's first write counts from the flow's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStart {
    /// A delay after the previous write began: an open loop.
    AfterStart(Span),
    /// A delay after the previous write was delivered: a closed loop, for TCP only.
    AfterDelivery(Span),
}

/// An amount of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAmount {
    /// A number of bytes, at least one. UDP sends them at once, in as many datagrams as needed.
    Bytes(u64),
    /// As much as TCP takes within this time. Data taken by then is still delivered.
    Duration(Span),
    /// As much as TCP takes, until the flow stops.
    Endless,
}

impl SourceWrite {
    /// An open-loop write, `gap` after the previous one began.
    pub const fn after_start(gap: Span, data: WriteAmount) -> SourceWrite {
        SourceWrite { after: WriteStart::AfterStart(gap), data, new_connection: false, transfer: false }
    }

    /// A closed-loop write, `pause` after the previous one was delivered.
    pub const fn after_delivery(pause: Span, data: WriteAmount) -> SourceWrite {
        SourceWrite { after: WriteStart::AfterDelivery(pause), data, new_connection: false, transfer: false }
    }

    /// Sets whether the write opens a new connection.
    #[must_use]
    pub const fn on_new_connection(self, new_connection: bool) -> SourceWrite {
        SourceWrite { new_connection, ..self }
    }

    /// Makes the write a transfer: its completion time is measured.
    #[must_use]
    pub const fn awaited(self) -> SourceWrite {
        SourceWrite { transfer: true, ..self }
    }
}
