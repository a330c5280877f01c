//! CoDel: drop or mark when queueing delay stays above `target` for an `interval`, then increasingly often.
//!
//! A queue that absorbs a burst and empties again is good. A queue that stands for longer than a round-trip time only
//! adds delay. CoDel tells the two apart by the smallest queueing delay within an interval, without knowing the link's
//! rate.
//!
//! On arrival, packets are queued while they fit. On departure, CoDel examines the packet's queueing delay. Once the
//! delay has been above `target` for an `interval`, CoDel enters the dropping state and drops or marks this packet. In
//! this state, the next drop or mark follows interval/sqrt(n) after the n-th. The state ends when the delay falls below
//! the target, or the queue to `mtu` bytes. If CoDel soon enters it again, drops and marks resume at nearly the last
//! frequency ([`CodelLoop`]).
//!
//! Source: K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289,
//! 2018. First in K. Nichols, V. Jacobson, "Controlling queue delay", ACM Queue 10(5), 2012. Deviations are listed in
//! docs/disciplines/codel.md.
//!
//! | RFC 8289 | here |
//! | --- | --- |
//! | maxpacket_ | `mtu` |
//! | first_above_time_, drop_next_ | `first_above`, `drop_next` |
//! | count_, lastcount_, dropping_ | `count`, `last_count`, `dropping` |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::{CodelLoop, CodelSettings, Fifo};
use crate::reason::Why;
use crate::units::Limit;

crate::params! {
    /// Settings of [`Codel`].
    pub struct CodelConfig with rules: CodelSettings {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000), also "MaxSize";
        rules {}
    }
    presets {
        "rfc" "RFC 8289 (the defaults)" {}
        "linux" "sch_codel of Linux 5.5, with tc's defaults" { "ecn" = "off", "square_root" = "newton" }
    }
    reasons { Overflow, Sojourn }
    gauges {
        Gauge::new("dropping", "0 or 1", "1 in the dropping state.");
        Gauge::new("count", "signals", "CoDel's count: drops and marks in the dropping state; it starts near its last value if the state returns soon.");
    }
}

/// A FIFO with CoDel at its exit.
pub struct Codel<T> {
    fifo: Fifo<T>,
    rules: CodelSettings,
    state: CodelLoop,
}

impl<T> Codel<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: CodelConfig, _link: &LinkInfo) -> Result<Self, BuildError> {
        Ok(Codel { fifo: Fifo::new(config.limit), rules: config.rules, state: CodelLoop::default() })
    }

    /// The state of the control loop.
    pub fn state(&self) -> &CodelLoop {
        &self.state
    }
}

impl<T> Discipline<T> for Codel<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.fifo.push(packet, cx);
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let Codel { fifo, rules, state } = self;
        state.dequeue(rules, cx, || fifo.pop().map(|packet| (packet, fifo.backlog().bytes)))
    }

    crate::discipline::backlog_of!(fifo);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.fifo.pop() {
            cx.drop(packet, Why::Overload);
        }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("dropping", f64::from(u8::from(self.state.dropping)));
        gauge("count", f64::from(self.state.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate, Rng, Sink, Span, Time};
    use alloc::vec::Vec;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    /// Times of drops and marks, in microseconds, rounded down.
    #[derive(Default)]
    struct SignalTimes {
        drops: Vec<u64>,
        marks: Vec<u64>,
    }

    impl Sink<()> for SignalTimes {
        fn dropped(&mut self, _: Packet<()>, _: Why, now: Time) {
            self.drops.push(now.as_nanos() / 1000);
        }
        fn marked(&mut self, _: &Packet<()>, _: Why, now: Time) {
            self.marks.push(now.as_nanos() / 1000);
        }
    }

    /// Offers a packet every `gap` microseconds from `from` to `until` (in ms) to a link that sends one per millisecond
    /// until `end`.
    fn run(port: &mut Port<(), Codel<()>>, ecn: Ecn, from: u64, gap: u64, until: u64, end: u64) -> SignalTimes {
        let mut signals = SignalTimes::default();
        let mut arrives = from * 1000;
        for now in (from * 1000..end * 1000).step_by(1000) {
            while arrives <= now && arrives < until * 1000 {
                let packet = Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) };
                port.enqueue(packet, Time::ZERO + Span::from_micros(arrives), &mut signals);
                arrives += gap;
            }
            port.dequeue(Time::ZERO + Span::from_micros(now), &mut signals);
        }
        signals
    }

    fn codel(settings: &[(&str, &str)]) -> Port<(), Codel<()>> {
        Port::new(Codel::new(CodelConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    #[test]
    fn drops_come_an_interval_after_the_delay_and_then_each_interval_over_root_count() {
        // Two packets arrive per millisecond and one departs: packet n arrives at n/2 ms. While none is dropped, it
        // departs at n ms, after n/2 ms. From packet 10 on, at 10 ms, the delay is 5 ms or more, and 10 kB are queued.
        // The first drop follows at 110 ms. The next are due 100/sqrt(n) ms after the one before, and come with the
        // millisecond that follows: 110 + 100 (1/1 = 1) = 210; + 100/sqrt(2) = 70.7107: 280.71, at 281; + 57.7350:
        // 338.45, at 339; + 50: 388.45, at 389; + 44.7214: 433.17, at 434; + 40.8248: 473.99, at 474; + 37.7964:
        // 511.79, at 512.
        let signals = run(&mut codel(&[]), Ecn::NotEct, 0, 500, 520, 520);
        assert_eq!(signals.drops, [110, 210, 281, 339, 389, 434, 474, 512].map(|ms| ms * 1000));
        assert!(signals.marks.is_empty());
        // Marks come at the same times: they leave the queue longer, but its delay is above the target in either case.
        let signals = run(&mut codel(&[]), Ecn::Ect0, 0, 500, 520, 520);
        assert_eq!(signals.marks, [110, 210, 281, 339, 389, 434, 474, 512].map(|ms| ms * 1000));
        assert!(signals.drops.is_empty());
        // Newton's first step takes 1/2 for 1/sqrt(2): 210 + 50 = 260. Then 1/2 (3 - 3/4)/2 = 9/16: 316.25, at 317. Then
        // 9/16 (3 - 4 (81/256))/2 = 0.487793: 365.03, at 366. Sixteen bits may make each gap 2 us shorter.
        let signals = run(&mut codel(&[("square_root", "newton")]), Ecn::NotEct, 0, 500, 370, 370);
        assert_eq!(signals.drops, [110, 210, 260, 317, 366].map(|ms| ms * 1000));
    }

    #[test]
    fn a_delay_that_dips_below_the_target_once_in_an_interval_is_left_alone() {
        let mut port = codel(&[]);
        // Bursts of 50 ms at twice the link's rate: the delay is above the target from 10 ms on, and the last packet
        // departs at 99 ms, before a whole interval has passed.
        for burst in 0..10 {
            let signals = run(&mut port, Ecn::NotEct, burst * 200, 500, burst * 200 + 50, burst * 200 + 200);
            assert!(signals.drops.is_empty(), "burst {burst}: {:?}", signals.drops);
        }
    }

    #[test]
    fn no_signal_while_no_more_than_a_packet_of_the_largest_size_is_left() {
        // One packet of 1000 B is left at each departure. With an mtu of 1000 B, CoDel allows any delay.
        for (mtu, drops) in [("1000B", 0), ("999B", 1)] {
            let mut port = codel(&[("mtu", mtu), ("target", "0s")]);
            let mut signals = SignalTimes::default();
            let at = |ms| Time::ZERO + Span::from_millis(ms);
            port.enqueue(Packet::new(FlowId(1), 1000, ()), at(0), &mut signals);
            for ms in [0, 50, 101] {
                port.enqueue(Packet::new(FlowId(1), 1000, ()), at(ms), &mut signals);
                port.dequeue(at(ms + 10), &mut signals);
            }
            assert_eq!(signals.drops.len(), drops, "{mtu}");
        }
    }

    #[test]
    fn the_ce_threshold_marks_packets_with_a_longer_delay_and_only_with_ecn() {
        for (ecn, marked) in [("on", 3), ("off", 0)] {
            let mut port = codel(&[("ce_threshold", "2ms"), ("ecn", ecn)]);
            (0..6).for_each(|_| {
                port.enqueue(Packet { ecn: Ecn::Ect1, ..Packet::new(FlowId(1), 1000, ()) }, Time::ZERO, &mut ());
            });
            (0..6).for_each(|ms| assert!(port.dequeue(Time::ZERO + Span::from_millis(ms), &mut ()).is_some()));
            assert_eq!(port.totals().counts().marks(Why::Sojourn), marked);
        }
    }
}
