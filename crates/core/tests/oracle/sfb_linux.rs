//! Linux's SFB (6.1, net/sched/sch_sfb.c), compared with the preset `linux`: the steps of `sfb_enqueue`, its
//! probabilities in units of 1/65535, the bucket of `sfb_rate_limit`, and its counters.
//!
//! Three parts are the crate's: the hash of each level, the random draws before they are cut to 16 bits, and the times
//! at which the hash functions change. The crate changes them at whole multiples of the period, Linux at the first
//! arrival after a period. Jiffies are nanoseconds.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use aqm::disciplines::{Sfb, SfbConfig};
use aqm::parts::{Limiter, keyed};
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

const KEY: u64 = 7;
const LEVELS: usize = 8;
const BUCKETS: usize = 16;
/// Probability 1.
const MAX_PROB: i64 = 65_535;
const SECOND: u64 = 1_000_000_000;

/// tc's options.
#[derive(Clone, Copy)]
struct TcOptions {
    limit: usize,
    max: usize,
    target: usize,
    increment: i64,
    decrement: i64,
    penalty_rate: u64,
    penalty_burst: u64,
    rehash: u64,
    db: u64,
}

/// tc's defaults (iproute2 6.1, tc/q_sfb.c): 0.0005 and 0.00005 are 33 and 3 units.
const TC: TcOptions = TcOptions {
    limit: 1000,
    max: 25,
    target: 20,
    increment: 33,
    decrement: 3,
    penalty_rate: 10,
    penalty_burst: 20,
    rehash: 600 * SECOND,
    db: 60 * SECOND,
};

#[derive(Clone, Copy, Default)]
struct Bucket {
    qlen: usize,
    p_mark: i64,
}

/// Linux's counters by name.
type Counters = Rc<RefCell<BTreeMap<&'static str, u32>>>;

struct SchSfb {
    tc: TcOptions,
    slots: [[[Bucket; BUCKETS]; LEVELS]; 2],
    slot: usize,
    swaps: u64,
    tokens_avail: u64,
    token_time: u64,
    now: u64,
    queue: VecDeque<(Arrival, [Option<[usize; LEVELS]>; 2])>,
    counters: Counters,
}

impl SchSfb {
    fn new(tc: TcOptions, counters: Counters) -> SchSfb {
        SchSfb {
            tc,
            slots: Default::default(),
            slot: 0,
            swaps: 0,
            tokens_avail: tc.penalty_burst,
            token_time: 0,
            now: 0,
            queue: VecDeque::new(),
            counters,
        }
    }

    fn hashes(&self, changes: u64, flow: u64) -> [usize; LEVELS] {
        std::array::from_fn(|level| {
            let key = keyed(KEY, FlowId(8 * changes + level as u64 + 1));
            (((keyed(key, FlowId(flow)) >> 32) * BUCKETS as u64) >> 32) as usize
        })
    }

    fn swap_when_due(&mut self) {
        while self.now >= (self.swaps + 1) * self.tc.rehash {
            // The buckets do not change. Only the slot that was in use gets a new hash function.
            self.slot = 1 - self.slot;
            self.swaps += 1;
        }
    }

    /// The loop over the levels: returns p_min and minqlen.
    fn update(&mut self, slot: usize, hashes: [usize; LEVELS]) -> (i64, usize) {
        let (mut p_min, mut minqlen) = (i64::MAX, usize::MAX);
        for (level, hash) in self.slots[slot].iter_mut().zip(hashes) {
            let bucket = &mut level[hash];
            if bucket.qlen == 0 {
                bucket.p_mark = (bucket.p_mark - self.tc.decrement).max(0);
            } else if bucket.qlen >= self.tc.target {
                bucket.p_mark = (bucket.p_mark + self.tc.increment).min(MAX_PROB);
            }
            minqlen = minqlen.min(bucket.qlen);
            p_min = p_min.min(bucket.p_mark);
        }
        (p_min, minqlen)
    }

    fn rate_limit(&mut self) -> bool {
        if self.tokens_avail < 1 {
            let age = (self.now - self.token_time).min(10 * SECOND);
            self.tokens_avail = (age * self.tc.penalty_rate / SECOND).min(self.tc.penalty_burst);
            self.token_time = self.now;
            if self.tokens_avail < 1 {
                return true;
            }
        }
        self.tokens_avail -= 1;
        false
    }

    fn drop(&self, packet: Arrival, counter: &'static str) -> Vec<Decision> {
        *self.counters.borrow_mut().entry(counter).or_default() += 1;
        let why = match counter {
            "queuedrop" => Why::Overflow,
            "bucketdrop" => Why::FlowLimit,
            "penaltydrop" => Why::Unresponsive,
            _ => Why::Early,
        };
        vec![Decision::Dropped(packet.number, why)]
    }
}

impl Oracle for SchSfb {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.now = (now * 1e9).round() as u64;
        if self.queue.len() >= self.tc.limit {
            return self.drop(packet, "queuedrop");
        }
        self.swap_when_due();
        let double_buffering = self.now >= (self.swaps + 1) * self.tc.rehash - self.tc.db;
        let mut places = [None; 2];
        let hashes = self.hashes(self.swaps, packet.flow);
        places[self.slot] = Some(hashes);
        let (p_min, minqlen) = self.update(self.slot, hashes);
        if minqlen >= self.tc.max {
            return self.drop(packet, "bucketdrop");
        }
        let mut decisions = Vec::new();
        if p_min >= MAX_PROB {
            if double_buffering {
                let hashes = self.hashes(self.swaps + 1, packet.flow);
                places[1 - self.slot] = Some(hashes);
                self.update(1 - self.slot, hashes);
            }
            if self.rate_limit() {
                return self.drop(packet, "penaltydrop");
            }
        } else if p_min > 0 {
            let (r, p) = (rng.unit() * MAX_PROB as f64, p_min as f64);
            if r < p {
                let half = MAX_PROB as f64 / 2.0;
                if (p > half && r < (p - half) * 2.0) || !packet.ect() {
                    return self.drop(packet, "earlydrop");
                }
                *self.counters.borrow_mut().entry("marked").or_default() += 1;
                decisions.push(Decision::Marked(packet.number, Why::Early));
            }
        }
        for (slot, hashes) in self.slots.iter_mut().zip(places) {
            for (level, hash) in slot.iter_mut().zip(hashes.into_iter().flatten()) {
                level[hash].qlen += 1;
            }
        }
        self.queue.push_back((packet, places));
        decisions
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.now = (now * 1e9).round() as u64;
        self.swap_when_due();
        let Some((packet, places)) = self.queue.pop_front() else { return Vec::new() };
        for (slot, hashes) in self.slots.iter_mut().zip(places) {
            for (level, hash) in slot.iter_mut().zip(hashes.into_iter().flatten()) {
                level[hash].qlen -= 1;
            }
        }
        vec![Decision::Sent(packet.number)]
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("tokens", self.tokens_avail as f64)];
        for bucket in [self.slot, 1 - self.slot].into_iter().flat_map(|slot| self.slots[slot].iter().flatten()) {
            state.push(entry("qlen", bucket.qlen as u32));
            state.push(entry("p_mark", bucket.p_mark as f64 / MAX_PROB as f64));
        }
        state
    }
}

fn look(sfb: &Sfb<usize>, _: Time) -> NamedState {
    let Limiter::Packets(packets) = &sfb.limiter else { panic!("the preset has another limiter") };
    let mut state = vec![entry("tokens", packets.tokens())];
    for bin in sfb.bins() {
        state.push(entry("qlen", bin.packets));
        state.push(entry("p_mark", bin.probability));
    }
    state
}

/// Runs both with the same traffic and returns Linux's counters.
fn compare(settings: &[(&str, &str)], tc: TcOptions, traffic: TrafficMix) -> BTreeMap<&'static str, u32> {
    let config = SfbConfig::from_settings(&[&[("preset", "linux")], settings].concat()).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, KEY);
    let counters = Counters::default();
    agree(Sfb::new(config, &link).unwrap(), SchSfb::new(tc, counters.clone()), look, traffic);
    counters.take()
}

/// A flood, with pauses in which its bins become empty.
const FLOOD: TrafficMix = TrafficMix { hog: 0.6, loads: &[0.0, 1.5, 4.0], spell: 2.0, ..TrafficMix::mixed(1) };

#[test]
fn the_preset_linux_decides_as_sch_sfb_does() {
    let seen = compare(&[], TC, FLOOD);
    assert!(seen["bucketdrop"] > 0 && seen["penaltydrop"] > 0 && seen["earlydrop"] > 0, "{seen:?}");
}

#[test]
fn the_preset_linux_decides_as_sch_sfb_does_when_full_and_over_new_hash_functions() {
    // Steps of 1/100 and 1/1000 in units of 1/65535, a limit of 120 packets, new hash functions every 3 s.
    let tc = TcOptions { limit: 120, increment: 655, decrement: 66, rehash: 3 * SECOND, db: SECOND, ..TC };
    let tc = TcOptions { penalty_rate: 100, penalty_burst: 5, max: 40, target: 10, ..tc };
    let steps = [("increment", "0.009994659342336"), ("decrement", "0.00100709544518196")];
    let others = [("limit", "120p"), ("rehash", "3s"), ("db", "1s"), ("penalty_packets", "100")];
    let bins = [("penalty_burst", "5p"), ("bin_size", "9"), ("bin_max", "39")];
    let settings = [&steps[..], &others, &bins].concat();
    let seen = compare(&settings, tc, TrafficMix { sizes: &[1000], seed: 2, ..FLOOD });
    for counter in ["queuedrop", "bucketdrop", "penaltydrop", "earlydrop", "marked"] {
        assert!(seen.get(counter).is_some_and(|count| *count > 20), "{counter}: {seen:?}");
    }
}

#[test]
fn a_flow_that_shares_bins_with_a_flood_passes_while_it_has_one_bin_below_its_maximum() {
    // 8 levels of 16 bins: a flow shares none of a flood's bins with probability (15/16)^8 = 0.6 only. Linux compares the
    // emptiest bin with `max`, figure 14 the fullest.
    let lost = |overfull: &str| {
        let config = [("preset", "linux"), ("overfull", overfull), ("d1", "0")];
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, KEY);
        let sfb: Sfb<()> = Sfb::new(SfbConfig::from_settings(&config).unwrap(), &link).unwrap();
        let mut port = aqm::Port::new(sfb, Rng::new(1));
        let mut send = |flow| port.enqueue(aqm::Packet::new(FlowId(flow), 1000, ()), Time::ZERO, &mut ());
        (0..100).for_each(|_| send(0));
        (1..201).for_each(&mut send);
        port.totals().counts().drops(Why::FlowLimit)
    };
    let sharing = {
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, KEY);
        let config = SfbConfig::from_settings(&[("preset", "linux")]).unwrap();
        let sfb: Sfb<()> = Sfb::new(config, &link).unwrap();
        let flood = sfb.bins_of(FlowId(0));
        (1..201).filter(|flow| sfb.bins_of(FlowId(*flow)).iter().zip(&flood).any(|(a, b)| a == b)).count() as u64
    };
    // 200 x 0.4 flows share a bin, with a standard deviation of 7. With either rule the flood loses 75 packets beyond
    // `max`.
    assert!(sharing.abs_diff(81) < 28, "{sharing}");
    assert_eq!(lost("all"), 75);
    assert!(lost("any") >= 75 + sharing, "{} {sharing}", lost("any"));
}
