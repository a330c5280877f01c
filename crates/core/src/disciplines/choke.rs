//! CHOKe: compare each arrival with a random queued packet; if both belong to one flow, drop both.
//!
//! A flow that fills much of the queue is likely to own the random packet. CHOKe therefore drops it more often than
//! others, without per-flow state. The only state is RED's average queue.
//!
//! On arrival, RED's average is updated. Below minth, the packet is queued. From minth on, CHOKe draws `candidates`
//! queued packets, with replacement. Every candidate of the arrival's flow is dropped, and the arrival with it. Without
//! a match, RED decides: it drops or marks at random between the thresholds, and always above maxth. A packet that does
//! not fit is dropped. Departures only tell RED when the link becomes idle.
//!
//! M-CHOKe compares with more than one candidate. A-CHOKe (`adaptive`) divides the range between the thresholds into k
//! regions and draws 2i candidates in region i.
//!
//! Source: R. Pan, B. Prabhakar, K. Psounis, "CHOKe, a stateless active queue management scheme for approximating fair
//! bandwidth allocation", IEEE INFOCOM 2000. Deviations are listed in docs/disciplines/choke.md.
//!
//! | paper | here |
//! | --- | --- |
//! | avg, minth, maxth, drop probability | [`RedDetector`] |
//! | m, k | `candidates`, `adaptive` |
//!
//! Random draws above minth, in order: the candidates (see [`SampledFifo::draw`]); without a match and below maxth, one
//! for RED.

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{RedDetector, RedSettings, SampledFifo, Thresholds, Zone};
use crate::reason::Why;

crate::reasons! {
    /// It was compared with a packet of its own flow.
    Match = "match", "it matched a queued packet of its own flow";
}

crate::params! {
    /// Settings of [`Choke`].
    pub struct ChokeConfig with red: RedSettings {
        red { limit, minth, maxth, maxp, wq, burst }
        /// Queued packets compared with each arrival: 1 is basic CHOKe, more is M-CHOKe. Ignored unless `adaptive` is
        /// 0.
        candidates: u32 = 1, in 1..=1000, also "m" "cand_num" "cand_num_";
        /// A-CHOKe: divides the range from `minth` to `maxth` into this many regions. Region i, and the last one above
        /// `maxth`, compares 2i packets. 0: always `candidates`.
        adaptive: u32 = 0, in 0..=500, also "k" "interval_num" "interval_num_";
        red {
            spacing, spare_first,
            /// Marks ECN-capable arrivals above `maxth` without a match, instead of dropping them.
            mark_above_maxth,
            /// Marks ECN-capable packets where RED would drop at random. A match is always dropped.
            ecn,
            mean_packet
        }
    }
    presets {
        "paper" "the defaults: basic CHOKe, with RED's values of the FABA paper's comparison" {}
        "comparison" "the comparison paper: A-CHOKe with 5 regions, thresholds of 50 and 100 of 150 packets" {
            "limit" = "150p", "minth" = "50p", "maxth" = "100p", "adaptive" = "5", "ecn" = "off"
        }
        "linux" "sch_choke of Linux 6 with iproute2's defaults: min = max/3, max = limit/4, wq = 2^-W from the burst" {
            "minth" = "8.3333%", "maxth" = "25%", "maxp" = "0.02", "burst" = "auto", "spare_first" = "on",
            "mark_above_maxth" = "on", "ecn" = "off", "mean_packet" = "1000B"
        }
    }
    reasons { Overflow, Early, Forced, Match }
    gauges {
        Gauge::AVERAGE;
        Gauge::PROBABILITY;
        Gauge::new("candidates", "packets", "Packets that an arrival is compared with; 0 below `minth`.");
    }
}

/// A FIFO with CHOKe's comparison and RED at its entrance.
pub struct Choke<T> {
    config: ChokeConfig,
    fifo: SampledFifo<T>,
    detector: RedDetector,
    /// Whether the queue is measured in bytes.
    counts_bytes: bool,
}

impl<T> Choke<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, maxth is above the limit, or no weight suits the burst.
    pub fn new(config: ChokeConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let (fifo, detector) = (SampledFifo::new(config.red.limit), config.red.detector(link)?);
        Ok(Choke { fifo, detector, counts_bytes: config.red.counts_bytes(), config })
    }

    /// RED's state: average, probability and the spacing of drops and marks.
    pub fn detector(&self) -> &RedDetector {
        &self.detector
    }

    fn candidates(&self) -> u32 {
        if self.config.adaptive == 0 {
            return self.config.candidates;
        }
        let Thresholds { min, max } = self.detector.thresholds();
        let regions = f64::from(self.config.adaptive);
        let region = (regions * (self.detector.average() - min) / (max - min)) as u32;
        2 * (region.min(self.config.adaptive - 1) + 1)
    }

    /// Updates the average queue and returns its zone.
    #[inline]
    pub(super) fn update(&mut self, cx: &Cx<'_, T>) -> Zone {
        let held = self.fifo.backlog();
        let length = if self.counts_bytes { held.bytes as i64 } else { i64::from(held.packets) };
        self.detector.update(length as f64, cx.now)
    }

    /// Drops or stores the arrival, after comparing it with `candidates` packets unless `zone` is below minth. Returns
    /// whether the first candidate was of its flow; `None` without a candidate.
    // Always inlined, with the functions that it calls: see `RedQueue::offer`.
    #[inline(always)]
    pub(super) fn offer(&mut self, zone: Zone, candidates: u32, packet: Packet<T>, cx: &mut Cx<'_, T>) -> Option<bool> {
        if zone == Zone::Below {
            self.detector.reset_spacing();
            self.fifo.push(packet, cx);
            return None;
        }
        let (first, matched) = self.drop_matches(&packet, candidates, cx);
        if matched {
            self.detector.restart_spacing();
            cx.drop(packet, Why::Match);
        } else if !self.fifo.admits(packet.bytes) {
            // Overflow first: a packet that does not fit must not be marked.
            self.detector.restart_spacing();
            cx.drop(packet, Why::Overflow);
        } else {
            match self.judge(zone, cx) {
                Some(why) => self.signal(packet, why, cx),
                None => self.fifo.put(packet),
            }
        }
        first
    }

    /// Draws candidates with replacement and drops those of `packet`'s flow. Returns whether the first one matched, if
    /// there was one, and whether any matched.
    #[inline(always)]
    fn drop_matches(&mut self, packet: &Packet<T>, candidates: u32, cx: &mut Cx<'_, T>) -> (Option<bool>, bool) {
        let flow = packet.flow;
        let first = self.compare_with_random(flow, cx);
        // Mostly there is one candidate.
        let later = candidates > 1 && self.drop_more_matches(flow, candidates, cx);
        (first, first == Some(true) || later)
    }

    /// Compares with the candidates after the first, and returns whether any matched.
    #[inline(never)]
    fn drop_more_matches(&mut self, flow: FlowId, candidates: u32, cx: &mut Cx<'_, T>) -> bool {
        (1..candidates).map_while(|_| self.compare_with_random(flow, cx)).fold(false, |any, hit| any | hit)
    }

    /// Draws one candidate and drops it if it is of `flow`. `None` if the queue is empty.
    #[inline(always)]
    fn compare_with_random(&mut self, flow: FlowId, cx: &mut Cx<'_, T>) -> Option<bool> {
        let (slot, drawn) = self.fifo.draw(cx.rng)?;
        let hit = drawn == flow;
        if hit {
            self.drop_match(slot, cx);
        }
        Some(hit)
    }

    #[cold]
    fn drop_match(&mut self, slot: usize, cx: &mut Cx<'_, T>) {
        if let Some(candidate) = self.fifo.take(slot) {
            cx.drop(candidate, Why::Match);
        }
    }

    #[inline]
    fn judge(&mut self, zone: Zone, cx: &mut Cx<'_, T>) -> Option<Why> {
        if zone == Zone::Above {
            self.detector.restart_spacing();
            return Some(Why::Forced);
        }
        self.detector.early(1.0, cx.rng).then_some(Why::Early)
    }

    /// Marks and stores the packet, or drops it. A separate function keeps the common path short.
    #[cold]
    fn signal(&mut self, packet: Packet<T>, why: Why, cx: &mut Cx<'_, T>) {
        let may_mark = self.config.red.ecn && (why == Why::Early || self.config.red.mark_above_maxth);
        if let Some(packet) = cx.signal(packet, why, may_mark) {
            self.fifo.put(packet);
        }
    }
}

impl<T> Discipline<T> for Choke<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let zone = self.update(cx);
        let candidates = if zone == Zone::Below { 0 } else { self.candidates() };
        self.offer(zone, candidates, packet, cx);
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let packet = self.fifo.pop();
        self.detector.record_dequeue(packet.is_some(), cx.now);
        packet
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("average", self.detector.average());
        gauge("probability", self.detector.probability());
        let calm = self.detector.average() < self.detector.thresholds().min;
        gauge("candidates", if calm { 0.0 } else { f64::from(self.candidates()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, Port, Rate, Rng, Time};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    // The average is the current queue length. Below maxth, RED drops no packet at random.
    const PLAIN: &[(&str, &str)] = &[("limit", "40p"), ("minth", "10p"), ("maxth", "20p"), ("wq", "1"), ("maxp", "0")];

    fn port(settings: &[(&str, &str)]) -> Port<(), Choke<()>> {
        let config = ChokeConfig::from_settings(&[PLAIN, settings].concat()).unwrap();
        Port::new(Choke::new(config, &LINK).unwrap(), Rng::new(3))
    }

    fn offer(port: &mut Port<(), Choke<()>>, flow: u64) {
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(flow), 1000, ()) };
        port.enqueue(packet, Time::ZERO, &mut ());
    }

    fn drops(port: &Port<(), Choke<()>>, why: Why) -> u64 {
        port.totals().counts().drops(why)
    }

    #[test]
    fn below_minth_a_flow_may_hold_the_whole_queue() {
        let mut port = port(&[]);
        (0..10).for_each(|_| offer(&mut port, 1));
        assert_eq!((port.backlog().packets, port.totals().dropped()), (10, 0));
    }

    #[test]
    fn from_minth_on_an_arrival_that_matches_its_flow_is_dropped_with_the_match() {
        let mut port = port(&[]);
        (0..11).for_each(|_| offer(&mut port, 1));
        assert_eq!((port.backlog().packets, drops(&port, Why::Match)), (9, 2));
    }

    #[test]
    fn the_gauge_of_candidates_is_zero_below_minth() {
        // The average that the last arrival found is one packet less than those offered.
        for (offered, candidates) in [(10, 0.0), (11, 3.0), (15, 3.0)] {
            let mut port = port(&[("candidates", "3")]);
            (0..offered).for_each(|flow| offer(&mut port, flow));
            let mut told = None;
            port.discipline().observe(&mut |name, value| told = (name == "candidates").then_some(value).or(told));
            assert_eq!(told, Some(candidates), "{offered} packets");
        }
    }

    #[test]
    fn packets_of_different_flows_never_match_and_keep_their_order() {
        let mut port = port(&[]);
        (0..20).for_each(|flow| offer(&mut port, flow));
        assert_eq!(port.totals().dropped(), 0);
        let order: [u64; 20] = core::array::from_fn(|_| port.dequeue(Time::ZERO, &mut ()).unwrap().flow.0);
        assert_eq!(order, core::array::from_fn(|flow| flow as u64));
    }

    #[test]
    fn above_maxth_matches_are_still_drawn_and_all_others_dropped_with_certainty() {
        let mut port = port(&[("maxth", "15p")]);
        (0..15).for_each(|flow| offer(&mut port, flow % 2));
        let before = port.backlog().packets;
        // Every arrival up to here met average queues below maxth. Fill up to it with flows of one packet each.
        (100..115 + 15 - u64::from(before)).for_each(|flow| offer(&mut port, flow));
        assert_eq!((port.backlog().packets, drops(&port, Why::Forced)), (15, 15));
        let matched = drops(&port, Why::Match);
        // A new flow finds no match; above maxth packets are dropped, not marked.
        offer(&mut port, 1000);
        assert_eq!((drops(&port, Why::Forced), drops(&port, Why::Match)), (16, matched));
        // A flow that fills much of the queue matches sooner or later, and the queue falls below maxth.
        while drops(&port, Why::Match) == matched {
            offer(&mut port, 0);
        }
        assert_eq!((port.backlog().packets, drops(&port, Why::Match)), (14, matched + 2));
    }

    #[test]
    fn each_candidate_of_the_arrivals_flow_is_dropped_with_the_arrival() {
        let mut port = port(&[("candidates", "4")]);
        (0..11).for_each(|_| offer(&mut port, 1));
        // All ten packets are of its flow, and four different ones are drawn.
        assert_eq!((port.backlog().packets, drops(&port, Why::Match)), (6, 5));
    }

    #[test]
    fn more_candidates_than_packets_empty_the_queue_and_no_more() {
        let mut port = port(&[("candidates", "1000")]);
        (0..11).for_each(|_| offer(&mut port, 1));
        assert_eq!((port.backlog().packets, drops(&port, Why::Match)), (0, 11));
    }

    #[test]
    fn region_i_of_k_draws_2i_candidates_and_from_maxth_on_2k() {
        let drawn = [10.0, 11.9, 12.0, 15.0, 19.9, 20.0, 35.0].map(|queue| {
            let config = ChokeConfig::from_settings(&[PLAIN, &[("adaptive", "5")]].concat()).unwrap();
            let mut choke: Choke<()> = Choke::new(config, &LINK).unwrap();
            choke.detector.update(queue, Time::ZERO);
            choke.candidates()
        });
        // Regions of 2 packets each: 10..12, 12..14, 14..16, 16..18, 18..20.
        assert_eq!(drawn, [2, 2, 4, 6, 10, 10, 10]);
    }

    #[test]
    fn a_flow_is_matched_as_often_as_it_fills_the_queue() {
        let matched = (0..20_000).filter(|seed| {
            let config = ChokeConfig::from_settings(PLAIN).unwrap();
            let mut port = Port::new(Choke::new(config, &LINK).unwrap(), Rng::new(*seed));
            (0..10).for_each(|flow| offer(&mut port, flow.min(7)));
            offer(&mut port, 7);
            drops(&port, Why::Match) == 2
        });
        // 6000; tolerance: five standard deviations of 65.
        let matched = matched.count();
        assert!(matched.abs_diff(6000) < 325, "{matched}");
    }

    /// Number of seeds of 1000 with which a packet of flow 2 is dropped early. Before it, RED counts 100 packets
    /// without a drop, and a packet of flow `first` arrives at a queue of `held`.
    fn seeds_with_a_drop(first: u64, held: u32) -> usize {
        let offered = (0..1000).filter(|seed| {
            let config = ChokeConfig::from_settings(&[PLAIN, &[("maxp", "0.5")]].concat()).unwrap();
            let (mut choke, mut rng, mut sink) = (Choke::new(config, &LINK).unwrap(), Rng::new(*seed), ());
            let mut cx = Cx::new(Time::ZERO, &mut rng, &mut sink);
            (0..held).for_each(|_| assert!(choke.fifo.push(Packet::new(FlowId(1), 1000, ()), &mut cx)));
            (0..100).for_each(|_| choke.detector.count_packet());
            choke.enqueue(Packet::new(FlowId(first), 1000, ()), &mut cx);
            (choke.backlog().packets..14).for_each(|_| {
                choke.fifo.push(Packet::new(FlowId(1), 1000, ()), &mut cx);
            });
            choke.enqueue(Packet::new(FlowId(2), 1000, ()), &mut cx);
            choke.backlog().packets == 14
        });
        offered.count()
    }

    #[test]
    fn spacing_starts_anew_after_a_match_and_below_minth() {
        // 14 packets are queued: pb = 0.5 x 4/10 = 1/5. After a match, count is 1 and pa = 1/4. After an arrival below
        // minth, count is 0 and pa = 1/5. Tolerance: five standard deviations, 14 and 13. Had the count gone on, the
        // drop would be certain.
        let (matched, calm) = (seeds_with_a_drop(1, 15), seeds_with_a_drop(3, 5));
        assert!(matched.abs_diff(250) < 70 && calm.abs_diff(200) < 65, "{matched} {calm}");
    }

    #[test]
    fn idle_time_lets_the_average_fall() {
        let mut port = port(&[("wq", "0.5")]);
        (0..3).for_each(|flow| offer(&mut port, flow));
        while port.dequeue(Time::ZERO, &mut ()).is_some() {}
        // Averages 0, 1/2, 5/4; 2 ms idle at 1 ms a packet leave a quarter.
        port.enqueue(Packet::new(FlowId(9), 1000, ()), Time::from_nanos(2_000_000), &mut ());
        assert_eq!(port.gauges()[0], ("average", 1.25 / 4.0));
    }

    #[test]
    fn without_a_match_red_decides_and_marks_where_it_may() {
        for (ecn, early) in [("on", 1), ("off", 0)] {
            let mut port = port(&[("maxp", "1"), ("maxth", "40p"), ("ecn", ecn)]);
            (0..200).for_each(|flow| offer(&mut port, flow));
            let counts = port.totals().counts();
            let (marks, drops) = (counts.marks(Why::Early), counts.drops(Why::Early));
            assert!(if early == 1 { marks > 0 && drops == 0 } else { marks == 0 && drops > 0 }, "{marks} {drops}");
        }
    }

    #[test]
    fn every_preset_builds_and_thresholds_that_cannot_work_are_a_conflict() {
        for preset in ChokeConfig::presets() {
            let config = ChokeConfig::from_settings(&[("preset", preset.name)]).unwrap();
            assert!(Choke::<()>::new(config, &LINK).is_ok(), "{}", preset.name);
        }
        for bad in [("minth", "50%"), ("maxth", "101%")] {
            let config = ChokeConfig::from_settings(&[bad]).unwrap();
            assert!(matches!(Choke::<()>::new(config, &LINK), Err(BuildError::Conflict(_))), "{bad:?}");
        }
        assert!(ChokeConfig::from_settings(&[("candidates", "0")]).is_err());
    }
}
