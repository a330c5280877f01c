//! SRED: Ott, Lakshman, Wong, INFOCOM 1999.

use std::collections::VecDeque;

use aqm::disciplines::{Sred, SredConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

struct PlainSred {
    /// B, in packets, or in bytes with `bytes`.
    room: f64,
    bytes: bool,
    m: usize,
    p: f64,
    pmax: f64,
    full: bool,
    ecn: bool,
    queue: VecDeque<Arrival>,
    /// Flow, Count and timestamp.
    zombies: Vec<(u64, u32, f64)>,
    /// P(t).
    frequency: f64,
}

impl PlainSred {
    fn q(&self) -> f64 {
        if self.bytes { self.queue.iter().map(|p| f64::from(p.bytes)).sum() } else { self.queue.len() as f64 }
    }
}

impl Oracle for PlainSred {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let mut hit = 0.0;
        if self.zombies.len() < self.m {
            self.zombies.push((packet.flow, 0, now));
        } else {
            let drawn = rng.below(self.m as u32) as usize;
            if self.zombies[drawn].0 == packet.flow {
                hit = 1.0;
                self.zombies[drawn].1 += 1;
                self.zombies[drawn].2 = now;
            } else if rng.chance(self.p) {
                self.zombies[drawn] = (packet.flow, 0, now);
            }
            let alpha = self.p / self.m as f64;
            self.frequency = (1.0 - alpha) * self.frequency + alpha * hit;
        }

        let q = self.q();
        if q + if self.bytes { f64::from(packet.bytes) } else { 1.0 } > self.room {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        // Simple SRED, followed by the addition of Full SRED.
        let psred = if q >= self.room / 3.0 {
            self.pmax
        } else if q >= self.room / 6.0 {
            self.pmax / 4.0
        } else {
            0.0
        };
        let mut pzap = psred * (1.0 / (256.0 * self.frequency).powi(2)).min(1.0);
        if self.full && hit > 0.0 {
            pzap *= 1.0 + hit / self.frequency;
        }
        if rng.chance(pzap) {
            if !(self.ecn && packet.ect()) {
                return vec![Decision::Dropped(packet.number, Why::Early)];
            }
            self.queue.push_back(packet);
            return vec![Decision::Marked(packet.number, Why::Early)];
        }
        self.queue.push_back(packet);
        Vec::new()
    }

    fn depart(&mut self, _: f64, _: &mut Rng) -> Vec<Decision> {
        self.queue.pop_front().map(|packet| Decision::Sent(packet.number)).into_iter().collect()
    }

    fn state(&self) -> NamedState {
        let list = self.zombies.iter().map(|(flow, count, time)| (*flow, u64::from(*count), *time));
        state(self.frequency, list, self.queue.len())
    }
}

/// The list has hundreds of entries. Weighted sums compare it as a whole.
fn state(frequency: f64, zombies: impl Iterator<Item = (u64, u64, f64)>, packets: usize) -> NamedState {
    let (mut flows, mut counts, mut times, mut length) = (0.0, 0.0, 0.0, 0.0);
    for (flow, count, time) in zombies {
        length += 1.0;
        flows += length * flow as f64;
        counts += length * count as f64;
        times += time;
    }
    let named = [("zombies", length), ("flows", flows), ("counts", counts), ("times", times), ("P", frequency)];
    let mut state: NamedState = named.into_iter().map(|(name, value)| entry(name, value)).collect();
    state.push(entry("packets", packets as u32));
    state
}

fn look(sred: &Sred<usize>, _: Time) -> NamedState {
    let list = sred.zombies.iter().map(|zombie| (zombie.flow.0, zombie.count, zombie.seen.as_secs_f64()));
    state(sred.hit_frequency, list, sred.backlog().packets as usize)
}

fn paper() -> PlainSred {
    let (queue, zombies) = (VecDeque::new(), Vec::new());
    let (room, bytes, m, p, pmax) = (150.0, false, 1000, 0.25, 0.15);
    PlainSred { room, bytes, m, p, pmax, full: true, ecn: true, queue, zombies, frequency: 0.0 }
}

fn compare(settings: &str, oracle: PlainSred, traffic: TrafficMix) {
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let config = SredConfig::from_settings(&settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    agree(Sred::new(config, &link).unwrap(), oracle, look, traffic);
}

#[test]
fn sred_packet_by_packet() {
    let many = |seed| TrafficMix { flows: 150, hog: 0.1, ..TrafficMix::mixed(seed) };
    compare("limit=150p", paper(), many(1));
    let simple = PlainSred { room: 60_000.0, bytes: true, m: 100, full: false, ..paper() };
    compare("limit=60KB,zombies=100,preset=simple", simple, many(2));
    let rude = PlainSred { m: 7, p: 1.0, pmax: 1.0, ecn: false, ..paper() };
    compare("limit=150p,zombies=7,overwrite=1,maxp=1,ecn=off", rude, TrafficMix::even(3));
}
