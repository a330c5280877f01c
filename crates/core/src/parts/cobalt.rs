//! COBALT's control loop for one queue, shared by COBALT and FQ-COBALT: CoDel, and BLUE for senders that ignore it.
//!
//! CoDel drops or marks at the times of its control law, and decays its count instead of forgetting it. BLUE's
//! probability rises when the buffer overflows and falls while the queue is empty.
//!
//! Source: J. Morton, T. Høiland-Jørgensen, D. Täht and others, the functions `cobalt_*` of Linux 5.5's `sch_cake.c`.

use core::ops::Bound;

use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::Bytes;
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::Rate;

crate::params! {
    /// Settings of one or more COBALT loops.
    pub struct CobaltSettings {
        /// Queueing delay that is acceptable in the long run. Also the minimum time between two changes of BLUE's
        /// probability.
        target: Span = Span::from_millis(5), also "Target";
        /// Time that the delay may exceed the target before the first drop or mark; CAKE's `rtt`.
        interval: Span = Span::from_millis(100), in (Bound::Excluded(Span::ZERO), Bound::Unbounded),
            also "rtt" "Interval";
        /// Increase of BLUE's probability at a buffer overflow.
        increment: f64 = 1.0 / 256.0, in 0.0..=1.0, also "p_inc" "Increment";
        /// Decrease of BLUE's probability when the link becomes idle.
        decrement: f64 = 1.0 / 4096.0, in 0.0..=1.0, also "p_dec" "Decrement";
        /// Adapts the times to the link's rate, as CAKE does when it shapes. The target is at least 1.5 transmission
        /// times of an `mtu` packet. Delays up to four transmission times cause no drop or mark.
        fit_rate: bool = true;
        /// Size of the largest packet, for `fit_rate`.
        mtu: Bytes = Bytes(1514);
        /// Never drops the last queued packet.
        keep_last: bool = true;
        /// Queueing delay above which a packet raises BLUE's probability too. `auto`: only an overflow raises it.
        blue_threshold: Option<Span> = None, also "BlueThreshold";
        /// Lets CoDel mark ECN-capable packets instead of dropping them. BLUE always drops: it is for unresponsive
        /// flows.
        ecn: bool = true, also "UseEcn";
    }
    presets {}
}

/// What the loops of a link have in common: their settings, adapted to its rate.
#[derive(Clone, Debug)]
pub struct CobaltRules {
    /// The settings, with target and interval adapted.
    pub settings: CobaltSettings,
    /// CoDel ignores queueing delays up to this, even if they exceed the target.
    pub grace: Span,
}

impl CobaltRules {
    /// `settings` at a link of `rate`.
    pub fn new(mut settings: CobaltSettings, rate: Rate) -> CobaltRules {
        let mut grace = Span::ZERO;
        if settings.fit_rate {
            // Saturates: a packet has at most 4 GB.
            let packet = rate.transmit(u32::try_from(settings.mtu.0).unwrap_or(u32::MAX));
            let target = settings.target.max(Span::from_nanos((packet * 3).as_nanos() / 2));
            settings.interval = (settings.interval + (target - settings.target)).max(target * 2);
            (settings.target, grace) = (target, packet * 4);
        }
        CobaltRules { settings, grace }
    }

    /// Whether CoDel considers a queueing delay of `waited` too long.
    #[inline]
    fn is_over(&self, waited: Span) -> bool {
        waited > self.settings.target && waited > self.grace
    }

    fn can_mark<T>(&self, packet: &Packet<T>) -> bool {
        self.settings.ecn && packet.ecn.is_capable()
    }
}

/// The state of a control loop.
#[derive(Clone, Debug, Default)]
pub struct CobaltLoop {
    /// CoDel's count: drops and marks, less those that have decayed.
    pub count: u32,
    /// Time of CoDel's next drop or mark. While `count` is 0 it is one interval after the last packet judged.
    pub drop_next: Time,
    /// Whether the last packet's delay exceeded the target, or the buffer has overflowed since.
    pub dropping: bool,
    /// BLUE's probability. Idle time lowers it at the next arrival, or at the next dequeue from the empty queue.
    pub probability: f64,
    /// Time of the probability's last change.
    pub changed: Time,
    idle: Option<Time>,
}

#[derive(Clone, Copy)]
struct DropDecision {
    /// CoDel drops or marks the packet.
    codel: bool,
    /// BLUE drops the packet.
    blue: bool,
}

impl CobaltLoop {
    /// The next packet to send, after any drops. `pop` dequeues the head, and tells whether the queue is then empty.
    /// Always inlined, as are the callers: see [`Discipline`](crate::Discipline).
    #[inline(always)]
    pub fn dequeue<T>(
        &mut self,
        rules: &CobaltRules,
        cx: &mut Cx<'_, T>,
        mut pop: impl FnMut() -> Option<(Packet<T>, bool)>,
    ) -> Option<Packet<T>> {
        let Some(head) = pop() else {
            self.record_empty(rules, cx.now);
            return None;
        };
        self.dequeue_head(rules, cx, head, pop)
    }

    /// As [`dequeue`](CobaltLoop::dequeue), for a caller that has dequeued the head. `pop` then serves only drops, so the
    /// caller can keep it out of the common path.
    #[inline(always)]
    pub fn dequeue_head<T>(
        &mut self,
        rules: &CobaltRules,
        cx: &mut Cx<'_, T>,
        head: (Packet<T>, bool),
        pop: impl FnMut() -> Option<(Packet<T>, bool)>,
    ) -> Option<Packet<T>> {
        if self.is_at_rest(rules, cx.now - head.0.arrived) {
            self.dropping = false;
            self.drop_next = cx.now + rules.settings.interval;
            return Some(head.0);
        }
        self.control(rules, cx, head, pop)
    }

    /// Whether CoDel's count and BLUE's probability are zero, and a packet that has waited for `waited` leaves them so.
    #[inline(always)]
    fn is_at_rest(&self, rules: &CobaltRules, waited: Span) -> bool {
        let raises = rules.settings.blue_threshold.is_some_and(|most| waited > most);
        self.count == 0 && self.probability <= 0.0 && !rules.is_over(waited) && !raises
    }

    /// Judges packets until one may be sent. Not inlined: packets at rest do not need it.
    #[inline(never)]
    fn control<T>(
        &mut self,
        rules: &CobaltRules,
        cx: &mut Cx<'_, T>,
        head: (Packet<T>, bool),
        mut pop: impl FnMut() -> Option<(Packet<T>, bool)>,
    ) -> Option<Packet<T>> {
        let mut next = Some(head);
        while let Some((packet, empty)) = next {
            let DropDecision { codel, blue } = self.judge(rules, &packet, cx.now, cx.rng);
            let last = rules.settings.keep_last && empty;
            if blue && !last {
                cx.drop(packet, Why::Early);
            } else if codel && (rules.can_mark(&packet) || !last) {
                if let Some(marked) = cx.signal(packet, Why::Sojourn, rules.settings.ecn) {
                    return Some(marked);
                }
            } else {
                return Some(packet);
            }
            next = pop();
        }
        self.record_empty(rules, cx.now);
        None
    }

    /// A packet arrives: the idle time so far lowers the probability.
    #[inline]
    pub fn arrives(&mut self, rules: &CobaltRules, now: Time) {
        self.apply_idle_time(rules, now);
    }

    /// The packet that arrived was queued: the queue is no longer idle.
    #[inline]
    pub fn queued(&mut self) {
        self.idle = None;
    }

    /// The buffer overflowed because of this queue (`cobalt_queue_full`).
    pub fn overflowed(&mut self, rules: &CobaltRules, now: Time) {
        self.raise(rules, now);
        (self.dropping, self.drop_next, self.count) = (true, now, self.count.max(1));
    }

    /// Time between drops or marks: interval/sqrt(count); the whole interval before the first.
    fn signal_interval(&self, rules: &CobaltRules) -> Span {
        let interval = rules.settings.interval.as_nanos() as f64;
        Span::from_nanos((interval / libm::sqrt(f64::from(self.count.max(1)))) as u64)
    }

    /// BLUE: raises the probability, after an overflow or a queueing delay above `blue_threshold`.
    fn raise(&mut self, rules: &CobaltRules, now: Time) {
        if now - self.changed > rules.settings.target {
            self.probability = (self.probability + rules.settings.increment).min(1.0);
            self.changed = now;
        }
    }

    /// BLUE: lowers the probability for idle time, about once per target. CAKE polls idle queues as often.
    #[inline]
    fn apply_idle_time(&mut self, rules: &CobaltRules, now: Time) {
        if let Some(since) = self.idle
            && self.probability > 0.0
        {
            self.lower(rules, since, now);
        }
    }

    fn lower(&mut self, rules: &CobaltRules, since: Time, now: Time) {
        let period = rules.settings.target + Span::from_nanos(1);
        let first = since.max(self.changed + period);
        if now < first {
            return;
        }
        let asked = (now - first).as_nanos() / period.as_nanos() + 1;
        // The cast saturates where the decrement is 0.
        let steps = asked.min(libm::ceil(self.probability / rules.settings.decrement) as u64);
        self.probability = (self.probability - steps as f64 * rules.settings.decrement).max(0.0);
        self.changed = first + period * (steps - 1);
    }

    /// Records that the queue was empty at its turn, as [`dequeue`](CobaltLoop::dequeue) does.
    #[inline]
    pub fn record_empty(&mut self, rules: &CobaltRules, now: Time) {
        self.idle.get_or_insert(now);
        self.dropping = false;
        if self.probability > 0.0 || self.count > 0 {
            self.calm_down(rules, now);
        }
    }

    /// While the queue is empty, the probability and the count fall.
    #[inline(never)]
    fn calm_down(&mut self, rules: &CobaltRules, now: Time) {
        self.apply_idle_time(rules, now);
        if self.count > 0 && now >= self.drop_next {
            self.decay_once(rules);
        }
    }

    fn decay_once(&mut self, rules: &CobaltRules) {
        self.count -= 1;
        self.drop_next += self.signal_interval(rules);
    }

    /// `cobalt_should_drop`.
    fn judge<T>(&mut self, rules: &CobaltRules, packet: &Packet<T>, now: Time, rng: &mut Rng) -> DropDecision {
        let waited = now - packet.arrived;
        let over = rules.is_over(waited);
        let due = self.count > 0 && now >= self.drop_next;
        let mut past = now > self.drop_next;
        if over {
            if !self.dropping {
                self.drop_next = now + self.signal_interval(rules);
            }
            self.count = self.count.max(1);
        }
        self.dropping = over;
        let codel = due && over;
        if codel {
            self.count = self.count.saturating_add(1);
            self.drop_next += self.signal_interval(rules);
            past = now > self.drop_next;
        } else if due {
            past = self.decay(rules, now);
        }
        if rules.settings.blue_threshold.is_some_and(|most| waited > most) {
            self.raise(rules, now);
        }
        let blue = rng.chance(self.probability);
        let dropped = blue || (codel && !rules.can_mark(packet));
        if self.count == 0 {
            self.drop_next = now + rules.settings.interval;
        } else if past && !dropped {
            self.drop_next = now;
        }
        DropDecision { codel, blue }
    }

    /// After a packet within the target, lowers `count` once for each drop or mark that was due. Returns whether
    /// `drop_next` has passed.
    fn decay(&mut self, rules: &CobaltRules, now: Time) -> bool {
        while self.count > 0 && now >= self.drop_next {
            self.decay_once(rules);
        }
        now > self.drop_next
    }
}
