//! Estimates the memory of a run before it takes any.
//!
//! Few things can make a run large: the number of flows, their counts at every link that they cross, tables of
//! disciplines, full queues, and rows over time. Each is an item here, with the key that sets it. Records of events,
//! traces and captures are written during the run and hardly count.

use aqm::settings::pairs;
use aqm::{Limit, Qdisc, registry};
use headgate_measure::IntervalRow;
use headgate_scenario::{Group, Hop, Identity, Kind, Scenario, UdpGroup};

use crate::link_discipline::{ExternalDisciplines, table_bytes};
use crate::segment::SimPacket;

/// Bytes of a TCP flow: its sender, receiver, access links and pending events. The benchmark `instructions` measures
/// 1123 for 10 000 flows.
const TCP_FLOW: u64 = 1300;
/// Bytes of a UDP flow.
const UDP_FLOW: u64 = 700;
/// Bytes of a call without its packets, of each packet, and how long packets are kept (`media/packet_history.rs`).
const CALL: u64 = 12_000;
const CALL_PACKET: u64 = 24;
const CALL_HISTORY_SECONDS: u64 = 3;
/// Bytes that one flow takes at a link that it crosses, with drops and marks.
const FLOW_AT_LINK: u64 = 80;
/// Bytes that one group takes at a link direction: histograms of delays and losses, mostly empty.
const GROUP_AT_LINK: u64 = 560;
/// Bytes that one flow takes in a discipline that keeps state per flow.
const FLOW_IN_DISCIPLINE: u64 = 150;
/// Bytes of a link direction, without its tables.
const LINK: u64 = 4096;
/// Rows over time: five quantities of a group, and about six of a compared link, gauges included.
const QUANTITIES: u64 = 6;
/// Most packets that a queue is expected to hold: a limit above them usually means none.
const QUEUED: f64 = 100_000.0;

/// One item of a run's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryUse {
    /// What takes the memory, as words of a sentence.
    pub what: String,
    /// The key of the scenario to lower.
    pub key: String,
    /// Estimated bytes.
    pub bytes: u64,
}

/// The memory of a run of `scenario` with `qdisc` at the compared links, the largest item first. Allocates no table of
/// the registry's disciplines.
pub fn estimate_memory(scenario: &Scenario, qdisc: &Qdisc, external: &impl ExternalDisciplines) -> Vec<MemoryUse> {
    let crossing = crossing_flows(scenario);
    let mut items = vec![
        flows(scenario),
        flows_at_links(scenario, crossing.iter().sum()),
        groups_at_links(scenario),
        over_time(scenario),
        queues(scenario, qdisc, &crossing),
    ];
    items.extend(tables(scenario, qdisc, &crossing, external));
    items.sort_by_key(|item| core::cmp::Reverse(item.bytes));
    items
}

/// The number of flows whose data crosses each link direction, by [`Hop::number`].
fn crossing_flows(scenario: &Scenario) -> Vec<u64> {
    let mut crossing = vec![0; scenario.hops().count()];
    for group in scenario.groups() {
        group.route.iter().for_each(|hop| crossing[usize::from(hop.number())] += u64::from(group.flows));
    }
    crossing
}

fn flows(scenario: &Scenario) -> MemoryUse {
    let of = |group: &Group<'_>| if group.kind == Kind::Tcp { TCP_FLOW } else { UDP_FLOW };
    let bytes: u64 = scenario.groups().map(|group| u64::from(group.flows) * of(&group)).sum();
    let calls = scenario.udp.iter().filter(|group| group.is_call());
    let calls: u64 = calls.map(|group| u64::from(group.flows) * call(group)).sum();
    MemoryUse { what: format!("{} flows", scenario.total_flows()), key: most_flows(scenario), bytes: bytes + calls }
}

/// Bytes of a call beyond a UDP flow: its controller and frames, and the packets of the last seconds in a buffer that
/// doubles.
fn call(group: &UdpGroup) -> u64 {
    let packets = CALL_HISTORY_SECONDS * group.most().as_bits() / 8 / u64::from(group.packet);
    CALL + 2 * CALL_PACKET * packets
}

/// The key of the group with the most flows.
fn most_flows(scenario: &Scenario) -> String {
    let largest = scenario.groups().max_by_key(|group| group.flows).expect("a scenario has a group");
    format!("{}.{}.flows", largest.kind.name(), largest.name)
}

fn flows_at_links(scenario: &Scenario, crossings: u64) -> MemoryUse {
    let identities = if scenario.classifies() { scenario.hops().count() * size_of::<Identity>() } else { 0 };
    let bytes = crossings * FLOW_AT_LINK + identities as u64 * u64::from(scenario.total_flows());
    MemoryUse { what: format!("counts of flows at {}", links(scenario)), key: most_flows(scenario), bytes }
}

/// A number and its noun: "1 link", "2 links".
fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn links(scenario: &Scenario) -> String {
    counted(scenario.links.len() as u64, "link")
}

fn groups_at_links(scenario: &Scenario) -> MemoryUse {
    let (hops, groups) = (scenario.hops().count() as u64, scenario.groups().count() as u64);
    let what = format!("counts of {} at {}", counted(groups, "group"), links(scenario));
    MemoryUse { what, key: "link".into(), bytes: hops * (LINK + groups * GROUP_AT_LINK) }
}

fn over_time(scenario: &Scenario) -> MemoryUse {
    let intervals = scenario.duration.as_nanos() / scenario.record.interval.as_nanos().max(1) + 1;
    let compared = scenario.hops().filter(|hop| scenario.direction_settings(*hop).qdisc.is_none()).count() as u64;
    let rows = intervals * (scenario.groups().count() as u64 + compared) * QUANTITIES;
    let what = format!("{intervals} rows of each metric over time");
    MemoryUse { what, key: "record.interval".into(), bytes: rows * size_of::<IntervalRow>() as u64 }
}

/// Full queues of all directions that carry data.
fn queues(scenario: &Scenario, qdisc: &Qdisc, crossing: &[u64]) -> MemoryUse {
    let packets = |hop: &Hop| packets_of(limit(scenario, *hop, qdisc), scenario.mean_packet());
    let carrying: Vec<Hop> = scenario.hops().filter(|hop| crossing[usize::from(hop.number())] > 0).collect();
    let total = carrying.iter().map(packets).sum::<f64>() as u64;
    let largest = carrying.iter().max_by(|a, b| packets(a).total_cmp(&packets(b))).expect("every flow crosses a link");
    let key = format!("link.{}.limit", scenario.links[usize::from(largest.link)].name);
    MemoryUse { what: format!("up to {total} queued packets"), key, bytes: total * size_of::<SimPacket>() as u64 }
}

fn packets_of(limit: Limit, mean_packet: u32) -> f64 {
    limit.packets(mean_packet).min(QUEUED)
}

/// The limit of a queue: the discipline's own, if it gives one.
fn limit(scenario: &Scenario, hop: Hop, compared: &Qdisc) -> Limit {
    let given = scenario.direction_settings(hop).limit;
    let settings = qdisc_at(scenario, hop, compared).settings_with(given);
    settings.iter().find(|(name, _)| *name == "limit").and_then(|(_, text)| Limit::parse(text).ok()).unwrap_or(given)
}

fn qdisc_at<'a>(scenario: &'a Scenario, hop: Hop, compared: &'a Qdisc) -> &'a Qdisc {
    scenario.direction_settings(hop).qdisc.as_ref().unwrap_or(compared)
}

/// Tables of each different discipline, with its state per flow.
fn tables(
    scenario: &Scenario,
    compared: &Qdisc,
    crossing: &[u64],
    external: &impl ExternalDisciplines,
) -> Vec<MemoryUse> {
    let mut found: Vec<(&Qdisc, MemoryUse, u64)> = Vec::new();
    for hop in scenario.hops() {
        let qdisc = qdisc_at(scenario, hop, compared);
        let index = found.iter().position(|(seen, ..)| *seen == qdisc).unwrap_or_else(|| {
            let key =
                scenario.direction_settings(hop).qdisc.as_ref().map_or("qdiscs".to_string(), |_| {
                    format!("link.{}.qdisc", scenario.links[usize::from(hop.link)].name)
                });
            // A discipline that cannot be built takes none: the run will say why.
            let bytes = table_bytes(qdisc, scenario, hop, external).unwrap_or(0) as u64;
            found.push((qdisc, MemoryUse { what: format!("tables of {}", shortened(qdisc)), key, bytes: 0 }, bytes));
            found.len() - 1
        });
        let (_, item, bytes) = &mut found[index];
        let per_flow = registry::find(&qdisc.name).is_ok_and(|entry| entry.keeps_flows(&pairs(&qdisc.settings)));
        item.bytes += *bytes + if per_flow { crossing[usize::from(hop.number())] * FLOW_IN_DISCIPLINE } else { 0 };
    }
    found.into_iter().map(|(_, item, _)| item).filter(|item| item.bytes > 0).collect()
}

/// `qdisc` as text. Of a long text, such as that of a hundred nested disciplines, the beginning.
fn shortened(qdisc: &Qdisc) -> String {
    const LONGEST: usize = 60;
    let text = qdisc.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
