//! The sender's reaction to ECN: echoes (RFC 3168) and counts of marks (RFC 9768).

use aqm::Time;

use super::{AckInfo, NONE, RecoveryPhase, TcpSender, TcpSettings};
use crate::tcp::accecn::{self, Ace, EcnCounts};
use crate::tcp::cc::EcnFeedback;

impl TcpSender {
    /// With accurate ECN feedback, which few flows have, sets the number of marked segments in `info` from the field ACE, or from the counts of
    /// the option.
    #[inline(never)]
    pub(super) fn count_marks(&mut self, info: &mut AckInfo, (ace, counts): (Ace, Option<EcnCounts>)) {
        if info.delivered > 0 {
            info.marked = match counts {
                Some(counts) => self.newly_counted(counts),
                None => accecn::newly_marked(self.marks, ace, info.delivered),
            };
            info.ece = info.marked > 0;
            info.may_grow &= !info.ece;
            self.marks = self.marks.wrapping_add(info.marked);
        }
    }

    /// The marks since the last acknowledgement, by the counts of the option; none if an older one arrives later.
    fn newly_counted(&mut self, counts: EcnCounts) -> u32 {
        // Retransmissions are sent without ECT: after one, the counts do not tell.
        self.ecn_cleared |= counts.is_cleared() && self.retransmits == 0;
        let marked = counts.marked.wrapping_sub(self.marks);
        if marked > u32::MAX / 2 { 0 } else { marked }
    }

    /// Handles an acknowledgement with an ECN echo: samples the round-trip time and reacts to the echo.
    #[inline(never)]
    pub(super) fn on_echoing_ack(&mut self, info: AckInfo, config: &TcpSettings) {
        if !config.backs_off_on_echo() {
            // The sample comes first: the reaction to the echo may set the timer from the new timeout.
            self.sample_rtt(info.rtt, info.ack, config);
            return self.on_echo(&info, config);
        }
        self.on_echo(&info, config);
        let backoff = self.rto.backoff(config);
        if self.sample_rtt(info.rtt, info.ack, config) && self.echo_at_one == info.ack {
            // While echoes come in a row at a window of one, a sample does not end the backoff (`TcpAgent::newack`).
            self.rto.multiply(backoff, config);
        }
    }

    /// Reacts to an ECN echo once per window of data, as to a loss but without a retransmission (RFC 3168, section
    /// 6.1.2). A sender whose window would fall below one waits for its timer.
    pub(super) fn on_echo(&mut self, info: &AckInfo, config: &TcpSettings) {
        let reacts = self.phase == RecoveryPhase::Open && info.ack > self.ecn_recover;
        if config.backs_off_on_echo() {
            self.back_off_on_echo(info, reacts, config);
        }
        if !reacts {
            return;
        }
        self.ecn_recover = self.next_new;
        self.forget_windows();
        self.schedule_cwr(config);
        let before = self.window.cwnd();
        if before < 2.0 && config.ecn_timeout && !config.ecn_backoff {
            self.waiting_for_timer = true;
            self.rto_at = info.now + self.rto.timeout();
        }
        self.cc.on_echo(info, &mut self.window, config);
        self.round_ssthresh(config);
        let least = f64::from(config.min_marked_window);
        if least > 1.0 && self.window.cwnd() < least && !config.models() {
            self.window.set_cwnd(least, info.now);
        }
        if before < 2.0 && config.backs_off_on_echo() {
            self.window.set_cwnd(before / 2.0, info.now);
        }
        self.max_flight = 0;
    }

    /// ns-2's `TcpAgent::ecn`: the second and each further echo in a row at a window of one doubles the timeout.
    fn back_off_on_echo(&mut self, info: &AckInfo, reacts: bool, config: &TcpSettings) {
        // `una` is not yet updated: it is the number of the previous acknowledgement of new data.
        let in_a_row = self.echo_at_one == self.una;
        if reacts && self.window.cwnd() > 1.0 {
            self.echo_at_one = NONE;
        } else if reacts || in_a_row {
            self.echo_at_one = info.ack;
            if reacts && in_a_row {
                self.rto.back_off(config);
            }
        }
    }

    /// The timer has expired. If it only ended the wait after an echo, allows one new segment and returns true (RFC
    /// 3168, section 6.1.2).
    pub(super) fn end_wait_after_echo(&mut self, config: &TcpSettings, now: Time) -> bool {
        let below_one = self.window.cwnd() < 1.0;
        let waited = (std::mem::take(&mut self.waiting_for_timer) || below_one) && self.una == self.next_new;
        if waited && below_one {
            self.window.set_cwnd(1.0, now);
            self.schedule_cwr(config);
        }
        waited
    }

    /// Announces a reduction by CWR on the next new segment, unless CWR is part of the ACE field.
    pub(super) fn schedule_cwr(&mut self, config: &TcpSettings) {
        self.cwr = EcnFeedback::of(config) != EcnFeedback::Accurate;
    }
}
