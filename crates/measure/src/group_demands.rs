//! The demand of each group's flows, in bits on the wire.
//!
//! A flow's demand is the smallest of its source's rate, its own rate limit, its window over the base round-trip time, and
//! its access links. In the long run a source has its mean rate. While it has data to send, it may have a greater one.

use aqm::Span;
use headgate_scenario::{FlowGroup, GroupSource, Scenario, Start};

use crate::max_min::FlowDemand;
use crate::path::base_rtt;

/// The demand of each group's flows, TCP before UDP.
pub fn group_demands(scenario: &Scenario) -> Vec<GroupDemand> {
    tcp(scenario).chain(udp(scenario)).collect()
}

/// Demand of a group's flows in bits on the wire, and its useful fraction.
pub struct GroupDemand {
    /// In the long run.
    pub over_run: FlowDemand,
    /// What a flow wants while it has data to send.
    want_while_active: f64,
    /// The useful fraction of a packet.
    pub useful: f64,
    /// Whether its source ends.
    pub ends: bool,
    /// Whether it reduces its rate on loss or marks.
    pub responsive: bool,
}

impl GroupDemand {
    /// The demand while all flows have data to send.
    pub fn while_active(&self) -> FlowDemand {
        FlowDemand { want: self.want_while_active, ..self.over_run.clone() }
    }
}

struct SourceRate<'a> {
    source: &'a GroupSource,
    flows: u32,
    start: Start,
    end: Span,
}

impl SourceRate<'_> {
    /// Rate per flow in bit/s while it has data to send; infinite if unlimited.
    fn nominal_bps(&self) -> f64 {
        8.0 * self.source.nominal_rate().unwrap_or(f64::INFINITY)
    }

    /// Long-run rate per flow in bit/s; infinite if unlimited.
    fn bps(&self) -> f64 {
        let whole = self
            .source
            .mean_bytes()
            .map_or(f64::INFINITY, |bytes| bytes * self.started_fraction() / self.end.as_secs_f64());
        self.nominal_bps().min(8.0 * whole)
    }

    /// Mean fraction of the group's flows that start before the end.
    fn started_fraction(&self) -> f64 {
        match self.start {
            Start::Poisson { rate, .. } => (rate * self.end.as_secs_f64() / f64::from(self.flows)).min(1.0),
            Start::Drawn { .. } | Start::Steps { .. } => 1.0,
        }
    }
}

/// Demand of `group`, at most `most` bit/s on the wire.
fn group_demand<S>(scenario: &Scenario, group: &FlowGroup<S>, useful: f64, most: f64, responsive: bool) -> GroupDemand {
    let end = group.stop.unwrap_or(scenario.duration);
    let writes = SourceRate { source: &group.source, flows: group.flows, start: group.start, end };
    let access = group.sender.rate.min(group.receiver.rate).as_bits() as f64;
    let [want, want_while_active] = [writes.bps(), writes.nominal_bps()].map(|bps| most.min(access).min(bps / useful));
    let route = group.route.iter().map(|hop| usize::from(hop.number())).collect();
    let over_run = FlowDemand { flows: group.flows, want, route };
    GroupDemand { over_run, want_while_active, useful, ends: group.source.mean_bytes().is_some(), responsive }
}

fn tcp(scenario: &Scenario) -> impl Iterator<Item = GroupDemand> {
    scenario.tcp.iter().map(|group| {
        let rtt = base_rtt(scenario, &group.route, [&group.sender, &group.receiver], [group.packet, group.ack]);
        let window = f64::from(group.window) * f64::from(group.packet) * 8.0 / rtt.as_secs_f64();
        group_demand(scenario, group, useful_fraction(group.packet, group.header), window, true)
    })
}

fn udp(scenario: &Scenario) -> impl Iterator<Item = GroupDemand> {
    scenario.udp.iter().map(|group| {
        // Without congestion control, the source alone sets the rate.
        let most = if group.is_controlled() { group.most().as_bits() as f64 } else { f64::INFINITY };
        group_demand(scenario, group, useful_fraction(group.packet, group.header), most, group.is_controlled())
    })
}

fn useful_fraction(packet: u32, header: u32) -> f64 {
    f64::from(packet - header) / f64::from(packet)
}
