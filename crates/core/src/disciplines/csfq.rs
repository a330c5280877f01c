//! Core-Stateless Fair Queueing (CSFQ): label packets with their flow's rate; drop the excess over the estimated fair
//! rate.
//!
//! CSFQ splits the work. Edge routers estimate each flow's rate and write it into the packet as a label. Core routers
//! drop by the labels and keep no per-flow state. Here one node is edge and core.
//!
//! On arrival, the edge updates the flow's rate, an exponential average, and labels the packet with it. If the label
//! exceeds the fair share alpha, the core drops the packet with probability 1 - alpha/label. Each flow therefore passes
//! at most alpha. Departures change nothing.
//!
//! The core estimates alpha from the arriving rate A and the accepted rate F. The link becomes congested when A reaches
//! the capacity and the queue `threshold`. It remains so until A falls below the capacity. While the link is congested,
//! alpha is multiplied by capacity/F every `k_c`. Otherwise, alpha is set every `k_c`: to the largest label seen in
//! that time if the queue has reached `threshold`, else to none. Without an alpha, no packet is dropped for its label.
//! An overflow lowers alpha by 1 %.
//!
//! Source: I. Stoica, S. Shenker, H. Zhang, "Core-stateless fair queueing: achieving approximately fair bandwidth
//! allocations in high speed networks", ACM SIGCOMM 1998, section 2 and figure 3. Where the figure leaves a choice
//! open, the authors' ns-2 module of June 1998 decides. Deviations are listed in docs/disciplines/csfq.md.
//!
//! | paper | here |
//! | --- | --- |
//! | r_i, the label | [`Csfq::flow_rate`] |
//! | K, K_alpha, K_c | `k`, `k_alpha`, `k_c` |
//! | A, F (estimated) | `FairShareEstimate::arriving`, `FairShareEstimate::accepted` |
//! | alpha (estimated), tmp_alpha | `FairShareEstimate::alpha`, `FairShareEstimate::largest` |
//!
//! Random draws: one for a packet whose flow's rate is above alpha.

use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{AveragingTime, Fifo, FlowTable, RateAverage};
use crate::reason::Why;
use crate::time::{Span, Time};
use crate::units::{Level, Limit};

const ABOVE_ZERO: (Bound<Span>, Bound<Span>) = (Bound::Excluded(Span::ZERO), Bound::Unbounded);

crate::params! {
    /// Settings of [`Csfq`].
    pub struct CsfqConfig {
        /// Buffer size. An arriving packet that does not fit is dropped and lowers the fair share by 1 %.
        limit: Limit = Limit::Packets(1000), also "qsize_";
        /// Averaging time of a flow's rate (K).
        k: Span = Span::from_millis(100), in ABOVE_ZERO, also "K";
        /// Averaging time of the arriving and the accepted rate (K_alpha).
        k_alpha: Span = Span::from_millis(200), in ABOVE_ZERO, also "K_alpha" "kLink_";
        /// Time between two changes of the fair share (K_c).
        k_c: Span = Span::from_millis(200), in ABOVE_ZERO, also "K_c";
        /// Queue length below which an uncongested link stays uncongested. A share counts in the limit's unit.
        threshold: Level = Level::Share(0.25), also "qsizeThresh_";
        /// Maximum number of flows with a rate estimate. In a full table a new flow replaces the one of four entries
        /// that has been silent longest.
        max_flows: u32 = 65_536, in 1..=1_048_576;
    }
    presets {
        "paper" "Stoica, Shenker and Zhang 1998, section 3; a quarter of the buffer as threshold (the defaults)" {}
        "ns2" "Stoica's ns-default.tcl of June 1998" {
            "limit" = "50KB", "k" = "100ms", "k_alpha" = "50ms", "k_c" = "50ms", "threshold" = "20%"
        }
    }
    reasons { Overflow, Early }
    gauges {
        Gauge::new("fair_share_bps", "bit/s", "Estimated fair share alpha; the link's rate while there is no estimate.");
        Gauge::new("arriving_bps", "bit/s", "Arriving rate (A).");
        Gauge::new("accepted_bps", "bit/s", "Accepted rate (F).");
        Gauge::new("congested", "0 or 1", "1 while the link counts as congested.");
        Gauge::new("flows", "flows", "Flows with a rate estimate.");
        Gauge::of_flow("rate_bps", "bit/s", "Estimated rate of the flow; 0 if unknown.");
    }
}

/// A FIFO that admits each flow up to the fair share.
pub struct Csfq<T> {
    config: CsfqConfig,
    fifo: Fifo<T>,
    flows: FlowTable<RateAverage>,
    share: FairShareEstimate,
    /// `threshold` in bytes or packets.
    threshold: f64,
    /// Whether `threshold` is in bytes.
    counts_bytes: bool,
    /// `k`, for the rates of flows.
    averaging_time: AveragingTime,
}

/// The estimate of the fair share. Rates are in bytes per second.
#[derive(Clone, Debug)]
struct FairShareEstimate {
    capacity: f64,
    /// `k_alpha`, for both rates of the link.
    averaging_time: AveragingTime,
    arriving: RateAverage,
    accepted: RateAverage,
    congested: bool,
    /// The fair share; `None` while no packet is dropped for exceeding it.
    alpha: Option<f64>,
    /// Overflows lower alpha no further than this before the next estimate.
    floor: f64,
    /// The largest label since `start`.
    largest: f64,
    /// Start of the current window of `k_c`.
    start: Time,
}

/// An arrival, as input of the estimate.
struct ArrivalSample {
    bytes: u32,
    label: f64,
    threshold_reached: bool,
    dropped: bool,
    now: Time,
}

impl<T> Csfq<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if the threshold lies above the limit.
    pub fn new(config: CsfqConfig, link: &LinkInfo<'_>) -> Result<Self, BuildError> {
        let mean = link.mean_packet.max(1);
        let counts_bytes = config.threshold.is_of_bytes() || matches!(config.limit, Limit::Bytes(_));
        let length = |level: Level| {
            if counts_bytes { level.bytes(config.limit, mean) } else { level.packets(config.limit, mean) }
        };
        let (threshold, limit) = (length(config.threshold), length(Level::Share(1.0)));
        if threshold > limit {
            return Err(BuildError::Conflict("`threshold` lies above the limit: it could not be reached".into()));
        }
        let share = FairShareEstimate::new(link.rate.as_bits() as f64 / 8.0, config.k_alpha);
        let flows = FlowTable::new(config.max_flows, link.key);
        let averaging_time = AveragingTime::new(config.k);
        Ok(Csfq { fifo: Fifo::new(config.limit), config, flows, share, threshold, counts_bytes, averaging_time })
    }

    /// The estimated rate of `flow` in bytes per second, if it is known.
    pub fn flow_rate(&self, flow: FlowId) -> Option<f64> {
        self.flows.peek(flow).map(RateAverage::rate)
    }

    /// The fair share in bytes per second; `None` while no packet is dropped for exceeding it.
    pub fn alpha(&self) -> Option<f64> {
        self.share.alpha
    }

    /// The arriving and the accepted rate, in bytes per second.
    pub fn rates(&self) -> [f64; 2] {
        [self.share.arriving.rate(), self.share.accepted.rate()]
    }

    /// Whether the link counts as congested.
    pub fn is_congested(&self) -> bool {
        self.share.congested
    }

    /// The flow's rate, including this packet: the label that the edge writes.
    #[inline(always)]
    fn label(&mut self, packet: &Packet<T>, now: Time) -> f64 {
        let position = match self.flows.position(packet.flow) {
            Some(position) => position,
            None => {
                if let Some(oldest) =
                    self.flows.is_full().then(|| self.flows.eviction_candidate(RateAverage::last)).flatten()
                {
                    self.flows.remove_at(oldest);
                }
                self.flows.insert(packet.flow, RateAverage::default()).expect("there is room for a flow")
            }
        };
        self.flows.at(position).1.update(packet.bytes, now, self.averaging_time)
    }

    #[inline]
    fn threshold_reached(&self) -> bool {
        let held = self.fifo.backlog();
        let queue = if self.counts_bytes { held.bytes as f64 } else { f64::from(held.packets) };
        queue >= self.threshold
    }
}

impl FairShareEstimate {
    fn new(capacity: f64, averaging_time: Span) -> FairShareEstimate {
        let average = RateAverage::default();
        FairShareEstimate {
            capacity,
            averaging_time: AveragingTime::new(averaging_time),
            arriving: average,
            accepted: average,
            congested: false,
            alpha: None,
            floor: 0.0,
            largest: 0.0,
            start: Time::ZERO,
        }
    }

    /// The drop probability of a packet: max(0, 1 - alpha/label).
    #[inline]
    fn drop_probability(&self, label: f64) -> f64 {
        match self.alpha {
            Some(alpha) if label > alpha => 1.0 - alpha / label,
            _ => 0.0,
        }
    }

    /// Figure 3, estimate_alpha.
    #[inline(always)]
    fn estimate(&mut self, seen: ArrivalSample, config: &CsfqConfig) {
        // Both averages are updated by every arrival, so they share the step.
        let step = self.arriving.step(seen.now, self.averaging_time);
        let arriving = self.arriving.apply(seen.bytes, seen.now, step);
        // The figure updates F with accepted packets only. While none is accepted, F would then stay too high, and
        // alpha would fall again and again. As in the authors' module, F is therefore updated by every arrival: a
        // dropped packet counts as 0 bytes.
        self.accepted.apply(if seen.dropped { 0 } else { seen.bytes }, seen.now, step);
        let ended = seen.now > self.start + config.k_c;
        // Section 2.2.2: an uncongested link becomes congested only once its buffer has reached the threshold.
        let congested = arriving >= self.capacity && (self.congested || seen.threshold_reached);
        match (congested, self.congested) {
            (true, false) => {
                // Without an alpha from the last window, start with the largest label of this one.
                self.set_alpha(self.alpha.unwrap_or(self.largest.max(seen.label)));
                self.start = seen.now;
            }
            (true, true) if ended => {
                let accepted = self.accepted.rate();
                if let Some(alpha) = self.alpha.filter(|_| accepted > 0.0) {
                    self.set_alpha(alpha * self.capacity / accepted);
                }
                self.start = seen.now;
            }
            (true, true) => {}
            (false, true) => (self.start, self.largest) = (seen.now, 0.0),
            (false, false) if !ended => self.largest = self.largest.max(seen.label),
            (false, false) => {
                // The figure uses the largest label as alpha from now on, and drops although there is room. As in the
                // authors' module, this happens only once the buffer has reached the threshold.
                self.alpha = None;
                if seen.threshold_reached && self.largest > 0.0 {
                    self.set_alpha(self.largest);
                }
                (self.start, self.largest) = (seen.now, 0.0);
            }
        }
        self.congested = congested;
    }

    fn set_alpha(&mut self, alpha: f64) {
        let alpha = alpha.min(self.capacity);
        self.alpha = Some(alpha);
        self.floor = 0.75 * alpha;
    }

    /// Section 2.2.2: each overflow lowers alpha by 1 %. All overflows between two estimates lower it by at most a
    /// quarter.
    fn lower_for_overflow(&mut self) {
        self.alpha = self.alpha.map(|alpha| (0.99 * alpha).max(self.floor));
    }
}

impl<T> Discipline<T> for Csfq<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let (label, bytes) = (self.label(&packet, cx.now), packet.bytes);
        let excess = cx.rng.chance(self.share.drop_probability(label));
        let fits = self.fifo.admits(bytes);
        let seen = ArrivalSample {
            bytes,
            label,
            threshold_reached: self.threshold_reached(),
            dropped: excess || !fits,
            now: cx.now,
        };
        self.share.estimate(seen, &self.config);
        if excess {
            // A mark would let the packet in, and the flow would keep more than its share.
            cx.drop(packet, Why::Early);
        } else if fits {
            self.fifo.put(packet);
        } else {
            cx.drop(packet, Why::Overflow);
            self.share.lower_for_overflow();
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.fifo.pop()
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let share = &self.share;
        gauge("fair_share_bps", 8.0 * share.alpha.unwrap_or(share.capacity));
        gauge("arriving_bps", 8.0 * share.arriving.rate());
        gauge("accepted_bps", 8.0 * share.accepted.rate());
        gauge("congested", f64::from(u8::from(share.congested)));
        gauge("flows", self.flows.len() as f64);
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("rate_bps", 8.0 * self.flows.peek(flow).map_or(0.0, RateAverage::rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Port, Rate, Rng};

    const LINK: LinkInfo<'static> = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    type Queue = Port<(), Csfq<()>>;

    fn csfq(settings: &[(&str, &str)]) -> Queue {
        Port::new(Csfq::new(CsfqConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    fn arrive(port: &mut Queue, flow: u64, now: Time) {
        port.enqueue(Packet::new(FlowId(flow), 1000, ()), now, &mut ());
    }

    #[test]
    fn the_drop_probability_is_the_share_of_the_rate_above_alpha() {
        let share =
            FairShareEstimate { alpha: Some(100.0), ..FairShareEstimate::new(1000.0, CsfqConfig::default().k_alpha) };
        assert_eq!(
            [0.0, 50.0, 100.0, 200.0, 400.0].map(|label| share.drop_probability(label)),
            [0.0, 0.0, 0.0, 0.5, 0.75]
        );
        assert_eq!(FairShareEstimate { alpha: None, ..share }.drop_probability(1e9), 0.0);
    }

    #[test]
    fn overflows_lower_alpha_by_one_percent_each_and_by_a_quarter_at_most() {
        let mut share = FairShareEstimate::new(1000.0, CsfqConfig::default().k_alpha);
        share.set_alpha(100.0);
        share.lower_for_overflow();
        assert!((share.alpha.unwrap() - 99.0).abs() < 1e-9);
        (0..100).for_each(|_| share.lower_for_overflow());
        assert_eq!(share.alpha, Some(75.0));
        share.set_alpha(75.0);
        share.lower_for_overflow();
        assert!(share.alpha.unwrap() < 75.0, "a new estimate may be lowered again");
    }

    #[test]
    fn alpha_is_scaled_by_capacity_over_accepted_rate() {
        let config = CsfqConfig::default();
        let mut share = FairShareEstimate::new(1e6, CsfqConfig::default().k_alpha);
        share.set_alpha(4e5);
        // Packets of 1000 bytes each half millisecond: 2e6 bytes a second, all accepted.
        for n in 0..1000 {
            let seen =
                ArrivalSample { bytes: 1000, label: 4e5, threshold_reached: true, dropped: false, now: at(500 * n) };
            share.estimate(seen, &config);
        }
        // Congested when 2e6 (1 - e^(-t/K)) = 1e6; a window of K later the rates are at 2e6 (1 - 1/(2 e)).
        let expected = 4e5 / (2.0 - 1.0 / core::f64::consts::E);
        assert!((share.alpha.unwrap() / expected - 1.0).abs() < 0.01, "{:?} {expected}", share.alpha);
    }

    #[test]
    fn a_link_with_room_drops_nothing_of_a_flow_faster_than_any_before() {
        let mut port = csfq(&[("limit", "100p")]);
        for n in 0..10_000 {
            arrive(&mut port, 1, at(10_000 * n));
            (0..if n > 5000 { 8 } else { 0 }).for_each(|k| arrive(&mut port, 2, at(10_000 * n + 1000 * k)));
            while port.dequeue(at(10_000 * n + 9000), &mut ()).is_some() {}
        }
        assert_eq!(port.totals().dropped(), 0);
    }

    #[test]
    fn when_the_table_is_full_the_longest_silent_of_four_flows_is_forgotten() {
        let mut port = csfq(&[("max_flows", "4")]);
        [1, 2, 3, 4, 1, 6].into_iter().zip(1..).for_each(|(flow, n)| arrive(&mut port, flow, at(n)));
        let known = [1, 2, 3, 4, 6].map(|flow| port.discipline().flow_rate(FlowId(flow)).is_some());
        assert_eq!(known, [true, false, true, true, true]);
    }

    #[test]
    fn presets_build_and_a_threshold_above_the_limit_is_refused() {
        for preset in CsfqConfig::presets() {
            let config = CsfqConfig::from_settings(&[("preset", preset.name)]).unwrap();
            assert!(Csfq::<()>::new(config, &LINK).is_ok(), "{}", preset.name);
        }
        let ns2 = CsfqConfig::from_settings(&[("preset", "ns2")]).unwrap();
        assert_eq!(Csfq::<()>::new(ns2, &LINK).unwrap().threshold, 10_000.0);
        let config = CsfqConfig::from_settings(&[("threshold", "120%")]).unwrap();
        assert!(matches!(Csfq::<()>::new(config, &LINK), Err(BuildError::Conflict(_))));
    }
}
