//! FQ: self-clocked fair queueing as Golestani states it, a tag for every packet at its arrival.

use std::collections::{BTreeMap, VecDeque};

use aqm::disciplines::{Fq, FqConfig};
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::lengths::Lengths;

const FLOWS: u64 = 21;

#[derive(Default)]
struct FqFlow {
    /// Packets with their service tags.
    queue: VecDeque<(Arrival, f64)>,
    /// The tag of the last packet served in this busy period.
    served: f64,
    /// The number of the head: heads are numbered in the order in which packets become heads.
    since: u64,
}

struct Plain {
    /// Limits in packets and in bytes; one is infinite.
    limit: (f64, f64),
    flows: BTreeMap<u64, FqFlow>,
    /// The tag of the packet in service.
    v: f64,
    /// Number of packets that have become heads.
    heads: u64,
    lengths: Lengths,
}

impl Plain {
    fn new(limit: (f64, f64)) -> Plain {
        Plain { limit, flows: BTreeMap::new(), v: 0.0, heads: 0, lengths: Lengths::new(limit.0.is_finite()) }
    }

    fn full(&self) -> bool {
        let all = || self.flows.values().flat_map(|flow| &flow.queue);
        let bytes = all().map(|(packet, _)| f64::from(packet.bytes)).sum::<f64>();
        all().count() as f64 > self.limit.0 || bytes > self.limit.1
    }

    fn changed(&mut self, flow: u64) {
        self.lengths.changed(flow, self.flows[&flow].queue.iter().map(|(packet, _)| packet));
    }

    fn waiting(&self) -> impl Iterator<Item = (u64, &FqFlow)> {
        self.flows.iter().filter(|(_, flow)| !flow.queue.is_empty()).map(|(name, flow)| (*name, flow))
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, _: f64, _: &mut Rng) -> Vec<Decision> {
        let v = self.v;
        let flow = self.flows.entry(packet.flow).or_default();
        if flow.queue.is_empty() {
            self.heads += 1;
            flow.since = self.heads;
        }
        // F = L/r + max(F of the packet before, v), with r = 1.
        let before = flow.queue.back().map_or(flow.served, |(_, tag)| *tag);
        flow.queue.push_back((packet, f64::from(packet.bytes) + before.max(v)));
        self.changed(packet.flow);
        let mut decisions = Vec::new();
        while self.full() {
            let longest = self.lengths.longest();
            let (dropped, _) = self.flows.get_mut(&longest).unwrap().queue.pop_back().unwrap();
            decisions.push(Decision::Dropped(dropped.number, Why::Overflow));
            self.changed(longest);
        }
        decisions
    }

    fn depart(&mut self, _: f64, _: &mut Rng) -> Vec<Decision> {
        let key = |flow: &FqFlow| (flow.queue[0].1, flow.since);
        let Some((name, _)) = self.waiting().min_by(|(_, a), (_, b)| key(a).partial_cmp(&key(b)).unwrap()) else {
            return Vec::new();
        };
        let flow = self.flows.get_mut(&name).unwrap();
        let (packet, tag) = flow.queue.pop_front().unwrap();
        self.heads += 1;
        (flow.served, flow.since) = (tag, self.heads);
        self.v = tag;
        self.changed(name);
        if self.waiting().next().is_none() {
            // At the end of a busy period, virtual time starts again.
            self.v = 0.0;
            self.flows.clear();
        }
        vec![Decision::Sent(packet.number)]
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("waiting", self.waiting().count() as u32), entry("v", self.v)];
        for (name, flow) in self.waiting() {
            state.push(entry(format!("packets {name}"), flow.queue.len() as u32));
            state.push(entry(format!("tag {name}"), flow.queue[0].1));
        }
        state
    }
}

fn look(fq: &Fq<usize>, _: Time) -> NamedState {
    let mut state = vec![entry("waiting", fq.in_use() as u32), entry("v", fq.virtual_time as f64)];
    for flow in 0..FLOWS {
        if let Some((held, tag)) = fq.flow(FlowId(flow)) {
            state.push(entry(format!("packets {flow}"), held.packets));
            state.push(entry(format!("tag {flow}"), tag as f64));
        }
    }
    state
}

#[test]
fn fq_sends_the_packet_with_the_smallest_tag() {
    let limits =
        [("100p", (100.0, f64::INFINITY)), ("15p", (15.0, f64::INFINITY)), ("60KB", (f64::INFINITY, 60_000.0))];
    for (seed, (limit, plain)) in limits.into_iter().enumerate() {
        let config = FqConfig::from_settings(&[("limit", limit)]).unwrap();
        let fq = Fq::new(config, &LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7)).unwrap();
        agree(fq, Plain::new(plain), look, TrafficMix::mixed(seed as u64));
    }
    let config = FqConfig::from_settings(&[("limit", "50p")]).unwrap();
    let fq = Fq::new(config, &LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7)).unwrap();
    agree(fq, Plain::new((50.0, f64::INFINITY)), look, TrafficMix::even(9));
}
