//! The sender's state for traces.

use headgate_measure::SenderState;

use super::{RecoveryPhase, TcpSender};

impl TcpSender {
    /// The state for traces, with segments of `payload` bytes of data.
    pub fn state(&self, payload: u32) -> SenderState {
        let srtt = self.rto.srtt();
        SenderState {
            cwnd: Some(self.cwnd()),
            ssthresh: Some(self.ssthresh()).filter(|segments| segments.is_finite()),
            srtt,
            rttvar: srtt.map(|_| self.rto.rttvar()),
            rto: Some(self.rto.timeout()),
            flight: Some(self.flight()),
            acked_bytes: Some(u64::from(self.una) * u64::from(payload)),
            phase: self.cc.phase().unwrap_or(match self.phase {
                RecoveryPhase::Recovery { .. } => "recovery",
                RecoveryPhase::Open if self.window.in_slow_start() => "slow_start",
                RecoveryPhase::Open => "avoidance",
            }),
            retransmits: self.retransmits,
            timeouts: self.timeouts,
            ..SenderState::default()
        }
    }
}
