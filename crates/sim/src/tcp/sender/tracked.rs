//! The sender with a record of each segment outstanding. It always sends by what is in flight, in recovery or not: first
//! what is lost, then new data. Losses are found by time (RFC 8985), or by counting as RFC 6675 does; a recovery reduces
//! in proportion (RFC 9937), or at once.

use headgate_core::{Span, Time};

use super::{Ack, Acked, Config, Controller, Data, ENDLESS, Phase, Sender};
use crate::tcp::outstanding::Record;
use crate::tcp::prr::Prr;
use crate::tcp::tlp::Tlp;
use crate::tcp::tracker::{Found, Tracker};

impl Sender {
    /// Takes an acknowledgement that is neither of the past nor of what was never sent.
    pub(super) fn on_ack_tracked(&mut self, t: &mut Tracker, ack: &Ack, config: &Config, now: Time) {
        let (flight, in_flight, arrived) = (self.flight(), t.out.in_flight(), t.out.arrived());
        let (phase, acked, srtt) = (self.phase, ack.ack - self.una, self.rto.srtt());
        let (delivered, rtt) = t.take(ack, now);
        if self.sample(ack.ack, config, now) {
            t.tlp.on_sample();
        }
        let recovered = self.una < self.recover && self.recover <= ack.ack;
        self.una = ack.ack;
        t.rack.on_ack(ack.duplicate().is_some(), self.una, self.max);
        let found = self.find_lost(t, config, now);
        let mut told = Acked {
            now,
            ack: ack.ack,
            max: self.max,
            acked,
            delivered,
            flight,
            ece: ack.ece,
            marked: if ack.ece { delivered } else { 0 },
            recovering: phase != Phase::Open || found.any,
            grows: acked > 0 && phase == Phase::Open && !ack.ece && !found.any,
            restarted: self.restarted,
            rtt,
            delay: ack.delay,
            srtt,
            rate: t.rate.sample((in_flight, t.out.in_flight()), t.rack.min_rtt(), now),
        };
        self.count_marks(&mut told, ack.ace, config);
        let before = self.window.cwnd();
        self.grow(&told, config);
        if self.end != ENDLESS && !config.models() {
            self.hold_unused(flight, before, now);
        }
        if told.ece {
            self.on_echo(&told, config);
        }
        if recovered {
            t.rack.on_recovered();
            self.end_recovery(t, config, now);
        }
        self.react(t, found, flight - arrived, config, now);
        if t.tlp.on_ack(ack.ack, ack.duplicate()) {
            self.on_repaired(flight, config, now);
        }
        self.reduce(t, delivered, acked > 0 && !found.any, now);
        self.set_timers(t, acked > 0, config, now);
    }

    /// One of the timers: of reordering, of the probe, or of retransmission.
    pub(super) fn on_timer_tracked(&mut self, t: &mut Tracker, config: &Config, now: Time) {
        if std::mem::take(&mut self.held) && self.una == self.max {
            // RFC 3168, section 6.1.2: the timer only says that a new packet may go.
            t.rto_at = Time::NEVER;
        } else if t.reorder_at <= now {
            let in_flight = t.out.in_flight();
            let found = self.find_lost(t, config, now);
            self.react(t, found, in_flight, config, now);
            self.reduce(t, 0, false, now);
        } else if t.tlp.at <= now {
            // RFC 8985, section 7.3: the retransmission timer starts anew.
            (t.probe, t.tlp.at) = (true, Time::NEVER);
            t.rto_at = now + self.rto.timeout();
        } else if t.rto_at <= now {
            self.time_out(config, now);
            self.lose_all(t, config, now);
        }
        self.deadline = t.deadline();
    }

    /// The next segment to send.
    pub(super) fn poll_tracked(&mut self, t: &mut Tracker, config: &Config, now: Time) -> Option<Data> {
        let fresh = self.max - self.una < config.window && self.max < self.end;
        if std::mem::take(&mut t.probe) && self.una < self.max {
            let seq = if fresh { self.max } else { self.max - 1 };
            let data = self.send_tracked(t, seq, now);
            t.tlp.on_probe(self.max, data.again);
            return Some(data);
        }
        let forced = std::mem::take(&mut self.resend);
        if self.una == self.max {
            self.resume(t, fresh, config, now);
        }
        if t.out.in_flight() >= self.window.whole() && !forced {
            t.rate.fill(t.out.in_flight());
            return None;
        }
        match t.out.first_lost() {
            Some(seq) => Some(self.send_tracked(t, seq, now)),
            None if fresh => {
                let data = self.send_tracked(t, self.max, now);
                self.schedule_probe(t, config, now);
                Some(data)
            }
            None => {
                if self.max == self.end {
                    t.rate.limit(t.out.in_flight());
                }
                None
            }
        }
    }

    /// Nothing is outstanding: a pause may have gone before what is sent next, if there is any `fresh` data.
    fn resume(&mut self, t: &Tracker, fresh: bool, config: &Config, now: Time) {
        if !config.models() {
            self.restart_after_idle(config, now);
        } else if fresh && t.rate.app_limited() {
            self.cc.on_restart(now, &mut self.window);
        }
    }

    fn send_tracked(&mut self, t: &mut Tracker, seq: u32, now: Time) -> Data {
        let data = self.send(seq, now);
        let then = t.rate.on_send(t.out.in_flight(), now);
        t.out.transmit(seq, now, then);
        if let Some(prr) = &mut t.prr {
            prr.on_send();
        }
        if t.rto_at == Time::NEVER {
            t.rto_at = now + self.rto.timeout();
        }
        self.deadline = t.deadline();
        data
    }

    /// In fast recovery, or in what follows a timeout.
    fn recovering(&self) -> bool {
        self.una < self.recover
    }

    /// Marks what is lost, and sets the reordering timer.
    fn find_lost(&mut self, t: &mut Tracker, config: &Config, now: Time) -> Found {
        let window = t.rack.window(self.recovering(), t.out.arrived(), self.rto.srtt());
        let mut found = Found::default();
        let Tracker { out, rack, rate, began, .. } = t;
        let (cc, wnd) = (&mut self.cc, &self.window);
        let mut lost = |record: &Record| {
            found.note(record, *began);
            cc.on_segment_lost(&rate.lose(record, now), wnd);
        };
        match config.rack {
            true => t.reorder_at = rack.detect(out, window, now, lost),
            false => out.judge(&mut lost),
        }
        found
    }

    /// Everything is lost after a timeout; with RACK only what should have been acknowledged. The first segment goes
    /// again at once.
    fn lose_all(&mut self, t: &mut Tracker, config: &Config, now: Time) {
        let window = t.rack.window(true, t.out.arrived(), self.rto.srtt());
        let Tracker { out, rack, rate, .. } = t;
        let (cc, wnd) = (&mut self.cc, &self.window);
        let lost = |record: &Record| cc.on_segment_lost(&rate.lose(record, now), wnd);
        // Without RACK no segment has time left.
        let now_or_never = if config.rack { now } else { Time::NEVER };
        rack.on_timeout(out, self.una, window, now_or_never, lost);
        (self.resend, self.next) = (true, self.max);
        (t.prr, t.probe) = (None, false);
        (t.rto_at, t.reorder_at) = (Time::NEVER, Time::NEVER);
        t.tlp.clear();
    }

    /// Begins a recovery for what was `found` lost. In one that goes on already, only the loss of a retransmission
    /// counts: it is a second sign of congestion (RFC 5681, section 4.3). `in_flight` are the segments neither
    /// acknowledged nor known to have arrived before the losses were found.
    fn react(&mut self, t: &mut Tracker, found: Found, in_flight: u32, config: &Config, now: Time) {
        let anew = found.any && !self.recovering();
        let once_more = found.again && self.phase != Phase::Open;
        if !(anew || once_more) {
            return;
        }
        // What limited transmit sent beyond the window does not count.
        let flight = self.flight().min(self.window.whole());
        self.begin_recovery(flight, config, now);
        t.began = t.out.transmissions();
        t.prr = (config.prr && !config.models()).then(|| Prr::new(in_flight));
        t.tlp.clear();
        if t.prr.is_none() && !config.models() {
            self.window.set_cwnd(self.window.ssthresh, now);
        }
    }

    /// PRR's answer to an acknowledgement of `delivered` segments.
    fn reduce(&mut self, t: &mut Tracker, delivered: u32, safe: bool, now: Time) {
        let in_flight = t.out.in_flight();
        let ssthresh = self.window.ssthresh;
        if let Some(send) = t.prr.as_mut().and_then(|prr| prr.on_ack(delivered, in_flight, ssthresh, safe)) {
            self.window.set_cwnd(f64::from((in_flight + send).max(1)), now);
        }
    }

    /// What was outstanding when a recovery began, or the timer expired, is acknowledged.
    fn end_recovery(&mut self, t: &mut Tracker, config: &Config, now: Time) {
        t.prr = None;
        if config.models() {
            self.phase = Phase::Open;
        } else if self.phase != Phase::Open {
            self.leave_recovery(config, now);
        }
    }

    /// A probe has repaired a loss that nobody saw: the window is reduced as for any (RFC 8985, section 7.4).
    fn on_repaired(&mut self, flight: u32, config: &Config, now: Time) {
        if self.recovering() {
            return;
        }
        self.begin_recovery(flight.min(self.window.whole()), config, now);
        self.phase = Phase::Open;
        self.resend = false;
        if !config.models() {
            self.window.set_cwnd(self.window.ssthresh, now);
        }
    }

    /// After an acknowledgement, of new data if `news`.
    fn set_timers(&mut self, t: &mut Tracker, news: bool, config: &Config, now: Time) {
        if self.held {
            (t.rto_at, t.reorder_at, t.tlp.at) = (self.deadline, Time::NEVER, Time::NEVER);
            return;
        }
        if self.una == self.max {
            t.rto_at = Time::NEVER;
        } else if news {
            t.rto_at = now + self.rto.timeout(); // RFC 6298, rule 5.3
        }
        if news || t.out.arrived() > 0 {
            self.schedule_probe(t, config, now);
        }
        self.deadline = t.deadline();
    }

    /// RFC 8985, section 7.2: no later than the retransmission timer, and only while nothing is amiss. Whether a probe may
    /// be sent is asked here and not when it is due, as section 7.3 does: a probe that may not be sent would only put the
    /// retransmission timer off. No handshake has measured a round trip here, so that a flow's first losses would pay.
    fn schedule_probe(&mut self, t: &mut Tracker, config: &Config, now: Time) {
        let calm = !self.recovering() && t.out.arrived() == 0 && self.una < self.max;
        let ack_delay = config.delayed_ack.unwrap_or(Span::ZERO);
        t.tlp.at = match self.rto.srtt() {
            Some(srtt) if config.rack && calm && t.tlp.may_probe() => {
                (now + Tlp::timeout(srtt, self.flight(), ack_delay)).min(t.rto_at)
            }
            _ => Time::NEVER,
        };
        self.deadline = t.deadline();
    }
}
