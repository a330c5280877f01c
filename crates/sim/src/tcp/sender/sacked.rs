//! The SACK sender: knows the segments in flight, and retransmits losses before new data. It detects losses by count
//! (RFC 6675) or by time (RFC 8985); a recovery reduces at once or in proportion (RFC 9937).

use headgate_core::{Span, Time};

use super::{Ack, Acked, Config, Control, Data, ENDLESS, Phase, Sender, Window};
use crate::tcp::outstanding::Outstanding;
use crate::tcp::prr::Prr;
use crate::tcp::rate_sample::Rate;
use crate::tcp::tlp::Tlp;
use crate::tcp::tracker::{Found, Heard, Tracker};
use crate::tcp::transmissions::Transmissions;

/// The SACK state of a sender.
#[derive(Debug)]
pub struct Sacked {
    /// Arrived and lost segments.
    pub out: Box<Outstanding>,
    /// Per-segment state; none with detection by count alone.
    pub tracker: Option<Box<Tracker>>,
}

impl Sacked {
    pub fn new(config: &Config) -> Sacked {
        Sacked { out: Box::default(), tracker: config.tracks().then(|| Box::new(Tracker::new(config))) }
    }

    /// For a new connection on the same flow: outstanding segments remain.
    pub fn renewed(self, config: &Config) -> Sacked {
        Sacked { tracker: self.tracker.map(|tracker| Box::new(tracker.renewed(config))), ..self }
    }

    /// Passes the number of segments in flight to the rate account, if any.
    fn note(&mut self, max: u32, note: impl FnOnce(&mut Rate, u32)) {
        if let Some(rate) = self.tracker.as_mut().and_then(|tracker| tracker.rate.as_mut()) {
            note(rate, self.out.pipe(max));
        }
    }

    /// The earliest timer besides the retransmission timer.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.tracker.as_ref().map_or(Time::NEVER, |tracker| tracker.deadline())
    }
}

impl Sender {
    /// Takes an acknowledgement that is neither old nor of unsent data.
    pub(super) fn on_ack_sacked(&mut self, known: &mut Sacked, ack: &Ack, config: &Config, now: Time) {
        let (flight, pipe, arrived) = (self.flight(), known.out.pipe(self.max), known.out.arrived());
        let (phase, acked, srtt) = (self.phase, ack.ack - self.una, self.rto.srtt());
        let Heard { delivered, news, rtt, newest } = self.hear(known, ack, now);
        let sampled = self.sample(ack.ack, config, now);
        let recovered = self.una < self.recover && self.recover <= ack.ack;
        self.una = ack.ack;
        if phase == Phase::Open {
            self.count_duplicates(acked > 0, news);
        }
        if let Some(t) = &mut known.tracker {
            t.tlp.on_sample(sampled);
            t.rack.on_ack(ack.duplicate().is_some(), self.una, self.max);
        }
        let found = self.find_lost(known, config, now);
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
            rate: newest
                .and_then(|newest| known.tracker.as_mut()?.sample(newest, (pipe, known.out.pipe(self.max)), now)),
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
            self.end_recovery(known, config, now);
        }
        // By count, only a duplicate acknowledgement begins a recovery, and only if the first segment is lost (RFC
        // 6675, section 5). An acknowledgement that ends a recovery does not.
        let anew = match config.rack() {
            true => found.any,
            false => news && phase == Phase::Open && known.out.is_lost(self.una),
        };
        self.react(known, Found { any: anew, ..found }, flight - arrived, config, now);
        if let Some(t) = &mut known.tracker
            && t.tlp.on_ack(ack.ack, ack.duplicate())
        {
            self.on_repaired(flight, config, now);
        }
        self.reduce(known, delivered, acked > 0 && !found.any, now);
        self.set_timers(known, acked > 0, config, now);
    }

    /// Handles the reordering, probe and retransmission timers.
    pub(super) fn on_timer_sacked(&mut self, known: &mut Sacked, config: &Config, now: Time) {
        if std::mem::take(&mut self.held) && self.una == self.max {
            // RFC 3168, section 6.1.2: the timer only allows a new packet.
            self.rto_at = Time::NEVER;
            return;
        }
        match &mut known.tracker {
            Some(t) if t.reorder_at <= now => {
                let in_flight = known.out.pipe(self.max);
                let found = self.find_lost(known, config, now);
                self.react(known, found, in_flight, config, now);
                self.reduce(known, 0, false, now);
            }
            Some(t) if t.tlp.at <= now => {
                // RFC 8985, section 7.3: the retransmission timer restarts.
                (t.probe, t.tlp.at) = (true, Time::NEVER);
                self.rto_at = now + self.rto.timeout();
            }
            _ => {
                self.time_out(config, now);
                self.lose_all(known, config, now);
            }
        }
    }

    pub(super) fn poll_sacked(&mut self, known: &mut Sacked, config: &Config, now: Time) -> Option<Data> {
        let fresh = self.max - self.una < config.window && self.max < self.end;
        if let Some(t) = &mut known.tracker
            && std::mem::take(&mut t.probe)
            && self.una < self.max
        {
            let seq = if fresh { self.max } else { self.max - 1 };
            let data = self.send_sacked(known, seq, now);
            known.tracker.as_mut()?.tlp.on_probe(self.max, data.again);
            return Some(data);
        }
        let forced = std::mem::take(&mut self.resend);
        if self.una == self.max {
            self.resume(known, fresh, config, now);
        }
        if self.in_network(&known.out, config) >= self.window.whole() && !forced {
            known.note(self.max, Rate::fill);
            return None;
        }
        let lost = if self.repairs(config) { known.out.first_lost() } else { None };
        match lost {
            Some(seq) => Some(self.send_sacked(known, seq, now)),
            None if fresh => {
                let beyond = self.phase == Phase::Open && self.flight() >= self.window.whole();
                self.limited = self.limited.saturating_add(u8::from(beyond));
                let data = self.send_sacked(known, self.max, now);
                self.schedule_probe(known, config, now);
                Some(data)
            }
            None => {
                if self.max == self.end {
                    known.note(self.max, Rate::limit);
                }
                self.poll_holes(known, config, now)
            }
        }
    }

    /// Sends in a recovery by count when neither lost segments nor new data remain: holes not known to be lost, and
    /// once the last segment (RFC 6675, NextSeg, rules 3 and 4).
    fn poll_holes(&mut self, known: &mut Sacked, config: &Config, now: Time) -> Option<Data> {
        if config.rack() || self.phase == Phase::Open {
            return None;
        }
        if let Some(seq) = known.out.hole() {
            known.out.resend_hole(seq);
            return Some(self.send_sacked(known, seq, now));
        }
        let last = known.out.rescue(self.max, self.recover)?;
        Some(self.send_sacked(known, last, now))
    }

    /// Whether lost segments are retransmitted. By time they always are; by count in a recovery, which a duplicate
    /// acknowledgement begins, and after a timeout (RFC 6675, sections 5 and 5.1).
    #[inline]
    fn repairs(&self, config: &Config) -> bool {
        config.rack() || self.phase != Phase::Open || self.una < self.recover
    }

    /// Segments that take room in the window: those in flight. Without repairs, arrived segments leave room only on
    /// duplicate acknowledgements with limited transmit (RFC 6675, section 5, step 3).
    #[inline]
    fn in_network(&self, out: &Outstanding, config: &Config) -> u32 {
        let repairs = config.rack() || self.phase != Phase::Open || (self.una < self.recover && out.any_lost());
        let limited = config.limited_transmit && self.dup_acks > 0;
        if repairs || limited { out.pipe(self.max) } else { self.flight() }
    }

    /// Nothing is outstanding: the next data, if there is `fresh` data, may follow a pause.
    fn resume(&mut self, known: &Sacked, fresh: bool, config: &Config, now: Time) {
        let limited = || known.tracker.as_ref().and_then(|t| t.rate.as_ref()).is_some_and(|rate| rate.app_limited());
        if !config.models() {
            self.restart_after_idle(config, now);
        } else if fresh && limited() {
            self.cc.on_restart(now, &mut self.window);
        }
    }

    fn send_sacked(&mut self, known: &mut Sacked, seq: u32, now: Time) -> Data {
        let pipe = known.out.pipe(self.max);
        let data = self.send(seq, now);
        if data.again {
            known.out.resend(seq);
        }
        if let Some(t) = &mut known.tracker {
            t.on_send(seq, pipe, now);
        }
        data
    }

    /// Counts consecutive duplicate acknowledgements: with SACK, acknowledgements with `news` of arrivals beyond a
    /// gap (RFC 6675, section 2).
    #[inline]
    fn count_duplicates(&mut self, advanced: bool, news: bool) {
        if advanced {
            (self.dup_acks, self.limited) = (0, 0);
        }
        self.dup_acks = self.dup_acks.saturating_add(u8::from(news));
    }

    /// In fast recovery, or in the repair after a timeout.
    fn recovering(&self) -> bool {
        self.una < self.recover
    }

    /// Applies an acknowledgement to the scoreboard.
    #[inline]
    fn hear(&self, known: &mut Sacked, ack: &Ack, now: Time) -> Heard {
        if let Some(tracker) = &mut known.tracker {
            return tracker.take(&mut known.out, ack, self.max, now);
        }
        let arrived = known.out.arrived();
        let news = known.out.take(ack, self.max, |_| {});
        Heard {
            delivered: ack.ack - self.una + known.out.arrived() - arrived,
            news,
            // `NONE` is never covered.
            rtt: (ack.ack > self.timed).then(|| now - self.timed_at),
            newest: None,
        }
    }

    /// Finds losses, and sets the reordering timer.
    fn find_lost(&mut self, known: &mut Sacked, config: &Config, now: Time) -> Found {
        let mut found = Found::default();
        let Sacked { out, tracker } = known;
        let (cc, wnd) = (&mut self.cc, &self.window);
        match tracker {
            Some(t) if config.rack() => {
                let window = t.rack.window(self.una < self.recover, out.arrived(), self.rto.srtt());
                let Tracker { sent, rack, rate, began, .. } = &mut **t;
                t.reorder_at = rack.detect(sent, window, now, |sent, seq| {
                    out.lose(seq);
                    found.note(&sent.record(seq), *began);
                    report(rate, cc, (sent, seq), wnd, now);
                });
            }
            // A timeout makes all outstanding segments lost. No recovery begins before they are repaired (RFC 6675,
            // section 5.1).
            _ if self.phase == Phase::Open && self.una < self.recover => {}
            tracker => out.judge(|seq| {
                found.any = true;
                if let Some(t) = tracker {
                    t.sent.lose(seq);
                    report(&mut t.rate, cc, (&t.sent, seq), wnd, now);
                }
            }),
        }
        found
    }

    /// After a timeout, everything is lost; with RACK only overdue segments. Retransmits the first segment at once.
    fn lose_all(&mut self, known: &mut Sacked, config: &Config, now: Time) {
        let Sacked { out, tracker } = known;
        if let Some(t) = tracker {
            let window = t.rack.window(true, out.arrived(), self.rto.srtt());
            let Tracker { sent, rack, rate, .. } = &mut **t;
            let (cc, wnd) = (&mut self.cc, &self.window);
            // Without RACK every segment is overdue.
            let now_or_never = if config.rack() { now } else { Time::NEVER };
            rack.on_timeout(sent, self.una, window, now_or_never, |sent, seq| {
                out.lose(seq);
                report(rate, cc, (sent, seq), wnd, now);
            });
            (t.prr, t.probe, t.reorder_at) = (None, false, Time::NEVER);
            t.tlp.clear();
        }
        if !config.rack() {
            out.lose_all(self.max);
        }
        (self.resend, self.next, self.rto_at) = (true, self.max, Time::NEVER);
    }

    /// Begins a recovery for the losses `found`. During a recovery only the loss of a retransmission counts: it is a
    /// second sign of congestion (RFC 5681, section 4.3). `in_flight` are the segments neither acknowledged nor known
    /// to have arrived before the losses were found.
    #[inline]
    fn react(&mut self, known: &mut Sacked, found: Found, in_flight: u32, config: &Config, now: Time) {
        let anew = found.any && !self.recovering();
        let once_more = found.again && self.phase != Phase::Open;
        if anew || once_more {
            self.begin_recovery_sacked(known, in_flight, config, now);
        }
    }

    /// Begins a recovery of a SACK sender; `in_flight` as for [`react`](Sender::react).
    fn begin_recovery_sacked(&mut self, known: &mut Sacked, in_flight: u32, config: &Config, now: Time) {
        // Segments sent by limited transmit do not count (RFC 5681, section 3.2, step 2).
        let flight = match config.rack() {
            true => self.flight().min(self.window.whole()),
            false => self.flight() - u32::from(self.limited),
        };
        self.begin_recovery(flight, config, now);
        let Sacked { out, tracker } = known;
        if !config.rack() {
            out.begin_recovery(|seq| {
                if let Some(t) = tracker {
                    t.sent.lose(seq);
                }
            });
        }
        let proportional = config.prr && !config.models();
        if let Some(t) = tracker {
            t.began = t.sent.count();
            t.prr = proportional.then(|| Prr::new(in_flight));
            t.tlp.clear();
        }
        if !proportional && !config.models() {
            self.window.set_cwnd(self.window.ssthresh, now);
        }
    }

    /// PRR's answer to an acknowledgement of `delivered` segments.
    fn reduce(&mut self, known: &mut Sacked, delivered: u32, safe: bool, now: Time) {
        let Some(prr) = known.tracker.as_mut().and_then(|t| t.prr.as_mut()) else { return };
        let in_flight = known.out.pipe(self.max);
        if let Some(send) = prr.on_ack(delivered, in_flight, self.window.ssthresh, safe) {
            self.window.set_cwnd(f64::from((in_flight + send).max(1)), now);
        }
    }

    /// Ends the recovery: its outstanding data is acknowledged.
    fn end_recovery(&mut self, known: &mut Sacked, config: &Config, now: Time) {
        if let Some(t) = &mut known.tracker {
            t.rack.on_recovered();
            t.prr = None;
        }
        if config.models() {
            self.phase = Phase::Open;
        } else if self.phase != Phase::Open {
            self.leave_recovery(config, now);
        }
    }

    /// A probe repaired a loss before its detection: the window is reduced as for any loss (RFC 8985, section 7.4).
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

    /// Sets the timers after an acknowledgement, of new data if `news`.
    fn set_timers(&mut self, known: &mut Sacked, news: bool, config: &Config, now: Time) {
        if self.held {
            if let Some(t) = &mut known.tracker {
                (t.reorder_at, t.tlp.at) = (Time::NEVER, Time::NEVER);
            }
            return;
        }
        if news {
            self.restart_timer(now); // RFC 6298, rules 5.2 and 5.3
        }
        if news || known.out.arrived() > 0 {
            self.schedule_probe(known, config, now);
        }
    }

    /// RFC 8985, section 7.2: no later than the retransmission timer, and only while nothing is lost. Permission is
    /// checked here rather than at expiry (section 7.3): a forbidden probe would only delay the retransmission timer.
    /// No handshake measures a round trip here, so a flow's first losses would suffer.
    fn schedule_probe(&mut self, known: &mut Sacked, config: &Config, now: Time) {
        let calm = !self.recovering() && known.out.arrived() == 0 && self.una < self.max;
        let Some(t) = &mut known.tracker else { return };
        let ack_delay = config.delayed_ack.unwrap_or(Span::ZERO);
        t.tlp.at = match self.rto.srtt() {
            Some(srtt) if config.rack() && calm && t.tlp.may_probe() => {
                (now + Tlp::timeout(srtt, self.flight(), ack_delay)).min(self.rto_at)
            }
            _ => Time::NEVER,
        };
    }
}

/// Reports a lost segment to a controller that samples rates.
fn report(
    rate: &mut Option<Box<Rate>>,
    cc: &mut Control,
    (sent, seq): (&Transmissions, u32),
    window: &Window,
    now: Time,
) {
    if let Some(rate) = rate {
        cc.on_segment_lost(&rate.lose(sent, seq, now), window);
    }
}
