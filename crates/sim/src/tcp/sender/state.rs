//! What a sender shows of itself, for traces.

use headgate_measure::TcpState;

use super::{Controller, Phase, Sender};

impl Sender {
    /// What the sender shows of itself.
    pub fn state(&self) -> TcpState {
        TcpState {
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
