//! Step: the DCTCP paper's threshold on arrival, and Linux's `ce_threshold` on departure.

use std::collections::VecDeque;

use aqm::disciplines::{Step, StepConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// A FIFO with its thresholds. A threshold that is off is infinite.
struct Plain {
    limit: usize,
    k_packets: usize,
    k_bytes: u64,
    /// In seconds.
    ce_threshold: f64,
    drop_not_ect: bool,
    queue: VecDeque<(Arrival, f64)>,
}

const OFF: Plain = Plain {
    limit: 1000,
    k_packets: usize::MAX,
    k_bytes: u64::MAX,
    ce_threshold: f64::INFINITY,
    drop_not_ect: false,
    queue: VecDeque::new(),
};

impl Plain {
    fn held(&self) -> u64 {
        self.queue.iter().map(|(packet, _)| u64::from(packet.bytes)).sum()
    }

    /// What a packet above a threshold meets, if anything.
    fn at_the_step(&self, packet: Arrival, why: Why) -> Option<Decision> {
        if packet.ect() {
            Some(Decision::Marked(packet.number, why))
        } else if self.drop_not_ect {
            Some(Decision::Dropped(packet.number, why))
        } else {
            None
        }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, _: &mut Rng) -> Vec<Decision> {
        if self.queue.len() == self.limit {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        // Section 3.1: "if the queue occupancy is greater than K upon its arrival".
        let mut decided = Vec::new();
        if self.queue.len() > self.k_packets || self.held() > self.k_bytes {
            decided.extend(self.at_the_step(packet, Why::Forced));
        }
        if !matches!(decided[..], [Decision::Dropped(..)]) {
            self.queue.push_back((packet, now));
        }
        decided
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        let mut decided = Vec::new();
        while let Some((packet, arrived)) = self.queue.pop_front() {
            let late = now - arrived > self.ce_threshold;
            let decision = if late { self.at_the_step(packet, Why::Sojourn) } else { None };
            decided.extend(decision);
            if !matches!(decision, Some(Decision::Dropped(..))) {
                decided.push(Decision::Sent(packet.number));
                break;
            }
        }
        decided
    }

    fn state(&self) -> NamedState {
        vec![entry("packets", self.queue.len() as u32), entry("bytes", self.held() as f64)]
    }
}

#[test]
fn step_marks_above_the_papers_threshold_and_above_linuxs_delay() {
    let both = [("k", "30p"), ("ce_threshold", "12345ns"), ("limit", "60p"), ("drop_not_ect", "on")];
    let (k, late) = (Plain { k_packets: 20, ..OFF }, Plain { ce_threshold: 0.030_000_1, ..OFF });
    for (settings, plain) in [
        (&[][..], k),
        (&[("k", "20KB"), ("limit", "100p")], Plain { k_bytes: 20_000, limit: 100, ..OFF }),
        (&[("k", "auto"), ("ce_threshold", "30000100ns")], late),
        (&both, Plain { k_packets: 30, ce_threshold: 12_345e-9, limit: 60, drop_not_ect: true, ..OFF }),
    ] {
        let config = StepConfig::from_settings(settings).unwrap();
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
        let look = |queue: &Step<usize>, _| {
            let held = queue.backlog();
            vec![entry("packets", held.packets), entry("bytes", held.bytes as f64)]
        };
        agree(Step::new(config, &link).unwrap(), plain, look, TrafficMix::mixed(1));
    }
}
