//! SFB, from figure 14 of the BLUE paper, the pseudocode of the comparison paper's section 2.4 with its freeze time and
//! box time, and the moving hash of the BLUE paper's section IV-D. The keyed hash function is the crate's. Where the
//! papers allow two readings, a switch of [`SfbNumbers`] selects one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use aqm::disciplines::{Sfb, SfbConfig};
use aqm::parts::{Limiter, keyed};
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

const KEY: u64 = 7;

/// Times in nanoseconds: whole numbers, so that sums of them are exact.
#[derive(Clone)]
struct SfbNumbers {
    levels: usize,
    bins: usize,
    bin_size: usize,
    bin_max: usize,
    /// Figure 15 drops a packet only if all its bins are overfull. Figure 14 drops it within the loop.
    overfull_all: bool,
    /// Comparison paper, section 4.3: the penalty decides alone. Figure 14 drops within the loop, with any pmin.
    penalty_alone: bool,
    /// The second loop of the comparison paper's pseudocode, which figure 14 lacks.
    departure_loop: bool,
    d1: f64,
    d2: f64,
    freeze_time: f64,
    packets: usize,
    bytes: u64,
    rehash: f64,
    double_buffer: bool,
    warmup: f64,
    ecn: bool,
    penalty: Penalty,
}

#[derive(Clone)]
enum Penalty {
    /// Rate in bit/s and burst in bytes; the bucket's level, and the time of that level.
    Rate { rate: f64, burst: f64, tokens: f64, since: f64 },
    /// When the next packet may pass.
    Boxtime { boxtime: f64, random: bool, opens: f64 },
    /// A share for each flow. The papers only name the idea; the discipline's page derives it.
    FairShare(FairShare),
}

/// The link's rate in bit/s, divided by the number of flows. Flows are estimated per window by linear counting in 4096
/// bits.
#[derive(Clone)]
struct FairShare {
    link: f64,
    burst: f64,
    window: f64,
    window_ends: f64,
    bits: BTreeSet<u64>,
    bits_before: usize,
    /// Time at which the bucket of each set, level and bin is full.
    full_at: BTreeMap<(usize, usize, usize), f64>,
}

impl FairShare {
    fn count_arrival(&mut self, flow: u64, now: f64) {
        while now >= self.window_ends {
            self.bits_before = std::mem::take(&mut self.bits).len();
            self.window_ends += self.window;
        }
        self.bits.insert(keyed(keyed(KEY, FlowId(u64::MAX)), FlowId(flow)) % 4096);
    }

    fn flows(&self) -> f64 {
        let set = usize::max(self.bits.len(), self.bits_before);
        f64::max(-4096.0 * (1.0 - set as f64 / 4096.0).ln(), 1.0)
    }

    /// Time to send `bytes` at the share, in whole bit/s, rounded up to whole nanoseconds.
    fn time_of(&self, bytes: f64) -> f64 {
        let rate = (self.link / self.flows()).floor() as u128;
        (bytes as u128 * 8_000_000_000).div_ceil(rate) as f64
    }

    fn full_at(&self, bins: &[(usize, usize, usize)]) -> f64 {
        bins.iter().map(|bin| self.full_at.get(bin).copied().unwrap_or(0.0)).fold(f64::INFINITY, f64::min)
    }

    fn admits(&self, bins: &[(usize, usize, usize)], bytes: f64, now: f64) -> bool {
        let lacking = f64::max(self.full_at(bins) - now, 0.0);
        lacking == 0.0 || lacking + self.time_of(bytes) <= self.time_of(self.burst)
    }

    fn passed(&mut self, bins: &[(usize, usize, usize)], bytes: f64, now: f64) {
        let full_at = f64::max(self.full_at(bins), now) + self.time_of(bytes);
        for bin in bins {
            let bin = self.full_at.entry(*bin).or_insert(0.0);
            *bin = f64::max(*bin, full_at);
        }
    }
}

impl Penalty {
    fn boxtime(ms: f64, random: bool) -> Penalty {
        Penalty::Boxtime { boxtime: ms * 1e6, random, opens: 0.0 }
    }

    fn rate(rate: f64, burst: f64) -> Penalty {
        Penalty::Rate { rate, burst, tokens: burst, since: 0.0 }
    }

    fn admits(&mut self, bins: &[(usize, usize, usize)], bytes: f64, now: f64) -> bool {
        match self {
            Penalty::FairShare(fair) => fair.admits(bins, bytes, now),
            Penalty::Rate { rate, burst, tokens, since } => {
                *tokens = f64::min(*tokens + (now - *since) * *rate / 8e9, *burst);
                *since = now;
                // A packet above the burst passes a full bucket.
                *tokens >= bytes || *tokens == *burst
            }
            Penalty::Boxtime { opens, .. } => now >= *opens,
        }
    }

    fn passed(&mut self, bins: &[(usize, usize, usize)], bytes: f64, now: f64, rng: &mut Rng) {
        match self {
            Penalty::FairShare(fair) => fair.passed(bins, bytes, now),
            Penalty::Rate { tokens, .. } => *tokens -= bytes,
            Penalty::Boxtime { boxtime, random: false, opens } => *opens = now + *boxtime,
            Penalty::Boxtime { boxtime, random: true, opens } => {
                *opens = now + (*boxtime * rng.between(0.0, 2.0)).round()
            }
        }
    }

    /// The state for comparison: seconds until the bucket is full, the time at which the box opens, or the time until
    /// `hog`'s bucket is full.
    fn state(&self, hog: &[(usize, usize, usize)], now: f64) -> f64 {
        match self {
            Penalty::Rate { rate, burst, tokens, since } => {
                let tokens = f64::min(*tokens + (now - *since) * *rate / 8e9, *burst);
                (burst - tokens) * 8.0 / rate
            }
            Penalty::Boxtime { opens, .. } => opens / 1e9,
            Penalty::FairShare(fair) => f64::max(fair.full_at(hog) - now, 0.0) / 1e9,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct PlainSfbBin {
    qlen: usize,
    pm: f64,
    frozen_until: f64,
}

/// A set, and one bin per level.
type Entered = (usize, Vec<usize>);

struct Plain {
    settings: SfbNumbers,
    penalty: Penalty,
    /// One list of bins per level, for the hash functions in use and for the next ones.
    sets: [Vec<Vec<PlainSfbBin>>; 2],
    /// Number of changes of the hash functions. After an even number, the first set is in use.
    changes: usize,
    next_change: f64,
    now: f64,
    /// Each packet with its set and bins, and with its bins in the next set.
    queue: VecDeque<(Arrival, [Option<Entered>; 2])>,
}

impl Plain {
    fn new(settings: SfbNumbers) -> Plain {
        let set = vec![vec![PlainSfbBin::default(); settings.bins]; settings.levels];
        let (sets, queue) = ([set.clone(), set], VecDeque::new());
        let (penalty, next_change) = (settings.penalty.clone(), settings.rehash);
        Plain { settings, penalty, sets, changes: 0, next_change, now: 0.0, queue }
    }

    /// h_0 .. h_L-1 after a number of `changes`. Keys are derived from the secret by number, eight per change.
    fn hashes(&self, changes: usize, flow: u64) -> Vec<usize> {
        let hash = |level: usize| {
            let key = keyed(KEY, FlowId((8 * changes + level + 1) as u64));
            (((keyed(key, FlowId(flow)) >> 32) * self.settings.bins as u64) >> 32) as usize
        };
        (0..self.settings.levels).map(hash).collect()
    }

    fn change(bin: &mut PlainSfbBin, by: f64, now: f64, freeze_time: f64) {
        if now >= bin.frozen_until {
            bin.pm = (bin.pm + by).clamp(0.0, 1.0);
            bin.frozen_until = now + freeze_time;
        }
    }

    fn move_hash(&mut self, now: f64) {
        while self.settings.rehash > 0.0 && now >= self.next_change {
            let left = self.changes % 2;
            self.changes += 1;
            self.next_change += self.settings.rehash;
            for bin in self.sets[left].iter_mut().flatten() {
                *bin = PlainSfbBin { qlen: bin.qlen, ..PlainSfbBin::default() };
            }
        }
    }

    fn arrives(&mut self, packet: Arrival, rng: &mut Rng) -> Vec<Decision> {
        let now = self.now;
        let SfbNumbers { bin_size, bin_max, d1, d2, freeze_time, .. } = self.settings;
        self.move_hash(now);
        if let Penalty::FairShare(fair) = &mut self.penalty {
            fair.count_arrival(packet.flow, now);
        }
        let in_use = self.changes % 2;
        let h = self.hashes(self.changes, packet.flow);
        let bins: Vec<_> = h.iter().enumerate().map(|(level, i)| (in_use, level, *i)).collect();
        let (mut pmin, mut overfull) = (1.0, 0);
        for (level, &i) in h.iter().enumerate() {
            let bin = &mut self.sets[in_use][level][i];
            if bin.qlen > bin_size {
                Plain::change(bin, d1, now, freeze_time);
            } else if bin.qlen == 0 {
                Plain::change(bin, -d2, now, freeze_time);
            }
            overfull += usize::from(bin.qlen > bin_max);
            pmin = f64::min(pmin, bin.pm);
        }
        let warm = self.settings.double_buffer && now >= self.next_change - self.settings.warmup;
        if pmin >= 1.0 && warm && self.settings.rehash > 0.0 {
            for (level, &i) in self.hashes(self.changes + 1, packet.flow).iter().enumerate() {
                Plain::change(&mut self.sets[1 - in_use][level][i], d1, now, freeze_time);
            }
        }
        let too_full = if self.settings.overfull_all { overfull == h.len() } else { overfull > 0 };
        if too_full && !(self.settings.penalty_alone && pmin >= 1.0) {
            return vec![Decision::Dropped(packet.number, Why::FlowLimit)];
        }
        let room = self.queue.len() < self.settings.packets
            && self.queue.iter().map(|(packet, ..)| u64::from(packet.bytes)).sum::<u64>() + u64::from(packet.bytes)
                <= self.settings.bytes;
        let bytes = f64::from(packet.bytes);
        let mut decisions = Vec::new();
        if pmin >= 1.0 {
            if !self.penalty.admits(&bins, bytes, now) {
                return vec![Decision::Dropped(packet.number, Why::Unresponsive)];
            }
        } else if pmin > 0.0 && rng.unit() < pmin {
            if !(self.settings.ecn && packet.ect() && room) {
                return vec![Decision::Dropped(packet.number, Why::Early)];
            }
            decisions.push(Decision::Marked(packet.number, Why::Early));
        }
        if !room {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        if pmin >= 1.0 {
            self.penalty.passed(&bins, bytes, now, rng);
        }
        for (level, &i) in h.iter().enumerate() {
            self.sets[in_use][level][i].qlen += 1;
        }
        // "Any time a flow is classified as nonresponsive, it is hashed using the second set": its packet enters both
        // sets.
        let to_come = self.hashes(self.changes + 1, packet.flow);
        let second = (pmin >= 1.0 && warm && self.settings.rehash > 0.0).then_some((1 - in_use, to_come));
        if let Some((set, bins)) = &second {
            for (level, &i) in bins.iter().enumerate() {
                self.sets[*set][level][i].qlen += 1;
            }
        }
        self.queue.push_back((packet, [Some((in_use, h)), second]));
        decisions
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.now = (now * 1e9).round();
        self.arrives(packet, rng)
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.now = (now * 1e9).round();
        self.move_hash(self.now);
        let Some((packet, entered)) = self.queue.pop_front() else { return Vec::new() };
        for (set, h) in entered.into_iter().flatten() {
            for (level, i) in h.into_iter().enumerate() {
                let bin = &mut self.sets[set][level][i];
                bin.qlen -= 1;
                if self.settings.departure_loop && bin.qlen == 0 && set == self.changes % 2 {
                    Plain::change(bin, -self.settings.d2, self.now, self.settings.freeze_time);
                }
            }
        }
        vec![Decision::Sent(packet.number)]
    }

    fn state(&self) -> NamedState {
        let in_use = self.changes % 2;
        let hog = self.hashes(self.changes, 0);
        let hog: Vec<_> = hog.iter().enumerate().map(|(level, i)| (in_use, level, *i)).collect();
        let flows = if let Penalty::FairShare(fair) = &self.penalty { fair.flows() } else { 0.0 };
        let mut state = vec![entry("penalty", self.penalty.state(&hog, self.now)), entry("flows", flows)];
        for bin in [in_use, 1 - in_use].iter().flat_map(|set| self.sets[*set].iter().flatten()) {
            state.push(entry("qlen", bin.qlen as u32));
            state.push(entry("pm", bin.pm));
            state.push(entry("frozen until", bin.frozen_until));
        }
        state
    }
}

fn look(sfb: &Sfb<usize>, now: Time) -> NamedState {
    let penalty = match &sfb.limiter {
        Limiter::Rate(bucket) => bucket.time_to_full(now).as_secs_f64(),
        Limiter::Interval { opens, .. } => opens.as_secs_f64(),
        // The hog's bins, on two levels.
        Limiter::Packets(_) => unreachable!("no paper has this limiter"),
        Limiter::Each(fair) => fair.time_to_full(&sfb.bins_of(FlowId(0))[..2], now).as_secs_f64(),
    };
    let flows = if let Limiter::Each(fair) = &sfb.limiter { fair.flows() } else { 0.0 };
    let mut state = vec![entry("penalty", penalty), entry("flows", flows)];
    for bin in sfb.bins() {
        state.push(entry("qlen", bin.packets));
        state.push(entry("pm", bin.probability));
        state.push(entry("frozen until", bin.frozen_until.as_nanos() as f64));
    }
    state
}

fn compare(settings: &[(&str, &str)], plain: SfbNumbers, traffic: TrafficMix) {
    let config = SfbConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, KEY);
    agree(Sfb::new(config, &link).unwrap(), Plain::new(plain), look, traffic);
}

/// The comparison paper's section 3.3.3, with fewer bins, so that flows collide. The steps make the hog unresponsive
/// within seconds.
const QUICK: &[(&str, &str)] = &[("limit", "60p"), ("bins", "7"), ("d1", "0.05"), ("d2", "0.01"), ("rehash", "3s")];

fn quick() -> SfbNumbers {
    SfbNumbers {
        levels: 2,
        bins: 7,
        // 1.5/7 of 60 packets: 12.86.
        bin_size: 12,
        bin_max: 12,
        overfull_all: true,
        penalty_alone: true,
        departure_loop: true,
        d1: 0.05,
        d2: 0.01,
        freeze_time: 1e6,
        packets: 60,
        bytes: u64::MAX,
        rehash: 3e9,
        double_buffer: true,
        warmup: 3e9,
        ecn: true,
        penalty: Penalty::boxtime(50.0, false),
    }
}

#[test]
fn sfb_agrees_with_each_reading_of_the_papers() {
    let word = |on: bool| if on { "on" } else { "off" };
    for (seed, readings) in (20..).zip(0..8) {
        let [overfull_all, penalty_alone, departure_loop] = [1, 2, 4].map(|bit| readings & bit > 0);
        let plain = SfbNumbers { overfull_all, penalty_alone, departure_loop, ..quick() };
        let overfull = if overfull_all { "all" } else { "any" };
        let names = [("overfull", overfull), ("penalty_alone", word(penalty_alone))];
        let settings = [QUICK, &names, &[("lower_at_departure", word(departure_loop))]].concat();
        compare(&settings, plain, TrafficMix { packets: 40_000, ..TrafficMix::mixed(seed) });
    }
}

#[test]
fn sfb_agrees_with_the_papers_under_each_penalty() {
    let with = |more: &[(&'static str, &'static str)]| [QUICK, more].concat();
    compare(QUICK, quick(), TrafficMix::mixed(1));
    let random = SfbNumbers { penalty: Penalty::boxtime(20.0, true), ..quick() };
    compare(&with(&[("boxtime", "20ms"), ("randomize_boxtime", "on")]), random, TrafficMix::mixed(2));
    let rate = SfbNumbers { penalty: Penalty::rate(160e3, 2000.0), ..quick() };
    compare(&with(&[("penalty", "rate"), ("penalty_rate", "160kbit/s")]), rate, TrafficMix::mixed(3));
}

#[test]
fn sfb_gives_each_unresponsive_flow_the_share_that_its_page_derives() {
    let fair = |window: f64, burst| {
        let (bits, full_at) = (BTreeSet::new(), BTreeMap::new());
        let fair = FairShare { link: 10e6, burst, window, window_ends: window, bits, bits_before: 0, full_at };
        SfbNumbers { penalty: Penalty::FairShare(fair), ..quick() }
    };
    let with = |more: &[(&'static str, &'static str)]| [QUICK, &[("penalty", "fair_share")], more].concat();
    compare(&with(&[]), fair(1e9, 2000.0), TrafficMix::mixed(10));
    compare(&with(&[("flow_window", "50ms"), ("penalty_burst", "5p")]), fair(50e6, 5000.0), TrafficMix::mixed(11));
    let crowd = TrafficMix { flows: 300, hog: 0.5, loads: &[0.0, 1.5, 4.0], ..TrafficMix::mixed(12) };
    compare(&with(&[("d1", "0.2"), ("penalty_burst", "10KB")]), SfbNumbers { d1: 0.2, ..fair(1e9, 10e3) }, crowd);
}

#[test]
fn sfb_agrees_with_the_papers_with_and_without_changes_of_the_hash_functions() {
    let with = |more: &[(&'static str, &'static str)]| [QUICK, more].concat();
    let cold = SfbNumbers { double_buffer: false, ..quick() };
    compare(&with(&[("double_buffer", "off")]), cold, TrafficMix::mixed(4));
    let still = SfbNumbers { rehash: 0.0, ..quick() };
    compare(&with(&[("rehash", "0s")]), still, TrafficMix::mixed(5));
    let late = SfbNumbers { warmup: 1e9, ..quick() };
    compare(&with(&[("warmup", "1s")]), late, TrafficMix::mixed(6));
}

#[test]
fn sfb_agrees_with_the_papers_in_their_configurations() {
    // The defaults with a limit of 100 packets: 1.5/23 of it is 6.52.
    let paper = SfbNumbers { bins: 23, bin_size: 6, bin_max: 6, packets: 100, d1: 0.005, d2: 0.001, ..quick() };
    let paper = SfbNumbers { rehash: 5e9, warmup: 5e9, ..paper };
    compare(&[("limit", "100p")], paper.clone(), TrafficMix::mixed(7));
    let blue =
        SfbNumbers { bin_size: 13, bin_max: 13, packets: usize::MAX, bytes: 200_000, rehash: 2e9, ..paper.clone() };
    let blue = SfbNumbers { warmup: 2e9, departure_loop: false, penalty: Penalty::rate(160e3, 2000.0), ..blue };
    compare(&[("preset", "blue")], blue, TrafficMix::mixed(8));
    // Two thresholds and no freeze time, as in Linux, and no marks.
    let two = [("bin_size", "19"), ("bin_max", "24"), ("freeze_time", "0s"), ("ecn", "off"), ("d1", "0.01")];
    let plain = SfbNumbers { levels: 3, bins: 8, bin_size: 19, bin_max: 24, freeze_time: 0.0, ecn: false, ..paper };
    let plain = SfbNumbers { d1: 0.01, packets: 1000, ..plain };
    compare(&[&two[..], &[("bins", "8"), ("levels", "3")]].concat(), plain, TrafficMix::mixed(9));
}
