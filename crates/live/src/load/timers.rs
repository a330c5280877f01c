//! The timers of a thread of senders.

use crate::timeline::Timeline;

pub(crate) type Timers = Timeline<SenderTimer>;

/// A timer's action, with the index of its TCP or UDP flow in the thread's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenderTimer {
    Start(usize),
    Write(usize),
    /// Ends a TCP write that is limited by time.
    Close(usize),
    Stop(usize),
    /// Sends a UDP flow's next datagrams.
    Datagrams(usize),
    /// Samples the TCP connections.
    Sample,
    Trace,
    /// Ends the warm-up.
    Warm,
}
