//! FQ-CoDel: RFC 8290, section 4, over the pseudocode of RFC 8289.

use std::collections::BTreeMap;

use aqm::disciplines::{FqCodel, FqCodelConfig};
use aqm::{FlowId, LinkInfo, Params, Rate, Rng};

use super::codel::{PlainCodelLoop, nanos, seen as seen_loop};
use super::flow_scheduler::{One, PlainFlowScheduler, seen};
use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree};

struct Plain {
    limit: usize,
    memory: u64,
    batch: usize,
    shared_mtu: bool,
    /// The queue of each flow, from the discipline's hash.
    queue_of: BTreeMap<u64, usize>,
    scheduler: PlainFlowScheduler,
    loops: BTreeMap<usize, PlainCodelLoop>,
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, _: &mut Rng) -> Vec<Decision> {
        let mut said = Vec::new();
        self.scheduler.push(self.queue_of[&packet.flow], (packet, nanos(now)));
        while self.scheduler.packets() > self.limit || self.scheduler.bytes() > self.memory {
            let (fattest, packets) = self.scheduler.cut(self.batch, &mut said);
            self.loops.get_mut(&fattest).unwrap().count += packets as u32;
        }
        said
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        let mut said = Vec::new();
        while let Some((queue, is_new)) = self.scheduler.next() {
            let codel = self.loops.get_mut(&queue).unwrap();
            let mut one = One { scheduler: &mut self.scheduler, queue, shared: self.shared_mtu };
            if let Some((packet, _)) = codel.deque(&mut one, nanos(now), &mut said) {
                self.scheduler.sent(queue, packet.bytes);
                said.push(Decision::Sent(packet.number));
                break;
            }
            self.scheduler.emptied(queue, is_new);
        }
        said
    }

    fn state(&self) -> NamedState {
        let mut state = self.scheduler.state();
        state.extend(self.loops.values().flat_map(PlainCodelLoop::state));
        state
    }
}

fn check(settings: &[(&str, &str)], codel: &PlainCodelLoop, change: impl Fn(Plain) -> Plain, traffic: TrafficMix) {
    let traffic = TrafficMix { flows: 5, ..traffic };
    let config = FqCodelConfig::from_settings(settings).unwrap();
    let quantum = config.quantum.0 as i64;
    let link = LinkInfo::new(Rate::from_bits(traffic.rate as u64), 1000, 7);
    let discipline = FqCodel::<usize>::new(config, &link).unwrap();
    let queue_of: BTreeMap<u64, usize> =
        (0..=traffic.flows).map(|flow| (flow, discipline.flows().queue_of(FlowId(flow)))).collect();
    let loops: BTreeMap<usize, PlainCodelLoop> = queue_of.values().map(|queue| (*queue, codel.clone())).collect();
    let used: Vec<usize> = loops.keys().copied().collect();
    let plain = Plain {
        limit: usize::MAX,
        memory: u64::MAX,
        batch: 64,
        shared_mtu: false,
        queue_of,
        scheduler: PlainFlowScheduler::new(used.iter().copied(), quantum),
        loops,
    };
    let look = move |fq: &FqCodel<usize>, _| {
        let mut state = seen(fq.flows());
        state.extend(used.iter().flat_map(|queue| seen_loop(fq.state(*queue))));
        state
    };
    agree(discipline, change(plain), look, traffic);
}

#[test]
fn fq_codel_does_what_the_rfc_says() {
    let ample = |plain| Plain { limit: 600, ..plain };
    check(&[("limit", "600p")], &PlainCodelLoop::new(5.0, 100.0), ample, TrafficMix::mixed(1));
    // Flows share queues; quantum and buffer are small.
    let settings = [("limit", "80p"), ("flows", "3"), ("quantum", "300B"), ("drop_batch", "5"), ("interval", "20ms")];
    let cramped = |plain| Plain { limit: 80, batch: 5, ..plain };
    check(&settings, &PlainCodelLoop::new(5.0, 20.0), cramped, TrafficMix { spell: 0.15, ..TrafficMix::mixed(2) });
    let marking = PlainCodelLoop { ce_threshold: 20_000_000, ..PlainCodelLoop::new(5.0, 100.0) };
    let settings = [("ce_threshold", "20ms"), ("memory_limit", "60KB"), ("limit", "300p"), ("flows", "64")];
    let small = |plain| Plain { memory: 60_000, limit: 300, ..plain };
    check(&settings, &marking, small, TrafficMix { ect: 1.0, ..TrafficMix::mixed(3) });
}

#[test]
fn fq_codel_with_linux_settings_does_what_linux_does() {
    let linux = PlainCodelLoop { newton: true, ..PlainCodelLoop::new(5.0, 100.0) };
    let change = |plain| Plain { limit: 200, shared_mtu: true, ..plain };
    check(&[("preset", "linux"), ("limit", "200p")], &linux, change, TrafficMix { spell: 0.3, ..TrafficMix::mixed(4) });
}
