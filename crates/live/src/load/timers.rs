//! What a thread of senders has to do.

use crate::timeline::Timeline;

/// What is to be done, and when.
pub(crate) type Timers = Timeline<Due>;

/// Something to do, to the TCP or UDP flow of that place in the thread's list where it is a flow's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A TCP flow starts.
    Start(usize),
    /// Its application writes.
    Write(usize),
    /// A write that lasts for a time is over.
    Close(usize),
    /// A TCP flow stops.
    Stop(usize),
    /// A UDP flow's next datagrams.
    Datagrams(usize),
    /// The kernel is asked what its connections do.
    Sample,
    /// Traced senders are looked at.
    Trace,
    /// The warm-up is over.
    Warm,
}
