//! The sender's reaction to ECN: echoes (RFC 3168) and counts of marks (RFC 9768).

use super::{Acked, Config, Phase, Sender};
use crate::tcp::accecn;
use crate::tcp::cc::Feedback;

impl Sender {
    /// With accurate feedback, derives the number of marked segments in `told` from the field `ace`.
    #[inline]
    pub(super) fn count_marks(&mut self, told: &mut Acked, ace: u8, config: &Config) {
        if config.accecn && told.delivered > 0 {
            told.marked = accecn::marks(self.ace, ace, told.delivered);
            told.ece = told.marked > 0;
            told.grows &= !told.ece;
            self.ace = ace;
        }
    }

    /// RFC 3168, section 6.1.2: once per window of data, as for a loss, but nothing is sent again.
    pub(super) fn on_echo(&mut self, told: &Acked, config: &Config) {
        if self.phase != Phase::Open || told.ack <= self.ecn_recover {
            return;
        }
        self.ecn_recover = self.max;
        self.announce(config);
        if self.window.cwnd() < 2.0 && config.ecn_timeout {
            self.held = true;
            self.rto_at = told.now + self.rto.timeout();
        }
        self.cc.on_echo(told, &mut self.window, config);
        self.max_flight = 0;
    }

    /// Announces a reduction by CWR on the next new segment, unless CWR is part of the ACE field.
    pub(super) fn announce(&mut self, config: &Config) {
        self.cwr = Feedback::of(config) != Feedback::Accurate;
    }
}
