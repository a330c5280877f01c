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
//! | p_drop, p_inc, p_dec | [`CobaltLoop::probability`], `increment`, `decrement` |
//! | count, drop_next, dropping | [`CobaltLoop::count`], [`CobaltLoop::drop_next`], [`CobaltLoop::dropping`] |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::{CobaltLoop, CobaltRules, CobaltSettings, Fifo};
use crate::reason::Why;
use crate::units::Limit;

crate::params! {
    /// Settings of [`Cobalt`].
    pub struct CobaltConfig with rules: CobaltSettings {
        /// Buffer size. An arriving packet that does not fit is dropped and raises BLUE's probability.
        limit: Limit = Limit::Packets(1000), also "MaxSize";
        rules { target, interval, increment, decrement, fit_rate, mtu, keep_last, blue_threshold, ecn }
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
    rules: CobaltRules,
    fifo: Fifo<T>,
    control: CobaltLoop,
}

impl<T> Cobalt<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: CobaltConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let (fifo, rules) = (Fifo::new(config.limit), CobaltRules::new(config.rules, link.rate));
        Ok(Cobalt { rules, fifo, control: CobaltLoop::default() })
    }

    /// The control loop.
    pub fn state(&self) -> &CobaltLoop {
        &self.control
    }
}

impl<T> Discipline<T> for Cobalt<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.control.arrives(&self.rules, cx.now);
        if self.fifo.push(packet, cx) {
            self.control.queued();
        } else {
            self.control.overflowed(&self.rules, cx.now);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let Cobalt { rules, fifo, control } = self;
        control.dequeue(rules, cx, || fifo.pop().map(|packet| (packet, fifo.backlog().packets == 0)))
    }

    crate::discipline::backlog_of!(fifo);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.fifo.pop() {
            cx.drop(packet, Why::Overload);
        }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("probability", self.control.probability);
        gauge("dropping", f64::from(u8::from(self.control.dropping)));
        gauge("count", f64::from(self.control.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate, Rng, Span, Time};

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
        assert_eq!(port.discipline().state().probability, 0.25);
        arrive(&mut port, Ecn::NotEct, 1, 15);
        assert_eq!(port.discipline().state().probability, 0.25, "more than a target must have passed");
        arrive(&mut port, Ecn::NotEct, 1, 16);
        assert_eq!(port.discipline().state().probability, 0.5);
        while port.dequeue(at(17), &mut ()).is_some() {}
        // The queue is found empty at 17 ms, too soon for a change. The probability falls just after 21 ms and every 5
        // ms from then on: at 21, 26 and 31 ms.
        port.dequeue(at(17), &mut ());
        arrive(&mut port, Ecn::NotEct, 1, 35);
        assert_eq!(port.discipline().state().probability, 0.3125);
        while port.dequeue(at(36), &mut ()).is_some() {}
        port.dequeue(at(3_600_000), &mut ());
        assert_eq!(port.discipline().state().probability, 0.0);
    }

    #[test]
    fn keep_last_keeps_the_last_packet_and_blue_drops_ecn_capable_packets() {
        for (keep, sent) in [("on", 1), ("off", 0)] {
            let mut port = cobalt(&[("limit", "3p"), ("increment", "1"), ("keep_last", keep)]);
            arrive(&mut port, Ecn::Ect0, 4, 10);
            assert_eq!(port.discipline().state().probability, 1.0);
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
            (cobalt.rules.settings.target, cobalt.rules.settings.interval, cobalt.rules.grace)
        };
        let ms = Span::from_millis;
        // 1514 B at 121120 bit/s take 100 ms: target 150, interval 100 + 145 < 2 x 150.
        assert_eq!(slow(121_120, &[]), (ms(150), ms(300), ms(400)));
        // At ten times that, 10 ms: target 15, interval 100 + 10.
        assert_eq!(slow(1_211_200, &[]), (ms(15), ms(110), ms(40)));
        assert_eq!(slow(121_120, &[("fit_rate", "off")]), (ms(5), ms(100), Span::ZERO));
    }
}
