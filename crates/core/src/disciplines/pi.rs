//! Proportional integral controller (PI): adjust a drop probability so that the queue length meets a reference.
//!
//! RED needs a longer queue for a higher probability, so its queue grows with the load. PI has no such tie. The
//! probability rises while the queue is longer than `qref` and falls while it is shorter. In equilibrium the queue has
//! the length `qref`, whatever probability the load needs.
//!
//! `w` times a second, the probability changes by a (q - qref) - b (q_old - qref). q is the queue length in packets,
//! q_old that of the last update. The change is b times the queue's growth, the proportional part, and (a - b) times
//! the distance from the reference, the integral part. On arrival, a packet that does not fit is dropped. Any other
//! packet is dropped or marked with the probability. No timer is needed: the next arrival or departure makes the updates
//! that are due.
//!
//! Source: C. Hollot, V. Misra, D. Towsley, W. Gong, "On designing improved controllers for AQM routers supporting TCP
//! flows", IEEE INFOCOM 2001. Deviations are listed in docs/disciplines/pi.md.
//!
//! | paper | here |
//! | --- | --- |
//! | p(k), q(k - 1) | [`Pi::probability`], [`Pi::q_old`] |
//! | a, b, q_ref | `a`, `b`, `qref` |
//! | sampling frequency | `w`, as in ns-2 |
//! | N, R, C | `flows`, `rtt`, the link's rate in mean packets a second |

use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::{Fifo, PolledTimer};
use crate::reason::Why;
use crate::time::{Span, Time};
use crate::units::{Level, Limit};

crate::params! {
    /// Settings of [`Pi`].
    pub struct PiConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Reference queue length. With a reference in bytes, PI measures the queue in bytes over the mean packet size.
        qref: Level = Level::Share(0.25), also "qref_";
        /// Increase of the probability per update for each packet above `qref`. `auto`: from `flows`, `rtt` and the
        /// link's rate.
        a: Option<f64> = None, in 0.0..=1.0, also "a_";
        /// Decrease of the probability per update for each packet above `qref` at the update before. `auto`: as for `a`.
        b: Option<f64> = None, in 0.0..=1.0, also "b_";
        /// Updates of the probability per second.
        w: f64 = 160.0, in (Bound::Excluded(0.0), Bound::Included(1e6)), also "w_";
        /// With `auto` gains, the smallest number of TCP flows for which the control is stable.
        flows: u32 = 60, in 1.., also "N";
        /// With `auto` gains, the longest round-trip time for which the control is stable, queueing delay included.
        rtt: Span = Span::from_millis(246), in (Bound::Excluded(Span::ZERO), Bound::Unbounded), also "R";
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true, also "setbit_";
    }
    presets {
        "paper" "the defaults: the paper's design for the link's rate, and a reference that scales with the buffer" {}
        "hollot2001" "the paper's simulations, with 3750 packets a second" {
            "qref" = "200p", "a" = "0.00001822", "b" = "0.00001816",
        }
        "ns2" "ns-2 2.35, ns-default.tcl" {
            "qref" = "50p", "a" = "0.00001822", "b" = "0.00001816", "w" = "170", "ecn" = "off",
        }
    }
    reasons { Overflow, Early }
    gauges {
        Gauge::new("probability", "probability", "Drop or mark probability.");
    }
}

impl PiConfig {
    /// The gains a and b on `link`.
    ///
    /// TCP and queue have the loop gain (R C)^3/(2 N)^2, and poles at z = 2 N/(R^2 C) and 1/R. The controller K (s/z +
    /// 1)/s cancels the first pole, and K makes the gain 1 at the frequency z. The bilinear transform gives a and b.
    fn gains(&self, link: &LinkInfo) -> (f64, f64) {
        let (n, r) = (f64::from(self.flows), self.rtt.as_secs_f64());
        let c = link.rate.as_bits() as f64 / (8.0 * f64::from(link.mean_packet.max(1)));
        let zero = 2.0 * n / (r * r * c);
        // K/z and K/(2 w).
        let proportional = libm::hypot(1.0, zero * r) * (2.0 * n) * (2.0 * n) / libm::pow(r * c, 3.0);
        let integral = proportional * zero / (2.0 * self.w);
        #[expect(clippy::manual_clamp, reason = "a rate of zero gives infinities, whose difference `max` takes for 0")]
        let gain = |sum: f64| sum.max(0.0).min(1.0);
        (self.a.unwrap_or(gain(proportional + integral)), self.b.unwrap_or(gain(proportional - integral)))
    }
}

/// A FIFO with a PI controller at its entrance.
pub struct Pi<T> {
    fifo: Fifo<T>,
    ecn: bool,
    /// a and b.
    gains: (f64, f64),
    qref: Level,
    /// `qref` in packets.
    reference: f64,
    /// Size of a typical packet in bytes.
    mean: f64,
    timer: PolledTimer,
    /// The drop or mark probability after the last update.
    pub probability: f64,
    /// Queue length in packets at the last update.
    pub q_old: f64,
}

impl<T> Pi<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: PiConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        Ok(Pi {
            fifo: Fifo::new(config.limit),
            ecn: config.ecn,
            gains: config.gains(link),
            qref: config.qref,
            reference: config.qref.packets(config.limit, link.mean_packet),
            mean: f64::from(link.mean_packet.max(1)),
            timer: PolledTimer::new(Span::from_secs_f64(1.0 / config.w), Time::ZERO),
            probability: 0.0,
            q_old: 0.0,
        })
    }

    /// Makes the updates that are due.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        let due = self.timer.advance(now);
        if due > 0 {
            self.update(due);
        }
    }

    /// Makes `due` updates. The queue has been constant since the last call, so all changes after the first are equal.
    #[cold]
    fn update(&mut self, due: u64) {
        let (a, b) = self.gains;
        let q = self.qref.length(self.fifo.backlog(), self.mean);
        let (error, error_old) = (q - self.reference, self.q_old - self.reference);
        let first = (a * error - b * error_old + self.probability).clamp(0.0, 1.0);
        self.probability = ((due - 1) as f64 * ((a - b) * error) + first).clamp(0.0, 1.0);
        self.q_old = q;
    }
}

impl<T> Discipline<T> for Pi<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.catch_up(cx.now);
        if !self.fifo.admits(packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        let hit = cx.rng.chance(self.probability);
        if let Some(packet) = cx.signal_if(hit, packet, Why::Early, self.ecn) {
            self.fifo.put(packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.catch_up(cx.now);
        self.fifo.pop()
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("probability", self.probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate, Rng};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    // Powers of two, so that sums are exact. An update each 10 ms.
    const BY_HAND: &[(&str, &str)] = &[("qref", "4p"), ("a", "0.015625"), ("b", "0.0078125"), ("w", "100")];

    fn port(settings: &[(&str, &str)]) -> Port<(), Pi<()>> {
        Port::new(Pi::new(PiConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(3))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn arrive(port: &mut Port<(), Pi<()>>, ecn: Ecn, packets: u32, ms: u64) {
        let packet = Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) };
        (0..packets).for_each(|_| port.enqueue(packet, at(ms), &mut ()));
    }

    /// The probability at `ms`. One packet departs and another arrives, so the queue keeps its length.
    fn probability(port: &mut Port<(), Pi<()>>, ms: u64) -> f64 {
        if port.dequeue(at(ms), &mut ()).is_some() {
            arrive(port, Ecn::Ect0, 1, ms);
        }
        port.discipline().probability
    }

    #[test]
    fn the_probability_follows_the_paper_update_by_update() {
        let mut port = port(BY_HAND);
        arrive(&mut port, Ecn::Ect0, 8, 0);
        // By hand, with 8 packets queued. At 10 ms: 4/64 - (-4)/128. At 20 ms: 4/64 - 4/128, and the same twice by 40 ms.
        let expected = [0.0, 0.093_75, 0.093_75, 0.125, 0.187_5];
        assert_eq!([9, 10, 19, 20, 40].map(|ms| probability(&mut port, ms)), expected);
        while port.dequeue(at(40), &mut ()).is_some() {}
        // Empty: -4/64 - 4/128 at 50 ms, then -4/64 + 4/128 each 10 ms.
        assert_eq!([50, 60, 70, 90, 110].map(|ms| probability(&mut port, ms)), [0.093_75, 0.062_5, 0.031_25, 0.0, 0.0]);
    }

    #[test]
    fn missed_updates_are_made_up_exactly() {
        for packets in [0, 3, 4, 9] {
            let [mut often, mut rarely] = [port(BY_HAND), port(BY_HAND)];
            for port in [&mut often, &mut rarely] {
                arrive(port, Ecn::Ect0, 9, 0);
                probability(port, 55);
                (packets..9).for_each(|_| assert!(port.dequeue(at(55), &mut ()).is_some()));
            }
            let polled = (6..=120).map(|tick| probability(&mut often, 10 * tick)).last();
            assert_eq!(Some(probability(&mut rarely, 1200)), polled, "{packets} packets");
        }
        let mut port = port(BY_HAND);
        arrive(&mut port, Ecn::Ect0, 5, 0);
        assert_eq!(probability(&mut port, 3_600_000), 1.0, "an hour of a long queue");
    }

    #[test]
    fn at_probability_1_packets_are_marked_or_dropped_and_what_does_not_fit_is_dropped_for_overflow() {
        for (ecn, packet, marks, drops) in
            [("on", Ecn::Ect1, 3, 0), ("on", Ecn::NotEct, 0, 5), ("off", Ecn::Ect1, 0, 5)]
        {
            let mut port = port(&[("qref", "0p"), ("a", "1"), ("b", "0"), ("limit", "5p"), ("ecn", ecn)]);
            arrive(&mut port, Ecn::NotEct, 2, 0);
            arrive(&mut port, packet, 5, 10);
            let counts = port.totals().counts();
            assert_eq!((counts.marks(Why::Early), counts.drops(Why::Early)), (marks, drops), "{ecn} {packet:?}");
            assert_eq!(counts.drops(Why::Overflow), 5 - marks - drops);
        }
    }

    #[test]
    fn auto_gains_follow_the_papers_design() {
        // The paper's K = 9.64e-6 and z = 0.53, at 160 updates a second: K/z + K/320 and K/z - K/320.
        let paper = PiConfig::from_settings(&[("preset", "hollot2001")]).unwrap();
        let (k, z) = (9.64e-6, 0.53);
        let near = |gain: Option<f64>, designed: f64, part: f64| (gain.unwrap() / designed - 1.0).abs() < part;
        assert!(near(paper.a, k / z + k / 320.0, 3e-4) && near(paper.b, k / z - k / 320.0, 3e-4));
        // Its link has 15 Mbit/s and packets of 500 B: 3750 packets a second. The design is for 60 flows and 246 ms. K
        // and z have two and three digits.
        let auto = |bits| PiConfig::default().gains(&LinkInfo::new(Rate::from_bits(bits), 500, 7));
        let (a, b) = auto(15_000_000);
        assert!(near(paper.a, a, 0.02) && near(paper.b, b, 0.02), "{a} {b}");
        assert!(((a - b) * 160.0 / k - 1.0).abs() < 0.02, "{a} {b}");
        assert_eq!(auto(0), (1.0, 0.0), "a link that stands still");
    }

    #[test]
    fn the_names_of_ns2_work() {
        let ns2 = [("qref_", "50"), ("a_", "0.00001822"), ("b_", "0.00001816"), ("w_", "170"), ("setbit_", "off")];
        assert_eq!(PiConfig::from_settings(&ns2), PiConfig::from_settings(&[("preset", "ns2")]));
    }
}
