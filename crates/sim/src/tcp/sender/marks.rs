//! The sender's reaction to ECN: echoes (RFC 3168) and counts of marks (RFC 9768).

use super::{AckInfo, RecoveryPhase, TcpSender, TcpSettings};
use crate::tcp::accecn;
use crate::tcp::cc::EcnFeedback;

impl TcpSender {
    /// With accurate ECN feedback, sets the number of marked segments in `info` from the ACE field `ace`.
    #[inline]
    pub(super) fn count_marks(&mut self, info: &mut AckInfo, ace: u8, config: &TcpSettings) {
        if config.accecn && info.delivered > 0 {
            info.marked = accecn::newly_marked(self.ace, ace, info.delivered);
            info.ece = info.marked > 0;
            info.may_grow &= !info.ece;
            self.ace = ace;
        }
    }

    /// Reacts to an ECN echo once per window of data, as to a loss but without a retransmission (RFC 3168, section
    /// 6.1.2).
    pub(super) fn on_echo(&mut self, info: &AckInfo, config: &TcpSettings) {
        if self.phase != RecoveryPhase::Open || info.ack <= self.ecn_recover {
            return;
        }
        self.ecn_recover = self.next_new;
        self.schedule_cwr(config);
        if self.window.cwnd() < 2.0 && config.ecn_timeout {
            self.waiting_for_timer = true;
            self.rto_at = info.now + self.rto.timeout();
        }
        self.cc.on_echo(info, &mut self.window, config);
        self.max_flight = 0;
    }

    /// Announces a reduction by CWR on the next new segment, unless CWR is part of the ACE field.
    pub(super) fn schedule_cwr(&mut self, config: &TcpSettings) {
        self.cwr = EcnFeedback::of(config) != EcnFeedback::Accurate;
    }
}
