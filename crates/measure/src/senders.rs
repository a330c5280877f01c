//! Sender state, for traces.

use headgate_core::{Span, Time};

use crate::table::{Nested, Unit, rows};

rows! {
    /// One change of a traced sender's state.
    pub struct TraceRow derives Clone Copy Debug PartialEq {
        /// When the state changed.
        time: Time as Unit::Nanoseconds,
        /// The flow.
        flow: u32 as Unit::None,
        /// What the sender shows of itself.
        state: SenderState as Nested,
    }
}

rows! {
    /// What a traced sender shows of itself.
    pub struct SenderState derives Clone Copy Debug Default PartialEq {
        /// Congestion window; null for TFRC.
        cwnd: Option<f64> as Unit::Packets,
        /// Slow start threshold; null for no bound, and for TFRC.
        ssthresh: Option<f64> as Unit::Packets,
        /// Smoothed round-trip time; null before the first sample.
        srtt: Option<Span> as Unit::Milliseconds,
        /// Round-trip time variation (RFC 6298); null as srtt, and for TFRC.
        rttvar: Option<Span> as Unit::Milliseconds,
        /// Retransmission timeout, backoff included; null for TFRC.
        rto: Option<Span> as Unit::Milliseconds,
        /// Packets outstanding; null for TFRC.
        flight: Option<u32> as Unit::Packets,
        /// Data acknowledged so far; null for TFRC.
        acked_bytes: Option<u64> as Unit::Bytes,
        /// What rules the sender: `slow_start`, `avoidance`, `recovery`; BBR has [its own](../guide/transport.md#bbr).
        /// Of TFRC `slow_start` until a loss event, then `avoidance`: the equation.
        phase: &'static str as Unit::None,
        /// Packets sent again so far; none of TFRC.
        retransmits: u32 as Unit::Packets,
        /// Retransmission timeouts so far; of TFRC, expiries of the nofeedback timer.
        timeouts: u32 as Unit::Count,
        /// TFRC's allowed rate X, without headers; null for TCP.
        rate_bps: Option<f64> as Unit::BitsPerSecond,
        /// The receive rate X_recv last reported; null before, and for TCP.
        receive_rate_bps: Option<f64> as Unit::BitsPerSecond,
        /// The loss event rate p last reported; null for TCP.
        loss_event_rate: Option<f64> as Unit::Share,
    }
}

impl SenderState {
    /// Whether more than the packets outstanding has changed; they change with every segment of TCP.
    pub fn differs(&self, earlier: &SenderState) -> bool {
        *self != SenderState { flight: self.flight, ..*earlier }
    }
}
