//! Selection of a SACK sender's next segment.
//!
//! [`TcpSender::poll`] prefers a probe, then a lost segment, then new data, then holes (RFC 6675, NextSeg).

use aqm::Time;

use super::sacked::SackState;
use super::{OutgoingSegment, RecoveryPhase, TcpSender, TcpSettings};
use crate::tcp::rate_sample::DeliveryCounts;
use crate::tcp::scoreboard::Scoreboard;

impl TcpSender {
    /// The next segment that the windows allow, for a sender with SACK state.
    #[inline(never)]
    pub(super) fn poll_with_sack(&mut self, config: &TcpSettings, now: Time) -> Option<OutgoingSegment> {
        let mut sack = self.sack.take()?;
        let data = self.poll_sacked(&mut sack, config, now);
        self.sack = Some(sack);
        data
    }

    #[inline]
    fn poll_sacked(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) -> Option<OutgoingSegment> {
        let has_new_data = self.next_new - self.una < config.window && !self.supply_used(self.next_new, config);
        if let Some(t) = &mut sack.tracker
            && std::mem::take(&mut t.probe_due)
            && self.una < self.next_new
        {
            let seq = if has_new_data { self.next_new } else { self.next_new - 1 };
            let data = self.send_sacked(sack, seq, config, now);
            sack.tracker.as_mut()?.tlp.on_probe(self.next_new, data.retransmitted);
            return Some(data);
        }
        let forced = std::mem::take(&mut self.retransmit_first);
        if self.una == self.next_new {
            self.restart_if_idle(sack, has_new_data, config, now);
        }
        if self.window_use(&sack.scoreboard, config) >= self.window.whole_segments() && !forced {
            sack.update_delivery(self.next_new, DeliveryCounts::set_window_full);
            if has_new_data {
                self.record_use(sack.scoreboard.pipe(self.next_new));
            }
            return None;
        }
        let lost = if self.may_retransmit(config) { sack.scoreboard.first_lost() } else { None };
        match lost {
            Some(seq) => Some(self.retransmit(sack, seq, config, now)),
            None if has_new_data => {
                let beyond = self.phase == RecoveryPhase::Open && self.flight() >= self.window.whole_segments();
                self.limited_sent = self.limited_sent.saturating_add(u8::from(beyond));
                let data = self.send_sacked(sack, self.next_new, config, now);
                self.record_use(sack.scoreboard.pipe(self.next_new));
                self.schedule_probe(sack, config, now);
                Some(data)
            }
            None => {
                if self.supply_used(self.next_new, config) {
                    sack.update_delivery(self.next_new, DeliveryCounts::set_app_limited);
                }
                self.poll_holes(sack, config, now)
            }
        }
    }

    /// Selects a segment when a recovery by count has neither lost segments nor new data left. Holes not known to be
    /// lost come first, then the rescue retransmission (RFC 6675, NextSeg, rules 3 and 4).
    fn poll_holes(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) -> Option<OutgoingSegment> {
        if config.rack() || self.phase == RecoveryPhase::Open {
            return None;
        }
        if let Some(seq) = sack.scoreboard.next_hole() {
            sack.scoreboard.record_hole_retransmission(seq);
            return Some(self.retransmit(sack, seq, config, now));
        }
        let last = sack.scoreboard.rescue(self.next_new, self.recover)?;
        Some(self.retransmit(sack, last, config, now))
    }

    /// Sends a segment again, though not as a probe.
    fn retransmit(&mut self, sack: &mut SackState, seq: u32, config: &TcpSettings, now: Time) -> OutgoingSegment {
        self.record_retransmission(now);
        self.send_sacked(sack, seq, config, now)
    }

    /// Whether lost segments may be retransmitted. With detection by time they always may. With detection by count they
    /// may in a recovery, which a duplicate acknowledgement begins, and after a timeout (RFC 6675, sections 5 and 5.1).
    #[inline]
    fn may_retransmit(&self, config: &TcpSettings) -> bool {
        config.rack() || self.phase != RecoveryPhase::Open || self.una < self.recover
    }

    /// Segments that count against the window. With RACK or during repairs these are the segments in flight (`pipe`).
    /// Otherwise arrived segments count too, except on duplicate acknowledgements with limited transmit (RFC 6675,
    /// section 5, step 3).
    #[inline]
    fn window_use(&self, scoreboard: &Scoreboard, config: &TcpSettings) -> u32 {
        let repairing =
            config.rack() || self.phase != RecoveryPhase::Open || (self.una < self.recover && scoreboard.any_lost());
        let limited_transmit = config.limited_transmit && self.dup_acks > 0;
        if repairing || limited_transmit { scoreboard.pipe(self.next_new) } else { self.flight() }
    }

    /// Handles an idle period: nothing is outstanding. With `has_new_data`, sending resumes now.
    fn restart_if_idle(&mut self, sack: &SackState, has_new_data: bool, config: &TcpSettings, now: Time) {
        let app_limited =
            || sack.tracker.as_ref().and_then(|t| t.delivery.as_ref()).is_some_and(|delivery| delivery.app_limited());
        if !config.models() {
            self.restart_after_idle(config, now);
        } else if has_new_data && app_limited() {
            self.cc.on_resume(now, &mut self.window);
        }
    }

    fn send_sacked(&mut self, sack: &mut SackState, seq: u32, config: &TcpSettings, now: Time) -> OutgoingSegment {
        let pipe = sack.scoreboard.pipe(self.next_new);
        let data = self.send(seq, config, now);
        if data.retransmitted {
            sack.scoreboard.record_retransmission(seq);
        }
        if let Some(t) = &mut sack.tracker {
            t.on_send(seq, pipe, now);
        }
        data
    }
}
