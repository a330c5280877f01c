//! The flows of a scenario, each with what it sends and when, by the same random streams as in the simulator.

use headgate_core::{Rng, Span, Time};
use headgate_scenario::{Direction, Hop, Scenario, Starts, flow_stream, source_stream};
use headgate_traffic::{Source, Writer};

use super::group::{TcpSettings, UdpSettings};

/// A flow.
pub struct Flow {
    /// Its number: TCP before UDP.
    pub number: u32,
    /// Its group: an index into the scenario's groups, TCP before UDP.
    pub group: u32,
    /// Which way over the network.
    pub direction: Direction,
    /// When it starts and when it stops.
    pub lasts: [Time; 2],
    /// What it sends.
    pub sends: Sends,
}

/// What a flow sends, and how.
pub enum Sends {
    /// Over TCP what an application writes; `None` for as much as TCP takes.
    Tcp(TcpSettings, Option<Writer>),
    /// Over UDP what a source writes.
    Udp(UdpSettings, Source, Rng),
}

/// What a flow's receiver must know of it.
#[derive(Clone, Copy, Debug)]
pub enum Receives {
    /// It comes over TCP.
    Tcp(TcpSettings),
    /// It comes over UDP.
    Udp(UdpSettings),
}

impl Sends {
    /// What its receiver must know.
    pub fn received(&self) -> Receives {
        match self {
            Sends::Tcp(settings, _) => Receives::Tcp(*settings),
            Sends::Udp(settings, ..) => Receives::Udp(*settings),
        }
    }
}

/// The flows of `scenario` in the run of `seed`, those too that come too late to be there.
pub fn flows(scenario: &Scenario, seed: u64) -> Vec<Flow> {
    let end = Time::ZERO + scenario.duration;
    let stop = |stop: Option<Span>| stop.map_or(end, |stop| Time::ZERO + stop);
    let mut flows = Vec::new();
    for group in &scenario.tcp {
        let mut starts = Starts::new(group.start, seed, &group.name);
        for index in 0..group.flows {
            let start = starts.draw(index, &mut flow_stream(seed, &group.name, index));
            let writer = Writer::new(group.plan.start(index), source_stream(seed, &group.name, index));
            let sends = Sends::Tcp(TcpSettings::of(group), writer);
            flows.push((direction(&group.route), [start, stop(group.stop)], sends));
        }
    }
    for group in &scenario.udp {
        let mut starts = Starts::new(group.start, seed, &group.name);
        for index in 0..group.flows {
            let mut rng = flow_stream(seed, &group.name, index);
            let start = starts.draw(index, &mut rng);
            let sends = Sends::Udp(UdpSettings::of(group), group.plan.start(index), rng);
            flows.push((direction(&group.route), [start, stop(group.stop)], sends));
        }
    }
    let groups = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index as u32));
    let numbered = (0..).zip(groups).zip(flows);
    let flow = |((number, group), (direction, lasts, sends))| Flow { number, group, direction, lasts, sends };
    numbered.map(flow).collect()
}

/// From which host to which the data of a group goes over the network: that in which its first link is crossed.
pub fn direction(route: &[Hop]) -> Direction {
    route.first().map_or(Direction::Forward, |hop| hop.direction)
}
