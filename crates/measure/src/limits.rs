//! What limited a flow's sender, and for how long.
//!
//! At any time one thing keeps a sender from sending more: its source has no data, the window of its receiver (or its
//! send buffer) is full, one of its access links has a queue, or the path is congested. The Linux kernel counts
//! similar times (`busy_time`, `rwnd_limited`, `sndbuf_limited` in `tcp_info`), and T-RAT infers them from captures
//! (Zhang, Breslau, Paxson, Shenker: "On the characteristics and origins of Internet flow rates", ACM SIGCOMM 2002).

use aqm::{Span, Time};

use crate::table::{Unit, rows};

/// Times in which something other than the links of the route limited a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldTimes {
    /// The receive window or the send buffer was full.
    pub window: Span,
    /// An access link had a queue.
    pub access: Span,
    /// There was no data to send.
    pub source: Span,
}

impl HeldTimes {
    fn sum(&self) -> Span {
        self.window + self.access + self.source
    }
}

rows! {
    /// What limited a flow's sender while the flow was active. The four times add up to the time in which it was.
    pub struct LimitTimes derives Clone Copy Debug Default PartialEq Eq {
        /// Time in which the links of the route limited the sender: its congestion window was full, or losses were
        /// being repaired. Null for flows without TCP, on real packets, and for a flow that was not active.
        limited_by_link: Option<Span> as Unit::Milliseconds,
        /// Time in which the receiver's window or the send buffer was full. Null like `limited_by_link_ms`.
        limited_by_window: Option<Span> as Unit::Milliseconds,
        /// Time in which one of the flow's access links had a queue: from more than ten packets until all were sent. Null like
        /// `limited_by_link_ms`.
        limited_by_access: Option<Span> as Unit::Milliseconds,
        /// Time in which all data of the source was sent. Null like `limited_by_link_ms`.
        limited_by_source: Option<Span> as Unit::Milliseconds,
    }
}

/// The limits of a flow that was active from `from` to `to`; nulls if it was not, or if they were not measured.
pub fn limit_times(held: Option<HeldTimes>, [from, to]: [Time; 2]) -> LimitTimes {
    match held {
        Some(held) if from < to => LimitTimes {
            limited_by_link: Some(Span::from_nanos((to - from).as_nanos().saturating_sub(held.sum().as_nanos()))),
            limited_by_window: Some(held.window),
            limited_by_access: Some(held.access),
            limited_by_source: Some(held.source),
        },
        _ => LimitTimes::default(),
    }
}
