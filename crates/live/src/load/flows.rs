//! The flows of a scenario, with the random streams of the simulator.

use aqm::{Rng, Span, Time};
use headgate_scenario::{Direction, Hop, Scenario, Starts, flow_stream, source_stream};
use headgate_traffic::{Application, FlowSource};

use super::group::{KernelTcpSettings, KernelUdpSettings};

pub struct LiveFlow {
    /// Number in the scenario: TCP before UDP.
    pub number: u32,
    /// Index into the scenario's groups, TCP before UDP.
    pub group: u32,
    pub direction: Direction,
    /// Start and stop.
    pub lifetime: [Time; 2],
    pub traffic: FlowTraffic,
}

pub enum FlowTraffic {
    /// TCP with an application's writer; `None` for a greedy flow.
    Tcp(KernelTcpSettings, Option<Application>),
    /// UDP with a source.
    Udp(KernelUdpSettings, FlowSource, Rng),
}

/// The transport settings for a flow's receiver.
#[derive(Clone, Copy, Debug)]
pub enum ReceiverSettings {
    Tcp(KernelTcpSettings),
    Udp(KernelUdpSettings),
}

impl FlowTraffic {
    pub fn receiver_settings(&self) -> ReceiverSettings {
        match self {
            FlowTraffic::Tcp(settings, _) => ReceiverSettings::Tcp(*settings),
            FlowTraffic::Udp(settings, ..) => ReceiverSettings::Udp(*settings),
        }
    }
}

/// All flows of `scenario` in the run of `seed`, including flows that would start after its end.
pub fn flows(scenario: &Scenario, seed: u64) -> Vec<LiveFlow> {
    let end = Time::ZERO + scenario.duration;
    let stop = |stop: Option<Span>| stop.map_or(end, |stop| Time::ZERO + stop);
    let mut flows = Vec::new();
    for group in &scenario.tcp {
        let mut starts = Starts::new(group.start, seed, &group.name);
        for index in 0..group.flows {
            let start = starts.draw(index, &mut flow_stream(seed, &group.name, index));
            let writer = Application::new(group.source.start(index), source_stream(seed, &group.name, index));
            let traffic = FlowTraffic::Tcp(KernelTcpSettings::of(group), writer);
            flows.push((direction(&group.route), [start, stop(group.stop)], traffic));
        }
    }
    for group in &scenario.udp {
        let mut starts = Starts::new(group.start, seed, &group.name);
        for index in 0..group.flows {
            let mut rng = flow_stream(seed, &group.name, index);
            let start = starts.draw(index, &mut rng);
            let traffic = FlowTraffic::Udp(KernelUdpSettings::of(group), group.source.start(index), rng);
            flows.push((direction(&group.route), [start, stop(group.stop)], traffic));
        }
    }
    let groups = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index as u32));
    let numbered = (0..).zip(groups).zip(flows);
    let flow =
        |((number, group), (direction, lifetime, traffic))| LiveFlow { number, group, direction, lifetime, traffic };
    numbered.map(flow).collect()
}

/// The direction of a group's data between the two hosts: that of its first hop.
pub fn direction(route: &[Hop]) -> Direction {
    route.first().map_or(Direction::Forward, |hop| hop.direction)
}
