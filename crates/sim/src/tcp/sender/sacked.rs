//! The SACK sender: retransmits the lost segments, and only those, before new data.
//!
//! The [`Scoreboard`] knows which segments have arrived, are lost, or are in flight (`pipe`). The sender
//! may send while `pipe` is below `cwnd`.
//!
//! - An acknowledgement updates the scoreboard, finds losses, moves the window, and begins or ends a recovery
//!   (`sacked_losses.rs`).
//! - Timers: reordering (RACK), tail loss probe (TLP), and retransmission. They are checked in this order.
//! - `sacked_sending.rs` selects the segments to send.

use aqm::{Span, Time};

use super::undo::RepairProgress;
use super::{Ack, AckInfo, RecoveryPhase, TcpSender, TcpSettings};
use crate::tcp::rate_sample::DeliveryCounts;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::tlp::Tlp;
use crate::tcp::tracker::{NewArrivals, SegmentTracker};

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
    pub(super) fn update_delivery(&mut self, next_new: u32, update: impl FnOnce(&mut DeliveryCounts, u32)) {
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
    /// Processes an acknowledgement of a sender with SACK state.
    #[inline(never)]
    pub(super) fn on_ack_with_sack(&mut self, ack: Ack, config: &TcpSettings, now: Time) {
        if let Some(mut sack) = self.sack.take() {
            self.on_ack_sacked(&mut sack, &ack, config, now);
            self.sack = Some(sack);
        }
    }

    /// Processes an acknowledgement. The caller has already handled old acknowledgements and discarded those of unsent
    /// data.
    #[inline(always)]
    fn on_ack_sacked(&mut self, sack: &mut SackState, ack: &Ack, config: &TcpSettings, now: Time) {
        let (flight, pipe, arrived) = (self.flight(), sack.scoreboard.pipe(self.next_new), sack.scoreboard.arrived());
        let (mut phase, acked, srtt) = (self.phase, ack.ack - self.una, self.rto.srtt());
        let app_limited = self.is_app_limited(config);
        let NewArrivals { delivered, new_blocks, rtt, first_rtt, newest } = self.record_arrivals(sack, ack, now);
        let sample = match config.rtt_per_ack {
            // A segment sent once is the better clock. The echo serves where only retransmissions were acknowledged.
            true => first_rtt.or_else(|| self.measured_rtt(ack, now).filter(|_| config.timestamps)),
            false => self.measured_rtt(ack, now),
        };
        let sampled = self.sample_rtt(sample, ack.ack, config);
        let repairing = self.una < self.recover;
        let mut recovered = repairing && self.recover <= ack.ack;
        self.una = ack.ack;
        if config.undo && self.try_undo(sack, ack, RepairProgress { advanced: acked > 0, recovered, repairing }, now) {
            (recovered, phase) = (false, self.phase);
        }
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
            rtt: rtt.or(sample),
            delay: ack.delay,
            srtt,
            rate_sample: newest.and_then(|newest| {
                sack.tracker.as_mut()?.sample(newest, (pipe, sack.scoreboard.pipe(self.next_new)), now)
            }),
        };
        if config.accecn {
            self.count_marks(&mut info, (ack.ace, ack.counts));
        }
        self.forbid_unused_growth(&mut info, config);
        let before = self.window.cwnd();
        self.update_cwnd(&info, config);
        if self.may_lack_data(config) && !config.models() {
            self.limit_growth(info, before, config);
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
        if info.ece {
            self.forbid_undo();
        }
        self.apply_prr(sack, delivered, acked > 0 && !losses.any, now);
        self.set_timers(sack, acked > 0, config, now);
    }

    /// Processes the SACK blocks of an old acknowledgement, which a later one has overtaken. They update the scoreboard
    /// (RFC 6675, section 5; RFC 8985, section 6.2). With new arrivals in its blocks it counts as a duplicate
    /// acknowledgement, and a segment that it reports twice (DSACK) widens RACK's window. Its marks and its
    /// acknowledgement number are outdated. Linux does the same (`tcp_ack`, `old_ack`).
    #[cold]
    #[inline(never)]
    pub(super) fn on_old_ack(&mut self, ack: Ack, config: &TcpSettings, now: Time) {
        let Some(mut sack) = self.sack.take_if(|_| ack.blocks.is_some()) else { return };
        let in_flight = self.flight() - sack.scoreboard.arrived();
        let blocks = Ack { ack: self.una, ..ack };
        let NewArrivals { delivered, new_blocks, .. } = self.record_arrivals(&mut sack, &blocks, now);
        if let Some(t) = &mut sack.tracker {
            t.rack.on_ack(ack.duplicate().is_some(), self.una, self.next_new);
        }
        let progress = RepairProgress { advanced: false, recovered: false, repairing: self.recovering() };
        if config.undo {
            self.try_undo(&mut sack, &ack, progress, now);
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
    pub(super) fn recovering(&self) -> bool {
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
            rtt: self.measured_rtt(ack, now),
            first_rtt: None,
            newest: None,
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
    pub(super) fn schedule_probe(&mut self, sack: &mut SackState, config: &TcpSettings, now: Time) {
        let no_loss_suspected = !self.recovering() && sack.scoreboard.arrived() == 0 && self.una < self.next_new;
        let Some(t) = &mut sack.tracker else { return };
        let ack_delay = config.probe_ack_delay.or(config.delayed_ack).unwrap_or(Span::ZERO);
        t.tlp.deadline = match self.rto.srtt() {
            Some(srtt) if config.rack() && no_loss_suspected && t.tlp.may_probe() => {
                (now + Tlp::timeout(srtt, self.flight(), ack_delay)).min(self.rto_at)
            }
            _ => Time::NEVER,
        };
    }
}
