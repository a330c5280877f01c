//! Losses of a SACK sender: their detection, and the recovery that they begin.
//!
//! - A loss is found by count (three later arrivals, RFC 6675) or by time (RACK, RFC 8985). By time, a retransmission
//!   can be found lost too.
//! - A recovery lowers `cwnd` at once, or in proportion to deliveries with PRR (RFC 9937). Model-based controls (BBR)
//!   set their own window.

use aqm::Time;

use super::sacked::SackState;
use super::{AnyControl, CongestionWindow, RecoveryPhase, TcpSender, TcpSettings};
use crate::tcp::prr::Prr;
use crate::tcp::rate_sample::DeliveryCounts;
use crate::tcp::tracker::{DetectedLosses, SegmentTracker};
use crate::tcp::transmissions::Transmissions;

impl TcpSender {
    /// Finds losses, and sets the reordering timer.
    pub(super) fn detect_losses(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) -> DetectedLosses {
        let mut losses = DetectedLosses::default();
        let SackState { scoreboard, tracker } = sack;
        let (cc, window) = (&mut self.cc, &self.window);
        match tracker {
            Some(t) if config.rack() => {
                let reordering_window =
                    t.rack.reordering_window(self.una < self.recover, scoreboard.arrived(), self.rto.srtt());
                let SegmentTracker { transmissions, rack, delivery, sends_before_recovery, .. } = &mut **t;
                t.reorder_at = rack.detect(transmissions, reordering_window, now, |sent, seq| {
                    scoreboard.record_loss(seq);
                    losses.record(&sent.transmission(seq), *sends_before_recovery);
                    report_loss(delivery, cc, (sent, seq), window, now);
                });
            }
            // A timeout makes all outstanding segments lost. No recovery begins before they are repaired (RFC 6675,
            // section 5.1).
            _ if self.phase == RecoveryPhase::Open && self.una < self.recover => {}
            tracker => scoreboard.detect_losses(|seq| {
                losses.any = true;
                if let Some(t) = tracker {
                    t.transmissions.record_loss(seq);
                    report_loss(&mut t.delivery, cc, (&t.transmissions, seq), window, now);
                }
            }),
        }
        losses
    }

    /// After a timeout, declares all outstanding segments lost; with RACK, only the overdue ones. Retransmits the first
    /// segment at once.
    pub(super) fn lose_all(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) {
        let SackState { scoreboard, tracker } = sack;
        if let Some(t) = tracker {
            let reordering_window = t.rack.reordering_window(true, scoreboard.arrived(), self.rto.srtt());
            let SegmentTracker { transmissions, rack, delivery, .. } = &mut **t;
            let (cc, window) = (&mut self.cc, &self.window);
            // Without RACK every segment is overdue.
            let overdue_at = if config.rack() { now } else { Time::NEVER };
            rack.on_timeout(transmissions, self.una, reordering_window, overdue_at, |sent, seq| {
                scoreboard.record_loss(seq);
                report_loss(delivery, cc, (sent, seq), window, now);
            });
            (t.prr, t.probe_due, t.reorder_at) = (None, false, Time::NEVER);
            t.tlp.clear();
        }
        if !config.rack() {
            scoreboard.lose_all(self.next_new);
        }
        (self.retransmit_first, self.next, self.rto_at) = (true, self.next_new, Time::NEVER);
    }

    /// Calls [`respond_to_loss`](TcpSender::respond_to_loss) for `losses` found by an acknowledgement, if they begin a
    /// recovery. With detection by count, only a `duplicate` acknowledgement begins one, and only if the first segment
    /// is lost (RFC 6675, section 5).
    #[inline]
    pub(super) fn respond_to_ack_losses(
        &mut self,
        sack: &mut SackState,
        losses: DetectedLosses,
        duplicate: bool,
        in_flight: u32,
        config: &TcpSettings,
        now: Time,
    ) {
        let any = if config.rack() { losses.any } else { duplicate && sack.scoreboard.is_lost(self.una) };
        self.respond_to_loss(sack, DetectedLosses { any, ..losses }, in_flight, config, now);
    }

    /// Begins a recovery for `losses`. During a recovery, only the loss of a retransmission begins another: it is a
    /// second sign of congestion (RFC 5681, section 4.3). With `reduce_once` it begins none. `in_flight` are the
    /// segments neither acknowledged nor known to have arrived before the losses were found.
    #[inline]
    pub(super) fn respond_to_loss(
        &mut self,
        sack: &mut SackState,
        losses: DetectedLosses,
        in_flight: u32,
        config: &TcpSettings,
        now: Time,
    ) {
        let new_recovery = losses.any && !self.recovering();
        let lost_again = losses.retransmitted && self.phase != RecoveryPhase::Open && !config.reduce_once;
        if new_recovery || lost_again {
            self.begin_recovery_sacked(sack, in_flight, config, now);
        }
    }

    /// Begins a recovery of a SACK sender; `in_flight` as for [`respond_to_loss`](TcpSender::respond_to_loss).
    fn begin_recovery_sacked(&mut self, sack: &mut SackState, in_flight: u32, config: &TcpSettings, now: Time) {
        // Segments sent by limited transmit do not count (RFC 5681, section 3.2, step 2).
        let flight = match config.rack() {
            true => self.flight().min(self.window.whole_segments()),
            false => self.flight() - u32::from(self.limited_sent),
        };
        self.remember_windows(Some(sack));
        let proportion = if config.reduce_cwnd { self.window.whole_segments() } else { in_flight };
        let cwnd = self.begin_recovery(flight, config, now);
        let SackState { scoreboard, tracker } = sack;
        if !config.rack() {
            scoreboard.begin_recovery(|seq| {
                if let Some(t) = tracker {
                    t.transmissions.record_loss(seq);
                }
            });
        }
        let proportional = config.prr && !config.models();
        if let Some(t) = tracker {
            t.sends_before_recovery = t.transmissions.count();
            t.prr = proportional.then(|| Prr::new(proportion));
            t.tlp.clear();
        }
        if !proportional && !config.models() {
            self.window.set_cwnd(cwnd, now);
        }
    }

    /// Sets the window to the flight that PRR allows after an acknowledgement of `delivered` segments.
    pub(super) fn apply_prr(&mut self, sack: &mut SackState, delivered: u32, safe: bool, now: Time) {
        let Some(prr) = sack.tracker.as_mut().and_then(|t| t.prr.as_mut()) else { return };
        let in_flight = sack.scoreboard.pipe(self.next_new);
        if let Some(send) = prr.on_ack(delivered, in_flight, self.window.ssthresh, safe) {
            self.window.set_cwnd(f64::from((in_flight + send).max(1)), now);
        }
    }

    /// Ends the recovery: all data sent before it is acknowledged.
    pub(super) fn end_recovery(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) {
        if let Some(t) = &mut sack.tracker {
            t.rack.on_recovered();
            t.prr = None;
        }
        if config.models() {
            self.phase = RecoveryPhase::Open;
        } else if self.phase != RecoveryPhase::Open {
            self.leave_recovery(config, now);
        }
    }

    /// A probe repaired a loss before its detection: the window is reduced as for any loss (RFC 8985, section 7.4).
    pub(super) fn on_probe_repair(&mut self, flight: u32, config: &TcpSettings, now: Time) {
        if self.recovering() {
            return;
        }
        self.forget_windows();
        self.begin_recovery(flight.min(self.window.whole_segments()), config, now);
        self.phase = RecoveryPhase::Open;
        self.retransmit_first = false;
        if !config.models() {
            self.window.set_cwnd(self.window.ssthresh, now);
        }
    }
}

/// Reports a lost segment to a congestion control that samples rates.
fn report_loss(
    delivery: &mut Option<Box<DeliveryCounts>>,
    cc: &mut AnyControl,
    (sent, seq): (&Transmissions, u32),
    window: &CongestionWindow,
    now: Time,
) {
    if let Some(delivery) = delivery {
        cc.on_segment_lost(&delivery.record_loss(sent, seq, now), window);
    }
}
