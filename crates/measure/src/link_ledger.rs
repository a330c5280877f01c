//! The ledger of a link direction: counts by flow, and queue length and utilization over time.

use aqm::{Backlog, ByReason, Counts, Discipline, FlowId, Ledger, Packet, SignalCounts, Span, Time, Why};
use headgate_scenario::{Hop, Kind, Scenario};

use crate::capacity_use::CapacityUse;
use crate::crossing::CrossingFlows;
use crate::events::{EventLog, PacketEvent};
use crate::has_flow::HasFlow;
use crate::links::LinkRow;
use crate::metrics::{Loss, PortMetrics};
use crate::occupancy::Occupancy;
use crate::over_time::{IntervalQuantity, IntervalRow, SampledCounters, queue_rows};
use crate::path::mean_base_rtt;

/// Per-flow counts that every packet updates: two flows to a cache line.
#[derive(Clone, Copy, Debug)]
struct FlowCounts {
    arrived: u32,
    sent: u32,
    sent_bytes: u64,
    delay_nanos: u64,
    traits: FlowTraits,
}

/// A flow's group, and whether it is responsive.
#[derive(Clone, Copy, Debug)]
struct FlowTraits {
    group: u16,
    responsive: bool,
}

/// Data packets dropped and marked for one reason, by flow; empty before the first.
#[derive(Clone, Debug, Default)]
struct DropsAndMarksByFlow {
    drops: Vec<u32>,
    marks: Vec<u32>,
}

/// The ledger of a port and the meter of its link: counts of all packets and of each flow's data, the port's metrics,
/// optional events, and the queue and link over time.
#[derive(Clone, Debug)]
pub struct LinkLedger {
    hop: Hop,
    /// Whether disciplines are compared here: only then are there rows over time.
    compared: bool,
    /// Drops and marks of all packets, and arrivals and departures of replies. `flows` counts those of data.
    others: Counts,
    /// The flows whose data crosses the link. All vectors by flow use their numbers here.
    crossing: CrossingFlows,
    flows: Vec<FlowCounts>,
    signaled: ByReason<DropsAndMarksByFlow>,
    /// Packets sent and then lost on the link: each flow's data, and in total.
    lost: Vec<u32>,
    lost_total: u64,
    /// Copies that the medium made of packets, and packets whose header fields it changed.
    duplicates: u64,
    remarked: u64,
    /// Data packets dropped and marked, by group.
    groups: Vec<(u64, u64)>,
    metrics: PortMetrics,
    events: Option<Box<EventLog>>,
    /// Integrals since the last [`settle`](LinkLedger::settle), in the current interval, and since counting began.
    occupancy: Occupancy,
    interval: Occupancy,
    total: Occupancy,
    /// The use of a link of varying rate up to the last [`settle`](LinkLedger::settle).
    used: CapacityUse,
    /// Ambient arrivals and drops at the last sample.
    ambient: SampledCounters,
    /// Packets queued when counting began.
    queued_before: u64,
}

impl LinkLedger {
    /// An empty ledger at `hop` of `scenario`, for `discipline`.
    pub fn new<T>(scenario: &Scenario, hop: Hop, discipline: &impl Discipline<T>) -> LinkLedger {
        let compared = scenario.direction_settings(hop).qdisc.is_none();
        let (crossing, numbered) = CrossingFlows::new(scenario, hop);
        let mut flows = Vec::with_capacity(numbered.iter().map(|group| group.flows as usize).sum());
        for group in numbered {
            let flow = FlowCounts::new(FlowTraits { group: group.index as u16, responsive: group.kind == Kind::Tcp });
            flows.resize(flows.len() + group.flows as usize, flow);
        }
        let groups = scenario.groups().count();
        let metrics = PortMetrics::new(flows.len(), groups, mean_base_rtt(scenario));
        LinkLedger {
            hop,
            compared,
            others: Counts::default(),
            signaled: ByReason::default(),
            lost: vec![0; flows.len()],
            lost_total: 0,
            duplicates: 0,
            remarked: 0,
            crossing,
            flows,
            groups: vec![(0, 0); groups],
            metrics,
            events: compared
                .then(|| EventLog::new(hop.number(), scenario.record.events, discipline))
                .flatten()
                .map(Box::new),
            occupancy: Occupancy::default(),
            interval: Occupancy::default(),
            total: Occupancy::default(),
            used: CapacityUse::default(),
            ambient: SampledCounters::default(),
            queued_before: 0,
        }
    }

    /// Whether disciplines are compared here.
    pub fn compared(&self) -> bool {
        self.compared
    }

    /// Updates the queue and link integrals to `now`. The transmission of the current packet ends `remaining` after
    /// `now`. `used` is the use of a link of varying rate up to `now`.
    pub fn settle(&mut self, backlog: Backlog, (remaining, used): (Span, Option<CapacityUse>), now: Time) {
        self.occupancy.set_backlog(backlog, now);
        // The current packet counts only up to `now`.
        let mut seen = std::mem::replace(&mut self.occupancy, Occupancy::starting(now, backlog, remaining));
        seen.busy = seen.busy - remaining;
        if let Some(used) = used {
            seen.used = Some(used.since(std::mem::replace(&mut self.used, used)));
        }
        self.interval.add(&seen);
        self.total.add(&seen);
    }

    /// Ends a settled interval and appends its rows.
    pub fn sample<T>(
        &mut self,
        backlog: Backlog,
        now: Time,
        discipline: &impl Discipline<T>,
        rows: &mut Vec<IntervalRow>,
    ) {
        let ambient = self.ambient.increments(self.counts().ambient());
        let seen = std::mem::replace(&mut self.interval, Occupancy::starting(now, backlog, Span::ZERO));
        if self.compared {
            let link = self.hop.number();
            rows.extend(queue_rows(now, link, seen.means(), ambient));
            let mut gauge =
                |name, value| rows.push(IntervalRow::of_link(now, link, IntervalQuantity::Gauge(name), value));
            discipline.observe(&mut gauge);
        }
    }

    /// Discards the counts of the warm-up, after settling. Intervals and events continue.
    pub fn restart(&mut self, backlog: Backlog, now: Time) {
        self.total = Occupancy::starting(now, backlog, Span::ZERO);
        self.ambient.restart(self.counts().ambient());
        self.others = Counts::default();
        self.flows.iter_mut().for_each(|flow| *flow = FlowCounts::new(flow.traits));
        self.signaled = ByReason::default();
        self.lost.fill(0);
        self.groups.fill((0, 0));
        self.metrics.restart();
        (self.lost_total, self.duplicates, self.remarked) = (0, 0, 0);
        self.queued_before = backlog.packets.into();
    }

    /// The link's row, with `backlog` queued at the end.
    pub fn row(&self, scenario: &Scenario, backlog: Backlog) -> LinkRow {
        let (queue_packets_mean, queue_bytes_mean, utilization) = self.total.means();
        LinkRow {
            link: scenario.links[usize::from(self.hop.link)].name.clone(),
            direction: self.hop.direction,
            compared: self.compared,
            counts: self.counts(),
            link_losses: self.lost_total,
            link_duplicates: self.duplicates,
            link_remarks: self.remarked,
            queued: [self.queued_before, backlog.packets.into()],
            utilization,
            queue_packets_mean,
            queue_bytes_mean,
            port: self.metrics.row(|flow| usize::from(self.flows[flow].traits.group)),
            packets: None,
            events: None,
        }
    }

    /// Counts over all packets.
    pub fn counts(&self) -> Counts {
        let mut counts = self.others.clone();
        for flow in &self.flows {
            counts.arrived += u64::from(flow.arrived);
            counts.sent += u64::from(flow.sent);
            counts.sent_bytes += flow.sent_bytes;
        }
        counts
    }

    /// Counts of a flow's data.
    pub fn of_flow(&self, flow: u32) -> Counts {
        let flow = self.crossing.number_here(flow);
        let FlowCounts { arrived, sent, sent_bytes, .. } = self.flows[flow];
        let mut counts = Counts { arrived: arrived.into(), sent: sent.into(), sent_bytes, ..Counts::default() };
        for (why, signaled) in self.signaled.iter() {
            let count = |by_flow: &[u32]| by_flow.get(flow).copied().unwrap_or(0).into();
            *counts.signals.entry(why) = SignalCounts { drops: count(&signaled.drops), marks: count(&signaled.marks) };
        }
        counts
    }

    /// A flow's data packets lost by the medium.
    pub fn lost_of_flow(&self, flow: u32) -> u64 {
        self.lost[self.crossing.number_here(flow)].into()
    }

    /// Mean queueing delay of a flow's data, in milliseconds.
    pub fn delay_ms(&self, flow: u32) -> Option<f64> {
        let FlowCounts { sent, delay_nanos, .. } = self.flows[self.crossing.number_here(flow)];
        (sent > 0).then(|| delay_nanos as f64 / f64::from(sent) / 1e6)
    }

    /// Data packets dropped and marked, by group.
    pub fn drops_and_marks(&self) -> &[(u64, u64)] {
        &self.groups
    }

    /// The event log, if events are recorded.
    #[inline]
    pub fn events(&mut self) -> Option<&mut EventLog> {
        self.events.as_deref_mut()
    }

    /// Records the gauges for a drop or mark just made, if wanted. `name` maps a flow number to the discipline's flow.
    #[inline(always)]
    pub fn record_gauges<T>(&mut self, discipline: &impl Discipline<T>, name: impl Fn(u32) -> FlowId) {
        if let Some(log) = &mut self.events
            && log.lacks_gauges()
        {
            log.record_gauges(discipline, name);
        }
    }

    /// The queue holds `backlog` from `now` on.
    #[inline(always)]
    pub fn set_backlog(&mut self, backlog: Backlog, now: Time) {
        self.occupancy.set_backlog(backlog, now);
    }

    /// The link is busy for `span`.
    #[inline(always)]
    pub fn add_busy(&mut self, span: Span) {
        self.occupancy.add_busy(span);
    }

    /// Records that the medium lost a packet that was just sent.
    pub fn record_link_loss<T: HasFlow>(&mut self, packet: &Packet<T>, now: Time) {
        self.lost_total += 1;
        if T::is_data(packet) {
            self.lost[self.crossing.number_here(T::flow(packet))] += 1;
            self.metrics.record_link_loss(self.loss(packet, false), now);
        }
        if let Some(log) = &mut self.events {
            log.record_link_loss(packet, now);
        }
    }

    /// Records a copy that the medium made of a packet that was just sent.
    pub fn record_link_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// Records that the medium changed header fields of a packet that was just sent.
    pub fn record_link_remark(&mut self) {
        self.remarked += 1;
    }

    /// A loss with its flow's counts here. Packets lost on the link do not count as sent.
    fn loss<T: HasFlow>(&self, packet: &Packet<T>, on_arrival: bool) -> Loss {
        let flow = self.crossing.number_here(T::flow(packet));
        let FlowCounts { arrived, sent, traits, .. } = self.flows[flow];
        Loss { flow, group: usize::from(traits.group), on_arrival, arrived, sent: sent - self.lost[flow] }
    }

    #[inline]
    fn log_event<T: HasFlow>(&mut self, packet: &Packet<T>, kind: PacketEvent, now: Time) {
        if let Some(log) = &mut self.events {
            log.record(packet, kind, now);
        }
    }
}

/// Increments the count of `flow`; allocates the counts of all flows at the first call.
#[inline]
fn count(by_flow: &mut Vec<u32>, flow: usize, flows: usize) {
    if by_flow.is_empty() {
        by_flow.resize(flows, 0);
    }
    by_flow[flow] += 1;
}

impl FlowCounts {
    fn new(traits: FlowTraits) -> FlowCounts {
        FlowCounts { arrived: 0, sent: 0, sent_bytes: 0, delay_nanos: 0, traits }
    }
}

impl<T: HasFlow> Ledger<T> for LinkLedger {
    #[inline(always)]
    fn arrived(&mut self, packet: &Packet<T>, now: Time) {
        if T::is_data(packet) {
            let flow = &mut self.flows[self.crossing.number_here(T::flow(packet))];
            flow.arrived += 1;
            if flow.arrived == 1 {
                self.metrics.arrived(flow.traits.responsive);
            }
        } else {
            self.others.arrived += 1;
        }
        self.log_event(packet, PacketEvent::Arrived, now);
    }

    #[inline(always)]
    fn sent(&mut self, packet: &Packet<T>, now: Time) {
        let delay = (now - packet.arrived).as_nanos();
        if T::is_data(packet) {
            let flow = &mut self.flows[self.crossing.number_here(T::flow(packet))];
            flow.sent += 1;
            flow.sent_bytes += u64::from(packet.bytes);
            flow.delay_nanos += delay;
            self.metrics.sent(usize::from(flow.traits.group), delay);
        } else {
            self.others.sent += 1;
            self.others.sent_bytes += u64::from(packet.bytes);
            self.metrics.sent_other(delay);
        }
        self.log_event(packet, PacketEvent::Sent, now);
    }

    // Not inlined, like `marked` below: the code is rare and would only spread out the frequent code.
    #[inline(never)]
    fn dropped(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.others.signals.entry(why).drops += 1;
        if T::is_data(packet) {
            let loss = self.loss(packet, packet.arrived == now);
            count(&mut self.signaled.entry(why).drops, loss.flow, self.flows.len());
            self.groups[loss.group].0 += 1;
            self.metrics.dropped(loss, self.flows[loss.flow].traits.responsive, now);
        }
        self.log_event(packet, PacketEvent::Dropped(why), now);
    }

    #[inline(never)]
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.others.signals.entry(why).marks += 1;
        if T::is_data(packet) {
            let flow = self.crossing.number_here(T::flow(packet));
            count(&mut self.signaled.entry(why).marks, flow, self.flows.len());
            self.groups[usize::from(self.flows[flow].traits.group)].1 += 1;
        }
        self.log_event(packet, PacketEvent::Marked(why), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_that_every_packet_updates_fill_half_a_cache_line() {
        assert_eq!(size_of::<FlowCounts>(), 32);
    }
}
