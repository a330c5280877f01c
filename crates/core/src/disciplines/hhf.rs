//! Heavy-Hitter Filter (HHF): detect heavy hitters with a multistage filter and serve them in a low-weight queue.
//!
//! Few flows carry most bytes. HHF separates these heavy flows from all others, so that short and interactive flows do
//! not wait behind them.
//!
//! On arrival, a flow in the table of heavy flows joins the heavy class. Any other flow is counted by the multistage
//! filter, which hashes its bytes into four counters. If all four exceed `admit_bytes` within `reset_timeout`, the flow
//! becomes heavy, and its queued packets move to the heavy class. It stays heavy until it has no packet queued and has
//! been idle for `evict_timeout`. If the limit is exceeded, the heavy class drops its oldest packet, or the light class
//! if the heavy class is empty.
//!
//! On departure, weighted deficit round robin serves both classes. The light class has `non_hh_weight` times the
//! quantum, and is served first when it becomes active ([`FlowTurns`]).
//!
//! Source: T. Lam, N. Dukkipati, "Heavy-Hitter Filter", Linux 3.14, 2013: `net/sched/sch_hhf.c`, read at commit
//! 0b9828c7231e. The filter: C. Estan, G. Varghese, "New directions in traffic measurement and accounting", ACM SIGCOMM
//! 2002. Deviations are listed in docs/disciplines/hhf.md.

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{FlowTable, FlowTurns, MultistageFilter, SubQueues};
use crate::reason::Why;
use crate::time::{Span, Time};
use crate::units::Limit;

crate::params! {
    /// Settings of [`Hhf`].
    pub struct HhfConfig {
        /// Buffer size of both classes. When it is exceeded, the oldest packet of the heavy class is dropped; if that
        /// class is empty, the oldest of the light class.
        limit: Limit = Limit::Packets(1000);
        /// Bytes that the heavy class may send per turn.
        quantum: Bytes = Bytes(1514), in Bytes(1)..=Bytes(1_000_000_000);
        /// Maximum number of heavy flows known at a time.
        hh_limit: u32 = 2048, in 1..=1_048_576;
        /// Time after which the filter's counters are reset.
        reset_timeout: Span = Span::from_millis(40);
        /// Bytes that a flow may send within `reset_timeout` without becoming heavy.
        admit_bytes: Bytes = Bytes(131_072), in Bytes(1)..;
        /// Idle time after which a flow without queued packets is no longer heavy.
        evict_timeout: Span = Span::from_secs(1);
        /// Weight of the light class: it may send this many times `quantum` per turn.
        non_hh_weight: u32 = 2, in 1..=1000;
    }
    presets {
        "linux" "Linux, sch_hhf, whose defaults tc keeps, on Ethernet (the defaults)" {}
    }
    reasons { Overflow }
    gauges {
        Gauge::new("heavy_flows", "flows", "Heavy flows in the table, including expired ones not yet removed; tc: `hh_cur_count`.");
        Gauge::new("heavy_flows_found", "flows", "Flows found heavy so far; tc: `hh_tot_count`.");
        Gauge::new("heavy_flows_refused", "flows", "Heavy flows not recorded because the table was full; tc: `hh_overlimit`.");
        Gauge::new("heavy_packets", "packets", "Packets in the heavy class.");
        Gauge::new("light_packets", "packets", "Packets in the light class.");
    }
}

/// The class of heavy flows.
pub const HEAVY: usize = 0;
/// The class of all other flows.
pub const LIGHT: usize = 1;

/// Two classes under weighted round robin, and the filter that assigns flows to them.
pub struct Hhf<T> {
    config: HhfConfig,
    queues: SubQueues<T>,
    turns: FlowTurns,
    /// Bytes per turn of each class.
    quanta: [i64; 2],
    filter: MultistageFilter,
    last_reset: Time,
    heavy: FlowTable<HeavyFlow>,
    /// Flows that became heavy, and flows refused because the table was full.
    found: u64,
    refused: u64,
}

#[derive(Clone, Copy, Debug)]
struct HeavyFlow {
    /// Its last arrival.
    last: Time,
    /// Its packets in the heavy class.
    waiting: u32,
}

impl<T> Hhf<T> {
    /// Empty classes, without heavy flows.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(config: HhfConfig, link: &LinkInfo<'_>) -> Result<Self, BuildError> {
        // Lossless: the range ends at 10^9.
        let quantum = config.quantum.0 as i64;
        Ok(Hhf {
            queues: SubQueues::with_queues(2, config.limit, link.tables)?,
            turns: FlowTurns::new(2, link.tables)?,
            quanta: [quantum, quantum * i64::from(config.non_hh_weight)],
            // Not the table's key: the table uses the same hash function.
            filter: MultistageFilter::new(!link.key, link.tables)?,
            last_reset: Time::ZERO,
            heavy: FlowTable::new(config.hh_limit, link.key),
            found: 0,
            refused: 0,
            config,
        })
    }

    /// Whether `flow` is heavy at `now`.
    pub fn is_heavy(&self, flow: FlowId, now: Time) -> bool {
        self.heavy.peek(flow).is_some_and(|heavy| self.is_current(*heavy, now))
    }

    /// The filter's estimate of `flow`'s bytes since the last reset, an upper bound.
    pub fn counted(&self, flow: FlowId) -> u64 {
        self.filter.estimate(flow)
    }

    /// Backlog of a class, [`HEAVY`] or [`LIGHT`].
    pub fn backlog_of(&self, class: usize) -> Backlog {
        self.queues.backlog_of(class)
    }

    /// Bytes the class may still send in its turn, negative if it owes; `None` while it is idle.
    pub fn credit(&self, class: usize) -> Option<i64> {
        self.turns.credit(class)
    }

    /// Whether the flow is still heavy. Unlike in Linux, a silent flow stays heavy while it has queued packets. Its
    /// next packets, in the light class, could otherwise overtake them.
    #[inline]
    fn is_current(&self, heavy: HeavyFlow, now: Time) -> bool {
        heavy.waiting > 0 || now <= heavy.last + self.config.evict_timeout
    }

    #[inline(always)]
    fn classify(&mut self, packet: &Packet<T>, now: Time) -> usize {
        if now > self.last_reset + self.config.reset_timeout {
            self.filter.reset();
            self.last_reset = now;
        }
        if let Some(position) = self.heavy.position(packet.flow) {
            let known = *self.heavy.at(position).1;
            if self.is_current(known, now) {
                *self.heavy.at(position).1 = HeavyFlow { last: now, waiting: known.waiting + 1 };
                return HEAVY;
            }
            self.heavy.remove_at(position);
        }
        let found = self.filter.exceeds(packet.flow, packet.bytes, self.config.admit_bytes.0);
        if found && self.record_heavy(packet.flow, now) { HEAVY } else { LIGHT }
    }

    /// Makes `flow` heavy, counting the arriving packet; false if the table is full.
    #[cold]
    fn record_heavy(&mut self, flow: FlowId, now: Time) -> bool {
        if let Some(candidate) =
            self.heavy.is_full().then(|| self.heavy.eviction_candidate(|h| (h.waiting > 0, h.last))).flatten()
        {
            let known = *self.heavy.at(candidate).1;
            if self.is_current(known, now) {
                self.refused += 1;
                return false;
            }
            self.heavy.remove_at(candidate);
        }
        self.found += 1;
        let waiting = 1 + self.move_to_heavy(flow);
        self.heavy.insert(flow, HeavyFlow { last: now, waiting });
        true
    }

    /// Moves the flow's queued packets to the heavy class. In Linux they stay in the light class, and later packets of
    /// the flow may overtake them. The cost is linear in the queue; `hh_limit` and `evict_timeout` bound how often an
    /// attacker can cause it.
    fn move_to_heavy(&mut self, flow: FlowId) -> u32 {
        let (mut seen, mut moved, heavy) = (0, 0, self.queues.backlog_of(HEAVY).packets);
        if self.queues.backlog_of(LIGHT).packets > 0 {
            self.queues.rearrange(|packet| {
                // The heavy class is visited first.
                let was_light = seen >= heavy;
                seen += 1;
                let moves = was_light && packet.flow == flow;
                moved += u32::from(moves);
                if was_light && !moves { LIGHT } else { HEAVY }
            });
        }
        moved
    }

    #[inline(always)]
    fn take(&mut self, class: usize) -> Option<Packet<T>> {
        let packet = self.queues.pop(class)?;
        if class == HEAVY {
            self.heavy.get(packet.flow).expect("a flow with packets in the heavy class is heavy").waiting -= 1;
        }
        Some(packet)
    }
}

impl<T> Discipline<T> for Hhf<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        if !self.config.limit.admits(Backlog::default(), packet.bytes) {
            // A packet above the limit would drive out all others and still not fit.
            return cx.drop(packet, Why::Overflow);
        }
        let class = self.classify(&packet, cx.now);
        self.queues.push(class, packet);
        // The light class is served first when it becomes active.
        self.turns.join(class, self.quanta[class], class == LIGHT);
        while !self.config.limit.holds(self.queues.backlog()) {
            let class = if self.queues.backlog_of(HEAVY).packets > 0 { HEAVY } else { LIGHT };
            let oldest = self.take(class).expect("a backlog above the limit holds packets");
            cx.drop(oldest, Why::Overflow);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _: &mut Cx<'_, T>) -> Option<Packet<T>> {
        loop {
            let class = self.turns.turn(|class| self.quanta[class])?;
            if let Some(packet) = self.take(class) {
                self.turns.charge(class, packet.bytes);
                return Some(packet);
            }
            self.turns.pass_turn(class);
        }
    }

    crate::discipline::backlog_of!(queues);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("heavy_flows", self.heavy.len() as f64);
        gauge("heavy_flows_found", self.found as f64);
        gauge("heavy_flows_refused", self.refused as f64);
        gauge("heavy_packets", f64::from(self.queues.backlog_of(HEAVY).packets));
        gauge("light_packets", f64::from(self.queues.backlog_of(LIGHT).packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Port, Rate, Rng};
    use alloc::vec::Vec;

    const LINK: LinkInfo<'static> = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    /// A flow is heavy with its fourth packet of 1000 bytes in 40 ms.
    const FOUR: &[(&str, &str)] = &[("admit_bytes", "3000B"), ("quantum", "1000B")];

    type Queue = Port<u32, Hhf<u32>>;

    fn hhf(settings: &[(&str, &str)]) -> Queue {
        Port::new(Hhf::new(HhfConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn arrive(port: &mut Queue, flow: u64, times: u32, now: Time) {
        (0..times).for_each(|n| port.enqueue(Packet::new(FlowId(flow), 1000, n), now, &mut ()));
    }

    fn held(port: &Queue) -> [u32; 2] {
        [HEAVY, LIGHT].map(|class| port.discipline().backlog_of(class).packets)
    }

    fn sent(port: &mut Queue, packets: u32, now: Time) -> Vec<u64> {
        (0..packets).map_while(|_| port.dequeue(now, &mut ())).map(|packet| packet.flow.0).collect()
    }

    #[test]
    fn a_flow_above_the_threshold_becomes_heavy_and_its_queued_packets_move() {
        let mut port = hhf(FOUR);
        arrive(&mut port, 1, 3, at(0));
        arrive(&mut port, 2, 1, at(0));
        assert!(held(&port) == [0, 4] && !port.discipline().is_heavy(FlowId(1), at(0)));
        arrive(&mut port, 1, 1, at(40));
        assert!(held(&port) == [4, 1] && port.discipline().is_heavy(FlowId(1), at(40)));
        let order: Vec<u32> = (0..5)
            .filter_map(|_| port.dequeue(at(40), &mut ()))
            .filter(|p| p.flow == FlowId(1))
            .map(|p| p.handle)
            .collect();
        assert_eq!(order, [0, 1, 2, 0], "in order of arrival");
    }

    #[test]
    fn bytes_before_a_reset_of_the_filter_do_not_count() {
        let mut port = hhf(FOUR);
        arrive(&mut port, 1, 3, at(0));
        arrive(&mut port, 1, 3, Time::from_nanos(40_000_001));
        assert!(!port.discipline().is_heavy(FlowId(1), at(41)));
    }

    #[test]
    fn an_idle_heavy_flow_is_forgotten_once_its_packets_have_left() {
        let mut port = hhf(FOUR);
        arrive(&mut port, 1, 4, at(0));
        let is_heavy = |port: &Queue, ms| port.discipline().is_heavy(FlowId(1), at(ms));
        assert!(is_heavy(&port, 5000), "four packets wait");
        sent(&mut port, 4, at(0));
        assert!(is_heavy(&port, 1000) && !is_heavy(&port, 1001));
        arrive(&mut port, 1, 1, at(1001));
        assert_eq!(held(&port), [0, 1]);
    }

    #[test]
    fn classes_share_two_to_one_and_a_newly_active_light_class_is_served_first() {
        let mut port = hhf(FOUR);
        arrive(&mut port, 1, 12, at(0));
        assert_eq!(sent(&mut port, 3, at(0)), [1, 1, 1]);
        (10..20).for_each(|flow| arrive(&mut port, flow, 1, at(0)));
        // The light class is new and sends two quanta first. The heavy class has spent its quantum and gets another;
        // the classes then alternate two to one.
        assert_eq!(sent(&mut port, 8, at(0)), [10, 11, 12, 13, 1, 14, 15, 1]);
    }

    #[test]
    fn a_full_queue_drops_the_oldest_packet_of_the_heavy_class_or_else_of_the_light_class() {
        let mut port = hhf(&[FOUR, &[("limit", "6p")]].concat());
        arrive(&mut port, 1, 4, at(0));
        (10..15).for_each(|flow| arrive(&mut port, flow, 1, at(0)));
        assert_eq!(held(&port), [1, 5]);
        (15..18).for_each(|flow| arrive(&mut port, flow, 1, at(0)));
        assert_eq!((held(&port), sent(&mut port, 1, at(0))), ([0, 6], alloc::vec![12]));
    }

    #[test]
    fn a_full_table_of_heavy_flows_leaves_further_flows_light() {
        let mut port = hhf(&[FOUR, &[("hh_limit", "2")]].concat());
        (1..4).for_each(|flow| arrive(&mut port, flow, 4, at(0)));
        let heavy = |port: &Queue, ms| [1, 2, 3].map(|flow| port.discipline().is_heavy(FlowId(flow), at(ms)));
        assert_eq!(heavy(&port, 0), [true, true, false]);
        sent(&mut port, 12, at(0));
        arrive(&mut port, 2, 1, at(900));
        arrive(&mut port, 3, 4, at(1100));
        assert_eq!(heavy(&port, 1100), [false, true, true], "the first had been silent");
    }

    #[test]
    fn a_packet_of_four_gigabytes_needs_no_four_million_turns() {
        let mut port = hhf(&[("limit", "10GB"), ("quantum", "1B"), ("admit_bytes", "1B")]);
        [1, 1, 2, 2].into_iter().for_each(|flow| port.enqueue(Packet::new(FlowId(flow), u32::MAX, 0), at(0), &mut ()));
        assert_eq!(port.backlog().packets, 2, "four do not fit");
        assert_eq!(sent(&mut port, 4, at(0)), [2, 2]);
    }
}
