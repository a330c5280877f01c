//! COBALT: CoDel plus BLUE. BLUE takes over when flows ignore CoDel's drops.
//!
//! CoDel assumes that senders reduce their rate. If they do not, its drops become frequent too slowly, and the buffer
//! overflows. COBALT therefore adds BLUE: a drop probability for all packets that grows with every overflow.
//!
//! On arrival, a packet that does not fit is dropped and raises BLUE's probability by `increment`, at most once per
//! `target`. The overflow also makes CoDel's next drop or mark due at once. On departure, CoDel drops or marks while
//! the queueing delay stays above `target`. In addition, each packet is dropped with BLUE's probability. With
//! `keep_last`, the last queued packet is never dropped. An idle link lowers the probability by `decrement`, about once
//! per `target`.
//!
//! This CoDel differs from RFC 8289: when the delay falls below the target, `count` is not reset but decays step by
//! step.
//!
//! Source: J. Morton and others, `cobalt_*` in Linux's `net/sched/sch_cake.c` (5.5). Described in T. Høiland-Jørgensen,
//! D. Täht, J. Morton, "Piece of CAKE: a comprehensive queue management solution for home gateways", IEEE LANMAN 2018.
//! Ported to ns-3 as `CobaltQueueDisc`. Deviations are listed in docs/disciplines/cobalt.md.
//!
//! | Linux | here |
//! | --- | --- |
//! | p_drop, p_inc, p_dec | [`Cobalt::probability`], `increment`, `decrement` |
//! | count, drop_next, dropping | [`Cobalt::count`], [`Cobalt::drop_next`], [`Cobalt::dropping`] |

use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::{BuildError, Bytes};
use crate::parts::Fifo;
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::Limit;

crate::params! {
    /// Settings of [`Cobalt`].
    pub struct CobaltConfig {
        /// Buffer size. An arriving packet that does not fit is dropped and raises BLUE's probability.
        limit: Limit = Limit::Packets(1000);
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
    presets {
        "linux" "COBALT in Linux 5.5's sch_cake, one queue of it (the defaults)" {}
        "ns3" "ns-3's CobaltQueueDisc" {
            "limit" = "1500KB", "fit_rate" = "off", "keep_last" = "off", "blue_threshold" = "400ms", "ecn" = "off",
        }
    }
    reasons { Overflow, Early, Sojourn }
    gauges {
        Gauge::new("probability", "probability", "BLUE's drop probability.");
        Gauge::new("dropping", "0 or 1", "1 if the last packet exceeded the target delay, or the queue overflowed.");
        Gauge::new("count", "signals", "CoDel's count: drops and marks, less those that have decayed.");
    }
}

/// A FIFO with CoDel and BLUE at its exit.
pub struct Cobalt<T> {
    /// Settings, with target and interval adapted to the link.
    config: CobaltConfig,
    /// CoDel ignores queueing delays up to this, even if they exceed the target.
    grace: Span,
    fifo: Fifo<T>,
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

impl<T> Cobalt<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(mut config: CobaltConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let mut grace = Span::ZERO;
        if config.fit_rate {
            // Saturates: a packet has at most 4 GB.
            let packet = link.rate.transmit(u32::try_from(config.mtu.0).unwrap_or(u32::MAX));
            let target = config.target.max(Span::from_nanos((packet * 3).as_nanos() / 2));
            config.interval = (config.interval + (target - config.target)).max(target * 2);
            (config.target, grace) = (target, packet * 4);
        }
        let fifo = Fifo::new(config.limit);
        let (drop_next, changed) = (Time::ZERO, Time::ZERO);
        Ok(Cobalt { config, grace, fifo, count: 0, drop_next, dropping: false, probability: 0.0, changed, idle: None })
    }

    /// Time between drops or marks: interval/sqrt(count); the whole interval before the first.
    fn signal_interval(&self) -> Span {
        let interval = self.config.interval.as_nanos() as f64;
        Span::from_nanos((interval / libm::sqrt(f64::from(self.count.max(1)))) as u64)
    }

    /// BLUE: raises the probability, after an overflow or a queueing delay above `blue_threshold`.
    fn raise(&mut self, now: Time) {
        if now - self.changed > self.config.target {
            self.probability = (self.probability + self.config.increment).min(1.0);
            self.changed = now;
        }
    }

    /// BLUE: lowers the probability for idle time, about once per target. CAKE polls idle queues as often.
    #[inline]
    fn apply_idle_time(&mut self, now: Time) {
        if let Some(since) = self.idle
            && self.probability > 0.0
        {
            self.lower(since, now);
        }
    }

    fn lower(&mut self, since: Time, now: Time) {
        let period = self.config.target + Span::from_nanos(1);
        let first = since.max(self.changed + period);
        if now < first {
            return;
        }
        let asked = (now - first).as_nanos() / period.as_nanos() + 1;
        // The cast saturates where the decrement is 0.
        let steps = asked.min(libm::ceil(self.probability / self.config.decrement) as u64);
        self.probability = (self.probability - steps as f64 * self.config.decrement).max(0.0);
        self.changed = first + period * (steps - 1);
    }

    #[cold]
    fn on_empty_queue(&mut self, now: Time) {
        self.idle.get_or_insert(now);
        self.apply_idle_time(now);
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.decay_once();
        }
    }

    fn decay_once(&mut self) {
        self.count -= 1;
        self.drop_next += self.signal_interval();
    }

    /// `cobalt_should_drop`. Not inlined: the caller's loop mostly runs once, and its setup costs more than the call.
    #[inline(never)]
    fn judge(&mut self, packet: &Packet<T>, now: Time, rng: &mut Rng) -> DropDecision {
        let waited = now - packet.arrived;
        let over = waited > self.config.target && waited > self.grace;
        let due = self.count > 0 && now >= self.drop_next;
        let mut past = now > self.drop_next;
        if over {
            if !self.dropping {
                self.drop_next = now + self.signal_interval();
            }
            self.count = self.count.max(1);
        }
        self.dropping = over;
        let codel = due && over;
        if codel {
            self.count = self.count.saturating_add(1);
            self.drop_next += self.signal_interval();
            past = now > self.drop_next;
        } else if due {
            past = self.decay(now);
        }
        if self.config.blue_threshold.is_some_and(|most| waited > most) {
            self.raise(now);
        }
        let blue = rng.chance(self.probability);
        let dropped = blue || (codel && !self.can_mark(packet));
        if self.count == 0 {
            self.drop_next = now + self.config.interval;
        } else if past && !dropped {
            self.drop_next = now;
        }
        DropDecision { codel, blue }
    }

    /// After a packet within the target, lowers `count` once for each drop or mark that was due. Returns whether
    /// `drop_next` has passed.
    fn decay(&mut self, now: Time) -> bool {
        while self.count > 0 && now >= self.drop_next {
            self.decay_once();
        }
        now > self.drop_next
    }

    fn can_mark(&self, packet: &Packet<T>) -> bool {
        self.config.ecn && packet.ecn.is_capable()
    }
}

impl<T> Discipline<T> for Cobalt<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.apply_idle_time(cx.now);
        if self.fifo.push(packet, cx) {
            self.idle = None;
            return;
        }
        self.raise(cx.now);
        (self.dropping, self.drop_next, self.count) = (true, cx.now, self.count.max(1));
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        loop {
            let Some(packet) = self.fifo.pop() else {
                self.on_empty_queue(cx.now);
                return None;
            };
            let DropDecision { codel, blue } = self.judge(&packet, cx.now, cx.rng);
            let last = self.config.keep_last && self.fifo.backlog().packets == 0;
            if blue && !last {
                cx.drop(packet, Why::Early);
            } else if codel && (self.can_mark(&packet) || !last) {
                if let Some(marked) = cx.signal(packet, Why::Sojourn, self.config.ecn) {
                    return Some(marked);
                }
            } else {
                return Some(packet);
            }
        }
    }

    crate::discipline::backlog_of!(fifo);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.fifo.pop() {
            cx.drop(packet, Why::Overload);
        }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("probability", self.probability);
        gauge("dropping", f64::from(u8::from(self.dropping)));
        gauge("count", f64::from(self.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn cobalt(settings: &[(&str, &str)]) -> Port<(), Cobalt<()>> {
        Port::new(Cobalt::new(CobaltConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn arrive(port: &mut Port<(), Cobalt<()>>, ecn: Ecn, times: u32, ms: u64) {
        (0..times).for_each(|_| port.enqueue(Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) }, at(ms), &mut ()));
    }

    /// The milliseconds up to `end` at which packets were dropped or marked, if two arrive and one departs each
    /// millisecond.
    fn signals(port: &mut Port<(), Cobalt<()>>, ecn: Ecn, end: u64) -> alloc::vec::Vec<u64> {
        let told = |port: &Port<(), Cobalt<()>>| port.totals().dropped() + port.totals().counts().marked();
        let mut found = alloc::vec::Vec::new();
        for ms in 0..end {
            arrive(port, ecn, 2, ms);
            let before = told(port);
            port.dequeue(at(ms), &mut ());
            found.extend((told(port) > before).then_some(ms));
        }
        found
    }

    #[test]
    fn signals_come_an_interval_after_the_delay_and_then_each_interval_over_root_count() {
        // Packet n arrives at n/2 ms (rounded down) and leaves at n ms: from packet 11 on it waits more than 5 ms.
        // While count is 0, each departure puts drop_next an interval ahead; at 11 ms it becomes 111, and count 1.
        // The first signal at 111 sets count to 2; the next are due at 111 + 100/sqrt(2) = 181.71 and then
        // + 100/sqrt(3) = 239.45. With fit_rate, 4 packets of 1514 B take 6.06 ms: packet 13 is the first late one.
        for (settings, first) in [(&[("fit_rate", "off")][..], 111), (&[], 113)] {
            for ecn in [Ecn::NotEct, Ecn::Ect0] {
                let found = signals(&mut cobalt(settings), ecn, 250);
                assert_eq!(found, [first, first + 71, first + 129], "{settings:?} {ecn:?}");
            }
        }
    }

    #[test]
    fn blue_learns_from_overflow_and_forgets_while_the_link_idles() {
        let mut port = cobalt(&[("limit", "2p"), ("increment", "0.25"), ("decrement", "0.0625"), ("fit_rate", "off")]);
        // At 10 ms three packets are lost, but the probability rises once in 5 ms.
        arrive(&mut port, Ecn::NotEct, 5, 10);
        assert_eq!(port.discipline().probability, 0.25);
        arrive(&mut port, Ecn::NotEct, 1, 15);
        assert_eq!(port.discipline().probability, 0.25, "more than a target must have passed");
        arrive(&mut port, Ecn::NotEct, 1, 16);
        assert_eq!(port.discipline().probability, 0.5);
        while port.dequeue(at(17), &mut ()).is_some() {}
        // The queue is found empty at 17 ms, too soon for a change. The probability falls just after 21 ms and every 5
        // ms from then on: at 21, 26 and 31 ms.
        port.dequeue(at(17), &mut ());
        arrive(&mut port, Ecn::NotEct, 1, 35);
        assert_eq!(port.discipline().probability, 0.3125);
        while port.dequeue(at(36), &mut ()).is_some() {}
        port.dequeue(at(3_600_000), &mut ());
        assert_eq!(port.discipline().probability, 0.0);
    }

    #[test]
    fn keep_last_keeps_the_last_packet_and_blue_drops_ecn_capable_packets() {
        for (keep, sent) in [("on", 1), ("off", 0)] {
            let mut port = cobalt(&[("limit", "3p"), ("increment", "1"), ("keep_last", keep)]);
            arrive(&mut port, Ecn::Ect0, 4, 10);
            assert_eq!(port.discipline().probability, 1.0);
            while port.dequeue(at(11), &mut ()).is_some() {}
            let counts = port.totals().counts();
            assert_eq!((counts.sent, counts.drops(Why::Early), counts.marked()), (sent, 3 - sent, 0));
        }
    }

    #[test]
    fn on_a_slow_link_the_target_is_the_time_of_one_and_a_half_packets() {
        let slow = |rate: u64, settings: &[(&str, &str)]| {
            let config = CobaltConfig::from_settings(settings).unwrap();
            let cobalt = Cobalt::<()>::new(config, &LinkInfo::new(Rate::from_bits(rate), 1000, 7)).unwrap();
            (cobalt.config.target, cobalt.config.interval, cobalt.grace)
        };
        let ms = Span::from_millis;
        // 1514 B at 121120 bit/s take 100 ms: target 150, interval 100 + 145 < 2 x 150.
        assert_eq!(slow(121_120, &[]), (ms(150), ms(300), ms(400)));
        // At ten times that, 10 ms: target 15, interval 100 + 10.
        assert_eq!(slow(1_211_200, &[]), (ms(15), ms(110), ms(40)));
        assert_eq!(slow(121_120, &[("fit_rate", "off")]), (ms(5), ms(100), Span::ZERO));
    }
}
