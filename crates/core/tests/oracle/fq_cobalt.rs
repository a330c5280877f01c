//! FQ-COBALT: RFC 8290's scheduler with `sch_cake.c`'s COBALT in each queue.

use std::collections::BTreeMap;

use aqm::disciplines::{FqCobalt, FqCobaltConfig};
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Why};

use super::cobalt::{Plain as PlainCobalt, seen as seen_loop};
use super::codel::nanos;
use super::flow_scheduler::{PlainFlowScheduler, seen};
use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree};

struct Plain {
    limit: usize,
    batch: usize,
    /// The queue of each flow, from the discipline's hash.
    queue_of: BTreeMap<u64, usize>,
    scheduler: PlainFlowScheduler,
    loops: BTreeMap<usize, PlainCobalt>,
}

impl Plain {
    /// The head of `queue` that may be sent, after drops.
    fn head(&mut self, queue: usize, now: i64, rng: &mut Rng, said: &mut Vec<Decision>) -> Option<Arrival> {
        let cobalt = self.loops.get_mut(&queue).unwrap();
        while let Some((packet, arrived)) = self.scheduler.pop(queue) {
            let (drop, marked, why) = cobalt.should_drop(packet, arrived, now, rng);
            if drop && !(cobalt.keep_last && self.scheduler.bytes_of(queue) == 0) {
                said.push(Decision::Dropped(packet.number, why));
                continue;
            }
            if marked {
                said.push(Decision::Marked(packet.number, Why::Sojourn));
            }
            return Some(packet);
        }
        cobalt.found_empty(now);
        None
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, _: &mut Rng) -> Vec<Decision> {
        let (mut said, now) = (Vec::new(), nanos(now));
        let queue = self.queue_of[&packet.flow];
        let cobalt = self.loops.get_mut(&queue).unwrap();
        cobalt.watchdog(now);
        cobalt.queued();
        self.scheduler.push(queue, (packet, now));
        while self.scheduler.packets() > self.limit {
            let (fattest, _) = self.scheduler.cut(self.batch, &mut said);
            // `cake_drop`.
            self.loops.get_mut(&fattest).unwrap().queue_full(now);
        }
        said
    }

    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let mut said = Vec::new();
        while let Some((queue, is_new)) = self.scheduler.next() {
            if let Some(packet) = self.head(queue, nanos(now), rng, &mut said) {
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
        state.extend(self.loops.values().flat_map(PlainCobalt::loop_state));
        state
    }
}

fn check(settings: &[(&str, &str)], cobalt: &PlainCobalt, (limit, batch): (usize, usize), traffic: TrafficMix) {
    let traffic = TrafficMix { flows: 5, ..traffic };
    let config = FqCobaltConfig::from_settings(settings).unwrap();
    let quantum = config.quantum.0 as i64;
    let link = LinkInfo::new(Rate::from_bits(traffic.rate as u64), 1000, 7);
    let discipline = FqCobalt::<usize>::new(config, &link).unwrap();
    let queue_of: BTreeMap<u64, usize> =
        (0..=traffic.flows).map(|flow| (flow, discipline.flows().queue_of(FlowId(flow)))).collect();
    let loops: BTreeMap<usize, PlainCobalt> = queue_of.values().map(|queue| (*queue, cobalt.clone())).collect();
    let used: Vec<usize> = loops.keys().copied().collect();
    let scheduler = PlainFlowScheduler::new(used.iter().copied(), quantum);
    let look = move |fq: &FqCobalt<usize>, _| {
        let mut state = seen(fq.flows());
        state.extend(used.iter().flat_map(|queue| seen_loop(fq.state(*queue))));
        state
    };
    agree(discipline, Plain { limit, batch, queue_of, scheduler, loops }, look, traffic);
}

#[test]
fn fq_cobalt_does_what_cakes_cobalt_does_in_each_queue() {
    let cake = |rate| PlainCobalt::new(usize::MAX, Some(rate));
    check(&[("limit", "600p")], &cake(10e6), (600, 64), TrafficMix::mixed(1));
    // Flows share queues; quantum and buffer are small, so that BLUE works too.
    let settings =
        [("limit", "60p"), ("flows", "3"), ("quantum", "300B"), ("drop_batch", "5"), ("increment", "0.0625")];
    let steep = PlainCobalt { p_inc: 0.0625, ..cake(10e6) };
    check(&settings, &steep, (60, 5), TrafficMix { spell: 0.15, ..TrafficMix::mixed(2) });
    let slow = TrafficMix { rate: 1e6, ect: 1.0, ..TrafficMix::mixed(3) };
    check(&[("limit", "40p"), ("ecn", "off")], &PlainCobalt { ecn: false, ..cake(1e6) }, (40, 64), slow);
}

#[test]
fn fq_cobalt_with_ns3_settings_does_what_ns3_does() {
    let ns3 = PlainCobalt { keep_last: false, blue_threshold: 400_000_000, ..PlainCobalt::new(usize::MAX, None) };
    check(&[("preset", "ns3"), ("limit", "1000p")], &ns3, (1000, 64), TrafficMix::mixed(4));
}
