//! What a sender shows of itself, for traces.

use headgate_core::Span;

use super::{Controller, Phase, Sender};

/// A sender at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The congestion window, in segments.
    pub cwnd: f64,
    /// The slow start threshold, in segments; infinite for no bound.
    pub ssthresh: f64,
    /// The smoothed round-trip time and its variation (RFC 6298), once there was a sample.
    pub srtt: Option<(Span, Span)>,
    /// The retransmission timeout, backoff included.
    pub rto: Span,
    /// Segments outstanding (RFC 5681, FlightSize).
    pub flight: u32,
    /// Segments acknowledged, all those before them too.
    pub acked: u32,
    /// What rules its window.
    pub phase: &'static str,
    /// Segments sent again so far.
    pub retransmits: u32,
    /// Retransmission timeouts so far.
    pub timeouts: u32,
}

impl State {
    /// Whether more than what is outstanding has changed, which does with every segment.
    pub fn differs(&self, earlier: &State) -> bool {
        *self != State { flight: self.flight, ..*earlier }
    }
}

impl Sender {
    /// What the sender shows of itself.
    pub fn state(&self) -> State {
        State {
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            srtt: self.rto.srtt().map(|srtt| (srtt, self.rto.rttvar())),
            rto: self.rto.timeout(),
            flight: self.flight(),
            acked: self.una,
            phase: self.cc.phase().unwrap_or(match self.phase {
                Phase::Recovery { .. } => "recovery",
                Phase::Open if self.window.in_slow_start() => "slow_start",
                Phase::Open => "avoidance",
            }),
            retransmits: self.retransmits,
            timeouts: self.timeouts,
        }
    }
}
