//! HHF: Linux's net/sched/sch_hhf.c, step by step, with an exact filter (a count for each flow). The deviations are
//! those of the discipline's page: the queued packets of a flow that becomes heavy move with it, and it stays heavy
//! while packets are queued.

use std::collections::{BTreeMap, VecDeque};

use aqm::disciplines::{HEAVY, Hhf, HhfConfig, LIGHT};
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

#[derive(Default)]
struct Bucket {
    packets: VecDeque<Arrival>,
    deficit: i64,
}

struct Plain {
    limit: usize,
    quantum: i64,
    weight: i64,
    /// Times in seconds.
    reset_timeout: f64,
    evict_timeout: f64,
    admit_bytes: u64,
    reset_timestamp: f64,
    filter: BTreeMap<u64, u64>,
    hit_timestamp: BTreeMap<u64, f64>,
    /// The heavy bucket, then the light one.
    buckets: [Bucket; 2],
    new_buckets: VecDeque<usize>,
    old_buckets: VecDeque<usize>,
    now: f64,
    flows: u64,
}

impl Plain {
    fn weight_of(&self, bucket: usize) -> i64 {
        if bucket == 0 { 1 } else { self.weight }
    }

    fn is_heavy(&self, flow: u64) -> bool {
        let waits = self.buckets[0].packets.iter().any(|packet| packet.flow == flow);
        // The tolerance is one part in a billion: the harness's clock counts whole nanoseconds.
        let fresh = |hit: &f64| self.now <= hit + self.evict_timeout + 1e-10;
        waits || self.hit_timestamp.get(&flow).is_some_and(fresh)
    }

    fn classify(&mut self, packet: &Arrival) -> usize {
        if self.now > self.reset_timestamp + self.reset_timeout + 1e-10 {
            self.filter.clear();
            self.reset_timestamp = self.now;
        }
        if self.is_heavy(packet.flow) {
            self.hit_timestamp.insert(packet.flow, self.now);
            return 0;
        }
        self.hit_timestamp.remove(&packet.flow);
        let counter = self.filter.entry(packet.flow).or_default();
        if *counter + u64::from(packet.bytes) <= self.admit_bytes {
            *counter += u64::from(packet.bytes);
            return 1;
        }
        self.hit_timestamp.insert(packet.flow, self.now);
        let (moving, staying): (Vec<Arrival>, Vec<Arrival>) =
            self.buckets[1].packets.iter().partition(|other| other.flow == packet.flow);
        self.buckets[1].packets = staying.into();
        self.buckets[0].packets.extend(moving);
        0
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.now = now;
        let bucket = self.classify(&packet);
        self.buckets[bucket].packets.push_back(packet);
        if !self.new_buckets.contains(&bucket) && !self.old_buckets.contains(&bucket) {
            self.buckets[bucket].deficit = self.weight_of(bucket) * self.quantum;
            if bucket == 0 { self.old_buckets.push_back(0) } else { self.new_buckets.push_back(1) }
        }
        if self.buckets.iter().map(|bucket| bucket.packets.len()).sum::<usize>() <= self.limit {
            return Vec::new();
        }
        let victims = if self.buckets[0].packets.is_empty() { 1 } else { 0 };
        let victim = self.buckets[victims].packets.pop_front().unwrap();
        vec![Decision::Dropped(victim.number, Why::Overflow)]
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.now = now;
        loop {
            let from_new = !self.new_buckets.is_empty();
            let list = if from_new { &mut self.new_buckets } else { &mut self.old_buckets };
            let Some(bucket) = list.front().copied() else { return Vec::new() };
            if self.buckets[bucket].deficit <= 0 {
                list.pop_front();
                self.old_buckets.push_back(bucket);
                self.buckets[bucket].deficit += self.weight_of(bucket) * self.quantum;
                continue;
            }
            if let Some(packet) = self.buckets[bucket].packets.pop_front() {
                self.buckets[bucket].deficit -= i64::from(packet.bytes);
                return vec![Decision::Sent(packet.number)];
            }
            list.pop_front();
            if from_new && !self.old_buckets.is_empty() {
                self.old_buckets.push_back(bucket);
            }
        }
    }

    fn state(&self) -> NamedState {
        let listed = |bucket: usize| self.new_buckets.contains(&bucket) || self.old_buckets.contains(&bucket);
        let deficit = |bucket| if listed(bucket) { self.buckets[bucket].deficit as f64 } else { f64::NEG_INFINITY };
        let heavy = (0..=self.flows).map(|flow| entry(format!("heavy {flow}"), u8::from(self.is_heavy(flow))));
        let counted = |flow: u64| self.filter.get(&flow).copied().unwrap_or(0) as f64;
        let counted = (0..=self.flows).map(|flow| entry(format!("counted {flow}"), counted(flow)));
        let buckets = [0, 1].map(|bucket| entry("packets", self.buckets[bucket].packets.len() as u32));
        let deficits = [0, 1].map(|bucket| entry("deficit", deficit(bucket)));
        buckets.into_iter().chain(deficits).chain(heavy).chain(counted).collect()
    }
}

fn look(queue: &Hhf<usize>, now: Time, flows: u64) -> NamedState {
    let deficit = |class| queue.credit(class).map_or(f64::NEG_INFINITY, |credit| credit as f64);
    let heavy = (0..=flows).map(|flow| entry(format!("heavy {flow}"), u8::from(queue.is_heavy(FlowId(flow), now))));
    let counted = (0..=flows).map(|flow| entry(format!("counted {flow}"), queue.counted(FlowId(flow)) as f64));
    let buckets = [HEAVY, LIGHT].map(|class| entry("packets", queue.backlog_of(class).packets));
    let deficits = [HEAVY, LIGHT].map(|class| entry("deficit", deficit(class)));
    buckets.into_iter().chain(deficits).chain(heavy).chain(counted).collect()
}

/// Linux's parameters, except `limit` and `admit_bytes`.
fn case(
    settings: &[(&str, &str)],
    limit: usize,
    admit_bytes: u64,
    change: impl Fn(Plain) -> Plain,
    traffic: TrafficMix,
) {
    let given = [("limit", &*format!("{limit}p")), ("admit_bytes", &*format!("{admit_bytes}B"))];
    let config = HhfConfig::from_settings(&[&given[..], settings].concat()).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    let plain = Plain {
        limit,
        quantum: 1514,
        weight: 2,
        reset_timeout: 0.04,
        evict_timeout: 1.0,
        admit_bytes,
        reset_timestamp: 0.0,
        filter: BTreeMap::new(),
        hit_timestamp: BTreeMap::new(),
        buckets: Default::default(),
        new_buckets: VecDeque::new(),
        old_buckets: VecDeque::new(),
        now: 0.0,
        flows: traffic.flows,
    };
    agree(Hhf::new(config, &link).unwrap(), change(plain), |queue, now| look(queue, now, traffic.flows), traffic);
}

#[test]
fn hhf_on_a_link_of_10_mbits_with_linuxs_other_parameters() {
    case(&[], 100, 8000, |plain| plain, TrafficMix::mixed(1));
}

#[test]
fn hhf_with_flows_that_are_found_and_forgotten_all_the_time() {
    let change = |plain| Plain { reset_timeout: 0.01, evict_timeout: 0.005, ..plain };
    let settings = [("reset_timeout", "10ms"), ("evict_timeout", "5ms")];
    case(&settings, 40, 2500, change, TrafficMix { loads: &[0.3, 0.9, 1.2], ..TrafficMix::mixed(2) });
}

#[test]
fn hhf_with_other_weights_and_a_small_buffer() {
    let change = |plain| Plain { quantum: 300, weight: 5, ..plain };
    let settings = [("quantum", "300B"), ("non_hh_weight", "5")];
    case(&settings, 12, 6000, change, TrafficMix { flows: 8, ..TrafficMix::mixed(3) });
}
