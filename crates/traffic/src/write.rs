use headgate_core::Span;

/// A write of a source to its connection: when, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// When it begins.
    pub after: After,
    /// Its amount of data.
    pub data: Data,
    /// Opens a new connection: TCP begins with its initial window and no path information, and undelivered data of an
    /// earlier connection is discarded. No effect on UDP.
    pub fresh: bool,
    /// Somebody waits for it, as for a file, a web object or a video segment: its completion time matters.
    pub transfer: bool,
}

/// The start of a write. A flow's first write counts from the flow's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// A delay after the previous write began: an open loop.
    Start(Span),
    /// A delay after the previous write was delivered: a closed loop, for TCP only.
    Done(Span),
}

/// An amount of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// A number of bytes, at least one. UDP sends them at once, in as many datagrams as needed.
    Bytes(u64),
    /// As much as TCP takes within this time; data taken is still delivered.
    For(Span),
    /// As much as TCP takes, until the flow stops.
    Endless,
}

impl Write {
    /// An open-loop write, `gap` after the previous one began.
    pub const fn after(gap: Span, data: Data) -> Write {
        Write { after: After::Start(gap), data, fresh: false, transfer: false }
    }

    /// A closed-loop write, `pause` after the previous one was delivered.
    pub const fn when_done(pause: Span, data: Data) -> Write {
        Write { after: After::Done(pause), data, fresh: false, transfer: false }
    }

    /// The write on a new connection if `fresh`.
    #[must_use]
    pub const fn on_fresh(self, fresh: bool) -> Write {
        Write { fresh, ..self }
    }

    /// The write with somebody waiting for its completion.
    #[must_use]
    pub const fn awaited(self) -> Write {
        Write { transfer: true, ..self }
    }
}
