//! CAKE: `cake_enqueue`, `cake_dequeue`, `cake_drop` and `cake_hash` of Linux's `sch_cake.c`, with plain lists.
//!
//! Credits are exact fractions instead of dithered bytes. COBALT is that of its own oracle.

use std::collections::{BTreeMap, VecDeque};

use aqm::disciplines::{AckFilter, Cake, CakeConfig, Diffserv, FlowSet, Isolation, Rotation, Tin};
use aqm::parts::keyed;
use aqm::{CellFraming, FlowId, HostId, LinkInfo, Params, Rate, Rng, Why};

use super::cobalt::{Plain as PlainCobalt, seen as seen_loop};
use super::codel::nanos;
use super::lengths::Lengths;
use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, ack, agree, entry, headers};

const KEY: u64 = 7;
const QUEUES: u64 = 1024;

#[derive(Clone)]
struct PlainFlow {
    packets: VecDeque<(Arrival, i64)>,
    cobalt: PlainCobalt,
    set: FlowSet,
    /// In 1/65536 byte.
    credit: i64,
    source: u64,
    destination: u64,
}

/// Hosts at one end: hash and number of bulk flows, by slot.
type Hosts = BTreeMap<u64, (u64, i64)>;

struct PlainTin {
    cobalt: PlainCobalt,
    rate: Option<f64>,
    weight: i64,
    quantum: i64,
    deficit: i64,
    next: i64,
    tags: BTreeMap<u64, u64>,
    flows: BTreeMap<u64, PlainFlow>,
    sources: Hosts,
    destinations: Hosts,
    lists: [VecDeque<u64>; 3],
}

const NEW: usize = 0;
const OLD: usize = 1;
const DECAYING: usize = 2;

impl PlainTin {
    fn new(rate: Option<f64>, weight: i64) -> PlainTin {
        let bytes = rate.map_or(1514, |rate| ((rate as i64 / 8) >> 12).clamp(300, 1514));
        PlainTin {
            cobalt: PlainCobalt::new(usize::MAX, rate),
            rate,
            weight,
            quantum: bytes,
            deficit: 0,
            next: 0,
            tags: BTreeMap::new(),
            flows: BTreeMap::new(),
            sources: Hosts::new(),
            destinations: Hosts::new(),
            lists: Default::default(),
        }
    }

    fn set(&self, queue: u64) -> FlowSet {
        self.flows.get(&queue).map_or(FlowSet::Free, |flow| flow.set)
    }

    fn count(&self, sets: &[FlowSet]) -> u32 {
        self.flows.values().filter(|flow| sets.contains(&flow.set)).count() as u32
    }

    fn is_active(&self) -> bool {
        self.count(&[FlowSet::Sparse, FlowSet::SparseInDebt, FlowSet::Bulk]) > 0
    }

    /// `cake_hash`.
    fn queue_of(&mut self, hash: u64, source: u64, destination: u64, isolation: Isolation) -> u64 {
        let (set, own) = (hash % QUEUES / 8 * 8, hash % 8);
        let ways: Vec<u64> = (0..8).map(|i| set + (own + i) % 8).collect();
        let tagged = ways.iter().find(|way| self.tags.get(way) == Some(&hash));
        let empty = ways.iter().find(|way| self.set(**way) == FlowSet::Free);
        let queue = *tagged.or(empty).unwrap_or(&ways[0]);
        let shared = tagged.is_none() && empty.is_none();
        self.tags.insert(queue, hash);
        let idle = PlainFlow {
            packets: VecDeque::new(),
            cobalt: self.cobalt.clone(),
            set: FlowSet::Free,
            credit: 0,
            source: 0,
            destination: 0,
        };
        let flow = self.flows.entry(queue).or_insert(idle);
        if flow.set == FlowSet::Free || shared {
            let moves = if flow.set == FlowSet::Bulk { 1 } else { 0 };
            if isolates_sources(isolation) {
                count(&mut self.sources, flow.source, -moves);
                flow.source = host(&mut self.sources, source);
                count(&mut self.sources, flow.source, moves);
            }
            if isolates_destinations(isolation) {
                count(&mut self.destinations, flow.destination, -moves);
                flow.destination = host(&mut self.destinations, destination);
                count(&mut self.destinations, flow.destination, moves);
            }
        }
        queue
    }

    fn turn(&self, queue: u64, isolation: Isolation) -> i64 {
        let (flow, mut load) = (&self.flows[&queue], 1);
        if isolates_sources(isolation) {
            load = load.max(self.sources[&flow.source].1);
        }
        if isolates_destinations(isolation) {
            load = load.max(self.destinations[&flow.destination].1);
        }
        self.quantum * 65536 / load
    }

    fn becomes(&mut self, queue: u64, set: FlowSet, isolation: Isolation) {
        let flow = self.flows.get_mut(&queue).unwrap();
        let change = i64::from(set == FlowSet::Bulk) - i64::from(flow.set == FlowSet::Bulk);
        flow.set = set;
        if isolates_sources(isolation) {
            count(&mut self.sources, flow.source, change);
        }
        if isolates_destinations(isolation) {
            count(&mut self.destinations, flow.destination, change);
        }
    }

    fn goes(&mut self, queue: u64, list: Option<usize>) {
        self.lists.iter_mut().for_each(|list| list.retain(|member| *member != queue));
        if let Some(list) = list {
            self.lists[list].push_back(queue);
        }
    }
}

fn isolates_sources(isolation: Isolation) -> bool {
    isolation == Isolation::DualSrchost || isolation == Isolation::TripleIsolate
}

fn isolates_destinations(isolation: Isolation) -> bool {
    isolation == Isolation::DualDsthost || isolation == Isolation::TripleIsolate
}

fn host(hosts: &mut Hosts, hash: u64) -> u64 {
    let (set, own) = (hash % QUEUES / 8 * 8, hash % 8);
    let ways: Vec<u64> = (0..8).map(|i| set + (own + i) % 8).collect();
    let tagged = ways.iter().find(|way| hosts.get(way).is_some_and(|(tag, _)| *tag == hash));
    let idle = ways.iter().find(|way| hosts.get(way).is_none_or(|(_, flows)| *flows == 0));
    let slot = *tagged.or(idle).unwrap_or(&ways[0]);
    hosts.entry(slot).or_insert((hash, 0)).0 = hash;
    slot
}

fn count(hosts: &mut Hosts, slot: u64, change: i64) {
    if change != 0 {
        hosts.get_mut(&slot).unwrap().1 += change;
    }
}

struct Plain {
    config: CakeConfig,
    limit: u64,
    tins: Vec<PlainTin>,
    tin_of: fn(u8) -> usize,
    turn: usize,
    opens: i64,
    lengths: Lengths,
}

impl Plain {
    fn packets(&self) -> usize {
        self.tins.iter().flat_map(|tin| tin.flows.values()).map(|flow| flow.packets.len()).sum()
    }

    fn bytes(&self) -> u64 {
        let flows = self.tins.iter().flat_map(|tin| tin.flows.values());
        flows.flat_map(|flow| &flow.packets).map(|(packet, _)| u64::from(packet.bytes)).sum()
    }

    fn measure(&mut self, tin: usize, queue: u64) {
        let packets = self.tins[tin].flows[&queue].packets.iter().map(|(packet, _)| packet);
        self.lengths.changed(tin as u64 * QUEUES + queue, packets);
    }

    fn wire(&self, bytes: u32) -> i64 {
        let framed = (i64::from(bytes) + i64::from(self.config.overhead)).max(self.config.mpu.0 as i64);
        match self.config.framing {
            CellFraming::Noatm => framed,
            CellFraming::Atm => (framed + 47) / 48 * 53,
            CellFraming::Ptm => framed + (framed + 63) / 64,
        }
    }

    /// The place of the acknowledgement to drop, for traffic whose acknowledgements are all pure and of one flag.
    fn filtered(&self, tin: usize, queue: u64) -> Option<usize> {
        let packets = &self.tins[tin].flows[&queue].packets;
        let ack = |(packet, _): &(Arrival, i64)| ack(FlowId(packet.flow), packet.bytes, packet.number);
        let newest = ack(packets.back()?)?;
        let older = packets.iter().take(packets.len() - 1).map(ack).collect::<Vec<_>>();
        let before = |other: &Option<aqm::AckHeader>| {
            other.is_some_and(|other| other.connection == newest.connection && other.number < newest.number)
        };
        let eligible: Vec<usize> = (0..older.len()).filter(|place| before(&older[*place])).collect();
        match (self.config.ack_filter, eligible.len()) {
            (AckFilter::Off, _) | (_, 0) => None,
            (AckFilter::Aggressive, 1) => (eligible[0] + 1 == older.len()).then_some(eligible[0]),
            (_, 1) => None,
            _ => Some(eligible[0]),
        }
    }

    fn choose(&mut self, now: i64) -> Option<usize> {
        if !self.tins.iter().any(PlainTin::is_active) {
            return None;
        }
        if self.config.bandwidth.is_none() {
            while self.tins[self.turn].deficit < 0 || !self.tins[self.turn].is_active() {
                let tin = &mut self.tins[self.turn];
                if tin.deficit <= 0 {
                    tin.deficit += tin.weight;
                }
                self.turn = (self.turn + 1) % self.tins.len();
            }
            return Some(self.turn);
        }
        let (mut best, mut best_time) = (None, i64::MAX);
        for (number, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
            let time = tin.next - now;
            if time <= 0 || time <= best_time {
                (best, best_time) = (Some(number), time);
            }
        }
        best
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, _: &mut Rng) -> Vec<Decision> {
        let (mut said, now, isolation) = (Vec::new(), nanos(now), self.config.isolation);
        let fields = headers(FlowId(packet.flow));
        let end = |end: u32, HostId(host): HostId| keyed(KEY.rotate_left(21 * end), FlowId(host));
        let (source, destination) = (end(1, fields.source), end(2, fields.destination));
        let hash = match isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => source,
            Isolation::Dsthost => destination,
            Isolation::Hosts => source ^ destination,
            _ => keyed(KEY, FlowId(packet.flow)),
        };
        let number = (self.tin_of)(fields.dscp);
        let none = self.packets() == 0;
        let tin = &mut self.tins[number];
        let queue = tin.queue_of(hash, source, destination, isolation);
        if tin.flows.values().all(|flow| flow.packets.is_empty()) {
            tin.next = tin.next.max(now);
        }
        if none {
            self.opens = self.opens.max(now);
        }
        let flow = tin.flows.get_mut(&queue).unwrap();
        flow.cobalt.watchdog(now);
        flow.cobalt.queued();
        flow.packets.push_back((packet, now));
        self.measure(number, queue);
        if let Some(place) = self.filtered(number, queue) {
            let (ack, _) = self.tins[number].flows.get_mut(&queue).unwrap().packets.remove(place).unwrap();
            said.push(Decision::Dropped(ack.number, Why::AckFilter));
            self.measure(number, queue);
        }
        let tin = &mut self.tins[number];
        match tin.set(queue) {
            FlowSet::Free | FlowSet::Decaying => {
                tin.becomes(queue, FlowSet::Sparse, isolation);
                tin.goes(queue, Some(NEW));
                let turn = tin.turn(queue, isolation);
                tin.flows.get_mut(&queue).unwrap().credit = turn;
            }
            FlowSet::SparseInDebt => tin.becomes(queue, FlowSet::Bulk, isolation),
            FlowSet::Sparse | FlowSet::Bulk => {}
        }
        while self.bytes() > self.limit {
            let longest = self.lengths.longest();
            let (number, queue) = ((longest / QUEUES) as usize, longest % QUEUES);
            let flow = self.tins[number].flows.get_mut(&queue).unwrap();
            let (dropped, _) = flow.packets.pop_front().unwrap();
            flow.cobalt.queue_full(now);
            said.push(Decision::Dropped(dropped.number, Why::FlowLimit));
            self.measure(number, queue);
        }
        said
    }

    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let (mut said, now, isolation) = (Vec::new(), nanos(now), self.config.isolation);
        let mut first = true;
        'begin: loop {
            if self.packets() == 0 || self.opens > now {
                return said;
            }
            let Some(number) = self.choose(now) else { return said };
            let tin = &mut self.tins[number];
            let queue = loop {
                let polled = if first { tin.lists[DECAYING].front() } else { None };
                first = false;
                let next = polled.or(tin.lists[NEW].front()).or(tin.lists[OLD].front()).or(tin.lists[DECAYING].front());
                let Some(queue) = next.copied() else { continue 'begin };
                if tin.flows[&queue].credit > 0 {
                    break queue;
                }
                if tin.set(queue) == FlowSet::Sparse {
                    let empty = tin.flows[&queue].packets.is_empty();
                    tin.becomes(queue, if empty { FlowSet::SparseInDebt } else { FlowSet::Bulk }, isolation);
                }
                let turn = tin.turn(queue, isolation);
                tin.flows.get_mut(&queue).unwrap().credit += turn;
                tin.goes(queue, Some(OLD));
            };
            let flow = tin.flows.get_mut(&queue).unwrap();
            while let Some((packet, arrived)) = flow.packets.pop_front() {
                let (drop, marked, why) = flow.cobalt.should_drop(packet, arrived, now, rng);
                if drop && !flow.packets.is_empty() {
                    said.push(Decision::Dropped(packet.number, why));
                    self.lengths.changed(number as u64 * QUEUES + queue, flow.packets.iter().map(|(packet, _)| packet));
                    continue;
                }
                if marked {
                    said.push(Decision::Marked(packet.number, Why::Sojourn));
                }
                said.push(Decision::Sent(packet.number));
                self.measure(number, queue);
                let bytes = self.wire(packet.bytes);
                let takes = |rate: f64| (bytes as f64 * 8e9 / rate).ceil() as i64;
                let tin = &mut self.tins[number];
                tin.flows.get_mut(&queue).unwrap().credit -= bytes * 65536;
                tin.deficit -= bytes;
                if let Some(rate) = self.config.bandwidth {
                    let takes_here = takes(tin.rate.unwrap());
                    if tin.next < now {
                        tin.next += takes_here;
                    } else if tin.next < now + takes_here {
                        tin.next = now + takes_here;
                    }
                    self.opens += takes(rate.as_bits() as f64);
                }
                return said;
            }
            flow.cobalt.found_empty(now);
            if flow.cobalt.p_drop > 0.0 || flow.cobalt.count > 0 || now < flow.cobalt.drop_next {
                tin.becomes(queue, FlowSet::Decaying, isolation);
                tin.goes(queue, Some(DECAYING));
            } else {
                tin.becomes(queue, FlowSet::Free, isolation);
                tin.goes(queue, None);
            }
        }
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("opens", self.opens as f64)];
        for tin in &self.tins {
            state.push(entry("next", tin.next as f64));
            state.push(entry("deficit", tin.deficit as f64));
            state.push(entry("sparse", tin.count(&[FlowSet::Sparse, FlowSet::SparseInDebt])));
            state.push(entry("bulk", tin.count(&[FlowSet::Bulk])));
            for (list, members) in tin.lists.iter().enumerate() {
                for queue in members {
                    let flow = &tin.flows[queue];
                    state.push(entry(format!("{list} {:?} {}", flow.set, queue), (flow.credit / 65536) as f64));
                    state.extend(flow.cobalt.loop_state());
                }
            }
        }
        state
    }
}

fn seen(cake: &Cake<usize>) -> NamedState {
    let mut state = vec![entry("opens", cake.opens().as_nanos() as f64)];
    for tin in cake.tins() {
        state.extend(seen_tin(tin));
    }
    state
}

fn seen_tin(tin: &Tin) -> NamedState {
    let mut state = vec![
        entry("next", tin.next.as_nanos() as f64),
        entry("deficit", tin.deficit as f64),
        entry("sparse", tin.sparse),
        entry("bulk", tin.bulk),
    ];
    for (list, rotation) in [Rotation::New, Rotation::Old, Rotation::Decaying].into_iter().enumerate() {
        for (queue, set, credit) in tin.members(rotation) {
            state.push(entry(format!("{list} {set:?} {queue}"), credit as f64));
            state.extend(seen_loop(&tin.loops[queue]));
        }
    }
    state
}

fn check(settings: &[(&str, &str)], tins: Vec<PlainTin>, tin_of: fn(u8) -> usize, traffic: TrafficMix) {
    let config = CakeConfig::from_settings(settings).unwrap();
    let aqm::Limit::Bytes(limit) = config.limit else { panic!("a limit in bytes") };
    let link = LinkInfo::new(Rate::from_bits(traffic.rate as u64), 1000, KEY);
    let discipline = Cake::<usize>::new(config.clone(), &link).unwrap();
    let plain = Plain { config, limit, tins, tin_of, turn: 0, opens: 0, lengths: Lengths::new(false) };
    agree(discipline, plain, |cake, _| seen(cake), TrafficMix { packets: traffic.packets.min(30_000), ..traffic });
}

/// The default tins with their codepoints in the harness's headers: 8 (CS1), 46 (EF) and others.
fn three(dscp: u8) -> usize {
    match dscp {
        8 => 1,
        46 => 2,
        _ => 0,
    }
}

fn shaped(rates: &[f64]) -> Vec<PlainTin> {
    rates.iter().map(|rate| PlainTin::new(Some(*rate), 0)).collect()
}

#[test]
fn cake_without_a_shaper_does_what_sch_cake_does() {
    let tins = || vec![PlainTin::new(None, 1024), PlainTin::new(None, 64), PlainTin::new(None, 256)];
    check(&[("limit", "600kB")], tins(), three, TrafficMix::mixed(1));
    check(&[("limit", "60kB"), ("isolation", "dual-srchost")], tins(), three, TrafficMix::mixed(2));
}

#[test]
fn cake_with_a_shaper_does_what_sch_cake_does() {
    let rates = [8e6, 0.5e6, 2e6];
    let shaper = ("bandwidth", "8Mbit/s");
    check(&[shaper, ("limit", "300kB")], shaped(&rates), three, TrafficMix::mixed(3));
    let filter = ("ack_filter", "ack-filter");
    let framed = [shaper, ("overhead", "40"), ("mpu", "64B"), ("framing", "atm"), filter, ("limit", "100kB")];
    check(&framed, shaped(&rates), three, TrafficMix::mixed(4));
    let aggressive = [shaper, ("framing", "ptm"), ("ack_filter", "ack-filter-aggressive"), ("limit", "100kB")];
    check(&aggressive, shaped(&rates), three, TrafficMix { hog: 0.05, ..TrafficMix::mixed(5) });
}

#[test]
fn cake_serves_hosts_and_flows_as_sch_cake_does() {
    let best_effort: fn(u8) -> usize = |_| 0;
    for (seed, isolation) in (6..).zip([
        "flowblind",
        "srchost",
        "dsthost",
        "hosts",
        "flows",
        "dual-srchost",
        "dual-dsthost",
        "triple-isolate",
    ]) {
        let settings =
            [("bandwidth", "8Mbit/s"), ("diffserv", "besteffort"), ("isolation", isolation), ("limit", "200kB")];
        let traffic = TrafficMix { flows: 60, packets: 6000, ..TrafficMix::mixed(seed) };
        check(&settings, shaped(&[8e6]), best_effort, traffic);
    }
    // Three flows for each queue: flows take over the queues of others.
    let crowd = TrafficMix { flows: 3000, hog: 0.01, loads: &[4.0], packets: 4000, ..TrafficMix::mixed(14) };
    let settings = [("bandwidth", "8Mbit/s"), ("diffserv", "besteffort"), ("limit", "1500kB")];
    check(&settings, shaped(&[8e6]), best_effort, crowd);
}

#[test]
fn cakes_tins_are_those_of_sch_cake() {
    // Lists of "tin: codepoints" from the comments above the kernel's tables; all others are best effort.
    let tins = |diffserv: Diffserv, listed: &[(usize, &[u8])], other: usize| {
        for dscp in 0..64 {
            let expected = listed.iter().find(|(_, dscps)| dscps.contains(&dscp)).map_or(other, |(tin, _)| *tin);
            assert_eq!(diffserv.tin(dscp), expected, "{diffserv:?} {dscp}");
        }
    };
    tins(Diffserv::Besteffort, &[], 0);
    tins(Diffserv::Diffserv3, &[(1, &[1, 8]), (2, &[4, 44, 46, 48, 56])], 0);
    let video = [4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38];
    tins(Diffserv::Diffserv4, &[(1, &[1, 8]), (2, &video), (3, &[32, 40, 44, 46, 48, 56])], 0);
    let eight: [(usize, &[u8]); 7] = [
        (0, &[1]),
        (1, &[2, 8, 10, 12, 14]),
        (3, &[24, 26, 28, 30, 34, 36, 38]),
        (4, &[4, 18, 20, 22]),
        (5, &[16]),
        (6, &[32, 40, 44, 46]),
        (7, &[48, 56]),
    ];
    tins(Diffserv::Diffserv8, &eight, 2);
    (0..64).for_each(|dscp| assert_eq!(Diffserv::Precedence.tin(dscp), usize::from(dscp) / 8));
}
