//! Sender state, for traces.

use aqm::{Span, Time};

use crate::table::{RowColumns, Unit, rows};

rows! {
    /// One change of a traced sender's state.
    pub struct TraceRow derives Clone Copy Debug PartialEq {
        /// When the state changed.
        time: Time as Unit::Nanoseconds,
        /// The flow.
        flow: u32 as Unit::None,
        /// The sender's state.
        state: SenderState as RowColumns,
    }
}

rows! {
    /// State of a traced sender.
    pub struct SenderState derives Clone Copy Debug Default PartialEq {
        /// Congestion window; null for UDP.
        cwnd: Option<f64> as Unit::Packets,
        /// Slow start threshold; null for no bound, and for UDP.
        ssthresh: Option<f64> as Unit::Packets,
        /// Smoothed round-trip time; null before the first sample.
        srtt: Option<Span> as Unit::Milliseconds,
        /// Round-trip time variation (RFC 6298); null before the first sample, and for UDP.
        rttvar: Option<Span> as Unit::Milliseconds,
        /// Retransmission timeout, backoff included; null for UDP.
        rto: Option<Span> as Unit::Milliseconds,
        /// Packets outstanding; null for UDP.
        flight: Option<u32> as Unit::Packets,
        /// Data acknowledged so far; null for UDP.
        acked_bytes: Option<u64> as Unit::Bytes,
        /// Phase of the sender: `slow_start`, `avoidance` or `recovery`. BBR has [its own](../guide/transport.md#bbr).
        /// TFRC is in `slow_start` until a loss event, then in `avoidance` (the equation). A call is in `avoidance`.
        phase: &'static str as Unit::None,
        /// Packets retransmitted so far; 0 for UDP.
        retransmits: u32 as Unit::Packets,
        /// Retransmission timeouts so far. For TFRC, expiries of the nofeedback timer; 0 for calls.
        timeouts: u32 as Unit::Count,
        /// Allowed rate X of TFRC, without headers (RFC 5348, section 4.3), or target rate of a call, with headers; null for
        /// TCP.
        rate_bps: Option<f64> as Unit::BitsPerSecond,
        /// Receive rate X_recv of the last report; null before the first, and for TCP and calls.
        receive_rate_bps: Option<f64> as Unit::BitsPerSecond,
        /// Loss event rate p of the last report; null for TCP and calls.
        loss_event_rate: Option<f64> as Unit::Share,
    }
}

impl SenderState {
    /// Whether anything but `flight` has changed: it changes with every segment of TCP.
    pub fn differs(&self, earlier: &SenderState) -> bool {
        *self != SenderState { flight: self.flight, ..*earlier }
    }
}
