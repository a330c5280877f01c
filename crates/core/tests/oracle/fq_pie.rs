//! FQ-PIE: RFC 8290's scheduler with the pseudocode of RFC 8033 in each queue, all updated by one timer.

use std::collections::BTreeMap;

use aqm::disciplines::{FqPie, FqPieConfig};
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Why};

use super::codel::nanos;
use super::flow_scheduler::{PlainFlowScheduler, seen};
use super::pie::{PlainController, PlainPieController, seen as seen_controller};
use super::pie_linux::{LinuxPie, near};
use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, agree_within};

struct Plain<C> {
    limit: usize,
    ecn: bool,
    queue_of: BTreeMap<u64, usize>,
    scheduler: PlainFlowScheduler,
    pies: BTreeMap<usize, C>,
}

impl<C: PlainController> Plain<C> {
    fn timer(&mut self, now: f64) {
        for (queue, pie) in &mut self.pies {
            pie.timer(self.scheduler.bytes_of(*queue) as f64, now);
        }
    }
}

impl<C: PlainController> Oracle for Plain<C> {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.timer(now);
        let queue = self.queue_of[&packet.flow];
        let pie = self.pies.get_mut(&queue).unwrap();
        if self.scheduler.packets() == self.limit {
            pie.lost();
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        let mut said = Vec::new();
        if pie.hit(self.scheduler.bytes_of(queue) as f64, f64::from(packet.bytes), rng) {
            if !(self.ecn && packet.ect() && pie.marks()) {
                pie.lost();
                return vec![Decision::Dropped(packet.number, Why::Early)];
            }
            said.push(Decision::Marked(packet.number, Why::Early));
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
        state.extend(self.pies.values().flat_map(PlainController::state));
        state
    }
}

fn check<C: PlainController + Clone>(
    settings: &[(&str, &str)],
    pie: &C,
    limit: usize,
    ecn: bool,
    traffic: TrafficMix,
    near: Option<fn(f64, f64) -> bool>,
) {
    let traffic = TrafficMix { flows: 5, ..traffic };
    let config = FqPieConfig::from_settings(settings).unwrap();
    let quantum = config.quantum.0 as i64;
    let link = LinkInfo::new(Rate::from_bits(traffic.rate as u64), 1000, 7);
    let discipline = FqPie::<usize>::new(config, &link).unwrap();
    let queue_of: BTreeMap<u64, usize> =
        (0..=traffic.flows).map(|flow| (flow, discipline.flows().queue_of(FlowId(flow)))).collect();
    let pies: BTreeMap<usize, C> = queue_of.values().map(|queue| (*queue, pie.clone())).collect();
    let used: Vec<usize> = pies.keys().copied().collect();
    let scheduler = PlainFlowScheduler::new(used.iter().copied(), quantum);
    let look = move |fq: &FqPie<usize>, now| {
        let mut state = seen(fq.flows());
        state.extend(used.iter().flat_map(|queue| seen_controller(&fq.state(*queue, now))));
        state
    };
    let plain = Plain { limit, ecn, queue_of, scheduler, pies };
    match near {
        Some(near) => agree_within(discipline, plain, look, traffic, near),
        None => agree(discipline, plain, look, traffic),
    }
}

#[test]
fn fq_pie_does_what_the_rfcs_say() {
    check(&[("limit", "600p")], &PlainPieController::new(), 600, true, TrafficMix::mixed(1), None);
    // Flows share queues; quantum and buffer are small.
    let settings = [("limit", "80p"), ("flows", "3"), ("quantum", "300B"), ("target", "5ms"), ("derandomize", "on")];
    let quick = PlainPieController { qdelay_ref: 0.005, derandomize: true, ..PlainPieController::new() };
    check(&settings, &quick, 80, true, TrafficMix { spell: 0.15, ..TrafficMix::mixed(2) }, None);
}

#[test]
fn fq_pie_with_linux_settings_decides_as_linux_does() {
    let settings = [("preset", "linux"), ("limit", "300p")];
    let traffic = TrafficMix { spell: 1.0, ..TrafficMix::mixed(3) };
    check(&settings, &LinuxPie::new(false), 300, false, traffic, Some(near));
}
