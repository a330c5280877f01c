//! Self-adjustable CHOKe (SAC): CHOKe that adapts the number of comparisons to the share of unresponsive traffic.
//!
//! One comparison per arrival does not suffice against many unresponsive flows, and several comparisons harm responsive
//! flows. SAC estimates the share of unresponsive traffic. The number of candidates is share x `most`, rounded up, and
//! at least 1.
//!
//! On arrival, CHOKe's steps apply with that number of candidates ([`Choke`]). The share is an exponential average over
//! arrivals with weight `share_weight`. With `unresponsive_class`, packets of that class are unresponsive, and all
//! others are compared with one candidate. Without it, the share is estimated from matches of the first candidate
//! ([`Sac::share`]). CHOKe handles departures.
//!
//! Source: Y. Jiang, M. Hamdi, J. Liu, "Self adjustable CHOKe: an active queue management algorithm for congestion
//! control and fair bandwidth allocation", IEEE ISCC 2003. Only the abstract is available: SAC builds on RED and CHOKe,
//! treats TCP and UDP flows differently and adapts its parameters to the traffic. The rule here is our reading of it;
//! see docs/disciplines/sac.md.
//!
//! Random draws: as in `choke`.

use core::ops::Bound;

use super::{Choke, ChokeConfig};
use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{ClassId, Packet};
use crate::params::BuildError;
use crate::parts::RedDetector;

crate::params! {
    /// Settings of [`Sac`].
    pub struct SacConfig with choke: ChokeConfig {
        choke { limit, minth, maxth, maxp, wq }
        /// Packets compared with an arrival when all traffic is unresponsive.
        most: u32 = 10, in 1..=1000;
        /// Weight of each arrival in the average share of unresponsive traffic.
        share_weight: f64 = 0.002, in (Bound::Excluded(0.0), Bound::Included(1.0));
        /// Class of the packets known to be unresponsive, such as UDP, from the host's classifier. Their share of the
        /// arrivals is measured, and only they are compared with more than one packet. 0: no such class. The share is
        /// then measured as the match rate, and all packets are treated alike.
        unresponsive_class: u32 = 0, in 0..=65_535;
        choke { mark_above_maxth, ecn, mean_packet }
    }
    presets {
        "paper" "the defaults: a reading of the abstract of Jiang, Hamdi, Liu 2003; RED's values as in `choke`" {}
    }
    reasons { Overflow, Early, Forced, Match }
    gauges {
        Gauge::AVERAGE;
        Gauge::PROBABILITY;
        Gauge::new("share", "share", "Estimated share of unresponsive traffic.");
        Gauge::new("candidates", "packets", "Packets that an unresponsive arrival is compared with.");
    }
}

/// CHOKe with a number of candidates that follows the traffic.
pub struct Sac<T> {
    choke: Choke<T>,
    most: f64,
    share_weight: f64,
    unresponsive: Option<ClassId>,
    /// Average share of arrivals in `unresponsive_class`; without a class, of first candidates that match.
    measured: f64,
}

impl<T> Sac<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, or maxth is above the limit.
    pub fn new(config: SacConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        // The parameter's range fits a class number.
        let class = ClassId(u16::try_from(config.unresponsive_class).unwrap_or(u16::MAX));
        Ok(Sac {
            choke: Choke::new(config.choke, link)?,
            most: f64::from(config.most),
            share_weight: config.share_weight,
            unresponsive: (class != ClassId(0)).then_some(class),
            measured: 0.0,
        })
    }

    /// RED's state: average, probability and the spacing of drops and marks.
    pub fn detector(&self) -> &RedDetector {
        self.choke.detector()
    }

    /// The estimated share of unresponsive traffic. Without a class it is inferred from matches. A flow with share u of
    /// arrivals and queue, beside many small flows, matches in u^2 of all arrivals. The square root of the match rate
    /// is therefore u.
    #[inline]
    pub fn share(&self) -> f64 {
        if self.unresponsive.is_some() { self.measured } else { libm::sqrt(self.measured) }
    }

    /// Number of packets that an arrival is compared with, if it may be unresponsive.
    #[inline]
    pub fn candidates(&self) -> u32 {
        // The cast takes the whole part; a share is at most 1.
        let wanted = self.share() * self.most;
        let whole = wanted as u32;
        (whole + u32::from(wanted > f64::from(whole))).max(1)
    }

    #[inline]
    fn measure(&mut self, unresponsive: bool) {
        self.measured += self.share_weight * (f64::from(u8::from(unresponsive)) - self.measured);
    }
}

impl<T> Discipline<T> for Sac<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let zone = self.choke.update(cx);
        let Some(class) = self.unresponsive else {
            let candidates = self.candidates();
            // Only the first candidate is measured. With all of them, more candidates would raise the match rate, and
            // so the number of candidates.
            if let Some(met) = self.choke.offer(zone, candidates, packet, cx) {
                self.measure(met);
            }
            return;
        };
        let unresponsive = packet.class == class;
        self.measure(unresponsive);
        let candidates = if unresponsive { self.candidates() } else { 1 };
        self.choke.offer(zone, candidates, packet, cx);
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.choke.dequeue(cx)
    }

    crate::discipline::backlog_of!(choke);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("average", self.detector().average());
        gauge("probability", self.detector().probability());
        gauge("share", self.share());
        gauge("candidates", f64::from(self.candidates()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::reason::Why;
    use crate::{FlowId, Port, Rate, Rng, Time};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    // The average is the current queue length. Below maxth, RED drops no packet at random.
    const PLAIN: &[(&str, &str)] = &[("limit", "40p"), ("minth", "10p"), ("maxth", "30p"), ("wq", "1"), ("maxp", "0")];

    fn port(settings: &[(&str, &str)]) -> Port<(), Sac<()>> {
        let config = SacConfig::from_settings(&[PLAIN, settings].concat()).unwrap();
        Port::new(Sac::new(config, &LINK).unwrap(), Rng::new(3))
    }

    fn offer(port: &mut Port<(), Sac<()>>, flow: u64, class: u16) {
        let packet = Packet { class: ClassId(class), ..Packet::new(FlowId(flow), 1000, ()) };
        port.enqueue(packet, Time::ZERO, &mut ());
    }

    fn matches(port: &Port<(), Sac<()>>) -> u64 {
        port.totals().counts().drops(Why::Match)
    }

    #[test]
    fn the_share_of_a_class_is_that_of_its_arrivals_and_its_packets_are_compared_with_more() {
        let mut port = port(&[("unresponsive_class", "2"), ("share_weight", "0.25"), ("most", "4")]);
        // By hand: 1/4, 7/16, 37/64 of class 2; then 3/4 of it.
        (0..3).for_each(|_| offer(&mut port, 1, 2));
        assert_eq!(port.discipline().share(), 37.0 / 64.0);
        offer(&mut port, 5, 1);
        assert_eq!((port.discipline().share(), port.discipline().candidates()), (111.0 / 256.0, 2));
        // Flow 1 fills the queue up to minth. The share is then near 1, so four candidates are drawn. All are of its
        // flow and are dropped with the arrival.
        (0..6).for_each(|_| offer(&mut port, 1, 2));
        assert_eq!((port.backlog().packets, matches(&port)), (10, 0));
        while matches(&port) == 0 {
            offer(&mut port, 1, 2);
        }
        assert!(matches(&port) >= 4, "{}", matches(&port));
    }

    #[test]
    fn packets_of_other_classes_are_compared_with_one() {
        let mut port = port(&[("unresponsive_class", "2"), ("share_weight", "1"), ("most", "10")]);
        (0..10).for_each(|_| offer(&mut port, 1, 1));
        offer(&mut port, 1, 1);
        assert_eq!((port.backlog().packets, matches(&port)), (9, 2));
    }

    #[test]
    fn without_a_class_the_share_is_the_root_of_how_often_the_first_candidate_matches() {
        let mut port = port(&[("share_weight", "0.25"), ("most", "10")]);
        (0..10).for_each(|_| offer(&mut port, 1, 0));
        assert_eq!((port.discipline().share(), port.discipline().candidates()), (0.0, 1));
        // One candidate, which matches: 1/4, whose root is a half, and half of ten are five.
        offer(&mut port, 1, 0);
        assert_eq!((port.discipline().share(), port.discipline().candidates()), (0.5, 5));
        assert_eq!((port.backlog().packets, matches(&port)), (9, 2));
        offer(&mut port, 1, 0);
        offer(&mut port, 1, 0);
        assert_eq!((port.backlog().packets, matches(&port)), (5, 8));
    }

    #[test]
    fn any_share_above_zero_rounds_up_and_all_of_it_is_most() {
        let mut sac = Sac::<()>::new(SacConfig::from_settings(&[("unresponsive_class", "1")]).unwrap(), &LINK).unwrap();
        let drawn = [0.0, 0.01, 0.1, 0.11, 0.95, 1.0].map(|share| {
            sac.measured = share;
            sac.candidates()
        });
        assert_eq!(drawn, [1, 1, 1, 2, 10, 10]);
    }
}
