//! SFQ: a hash, a list of queues, and round robin.

use std::collections::VecDeque;

use aqm::disciplines::{Sfq, SfqConfig};
use aqm::parts::keyed;
use aqm::{Cx, Discipline, FlowId, LinkInfo, Packet, Params, Rate, Rng, Sink, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::lengths::Lengths;

const KEY: u64 = 7;

#[derive(Clone, Copy, PartialEq)]
enum Sharing {
    Partitioned,
    Shared,
    Ns2,
}

/// The settings, in numbers.
#[derive(Clone, Copy)]
struct SfqNumbers {
    /// Limits in packets and in bytes; one is infinite.
    limit: (f64, f64),
    buckets: usize,
    sharing: Sharing,
    /// Bytes per turn; 0 for one packet.
    quantum: f64,
    /// Period in seconds, or infinite.
    perturb: f64,
    /// Whether queued packets move to their flow's new bucket.
    moves: bool,
    depth: usize,
    flows: usize,
    head_drop: bool,
    /// ns-2.35, queue/sfq.cc, SFQ::hash, with k the flow's number.
    ns2_hash: bool,
}

const PAPER: SfqNumbers = SfqNumbers {
    limit: (1000.0, f64::INFINITY),
    buckets: 16,
    sharing: Sharing::Partitioned,
    quantum: 0.0,
    perturb: f64::INFINITY,
    moves: true,
    depth: usize::MAX,
    flows: usize::MAX,
    head_drop: false,
    ns2_hash: false,
};

struct Plain {
    settings: SfqNumbers,
    key: u64,
    perturbed: u64,
    queues: Vec<VecDeque<Arrival>>,
    /// Nonempty buckets in the order of their turns, with their credits.
    turns: VecDeque<(usize, f64)>,
    /// Whether the first bucket has received its quantum for this turn.
    paid: bool,
    lengths: Lengths,
}

impl Plain {
    fn new(settings: SfqNumbers) -> Plain {
        let buckets = settings.buckets;
        Plain {
            settings,
            key: KEY,
            perturbed: 0,
            queues: vec![VecDeque::new(); buckets],
            turns: VecDeque::new(),
            paid: false,
            lengths: Lengths::new(settings.limit.0.is_finite()),
        }
    }

    fn bucket(&self, flow: u64) -> usize {
        if self.settings.ns2_hash {
            let k = flow as i64;
            let remainder = (k + (k >> 8) + !(k >> 4)) % ((2 << 19) - 1);
            return remainder.rem_euclid(self.settings.buckets as i64) as usize;
        }
        (keyed(self.key, FlowId(flow)) as f64 / 2f64.powi(64) * self.settings.buckets as f64) as usize
    }

    fn bytes(&self, bucket: usize) -> f64 {
        self.queues[bucket].iter().map(|packet| f64::from(packet.bytes)).sum()
    }

    fn held(&self) -> (f64, f64) {
        let all = 0..self.queues.len();
        (all.clone().map(|b| self.queues[b].len() as f64).sum(), all.map(|b| self.bytes(b)).sum())
    }

    fn changed(&mut self, bucket: usize) {
        self.lengths.changed(bucket as u64, &self.queues[bucket]);
    }

    fn add(&mut self, bucket: usize, packet: Arrival) {
        if self.queues[bucket].is_empty() {
            self.turns.push_back((bucket, 0.0));
            self.paid &= self.turns.len() > 1;
        }
        self.queues[bucket].push_back(packet);
        self.changed(bucket);
    }

    fn emptied(&mut self, bucket: usize) {
        if self.queues[bucket].is_empty() {
            let place = self.turns.iter().position(|(other, _)| *other == bucket).unwrap();
            self.paid &= place > 0;
            self.turns.remove(place);
        }
    }

    fn cut(&mut self, bucket: usize, why: Why) -> Decision {
        let queue = &mut self.queues[bucket];
        let packet = if self.settings.head_drop { queue.pop_front() } else { queue.pop_back() };
        self.changed(bucket);
        self.emptied(bucket);
        Decision::Dropped(packet.unwrap().number, why)
    }

    fn perturb(&mut self, now: f64, rng: &mut Rng) {
        let periods = ((now + 1e-12) / self.settings.perturb).floor() as u64;
        if periods == self.perturbed {
            return;
        }
        self.perturbed = periods;
        self.key = rng.bits();
        if !self.settings.moves {
            return;
        }
        self.turns.clear();
        self.paid = false;
        let waiting: Vec<Arrival> = self.queues.iter_mut().flat_map(|queue| queue.drain(..)).collect();
        (0..self.queues.len()).for_each(|bucket| self.changed(bucket));
        for packet in waiting {
            self.add(self.bucket(packet.flow), packet);
        }
    }

    fn refuses(&self, bucket: usize) -> Option<Why> {
        let used = self.queues[bucket].len();
        if used == 0 && self.turns.len() >= self.settings.flows {
            return Some(Why::Overflow);
        }
        // ns-2.35, queue/sfq.cc, SFQ::enque.
        let maxqueue = self.settings.limit.0.min(self.settings.limit.1 / 1000.0) as i64;
        let (used, left, buckets) = (used as i64, maxqueue - self.held().0 as i64, self.settings.buckets as i64);
        let drop = used >= left / 2 || (left < buckets && used > maxqueue / buckets) || left <= 0;
        let why = if left <= 0 { Why::Overflow } else { Why::FlowLimit };
        (self.settings.sharing == Sharing::Ns2 && drop).then_some(why)
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.perturb(now, rng);
        let bucket = self.bucket(packet.flow);
        if let Some(why) = self.refuses(bucket) {
            return vec![Decision::Dropped(packet.number, why)];
        }
        let mut decisions = Vec::new();
        let (packets, bytes) = self.settings.limit;
        let parts = self.settings.buckets as f64;
        // A bucket may hold its part, or as much as it held before, or this packet alone.
        let most_packets = (packets / parts).floor().max(self.queues[bucket].len() as f64).max(1.0);
        let most_bytes = (bytes / parts).floor().max(self.bytes(bucket)).max(f64::from(packet.bytes));
        self.add(bucket, packet);
        if self.queues[bucket].len() > self.settings.depth {
            decisions.push(self.cut(bucket, Why::FlowLimit));
        }
        while self.settings.sharing == Sharing::Partitioned
            && (self.queues[bucket].len() as f64 > most_packets || self.bytes(bucket) > most_bytes)
        {
            decisions.push(self.cut(bucket, Why::Overflow));
        }
        while self.held().0 > packets || self.held().1 > bytes {
            let loser = if self.settings.sharing == Sharing::Shared { self.lengths.longest() as usize } else { bucket };
            decisions.push(self.cut(loser, Why::Overflow));
        }
        decisions
    }

    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.perturb(now, rng);
        if self.turns.is_empty() {
            return Vec::new();
        }
        loop {
            let (bucket, credit) = &mut self.turns[0];
            let bucket = *bucket;
            if !self.paid {
                *credit += self.settings.quantum.max(1.0);
                self.paid = true;
            }
            if *credit > 0.0 {
                let packet = self.queues[bucket].pop_front().unwrap();
                *credit -= if self.settings.quantum > 0.0 { f64::from(packet.bytes) } else { 1.0 };
                self.changed(bucket);
                // SFQ::deque of ns-2 advances to the next bucket at once.
                if self.settings.sharing == Sharing::Ns2 && !self.queues[bucket].is_empty() {
                    self.turns.rotate_left(1);
                    self.paid = false;
                }
                self.emptied(bucket);
                return vec![Decision::Sent(packet.number)];
            }
            self.turns.rotate_left(1);
            self.paid = false;
        }
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("in use", self.turns.len() as u32)];
        for (bucket, queue) in self.queues.iter().enumerate().filter(|(_, queue)| !queue.is_empty()) {
            let credit = self.turns.iter().find(|(other, _)| *other == bucket).unwrap().1;
            state.push(entry(format!("packets {bucket}"), queue.len() as u32));
            state.push(entry(format!("bytes {bucket}"), self.bytes(bucket)));
            state.push(entry(format!("credit {bucket}"), credit));
        }
        state
    }
}

fn look(sfq: &Sfq<usize>, _: Time) -> NamedState {
    let buckets = sfq.buckets();
    let mut state = vec![entry("in use", buckets.in_use())];
    for bucket in 0..buckets.queues().queues() {
        let held = buckets.backlog_of(bucket);
        if let Some(credit) = buckets.credit(bucket) {
            state.push(entry(format!("packets {bucket}"), held.packets));
            state.push(entry(format!("bytes {bucket}"), held.bytes as f64));
            state.push(entry(format!("credit {bucket}"), credit as f64));
        }
    }
    state
}

fn check(settings: &[(&str, &str)], plain: SfqNumbers, traffic: TrafficMix) {
    let config = SfqConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, KEY);
    agree(Sfq::new(config, &link).unwrap(), Plain::new(plain), look, traffic);
}

#[test]
fn sfq_gives_each_bucket_its_part_as_the_papers_say() {
    check(&[("limit", "80p")], SfqNumbers { limit: (80.0, f64::INFINITY), ..PAPER }, TrafficMix::mixed(1));
    let blue = SfqNumbers { limit: (f64::INFINITY, 92_000.0), buckets: 46, head_drop: true, ..PAPER };
    check(&[("preset", "blue"), ("limit", "92KB"), ("headdrop", "on")], blue, TrafficMix::mixed(2));
}

#[test]
fn sfq_with_a_shared_buffer_drops_from_the_longest_bucket() {
    let linux = SfqNumbers {
        limit: (127.0, f64::INFINITY),
        buckets: 1024,
        sharing: Sharing::Shared,
        quantum: 1514.0,
        depth: 127,
        flows: 127,
        ..PAPER
    };
    check(&[("preset", "linux")], linux, TrafficMix::mixed(3));
    let tight = SfqNumbers { depth: 40, flows: 12, limit: (60.0, f64::INFINITY), quantum: 300.0, ..linux };
    let settings = [("preset", "linux"), ("depth", "40"), ("flows", "12"), ("limit", "60p"), ("quantum", "300B")];
    check(&settings, tight, TrafficMix::mixed(4));
    let bytes = SfqNumbers { limit: (f64::INFINITY, 60_000.0), head_drop: true, ..linux };
    check(&[("preset", "linux"), ("limit", "60KB"), ("head_drop", "on")], bytes, TrafficMix::mixed(5));
}

#[test]
fn sfq_changes_the_hash_function_and_keeps_queued_packets() {
    let settings = SfqNumbers { limit: (100.0, f64::INFINITY), buckets: 8, perturb: 0.1, ..PAPER };
    check(&[("limit", "100p"), ("buckets", "8"), ("perturb", "100ms")], settings, TrafficMix::mixed(6));
    let shared = SfqNumbers { sharing: Sharing::Shared, quantum: 1000.0, ..settings };
    let names = [("limit", "100p"), ("buckets", "8"), ("perturb", "100ms"), ("sharing", "shared"), ("quantum", "1KB")];
    check(&names, shared, TrafficMix::mixed(7));
    let stay = [("limit", "100p"), ("buckets", "8"), ("perturb", "100ms"), ("move_queued", "off")];
    check(&stay, SfqNumbers { moves: false, ..settings }, TrafficMix::mixed(12));
}

#[test]
fn sfq_as_in_ns2_lets_a_bucket_grow_to_half_the_free_room() {
    let ns2 = SfqNumbers { limit: (40.0, f64::INFINITY), sharing: Sharing::Ns2, ns2_hash: true, ..PAPER };
    check(&[("preset", "ns2")], ns2, TrafficMix::mixed(8));
    let keyed = SfqNumbers { ns2_hash: false, ..ns2 };
    check(&[("preset", "ns2"), ("hash", "keyed")], keyed, TrafficMix::mixed(10));
    let hash = SfqNumbers { ns2_hash: true, limit: (80.0, f64::INFINITY), buckets: 46, ..PAPER };
    check(&[("hash", "ns2"), ("limit", "80p"), ("buckets", "46")], hash, TrafficMix::mixed(11));
    let bytes = SfqNumbers { limit: (f64::INFINITY, 90_500.0), ..ns2 };
    check(&[("preset", "ns2"), ("limit", "90.5KB")], bytes, TrafficMix::mixed(9));
}

/// A queue of ns-2.35: 24 flows on a link of 800 kbit/s, from `traces/sfq-ns2.tcl`. A line has the event (arrival +,
/// departure -, drop d), the sum of the packet's source and destination, and its number.
const TRACE: &str = include_str!("../traces/sfq-ns2.txt");

#[test]
fn sfq_as_in_ns2_sends_and_drops_the_packets_of_a_trace_of_ns2() {
    #[derive(Default)]
    struct Drops(Vec<usize>);
    impl Sink<usize> for Drops {
        fn dropped(&mut self, packet: Packet<usize>, _: Why, _: Time) {
            self.0.push(packet.handle);
        }
        fn marked(&mut self, _: &Packet<usize>, _: Why, _: Time) {}
    }
    let config = SfqConfig::from_settings(&[("preset", "ns2")]).unwrap();
    let mut sfq = Sfq::new(config, &LinkInfo::new(Rate::from_bits(800_000), 1000, KEY)).unwrap();
    let (mut rng, mut drops, mut expected) = (Rng::new(1), Drops::default(), Vec::new());
    let mut sent = 0;
    for (line, event) in (1..).zip(TRACE.lines()) {
        let mut words = event.split(' ');
        let (kind, mut number) = (words.next().unwrap(), || words.next().unwrap().parse::<usize>().unwrap());
        let (sum, number) = (number(), number());
        let mut cx = Cx::new(Time::ZERO, &mut rng, &mut drops);
        match kind {
            "+" => sfq.enqueue(Packet::new(FlowId(sum as u64), 1000, number), &mut cx),
            "-" => {
                assert_eq!(sfq.dequeue(&mut cx).map(|packet| packet.handle), Some(number), "line {line}");
                sent += 1;
            }
            _ => expected.push(number),
        }
        assert!(kind == "+" || drops.0 == expected, "line {line}: {:?} not {:?}", drops.0.last(), expected.last());
    }
    assert!(sent > 500 && expected.len() > 200, "{sent} sent, {} dropped", expected.len());
}
