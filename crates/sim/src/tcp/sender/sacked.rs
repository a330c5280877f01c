//! The SACK sender: retransmits the lost segments, and only those, before new data.
//!
//! The [`Scoreboard`] knows which segments have arrived, are lost, or are in flight (`pipe`). The sender
//! may send while `pipe` is below `cwnd`.
//!
//! - An acknowledgement updates the scoreboard, finds losses, moves the window, and begins or ends a recovery.
//! - A loss is found by count (three later arrivals, RFC 6675) or by time (RACK, RFC 8985). By time, a retransmission
//!   can be found lost too.
//! - A recovery lowers `cwnd` at once, or in proportion to deliveries with PRR (RFC 9937). Model-based controls (BBR)
//!   set their own window.
//! - Timers: reordering (RACK), tail loss probe (TLP), and retransmission. They are checked in this order.
//! - [`TcpSender::poll`] prefers a probe, then a lost segment, then new data, then holes (RFC 6675, NextSeg).

use headgate_core::{Span, Time};

use super::{
    Ack, AckInfo, AnyControl, CongestionWindow, ENDLESS, OutgoingSegment, RecoveryPhase, TcpSender, TcpSettings,
};
use crate::tcp::prr::Prr;
use crate::tcp::rate_sample::DeliveryCounts;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::tlp::Tlp;
use crate::tcp::tracker::{DetectedLosses, NewArrivals, SegmentTracker};
use crate::tcp::transmissions::Transmissions;

/// The SACK state of a sender.
#[derive(Debug)]
pub struct SackState {
    /// Arrived and lost segments.
    pub scoreboard: Box<Scoreboard>,
    /// Per-segment state; `None` if the sender needs no send times ([`TcpSettings::tracks`]).
    pub tracker: Option<Box<SegmentTracker>>,
}

impl SackState {
    pub fn new(config: &TcpSettings) -> SackState {
        SackState {
            scoreboard: Box::default(),
            tracker: config.tracks().then(|| Box::new(SegmentTracker::new(config))),
        }
    }

    /// The state for a new connection on the same flow. Outstanding segments remain.
    pub fn for_new_connection(self, config: &TcpSettings) -> SackState {
        SackState { tracker: self.tracker.map(|tracker| Box::new(tracker.for_new_connection(config))), ..self }
    }

    /// Passes the number of segments in flight to the delivery counts, if any.
    fn update_delivery(&mut self, next_new: u32, update: impl FnOnce(&mut DeliveryCounts, u32)) {
        if let Some(delivery) = self.tracker.as_mut().and_then(|tracker| tracker.delivery.as_mut()) {
            update(delivery, self.scoreboard.pipe(next_new));
        }
    }

    /// The earliest timer besides the retransmission timer.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.tracker.as_ref().map_or(Time::NEVER, |tracker| tracker.deadline())
    }
}

impl TcpSender {
    /// Processes an acknowledgement. The caller has already handled old acknowledgements and discarded those of unsent
    /// data.
    pub(super) fn on_ack_sacked(&mut self, sack: &mut SackState, ack: &Ack, config: &TcpSettings, now: Time) {
        let (flight, pipe, arrived) = (self.flight(), sack.scoreboard.pipe(self.next_new), sack.scoreboard.arrived());
        let (phase, acked, srtt) = (self.phase, ack.ack - self.una, self.rto.srtt());
        let app_limited = self.is_app_limited(config);
        let NewArrivals { delivered, new_blocks, rtt, newest } = self.record_arrivals(sack, ack, now);
        let sampled = self.sample_rtt(ack.ack, config, now);
        let recovered = self.una < self.recover && self.recover <= ack.ack;
        self.una = ack.ack;
        if phase == RecoveryPhase::Open {
            self.count_duplicates(acked > 0, new_blocks);
        }
        if let Some(t) = &mut sack.tracker {
            t.tlp.on_sample(sampled);
            t.rack.on_ack(ack.duplicate().is_some(), self.una, self.next_new);
        }
        let losses = self.detect_losses(sack, config, now);
        let mut info = AckInfo {
            now,
            ack: ack.ack,
            next_new: self.next_new,
            acked,
            delivered,
            flight,
            ece: ack.ece,
            marked: if ack.ece { delivered } else { 0 },
            recovering: phase != RecoveryPhase::Open || losses.any,
            may_grow: acked > 0 && phase == RecoveryPhase::Open && !ack.ece && !losses.any,
            app_limited,
            after_timeout: self.after_timeout,
            rtt,
            delay: ack.delay,
            srtt,
            rate_sample: newest.and_then(|newest| {
                sack.tracker.as_mut()?.sample(newest, (pipe, sack.scoreboard.pipe(self.next_new)), now)
            }),
        };
        self.count_marks(&mut info, ack.ace, config);
        let before = self.window.cwnd();
        self.update_cwnd(&info, config);
        if self.end != ENDLESS && !config.models() {
            self.limit_growth(&info, before, config);
        }
        if info.ece {
            self.on_echo(&info, config);
        }
        if recovered {
            self.end_recovery(sack, config, now);
        }
        // An acknowledgement that ends a recovery does not begin the next.
        let duplicate = new_blocks && phase == RecoveryPhase::Open;
        self.respond_to_ack_losses(sack, losses, duplicate, flight - arrived, config, now);
        if let Some(t) = &mut sack.tracker
            && t.tlp.on_ack(ack.ack, ack.duplicate())
        {
            self.on_probe_repair(flight, config, now);
        }
        self.apply_prr(sack, delivered, acked > 0 && !losses.any, now);
        self.set_timers(sack, acked > 0, config, now);
    }

    /// Processes the SACK blocks of an old acknowledgement, which a later one has overtaken. They update the scoreboard
    /// (RFC 6675, section 5; RFC 8985, section 6.2). With new arrivals in its blocks it counts as a duplicate
    /// acknowledgement, and a segment that it reports twice (DSACK) widens RACK's window. Its marks and its
    /// acknowledgement number are outdated. Linux does the same (`tcp_ack`, `old_ack`).
    #[cold]
    pub(super) fn on_old_ack(&mut self, ack: &Ack, config: &TcpSettings, now: Time) {
        let Some(mut sack) = self.sack.take_if(|_| ack.blocks.is_some()) else { return };
        let in_flight = self.flight() - sack.scoreboard.arrived();
        let blocks = Ack { ack: self.una, ..*ack };
        let NewArrivals { delivered, new_blocks, .. } = self.record_arrivals(&mut sack, &blocks, now);
        if let Some(t) = &mut sack.tracker {
            t.rack.on_ack(ack.duplicate().is_some(), self.una, self.next_new);
        }
        if new_blocks {
            let duplicate = self.phase == RecoveryPhase::Open;
            self.count_duplicates(false, duplicate);
            let losses = self.detect_losses(&mut sack, config, now);
            self.respond_to_ack_losses(&mut sack, losses, duplicate, in_flight, config, now);
            self.apply_prr(&mut sack, delivered, false, now);
            self.set_timers(&mut sack, false, config, now);
        }
        self.sack = Some(sack);
    }

    /// Handles the reordering, probe and retransmission timers.
    pub(super) fn on_timer_sacked(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) {
        if self.end_wait_after_echo(config, now) {
            self.rto_at = Time::NEVER;
            return;
        }
        match &mut sack.tracker {
            Some(t) if t.reorder_at <= now => {
                let in_flight = sack.scoreboard.pipe(self.next_new);
                let losses = self.detect_losses(sack, config, now);
                self.respond_to_loss(sack, losses, in_flight, config, now);
                self.apply_prr(sack, 0, false, now);
            }
            Some(t) if t.tlp.deadline <= now => {
                // RFC 8985, section 7.3: the retransmission timer restarts.
                (t.probe_due, t.tlp.deadline) = (true, Time::NEVER);
                self.rto_at = now + self.rto.timeout();
            }
            _ => {
                self.time_out(config, now);
                self.lose_all(sack, config, now);
            }
        }
    }

    pub(super) fn poll_sacked(
        &mut self,
        sack: &mut SackState,
        config: &TcpSettings,
        now: Time,
    ) -> Option<OutgoingSegment> {
        let has_new_data = self.next_new - self.una < config.window && self.next_new < self.end;
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
            return None;
        }
        let lost = if self.may_retransmit(config) { sack.scoreboard.first_lost() } else { None };
        match lost {
            Some(seq) => Some(self.send_sacked(sack, seq, config, now)),
            None if has_new_data => {
                let beyond = self.phase == RecoveryPhase::Open && self.flight() >= self.window.whole_segments();
                self.limited_sent = self.limited_sent.saturating_add(u8::from(beyond));
                let data = self.send_sacked(sack, self.next_new, config, now);
                self.schedule_probe(sack, config, now);
                Some(data)
            }
            None => {
                if self.next_new == self.end {
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
            return Some(self.send_sacked(sack, seq, config, now));
        }
        let last = sack.scoreboard.rescue(self.next_new, self.recover)?;
        Some(self.send_sacked(sack, last, config, now))
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

    /// Counts consecutive duplicate acknowledgements. With SACK these are acknowledgements with `new_blocks` (RFC
    /// 6675, section 2).
    #[inline]
    fn count_duplicates(&mut self, advanced: bool, new_blocks: bool) {
        if advanced {
            (self.dup_acks, self.limited_sent) = (0, 0);
        }
        self.dup_acks = self.dup_acks.saturating_add(u8::from(new_blocks));
    }

    /// Whether the sender is in fast recovery, or still repairs the losses of a timeout.
    fn recovering(&self) -> bool {
        self.una < self.recover
    }

    /// Applies an acknowledgement to the scoreboard.
    #[inline]
    fn record_arrivals(&self, sack: &mut SackState, ack: &Ack, now: Time) -> NewArrivals {
        if let Some(tracker) = &mut sack.tracker {
            return tracker.on_ack(&mut sack.scoreboard, ack, self.next_new, now);
        }
        let arrived = sack.scoreboard.arrived();
        let new_blocks = sack.scoreboard.on_ack(ack, self.next_new, |_| {});
        NewArrivals {
            delivered: ack.ack - self.una + sack.scoreboard.arrived() - arrived,
            new_blocks,
            // `NONE` is the largest number: no acknowledgement covers it.
            rtt: (ack.ack > self.timed_seq).then(|| now - self.timed_at),
            newest: None,
        }
    }

    /// Finds losses, and sets the reordering timer.
    fn detect_losses(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) -> DetectedLosses {
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
    fn lose_all(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) {
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
    fn respond_to_ack_losses(
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
    /// second sign of congestion (RFC 5681, section 4.3). `in_flight` are the segments neither acknowledged nor known
    /// to have arrived before the losses were found.
    #[inline]
    fn respond_to_loss(
        &mut self,
        sack: &mut SackState,
        losses: DetectedLosses,
        in_flight: u32,
        config: &TcpSettings,
        now: Time,
    ) {
        let new_recovery = losses.any && !self.recovering();
        let lost_again = losses.retransmitted && self.phase != RecoveryPhase::Open;
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
            t.prr = proportional.then(|| Prr::new(in_flight));
            t.tlp.clear();
        }
        if !proportional && !config.models() {
            self.window.set_cwnd(cwnd, now);
        }
    }

    /// Sets the window to the flight that PRR allows after an acknowledgement of `delivered` segments.
    fn apply_prr(&mut self, sack: &mut SackState, delivered: u32, safe: bool, now: Time) {
        let Some(prr) = sack.tracker.as_mut().and_then(|t| t.prr.as_mut()) else { return };
        let in_flight = sack.scoreboard.pipe(self.next_new);
        if let Some(send) = prr.on_ack(delivered, in_flight, self.window.ssthresh, safe) {
            self.window.set_cwnd(f64::from((in_flight + send).max(1)), now);
        }
    }

    /// Ends the recovery: all data sent before it is acknowledged.
    fn end_recovery(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) {
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
    fn on_probe_repair(&mut self, flight: u32, config: &TcpSettings, now: Time) {
        if self.recovering() {
            return;
        }
        self.begin_recovery(flight.min(self.window.whole_segments()), config, now);
        self.phase = RecoveryPhase::Open;
        self.retransmit_first = false;
        if !config.models() {
            self.window.set_cwnd(self.window.ssthresh, now);
        }
    }

    /// Sets the timers after an acknowledgement. `new_data` tells whether it acknowledges new data.
    fn set_timers(&mut self, sack: &mut SackState, new_data: bool, config: &TcpSettings, now: Time) {
        if self.waiting_for_timer {
            if let Some(t) = &mut sack.tracker {
                (t.reorder_at, t.tlp.deadline) = (Time::NEVER, Time::NEVER);
            }
            return;
        }
        if new_data {
            self.restart_timer(now); // RFC 6298, rules 5.2 and 5.3
        }
        if new_data || sack.scoreboard.arrived() > 0 {
            self.schedule_probe(sack, config, now);
        }
    }

    /// Sets the probe timer (PTO, RFC 8985, section 7.2). It is off in a recovery and while segments have arrived out
    /// of order. It expires no later than the retransmission timer.
    ///
    /// It is also off while no probe may be sent. The RFC checks that only when the probe timer expires, and then
    /// restarts the retransmission timer, even if no probe was sent (section 7.3). A probe needs a round-trip sample,
    /// and connections here have none at first, since there is no handshake. Under the RFC's rule a flow's first losses
    /// would wait for the probe timer and then for a whole retransmission timeout.
    fn schedule_probe(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) {
        let no_loss_suspected = !self.recovering() && sack.scoreboard.arrived() == 0 && self.una < self.next_new;
        let Some(t) = &mut sack.tracker else { return };
        let ack_delay = config.delayed_ack.unwrap_or(Span::ZERO);
        t.tlp.deadline = match self.rto.srtt() {
            Some(srtt) if config.rack() && no_loss_suspected && t.tlp.may_probe() => {
                (now + Tlp::timeout(srtt, self.flight(), ack_delay)).min(self.rto_at)
            }
            _ => Time::NEVER,
        };
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
