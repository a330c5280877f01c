//! The sender's state for traces, and for comparisons with Linux's `tcp_info`.

use headgate_measure::SenderState;

use super::{RecoveryPhase, TcpSender};

/// Outstanding segments by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutstandingCounts {
    /// All segments sent and not acknowledged cumulatively.
    pub segments: u32,
    /// Those that have arrived, by selective acknowledgements.
    pub arrived: u32,
    /// Those found lost, retransmitted or not.
    pub lost: u32,
    /// Those found lost and retransmitted.
    pub retransmitted: u32,
}

/// The sender's opinion of the path, in the order of Linux's `tcp_ca_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossState {
    /// No sign of loss or congestion.
    Open,
    /// Segments have arrived out of order.
    Disorder,
    /// The window was reduced for a mark.
    Reduced,
    /// Fast recovery.
    Recovery,
    /// The losses of a timeout are being repaired.
    Timeout,
}

impl TcpSender {
    /// The number of outstanding segments by state. Without SACK only their total is known.
    pub fn outstanding(&self) -> OutstandingCounts {
        let counts = OutstandingCounts { segments: self.flight(), ..OutstandingCounts::default() };
        self.sack.as_ref().map_or(counts, |sack| {
            let (waiting, retransmitted) = sack.scoreboard.lost_and_retransmitted();
            OutstandingCounts {
                arrived: sack.scoreboard.arrived(),
                lost: waiting + retransmitted,
                retransmitted,
                ..counts
            }
        })
    }

    /// The sender's opinion of the path.
    pub fn loss_state(&self) -> LossState {
        match self.phase {
            RecoveryPhase::Recovery { .. } => LossState::Recovery,
            RecoveryPhase::Open if self.una < self.recover => LossState::Timeout,
            RecoveryPhase::Open if self.una < self.ecn_recover => LossState::Reduced,
            RecoveryPhase::Open if self.dup_acks > 0 => LossState::Disorder,
            RecoveryPhase::Open => LossState::Open,
        }
    }

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
