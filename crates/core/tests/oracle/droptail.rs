//! DropTail: store packets that fit.

use std::collections::VecDeque;

use aqm::disciplines::{Droptail, DroptailConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// A FIFO with a limit in packets and in bytes.
struct Plain {
    packets: usize,
    bytes: u64,
    queue: VecDeque<Arrival>,
}

impl Plain {
    fn held(&self) -> u64 {
        self.queue.iter().map(|packet| u64::from(packet.bytes)).sum()
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, _: f64, _: &mut Rng) -> Vec<Decision> {
        if self.queue.len() + 1 > self.packets || self.held() + u64::from(packet.bytes) > self.bytes {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        self.queue.push_back(packet);
        Vec::new()
    }
    fn depart(&mut self, _: f64, _: &mut Rng) -> Vec<Decision> {
        self.queue.pop_front().into_iter().map(|packet| Decision::Sent(packet.number)).collect()
    }
    fn state(&self) -> NamedState {
        vec![entry("packets", self.queue.len() as u32), entry("bytes", self.held() as f64)]
    }
}

#[test]
fn droptail_stores_packets_that_fit() {
    for (limit, packets, bytes) in [("50p", 50, u64::MAX), ("1p", 1, u64::MAX), ("20KB", usize::MAX, 20_000)] {
        let config = DroptailConfig::from_settings(&[("limit", limit)]).unwrap();
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
        let plain = Plain { packets, bytes, queue: VecDeque::new() };
        let look = |queue: &Droptail<usize>, _| {
            let held = queue.backlog();
            vec![entry("packets", held.packets), entry("bytes", held.bytes as f64)]
        };
        agree(Droptail::new(config, &link).unwrap(), plain, look, TrafficMix::mixed(1));
    }
}
