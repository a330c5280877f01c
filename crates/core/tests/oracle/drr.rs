//! DRR: figure 2 of Shreedhar and Varghese, one packet at a time.

use std::collections::{BTreeMap, VecDeque};

use aqm::disciplines::{Drr, DrrConfig};
use aqm::parts::keyed;
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::lengths::Lengths;

const KEY: u64 = 7;
const FLOWS: u64 = 21;

struct Plain {
    /// Limits in packets and in bytes; one is infinite.
    limit: (f64, f64),
    quantum: u64,
    buckets: Option<f64>,
    head_drop: bool,
    queues: BTreeMap<u64, VecDeque<Arrival>>,
    active_list: VecDeque<u64>,
    deficit_counter: BTreeMap<u64, u64>,
    /// Whether the first queue of the active list has received its quantum.
    serving: bool,
    lengths: Lengths,
}

impl Plain {
    fn new(limit: (f64, f64), quantum: u64, buckets: Option<f64>, head_drop: bool) -> Plain {
        Plain {
            limit,
            quantum,
            buckets,
            head_drop,
            queues: BTreeMap::new(),
            active_list: VecDeque::new(),
            deficit_counter: BTreeMap::new(),
            serving: false,
            lengths: Lengths::new(limit.0.is_finite()),
        }
    }

    /// The paper's ExtractFlow.
    fn queue(&self, flow: u64) -> u64 {
        self.buckets.map_or(flow, |buckets| (keyed(KEY, FlowId(flow)) as f64 / 2f64.powi(64) * buckets) as u64)
    }

    fn full(&self) -> bool {
        let all = || self.queues.values().flatten();
        all().count() as f64 > self.limit.0 || all().map(|packet| f64::from(packet.bytes)).sum::<f64>() > self.limit.1
    }

    /// After a packet of queue `i` has left: an empty queue leaves the active list, with DC = 0.
    fn left(&mut self, i: u64) {
        self.lengths.changed(i, &self.queues[&i]);
        if self.queues[&i].is_empty() {
            self.queues.remove(&i);
            self.serving &= self.active_list[0] != i;
            self.active_list.retain(|other| *other != i);
            self.deficit_counter.remove(&i);
        }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, _: f64, _: &mut Rng) -> Vec<Decision> {
        let i = self.queue(packet.flow);
        if !self.active_list.contains(&i) {
            self.active_list.push_back(i);
            self.deficit_counter.insert(i, 0);
        }
        self.queues.entry(i).or_default().push_back(packet);
        self.lengths.changed(i, &self.queues[&i]);
        let mut decisions = Vec::new();
        while self.full() {
            let longest = self.lengths.longest();
            let queue = self.queues.get_mut(&longest).unwrap();
            let dropped = if self.head_drop { queue.pop_front() } else { queue.pop_back() };
            decisions.push(Decision::Dropped(dropped.unwrap().number, Why::Overflow));
            self.left(longest);
        }
        decisions
    }

    fn depart(&mut self, _: f64, _: &mut Rng) -> Vec<Decision> {
        while let Some(i) = self.active_list.front().copied() {
            let deficit = self.deficit_counter.get_mut(&i).unwrap();
            if !self.serving {
                *deficit += self.quantum;
                self.serving = true;
            }
            let head = self.queues[&i][0];
            if u64::from(head.bytes) <= *deficit {
                *deficit -= u64::from(head.bytes);
                self.queues.get_mut(&i).unwrap().pop_front();
                self.left(i);
                return vec![Decision::Sent(head.number)];
            }
            self.active_list.rotate_left(1);
            self.serving = false;
        }
        Vec::new()
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("active", self.active_list.len() as u32)];
        for flow in 0..FLOWS {
            let i = self.queue(flow);
            if let Some(queue) = self.queues.get(&i) {
                state.push(entry(format!("packets {flow}"), queue.len() as u32));
                state.push(entry(format!("deficit {flow}"), self.deficit_counter[&i] as f64));
            }
        }
        state
    }
}

fn look(drr: &Drr<usize>, _: Time) -> NamedState {
    let mut state = vec![entry("active", drr.in_use() as u32)];
    for flow in 0..FLOWS {
        if let Some((held, deficit)) = drr.flow(FlowId(flow)) {
            state.push(entry(format!("packets {flow}"), held.packets));
            state.push(entry(format!("deficit {flow}"), deficit as f64));
        }
    }
    state
}

fn check(settings: &[(&str, &str)], plain: Plain, traffic: TrafficMix) {
    let config = DrrConfig::from_settings(settings).unwrap();
    let drr = Drr::new(config, &LinkInfo::new(Rate::from_bits(10_000_000), 1000, KEY)).unwrap();
    agree(drr, plain, look, traffic);
}

#[test]
fn drr_serves_a_queue_for_each_flow_by_its_deficit() {
    let packets = |n: f64| (n, f64::INFINITY);
    check(&[("limit", "100p")], Plain::new(packets(100.0), 1500, None, false), TrafficMix::mixed(1));
    let small = Plain::new(packets(30.0), 300, None, true);
    check(&[("limit", "30p"), ("quantum", "300B"), ("head_drop", "on")], small, TrafficMix::mixed(2));
    let smaller = Plain::new((f64::INFINITY, 60_000.0), 40, None, false);
    check(&[("limit", "60KB"), ("quantum", "40B")], smaller, TrafficMix::mixed(3));
}

#[test]
fn drr_serves_buckets_as_in_ns2() {
    check(&[("preset", "ns2")], Plain::new((f64::INFINITY, 25_000.0), 250, Some(10.0), true), TrafficMix::mixed(4));
}
