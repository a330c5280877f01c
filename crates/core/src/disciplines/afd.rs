//! Approximate Fair Dropping (AFD): drop each flow with a probability that brings its sampled rate to the fair rate.
//!
//! AFD is a FIFO with a shadow buffer, which holds the flows of the last `shadow` sampled arrivals. The number m_i of
//! flow i's entries measures its rate. m_fair is the number of entries that a flow at the fair rate has.
//!
//! On arrival, the packet's flow enters the shadow buffer with probability 1/`sample`. Every arrival, sampled or not,
//! is then dropped with probability d_i, which cuts a flow with more than m_fair entries down to the fair rate. A
//! packet that does not fit is dropped too. AFD never marks, because a marked packet would still be admitted.
//!
//! Every `interval`, m_fair changes by alpha (q_old - target) - beta (q - target). q is the queue length, and q_old its
//! value one interval before. The queue therefore settles at `target`. No timer runs: the next arrival or departure
//! applies the intervals that have ended. A departure changes nothing else.
//!
//! Source: R. Pan, L. Breslau, B. Prabhakar, S. Shenker, "Approximate fairness through differential dropping", ACM
//! SIGCOMM CCR 33(2), 2003. Deviations are listed in docs/disciplines/afd.md.
//!
//! | paper | here |
//! | --- | --- |
//! | b, s | `shadow`, `sample` |
//! | m_i | [`Afd::matches`] |
//! | m_fair | [`Afd::fair`] |
//! | d_i = max(0, 1 - m_fair/m_i) | [`Afd::probability`] |
//!
//! Random draws, in order: one per arrival for sampling, unless every packet is sampled; one if the flow's m_i is above
//! m_fair.

use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{Fifo, FlowLog, PolledTimer};
use crate::reason::Why;
use crate::time::{Span, Time};
use crate::units::{Level, Limit};

crate::params! {
    /// Settings of [`Afd`].
    pub struct AfdConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Arrivals remembered in the shadow buffer (b). A flow at the fair rate should have about ten of them.
        shadow: u32 = 1000, in 1..=1_048_576, also "b";
        /// One in this many arrivals is remembered, at random (s).
        sample: f64 = 5.0, in 1.0.., also "s";
        /// Target queue length. With a target in bytes, AFD measures the queue in bytes over the mean packet size.
        target: Level = Level::Share(0.25), also "q_target" "q_ref";
        /// Increase of m_fair per packet by which the previous queue length exceeded the target.
        alpha: f64 = 1.7, in 0.0..;
        /// Decrease of m_fair per packet by which the current queue length exceeds the target.
        beta: f64 = 1.8, in 0.0..;
        /// Time between two updates of m_fair.
        interval: Span = Span::from_micros(6250), in (Bound::Excluded(Span::ZERO), Bound::Unbounded);
    }
    presets {
        "paper" "Pan and others 2003: alpha, beta and 160 changes a second; the sizes are ours (the defaults)" {}
        "breathe" "the BREATHe paper, section 4: 300 packets of buffer and 30000 remembered" {
            "limit" = "300p", "shadow" = "30000"
        }
    }
    reasons { Overflow, Early }
    gauges {
        Gauge::new("m_fair", "packets", "Matches in the shadow buffer up to which a flow is not dropped.");
        Gauge::new("shadow_packets", "packets", "Packets in the shadow buffer.");
        Gauge::new("shadow_flows", "flows", "Flows in the shadow buffer.");
        Gauge::of_flow("matches", "packets", "m_i: packets of the flow in the shadow buffer.");
        Gauge::of_flow("probability", "probability", "d_i: drop probability of the flow.");
    }
}

/// A FIFO that drops each flow's excess over its fair share of recent arrivals.
pub struct Afd<T> {
    config: AfdConfig,
    fifo: Fifo<T>,
    shadow: FlowLog,
    timer: PolledTimer,
    /// m_fair: the matches up to which a flow is not dropped.
    pub fair: f64,
    target: f64,
    /// Size of a typical packet in bytes.
    mean: f64,
    /// q_old: the queue length at the last change of m_fair, in packets like `target`.
    before: f64,
}

impl<T> Afd<T> {
    /// An empty queue, with an m_fair that no flow exceeds.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if the target lies above the limit, or `alpha` is not below `beta`.
    pub fn new(config: AfdConfig, link: &LinkInfo<'_>) -> Result<Self, BuildError> {
        let mean = link.mean_packet.max(1);
        let target = config.target.packets(config.limit, mean);
        if target > config.limit.packets(mean) {
            return Err(BuildError::Conflict("`target` lies above the limit: it could not be reached".into()));
        }
        if config.alpha >= config.beta {
            let why = "`alpha` must be below `beta`: their difference is what moves m_fair while the queue stays";
            return Err(BuildError::Conflict(why.into()));
        }
        let (shadow, timer) = (FlowLog::new(config.shadow, link.key), PolledTimer::new(config.interval, Time::ZERO));
        let (fifo, fair) = (Fifo::new(config.limit), f64::from(config.shadow));
        Ok(Afd { config, fifo, shadow, timer, fair, target, mean: f64::from(mean), before: 0.0 })
    }

    /// m_i: packets of `flow` among the remembered arrivals.
    #[inline]
    pub fn matches(&self, flow: FlowId) -> u32 {
        self.shadow.count(flow)
    }

    /// d_i: the drop probability of `flow`.
    #[inline]
    pub fn probability(&self, flow: FlowId) -> f64 {
        let matches = f64::from(self.matches(flow));
        if matches > self.fair { 1.0 - self.fair / matches } else { 0.0 }
    }

    /// Applies the intervals that ended since the last call. The queue has not changed since then, so q_old differs
    /// from q only in the first interval. The changes of all later intervals are equal and are added at once.
    #[inline]
    fn update_fair(&mut self, now: Time) {
        let ended = self.timer.advance(now);
        if ended == 0 {
            return;
        }
        let AfdConfig { alpha, beta, .. } = self.config;
        let queue = self.config.target.length(self.fifo.backlog(), self.mean);
        self.change_fair(alpha * (self.before - self.target) - beta * (queue - self.target));
        self.change_fair((ended - 1) as f64 * (alpha - beta) * (queue - self.target));
        self.before = queue;
    }

    /// Changes m_fair within 0 and b, the most matches that a flow can have. The paper sets no bound. Without one,
    /// m_fair would grow while the queue is short, and afterwards no flow would be limited for a while.
    fn change_fair(&mut self, change: f64) {
        self.fair = (self.fair + change).clamp(0.0, f64::from(self.config.shadow));
    }
}

impl<T> Discipline<T> for Afd<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.update_fair(cx.now);
        if cx.rng.chance(1.0 / self.config.sample) {
            self.shadow.record(packet.flow);
        }
        if cx.rng.chance(self.probability(packet.flow)) {
            // A mark would let the packet in, and the flow would keep more than its share.
            cx.drop(packet, Why::Early);
        } else {
            self.fifo.push(packet, cx);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.update_fair(cx.now);
        self.fifo.pop()
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("m_fair", self.fair);
        gauge("shadow_packets", self.shadow.len() as f64);
        gauge("shadow_flows", self.shadow.flows() as f64);
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("matches", self.matches(flow).into());
        gauge("probability", self.probability(flow));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Port, Rate, Rng};

    const LINK: LinkInfo<'static> = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn afd(settings: &[(&str, &str)]) -> Afd<()> {
        Afd::new(AfdConfig::from_settings(settings).unwrap(), &LINK).unwrap()
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn the_drop_probability_is_the_part_of_a_flows_matches_above_m_fair() {
        let mut afd = afd(&[]);
        (0..40).for_each(|_| afd.shadow.record(FlowId(1)));
        (0..10).for_each(|_| afd.shadow.record(FlowId(2)));
        afd.fair = 10.0;
        assert_eq!([1, 2, 3].map(|flow| afd.probability(FlowId(flow))), [0.75, 0.0, 0.0]);
    }

    #[test]
    fn m_fair_follows_the_queue_each_interval_as_in_the_paper() {
        let mut port = Port::new(afd(&[("limit", "100p"), ("shadow", "1000"), ("target", "20p")]), Rng::new(1));
        (0..30).for_each(|flow| port.enqueue(Packet::new(FlowId(flow), 1000, ()), at(0), &mut ()));
        // By hand. At 6.25 ms: 1.7 (0 - 20) - 1.8 (30 - 20) = -52.
        port.dequeue(at(6250), &mut ());
        assert!((port.discipline().fair - 948.0).abs() < 1e-9, "{}", port.discipline().fair);
        // At 12.5 ms, 29 packets are queued: 1.7 (30 - 20) - 1.8 (29 - 20) = 0.8; at 18.75 ms and 25 ms: -0.1 (29 - 20)
        // = -0.9 each.
        port.dequeue(at(25_000), &mut ());
        assert!((port.discipline().fair - 947.0).abs() < 1e-9, "{}", port.discipline().fair);
    }

    #[test]
    fn m_fair_stays_between_none_and_all_of_the_shadow_buffer() {
        let mut port = Port::new(afd(&[("limit", "100p"), ("shadow", "50"), ("target", "10p")]), Rng::new(1));
        (0..90).for_each(|flow| port.enqueue(Packet::new(FlowId(flow), 1000, ()), at(0), &mut ()));
        port.enqueue(Packet::new(FlowId(7), 1000, ()), at(10_000_000), &mut ());
        assert_eq!(port.discipline().fair, 0.0);
        while port.dequeue(at(10_000_000), &mut ()).is_some() {}
        port.dequeue(at(3_600_000_000), &mut ());
        assert_eq!(port.discipline().fair, 50.0);
    }

    #[test]
    fn one_in_s_arrivals_is_remembered() {
        let mut port = Port::new(afd(&[("shadow", "100000"), ("sample", "8")]), Rng::new(1));
        for _ in 0..80_000 {
            port.enqueue(Packet::new(FlowId(1), 1000, ()), at(0), &mut ());
            port.dequeue(at(0), &mut ());
        }
        // 10 000 expected; tolerance: five standard deviations of 94.
        let matches = port.discipline().matches(FlowId(1));
        assert!(matches.abs_diff(10_000) < 470, "{matches}");
    }

    #[test]
    fn contradictory_settings_are_refused() {
        for settings in [[("target", "60p"), ("limit", "50p")], [("alpha", "2"), ("beta", "2")]] {
            let config = AfdConfig::from_settings(&settings).unwrap();
            assert!(matches!(Afd::<()>::new(config, &LINK), Err(BuildError::Conflict(_))));
        }
    }
}
