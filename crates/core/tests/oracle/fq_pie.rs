//! FQ-PIE: RFC 8290's scheduler with the pseudocode of RFC 8033 in each queue, all updated by one timer.

use std::collections::BTreeMap;

use headgate_core::disciplines::{FqPie, FqPieConfig};
use headgate_core::{FlowId, LinkInfo, Params, Rate, Rng, Why};

use super::codel::nanos;
use super::flow_scheduler::{PlainFlowScheduler, seen};
use super::pie::{PlainPieController, seen as seen_controller};
use crate::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree};

struct Plain {
    limit: usize,
    ecn: bool,
    queue_of: BTreeMap<u64, usize>,
    scheduler: PlainFlowScheduler,
    pies: BTreeMap<usize, PlainPieController>,
}

impl Plain {
    fn timer(&mut self, now: f64) {
        for (queue, pie) in &mut self.pies {
            pie.timer(self.scheduler.bytes_of(*queue) as f64, now);
        }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.timer(now);
        let queue = self.queue_of[&packet.flow];
        let pie = self.pies.get_mut(&queue).unwrap();
        if self.scheduler.packets() == self.limit {
            pie.accu_prob = 0.0;
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        let mut said = Vec::new();
        if pie.hit(self.scheduler.bytes_of(queue) as f64, f64::from(packet.bytes), rng) {
            if !(self.ecn && packet.ect() && pie.drop_prob < 0.1) {
                return vec![Decision::Dropped(packet.number, Why::Sojourn)];
            }
            said.push(Decision::Marked(packet.number, Why::Sojourn));
        }
        self.scheduler.push(queue, (packet, nanos(now)));
        said
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.timer(now);
        while let Some((queue, is_new)) = self.scheduler.next() {
            let Some((packet, came)) = self.scheduler.pop(queue) else {
                self.scheduler.emptied(queue, is_new);
                continue;
            };
            let left = self.scheduler.bytes_of(queue) as f64;
            let delay = (nanos(now) - came) as f64 / 1e9;
            self.pies.get_mut(&queue).unwrap().left(f64::from(packet.bytes), delay, left, now);
            self.scheduler.sent(queue, packet.bytes);
            return vec![Decision::Sent(packet.number)];
        }
        Vec::new()
    }

    fn state(&self) -> NamedState {
        let mut state = self.scheduler.state();
        state.extend(self.pies.values().flat_map(PlainPieController::state));
        state
    }
}

fn check(settings: &[(&str, &str)], pie: &PlainPieController, limit: usize, ecn: bool, traffic: TrafficMix) {
    let traffic = TrafficMix { flows: 5, ..traffic };
    let config = FqPieConfig::from_settings(settings).unwrap();
    let quantum = config.quantum.0 as i64;
    let link = LinkInfo::new(Rate::from_bits(traffic.rate as u64), 1000, 7);
    let discipline = FqPie::<usize>::new(config, &link).unwrap();
    let queue_of: BTreeMap<u64, usize> =
        (0..=traffic.flows).map(|flow| (flow, discipline.flows().queue_of(FlowId(flow)))).collect();
    let pies: BTreeMap<usize, PlainPieController> = queue_of.values().map(|queue| (*queue, pie.clone())).collect();
    let used: Vec<usize> = pies.keys().copied().collect();
    let scheduler = PlainFlowScheduler::new(used.iter().copied(), quantum);
    let look = move |fq: &FqPie<usize>, now| {
        let mut state = seen(fq.flows());
        state.extend(used.iter().flat_map(|queue| seen_controller(&fq.state(*queue, now))));
        state
    };
    agree(discipline, Plain { limit, ecn, queue_of, scheduler, pies }, look, traffic);
}

#[test]
fn fq_pie_does_what_the_rfcs_say() {
    check(&[("limit", "600p")], &PlainPieController::new(), 600, true, TrafficMix::mixed(1));
    // Flows that share queues, a small quantum, little room.
    let settings = [("limit", "80p"), ("flows", "3"), ("quantum", "300B"), ("target", "5ms"), ("derandomize", "on")];
    let quick = PlainPieController { qdelay_ref: 0.005, derandomize: true, ..PlainPieController::new() };
    check(&settings, &quick, 80, true, TrafficMix { spell: 0.15, ..TrafficMix::mixed(2) });
}

#[test]
fn fq_pie_with_linux_settings_does_what_the_same_pseudocode_does_with_them() {
    let settings = [("preset", "linux"), ("limit", "300p")];
    check(&settings, &PlainPieController::linux(), 300, false, TrafficMix { spell: 1.0, ..TrafficMix::mixed(3) });
}
