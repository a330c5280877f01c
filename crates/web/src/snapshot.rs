//! What a page sees of a run at one moment, as JSON.

use aqm::Span;
use headgate_measure::{EventRow, PacketEvent, base_rtt, fair_shares};
use headgate_scenario::{FlowGroup, Kind, Scenario};
use headgate_sim::World;
use serde_json::{Map, Value, json};

use crate::lab::{Lab, millis, span_millis};
use crate::queue_picture::QueuedPacket;

impl Lab {
    /// What stays the same during the run: the link, the flows with their fair shares, the names of the gauges.
    pub fn about(&self) -> String {
        let Lab { scenario, hop, .. } = self;
        let (link, settings) = (&scenario.links[usize::from(hop.link)], scenario.direction_settings(*hop));
        let name = |(name, _): (&'static str, f64)| name;
        let names = |gauges: Vec<(&'static str, f64)>| gauges.into_iter().map(name).collect::<Vec<_>>();
        json!({
            "name": scenario.name,
            "about": scenario.about,
            "duration_ms": span_millis(scenario.duration),
            "warmup_ms": span_millis(scenario.warmup),
            "qdisc": self.qdisc().to_string(),
            "seed": self.seed,
            "toml": as_given(scenario).to_toml(),
            "link": {
                "name": link.name,
                "rate_bps": settings.rate.as_bits(),
                "delay_ms": span_millis(link.delay),
                "limit": settings.limit.to_string(),
            },
            "groups": groups(scenario),
            "flows": flows(scenario),
            "gauges": self.world.as_ref().map(|world| names(world.gauges(*hop))),
            "flow_gauges": self.world.as_ref().map(|world| names(world.gauges_of_flow(*hop, 0))),
        })
        .to_string()
    }

    /// The run at this moment, and the events since the last snapshot.
    pub fn snapshot(&mut self) -> String {
        let mut all = self.state();
        let picture = &mut self.picture;
        let packet = |&QueuedPacket { number, flow, bytes, arrived }| json!([flow, millis(arrived), bytes, number]);
        all.insert("queue".into(), picture.queued.iter().map(packet).collect());
        all.insert("events".into(), picture.events.drain(..).map(|row| event(&row)).collect());
        all.insert("lost_events".into(), std::mem::take(&mut picture.forgotten).into());
        Value::Object(all).to_string()
    }

    /// A snapshot without the queue and the events, for charts. It has the mean queueing delay of the packets sent since
    /// the last sample.
    pub fn sample(&mut self) -> String {
        let mut all = self.state();
        all.insert("delay_ms".into(), self.picture.take_delay().map(span_millis).into());
        Value::Object(all).to_string()
    }

    pub(crate) fn state(&mut self) -> Map<String, Value> {
        let Lab { world: Some(world), hop, now, .. } = self else { return self.final_state.clone() };
        let backlog = world.backlog(*hop);
        let gauges: Map<String, Value> =
            world.gauges(*hop).into_iter().map(|(name, value)| (name.to_string(), value.into())).collect();
        let flow = |(number, bytes): (u32, u64)| {
            let gauges: Vec<f64> = world.gauges_of_flow(*hop, number).into_iter().map(|(_, value)| value).collect();
            flow_state(world, number, bytes, &gauges)
        };
        let state = json!({
            "t_ms": millis(*now),
            "finished": (*now - aqm::Time::ZERO) >= self.scenario.duration,
            "packets": backlog.packets,
            "bytes": backlog.bytes,
            "gauges": gauges,
            "bins": world.bins(*hop),
            "flows": (0..).zip(world.delivered_bytes()).map(flow).collect::<Vec<_>>(),
        });
        if let Value::Object(state) = state { state } else { Map::new() }
    }
}

/// The scenario as its reader gave it: without what the lab records for its picture.
fn as_given(scenario: &Scenario) -> Scenario {
    let mut given = scenario.clone();
    given.record.events = headgate_scenario::Events::Off;
    given
}

fn flow_state(world: &World, number: u32, delivered_bytes: u64, gauges: &[f64]) -> Value {
    let sender = world.sender(number);
    json!({
        "delivered_bytes": delivered_bytes,
        "cwnd": sender.and_then(|state| state.cwnd),
        "ssthresh": sender.and_then(|state| state.ssthresh),
        "srtt_ms": sender.and_then(|state| state.srtt).map(span_millis),
        "phase": sender.map(|state| state.phase),
        "retransmits": sender.map(|state| state.retransmits),
        "timeouts": sender.map(|state| state.timeouts),
        "gauges": gauges,
    })
}

/// `[time, event, flow, bytes, arrival time, reason, packet]`; the reason is null unless it is a drop or a mark.
fn event(row: &EventRow) -> Value {
    let (kind, reason) = match row.kind {
        PacketEvent::Arrived => ("arrived", None),
        PacketEvent::Sent => ("sent", None),
        PacketEvent::Dropped(why) => ("dropped", Some(why.name())),
        PacketEvent::Marked(why) => ("marked", Some(why.name())),
        PacketEvent::Lost => ("lost", None),
    };
    json!([millis(row.time), kind, row.flow, row.bytes, millis(row.arrived), reason, row.packet])
}

/// The groups with the settings that a page can change.
fn groups(scenario: &Scenario) -> Vec<Value> {
    let tcp = scenario.tcp.iter().map(|group| {
        json!({"name": group.name, "kind": "tcp", "flows": group.flows, "cc": group.cc.name(), "ecn": group.ecn})
    });
    let udp = scenario.udp.iter().map(|group| {
        let rate = group.rate.map(|rate| rate.as_bits());
        json!({"name": group.name, "kind": "udp", "flows": group.flows, "rate_bps": rate, "ecn": group.ecn})
    });
    tcp.chain(udp).collect()
}

/// Every flow, by number.
fn flows(scenario: &Scenario) -> Vec<Value> {
    let tcp = scenario.tcp.iter().map(|group| round_trip(scenario, group, [group.packet, group.ack]));
    let rtts: Vec<Span> =
        tcp.chain(scenario.udp.iter().map(|group| round_trip(scenario, group, [group.packet, group.packet]))).collect();
    let mut flows = Vec::new();
    for ((group, share), rtt) in scenario.groups().zip(fair_shares(scenario)).zip(rtts) {
        for number in 0..group.flows {
            flows.push(json!({
                "flow": flows.len(),
                "group": group.name,
                "name": if group.flows == 1 { group.name.to_string() } else { format!("{} {number}", group.name) },
                "kind": if group.kind == Kind::Tcp { "tcp" } else { "udp" },
                "responsive": share.responsive,
                "fair_bps": share.fair_bps,
                "demand_bps": share.demand_bps.is_finite().then_some(share.demand_bps),
                "packet_bytes": group.packet,
                "rtt_ms": span_millis(rtt),
            }));
        }
    }
    flows
}

fn round_trip<S>(scenario: &Scenario, group: &FlowGroup<S>, sizes: [u32; 2]) -> Span {
    base_rtt(scenario, &group.route, [&group.sender, &group.receiver], sizes)
}
