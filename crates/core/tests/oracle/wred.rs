//! WRED: the marks of the DCQCN paper on arrival (figure 5), and of the HPCC paper's switch on departure
//! (`SwitchMmu::ShouldSendCN` and `SwitchNode::SwitchNotifyDequeue`). A packet without ECN is dropped on arrival.

use std::collections::VecDeque;

use aqm::disciplines::{Wred, WredConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

struct Plain {
    limit: usize,
    kmin: f64,
    kmax: f64,
    pmax: f64,
    in_bytes: bool,
    on_departure: bool,
    ecn: bool,
    queue: VecDeque<Arrival>,
}

impl Plain {
    fn new(kmin: f64, kmax: f64, pmax: f64) -> Plain {
        let queue = VecDeque::new();
        Plain { limit: 1000, kmin, kmax, pmax, in_bytes: true, on_departure: false, ecn: true, queue }
    }

    fn held(&self) -> f64 {
        self.queue.iter().map(|packet| if self.in_bytes { f64::from(packet.bytes) } else { 1.0 }).sum()
    }

    /// `ShouldSendCN`, with the reason.
    fn should_send_cn(&self, rng: &mut Rng) -> Option<Why> {
        if self.held() > self.kmax {
            return Some(Why::Forced);
        }
        if self.held() > self.kmin {
            let p = self.pmax * (self.held() - self.kmin) / (self.kmax - self.kmin);
            if rng.unit() < p {
                return Some(Why::Early);
            }
        }
        None
    }

    fn can_be_marked(&self, packet: Arrival) -> bool {
        self.ecn && packet.ect()
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, _: f64, rng: &mut Rng) -> Vec<Decision> {
        if self.queue.len() == self.limit {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        let (marks, mut decided) = (self.can_be_marked(packet), Vec::new());
        if !(self.on_departure && marks)
            && let Some(why) = self.should_send_cn(rng)
        {
            if !marks {
                return vec![Decision::Dropped(packet.number, why)];
            }
            decided.push(Decision::Marked(packet.number, why));
        }
        self.queue.push_back(packet);
        decided
    }

    fn depart(&mut self, _: f64, rng: &mut Rng) -> Vec<Decision> {
        let Some(packet) = self.queue.pop_front() else { return Vec::new() };
        let mut decided = Vec::new();
        // `SwitchNotifyDequeue` takes the packet off the count of bytes before it asks.
        if self.on_departure
            && self.can_be_marked(packet)
            && let Some(why) = self.should_send_cn(rng)
        {
            decided.push(Decision::Marked(packet.number, why));
        }
        decided.push(Decision::Sent(packet.number));
        decided
    }

    fn state(&self) -> NamedState {
        vec![entry("queue", self.held())]
    }
}

#[test]
fn wred_decides_as_the_papers_switches_do() {
    let packets = Plain { limit: 80, in_bytes: false, on_departure: true, ..Plain::new(8.0, 40.0, 0.3) };
    let shares = Plain { limit: 60, in_bytes: false, ecn: false, ..Plain::new(6.0, 54.0, 0.5) };
    for (settings, plain) in [
        (&[][..], Plain::new(5_000.0, 200_000.0, 0.01)),
        (&[("minth", "10KB"), ("maxth", "60KB"), ("maxp", "0.2")], Plain::new(10_000.0, 60_000.0, 0.2)),
        (&[("preset", "hpcc")], Plain { on_departure: true, ..Plain::new(100_000.0, 400_000.0, 0.2) }),
        (&[("Kmin", "8p"), ("Kmax", "40p"), ("Pmax", "0.3"), ("at", "departure"), ("limit", "80p")], packets),
        (&[("minth", "10%"), ("maxth", "90%"), ("maxp", "0.5"), ("limit", "60p"), ("ecn", "off")], shares),
    ] {
        let in_bytes = plain.in_bytes;
        let config = WredConfig::from_settings(settings).unwrap();
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
        let look = move |queue: &Wred<usize>, _| {
            let held = queue.backlog();
            vec![entry("queue", if in_bytes { held.bytes as f64 } else { f64::from(held.packets) })]
        };
        agree(Wred::new(config, &link).unwrap(), plain, look, TrafficMix::mixed(1));
    }
}
