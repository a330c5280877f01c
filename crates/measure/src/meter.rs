//! What a port's ledger counts while a run goes, by flow.

use headgate_core::{ByReason, Counts, Ledger, Packet, Signals, Time, Why};
use headgate_scenario::{Kind, Scenario};

use crate::counted::Counted;
use crate::events::{EventLog, Happening};
use crate::metrics::{Fate, PortMetrics, PortRow};
use crate::path::mean_base_rtt;

/// What every packet of a flow changes, and what must be known of the flow then: two flows to a cache line.
#[derive(Clone, Copy, Debug)]
struct Passed {
    arrived: u32,
    sent: u32,
    sent_bytes: u64,
    delay_nanos: u64,
    group: u16,
    responsive: bool,
}

/// Packets of data dropped and marked for one reason, by flow; empty before the first.
#[derive(Clone, Debug, Default)]
struct Signalled {
    drops: Vec<u32>,
    marks: Vec<u32>,
}

/// A port's ledger: the counts of all packets, and of each flow's data; the port's metrics; and events if they are wanted.
#[derive(Clone, Debug)]
pub struct FlowLedger {
    all: Counts,
    passed: Vec<Passed>,
    signalled: ByReason<Signalled>,
    /// Packets of each flow's data that were sent and lost behind the queue.
    lost: Vec<u32>,
    /// Packets of data dropped and marked, by group.
    groups: Vec<(u64, u64)>,
    metrics: PortMetrics,
    events: Option<EventLog>,
}

impl FlowLedger {
    /// Nothing counted yet, of the flows of `scenario`, or of none where only replies come.
    pub fn new(scenario: &Scenario, carries_data: bool, events: Option<EventLog>) -> FlowLedger {
        let mut passed = Vec::new();
        for group in scenario.groups().filter(|_| carries_data) {
            let flow = Passed::of(group.index as u16, group.kind == Kind::Tcp);
            passed.resize(passed.len() + group.flows as usize, flow);
        }
        let groups = scenario.groups().count();
        let metrics = PortMetrics::new(passed.len(), groups, mean_base_rtt(scenario));
        FlowLedger {
            all: Counts::default(),
            signalled: ByReason::default(),
            lost: vec![0; passed.len()],
            passed,
            groups: vec![(0, 0); groups],
            metrics,
            events,
        }
    }

    /// Begins anew, when the warm-up ends. Events go on.
    pub fn restart(&mut self) {
        self.all = Counts::default();
        self.passed.iter_mut().for_each(|flow| *flow = Passed::of(flow.group, flow.responsive));
        self.signalled = ByReason::default();
        self.lost.fill(0);
        self.groups.fill((0, 0));
        self.metrics.restart();
    }

    /// The counts over all packets.
    pub fn counts(&self) -> &Counts {
        &self.all
    }

    /// The counts of the data of one flow.
    pub fn of_flow(&self, flow: usize) -> Counts {
        let Passed { arrived, sent, sent_bytes, .. } = self.passed[flow];
        let mut counts = Counts { arrived: arrived.into(), sent: sent.into(), sent_bytes, ..Counts::default() };
        for (why, signalled) in self.signalled.iter() {
            let count = |by_flow: &[u32]| by_flow.get(flow).copied().unwrap_or(0).into();
            *counts.signals.entry(why) = Signals { drops: count(&signalled.drops), marks: count(&signalled.marks) };
        }
        counts
    }

    /// Packets of the data of one flow that were sent and lost on the way.
    pub fn lost_of_flow(&self, flow: usize) -> u64 {
        self.lost[flow].into()
    }

    /// The mean queueing delay of the data a flow sent, in milliseconds.
    pub fn delay_ms(&self, flow: usize) -> Option<f64> {
        let Passed { sent, delay_nanos, .. } = self.passed[flow];
        (sent > 0).then(|| delay_nanos as f64 / f64::from(sent) / 1e6)
    }

    /// Packets of data dropped and marked, by group.
    pub fn lost_and_marked(&self) -> &[(u64, u64)] {
        &self.groups
    }

    /// What is measured beyond the counts.
    pub fn port(&self) -> PortRow {
        self.metrics.row(|flow| self.passed[flow].group.into())
    }

    /// The log of events, if one is wanted.
    #[inline]
    pub fn events(&mut self) -> Option<&mut EventLog> {
        self.events.as_mut()
    }

    /// A packet that was just sent is lost on the way.
    pub fn lost_on_the_way<T: Counted>(&mut self, packet: &Packet<T>, now: Time) {
        if T::is_data(packet) {
            let flow = T::flow(packet) as usize;
            self.lost[flow] += 1;
            self.metrics.lost_on_the_way(self.fate(packet), now);
        }
        if let Some(log) = &mut self.events {
            log.note_lost(packet, now);
        }
    }

    /// What the port has seen of the packet's flow. What the link lost has not been sent to anybody.
    fn fate<T: Counted>(&self, packet: &Packet<T>) -> Fate {
        let flow = T::flow(packet) as usize;
        let Passed { arrived, sent, group, responsive, .. } = self.passed[flow];
        let sent = sent - self.lost[flow];
        Fate { flow, group: group.into(), came: packet.arrived, arrived, sent, responsive }
    }

    #[inline]
    fn note<T: Counted>(&mut self, packet: &Packet<T>, happening: Happening, now: Time) {
        if let Some(log) = &mut self.events {
            log.note(packet, happening, now);
        }
    }
}

/// Adds one for `flow`, one of so many `flows`.
#[inline]
fn count(by_flow: &mut Vec<u32>, flow: usize, flows: usize) {
    if by_flow.is_empty() {
        by_flow.resize(flows, 0);
    }
    by_flow[flow] += 1;
}

impl Passed {
    fn of(group: u16, responsive: bool) -> Passed {
        Passed { arrived: 0, sent: 0, sent_bytes: 0, delay_nanos: 0, group, responsive }
    }
}

impl<T: Counted> Ledger<T> for FlowLedger {
    #[inline]
    fn arrived(&mut self, packet: &Packet<T>, now: Time) {
        self.all.arrived += 1;
        if T::is_data(packet) {
            let flow = &mut self.passed[T::flow(packet) as usize];
            flow.arrived += 1;
            self.metrics.arrived(flow.responsive && flow.arrived == 1);
        }
        self.note(packet, Happening::Arrived, now);
    }

    #[inline]
    fn sent(&mut self, packet: &Packet<T>, now: Time) {
        let delay = (now - packet.arrived).as_nanos();
        self.all.sent += 1;
        self.all.sent_bytes += u64::from(packet.bytes);
        if T::is_data(packet) {
            let flow = &mut self.passed[T::flow(packet) as usize];
            flow.sent += 1;
            flow.sent_bytes += u64::from(packet.bytes);
            flow.delay_nanos += delay;
            self.metrics.sent(flow.group.into(), delay);
        } else {
            self.metrics.sent_other(delay);
        }
        self.note(packet, Happening::Sent, now);
    }

    // Few packets come here and in the next: inlined, they would only push those apart that many come to.
    #[inline(never)]
    fn dropped(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.all.signals.entry(why).drops += 1;
        if T::is_data(packet) {
            let fate = self.fate(packet);
            count(&mut self.signalled.entry(why).drops, fate.flow, self.passed.len());
            self.groups[fate.group].0 += 1;
            self.metrics.lost(fate, now);
        }
        self.note(packet, Happening::Dropped(why), now);
    }

    #[inline(never)]
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.all.signals.entry(why).marks += 1;
        if T::is_data(packet) {
            let flow = T::flow(packet) as usize;
            count(&mut self.signalled.entry(why).marks, flow, self.passed.len());
            self.groups[usize::from(self.passed[flow].group)].1 += 1;
        }
        self.note(packet, Happening::Marked(why), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_packet_of_a_flow_changes_fills_half_a_cache_line() {
        assert_eq!(size_of::<Passed>(), 32);
    }
}
