//! What a source asks for: one write to a connection.

use headgate_core::Span;

/// One write: when, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// When it begins.
    pub after: After,
    /// How much is written.
    pub data: Data,
    /// It opens a connection of its own: TCP begins anew, with its initial window and without what it had learnt of the
    /// path. What an earlier connection has not delivered by then is given up. Nothing to UDP.
    pub fresh: bool,
    /// Somebody waits for it to be done, as for a file, an object of a page, a segment of a film: its completion time
    /// says something.
    pub transfer: bool,
}

/// When a write begins; the first write of a flow counts from the flow's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// So long after the write before it began, whatever became of that one: an open loop.
    Start(Span),
    /// So long after all of the write before it was delivered: a closed loop. Only sources for TCP say so.
    Done(Span),
}

/// How much is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// So many bytes, at least one. UDP sends them at once, in as many datagrams as they need.
    Bytes(u64),
    /// As much as TCP takes in so long a time; what was taken by then is still delivered.
    For(Span),
    /// As much as TCP takes, until the flow stops.
    Endless,
}

impl Write {
    /// A write of an open loop, `gap` after the one before began.
    pub const fn after(gap: Span, data: Data) -> Write {
        Write { after: After::Start(gap), data, fresh: false, transfer: false }
    }

    /// A write of a closed loop, `pause` after the one before was done.
    pub const fn when_done(pause: Span, data: Data) -> Write {
        Write { after: After::Done(pause), data, fresh: false, transfer: false }
    }

    /// The same on a connection of its own, or not.
    #[must_use]
    pub const fn on_fresh(self, fresh: bool) -> Write {
        Write { fresh, ..self }
    }

    /// The same, with somebody waiting for it.
    #[must_use]
    pub const fn awaited(self) -> Write {
        Write { transfer: true, ..self }
    }
}
