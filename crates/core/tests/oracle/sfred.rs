//! SFRED, from section IV-A of the BLUE paper (figure 14 with "a per-bin maxp value"), the maxp of figure 4 of the
//! self-configuring RED paper, and RED's average of 1993. What the papers leave open follows the discipline's page. The
//! keyed hash function is the crate's.

use std::collections::VecDeque;

use aqm::disciplines::{Sfred, SfredConfig};
use aqm::parts::keyed;
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

const KEY: u64 = 7;
/// Transmission time of a packet of 1000 bytes at 10 Mbit/s, in seconds.
const S: f64 = 0.0008;

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Below,
    Between,
    Above,
}

#[derive(Clone)]
struct PlainRedBin {
    qlen: usize,
    avg: f64,
    /// Time up to which the average accounts for an empty bin; `None` if the bin holds packets.
    q_time: Option<f64>,
    maxp: f64,
    status: Status,
}

#[derive(Clone)]
struct Plain {
    bins: Vec<Vec<PlainRedBin>>,
    bin_size: usize,
    /// As in SFB: drops a packet if all its bins are overfull, or if any is (figure 14).
    overfull_all: bool,
    /// As in SFB: the rate limit decides alone (comparison paper, section 4.3).
    penalty_alone: bool,
    minth: f64,
    maxth: f64,
    least_maxp: f64,
    wq: f64,
    limit: usize,
    /// Rate in bit/s, burst in bytes, and the bucket's level with its time in nanoseconds.
    rate: f64,
    burst: f64,
    tokens: f64,
    since: f64,
    ecn: bool,
    now: f64,
    queue: VecDeque<(Arrival, Vec<usize>)>,
}

impl Plain {
    fn new(levels: usize, bins: usize, bin_size: f64, wq: f64, limit: usize) -> Plain {
        let bin = PlainRedBin { qlen: 0, avg: 0.0, q_time: None, maxp: 0.02, status: Status::Below };
        Plain {
            bins: vec![vec![bin; bins]; levels],
            bin_size: bin_size as usize,
            overfull_all: true,
            penalty_alone: true,
            minth: 0.2 * bin_size,
            maxth: 0.8 * bin_size,
            least_maxp: 0.01,
            wq,
            limit,
            rate: 160e3,
            burst: 2000.0,
            tokens: 2000.0,
            since: 0.0,
            ecn: true,
            now: 0.0,
            queue: VecDeque::new(),
        }
    }

    fn hashes(&self, flow: u64) -> Vec<usize> {
        let width = self.bins[0].len() as u64;
        let hash = |level: u64| ((keyed(keyed(KEY, FlowId(1 + level)), FlowId(flow)) >> 32) * width) >> 32;
        (0..self.bins.len() as u64).map(|level| hash(level) as usize).collect()
    }

    fn update_average(&self, bin: &mut PlainRedBin) {
        match bin.q_time {
            Some(q_time) if bin.qlen == 0 => {
                let m = (self.now - q_time) / 1e9 / S;
                bin.avg *= (1.0 - self.wq).powf(m);
                bin.q_time = Some(self.now);
            }
            _ => bin.avg = (1.0 - self.wq) * bin.avg + self.wq * bin.qlen as f64,
        }
    }

    fn update_maxp(&self, bin: &mut PlainRedBin) {
        // As printed, an average equal to a threshold changes no status.
        if self.minth < bin.avg && bin.avg < self.maxth {
            bin.status = Status::Between;
        }
        if bin.avg < self.minth && bin.status != Status::Below {
            bin.status = Status::Below;
            bin.maxp = f64::max(bin.maxp / 3.0, self.least_maxp);
        }
        if bin.avg > self.maxth && bin.status != Status::Above {
            bin.status = Status::Above;
            bin.maxp = f64::min(bin.maxp * 2.0, 1.0);
        }
    }

    fn probability(&self, bin: &PlainRedBin) -> f64 {
        if bin.avg < self.minth {
            0.0
        } else if bin.avg < self.maxth {
            bin.maxp * (bin.avg - self.minth) / (self.maxth - self.minth)
        } else {
            1.0
        }
    }

    fn tokens(&self) -> f64 {
        f64::min(self.tokens + (self.now - self.since) * self.rate / 8e9, self.burst)
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.now = (now * 1e9).round();
        let h = self.hashes(packet.flow);
        let (mut pmin, mut least_maxp, mut overfull) = (1.0, 1.0, 0);
        for (level, &i) in h.iter().enumerate() {
            let mut bin = self.bins[level][i].clone();
            self.update_average(&mut bin);
            self.update_maxp(&mut bin);
            pmin = f64::min(pmin, self.probability(&bin));
            least_maxp = f64::min(least_maxp, bin.maxp);
            overfull += usize::from(bin.qlen > self.bin_size);
            self.bins[level][i] = bin;
        }
        let too_full = if self.overfull_all { overfull == h.len() } else { overfull > 0 };
        if too_full && !(self.penalty_alone && least_maxp == 1.0) {
            return vec![Decision::Dropped(packet.number, Why::FlowLimit)];
        }
        let (room, bytes) = (self.queue.len() < self.limit, f64::from(packet.bytes));
        let mut decisions = Vec::new();
        if least_maxp == 1.0 {
            // A packet above the burst passes a full bucket.
            if self.tokens() < bytes && self.tokens() < self.burst {
                return vec![Decision::Dropped(packet.number, Why::Unresponsive)];
            }
        } else if pmin == 1.0 || (pmin > 0.0 && rng.unit() < pmin) {
            let why = if pmin == 1.0 { Why::Forced } else { Why::Early };
            if !(self.ecn && packet.ect() && room) {
                return vec![Decision::Dropped(packet.number, why)];
            }
            decisions.push(Decision::Marked(packet.number, why));
        }
        if !room {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        if least_maxp == 1.0 {
            (self.tokens, self.since) = (self.tokens() - bytes, self.now);
        }
        h.iter().enumerate().for_each(|(level, i)| self.bins[level][*i].qlen += 1);
        self.queue.push_back((packet, h));
        decisions
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.now = (now * 1e9).round();
        let Some((packet, h)) = self.queue.pop_front() else { return Vec::new() };
        for (level, i) in h.into_iter().enumerate() {
            let bin = &mut self.bins[level][i];
            bin.qlen -= 1;
            bin.q_time = if bin.qlen == 0 { Some(self.now) } else { None };
        }
        vec![Decision::Sent(packet.number)]
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("lacking", (self.burst - self.tokens()) * 8.0 / self.rate)];
        for bin in self.bins.iter().flatten() {
            state.push(entry("qlen", bin.qlen as u32));
            state.push(entry("avg", bin.avg));
            state.push(entry("maxp", bin.maxp));
        }
        state
    }
}

fn compare(settings: &[(&str, &str)], plain: Plain, traffic: TrafficMix) {
    let look = |sfred: &Sfred<usize>, now: Time| {
        let mut state = vec![entry("lacking", sfred.penalty.time_to_full(now).as_secs_f64())];
        for bin in sfred.bins() {
            state.push(entry("qlen", bin.packets));
            state.push(entry("avg", bin.average));
            state.push(entry("maxp", bin.maxp));
        }
        state
    };
    let config = SfredConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, KEY);
    agree(Sfred::new(config, &link).unwrap(), plain, look, traffic);
}

#[test]
fn sfred_agrees_with_the_papers() {
    // Bins of 1.5/23 of 100 packets; fewer bins, of 13 packets; the same in three levels, without marks.
    compare(&[("limit", "100p")], Plain::new(2, 23, 150.0 / 23.0, 0.02, 100), TrafficMix::mixed(1));
    let few = [("limit", "60p"), ("bins", "7"), ("bin_size", "13p"), ("wq", "0.002")];
    compare(&few, Plain::new(2, 7, 13.0, 0.002, 60), TrafficMix::mixed(2));
    let (any, first) = ([("overfull", "any")], [("penalty_alone", "off")]);
    let plain = || Plain::new(2, 7, 13.0, 0.002, 60);
    compare(&[&few[..], &any].concat(), Plain { overfull_all: false, ..plain() }, TrafficMix::mixed(4));
    compare(&[&few[..], &first].concat(), Plain { penalty_alone: false, ..plain() }, TrafficMix::mixed(5));
    let printed = Plain { overfull_all: false, penalty_alone: false, ..plain() };
    compare(&[&few[..], &any, &first].concat(), printed, TrafficMix::mixed(6));
    let many = [("limit", "200p"), ("bins", "5"), ("levels", "3"), ("bin_size", "20p"), ("ecn", "off")];
    let slow = [("wq", "0.2"), ("penalty_rate", "400kbit/s"), ("penalty_burst", "1p"), ("maxp_min", "0.001")];
    let bucket =
        Plain { rate: 400e3, burst: 1000.0, tokens: 1000.0, least_maxp: 0.001, ..Plain::new(3, 5, 20.0, 0.2, 200) };
    compare(&[&many[..], &slow].concat(), Plain { ecn: false, ..bucket }, TrafficMix::mixed(3));
}
