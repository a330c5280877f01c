//! CHOKe: Pan, Prabhakar, Psounis, INFOCOM 2000, figure 1 with M-CHOKe and A-CHOKe; the comparison paper, section II.

use aqm::disciplines::{Choke, ChokeConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::red::{Figure2, PLAIN, Set};

/// CHOKe's comparison with packets drawn from the queue, followed by RED.
pub struct Figure1 {
    pub red: Figure2,
    /// The queue, with a hole for each packet dropped by a match. A draw that hits a hole is repeated.
    slots: Vec<Option<Arrival>>,
    pub candidates: usize,
    /// A-CHOKe's k, or 0.
    regions: usize,
    /// Whether the first candidate of the last arrival was of the arrival's flow.
    pub first: Option<bool>,
}

impl Figure1 {
    pub fn new(set: Set, candidates: usize, regions: usize) -> Figure1 {
        Figure1 { red: Figure2::new(set), slots: Vec::new(), candidates, regions, first: None }
    }

    /// Copies the queue without holes to RED.
    fn copy_queue_to_red(&mut self) {
        self.red.queue = self.slots.iter().flatten().copied().collect();
    }

    fn to_draw(&self) -> usize {
        let Set { minth, maxth, .. } = self.red.set;
        match self.regions {
            0 => self.candidates,
            k => {
                let width = (maxth - minth) / k as f64;
                2 * (1..k).find(|i| self.red.avg < minth + *i as f64 * width).unwrap_or(k)
            }
        }
    }

    fn draw(&mut self, rng: &mut Rng) -> Option<usize> {
        let packets = self.slots.iter().flatten().count();
        if packets == 0 {
            return None;
        }
        if self.slots.len() > 2 * packets {
            self.slots.retain(Option::is_some);
        }
        loop {
            let place = rng.below(self.slots.len() as u32) as usize;
            if self.slots[place].is_some() {
                return Some(place);
            }
        }
    }
}

impl Oracle for Figure1 {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.copy_queue_to_red();
        self.red.calculate_average(now);
        let mut decisions = Vec::new();
        self.first = None;
        if self.red.avg >= self.red.set.minth {
            for _ in 0..self.to_draw() {
                let Some(place) = self.draw(rng) else { break };
                let own = self.slots[place].is_some_and(|candidate| candidate.flow == packet.flow);
                self.first = self.first.or(Some(own));
                if own {
                    let candidate = self.slots[place].take().unwrap();
                    decisions.push(Decision::Dropped(candidate.number, Why::Match));
                }
            }
        }
        if !decisions.is_empty() {
            self.red.count = 0;
            decisions.push(Decision::Dropped(packet.number, Why::Match));
        } else if self.red.avg < self.red.set.minth {
            // Below minth RED drops only if the buffer is full, and its count does not change.
            self.red.count = -1;
            if !self.red.has_room(&packet) {
                return vec![Decision::Dropped(packet.number, Why::Overflow)];
            }
            self.slots.push(Some(packet));
        } else {
            let before = self.red.queue.len();
            decisions = self.red.judge(packet, rng);
            if self.red.queue.len() > before {
                self.slots.push(Some(packet));
            }
        }
        self.copy_queue_to_red();
        decisions
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.copy_queue_to_red();
        let oldest = self.red.take(now);
        while !self.slots.is_empty() {
            if self.slots.remove(0).is_some() {
                break;
            }
        }
        oldest.map(|packet| Decision::Sent(packet.number)).into_iter().collect()
    }

    fn state(&self) -> NamedState {
        let mut state = self.red.state();
        let calm = self.red.avg < self.red.set.minth;
        state.push(entry("candidates", if calm { 0 } else { self.to_draw() as u32 }));
        state
    }
}

fn look(choke: &Choke<usize>, _: Time) -> NamedState {
    let (detector, held) = (choke.detector(), choke.backlog());
    let mut candidates = 0.0;
    choke.observe(&mut |name, value| candidates = if name == "candidates" { value } else { candidates });
    vec![
        entry("avg", detector.average()),
        entry("count", detector.count() as f64),
        entry("pb", detector.probability()),
        entry("packets", held.packets),
        entry("bytes", held.bytes as f64),
        entry("candidates", candidates),
    ]
}

fn compare(settings: &str, oracle: Figure1, traffic: TrafficMix) {
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let config = ChokeConfig::from_settings(&settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    agree(Choke::new(config, &link).unwrap(), oracle, look, traffic);
}

#[test]
fn basic_choke_packet_by_packet() {
    compare("limit=150p,minth=50p,maxth=100p", Figure1::new(PLAIN, 1, 0), TrafficMix::even(1));
    let quick = Set { room: (60, u64::MAX), minth: 5.0, maxth: 50.0, wq: 0.1, maxp: 0.3, mark_above: true, ..PLAIN };
    compare(
        "limit=60p,minth=5p,maxth=50p,wq=0.1,maxp=0.3,mark_above_maxth=on",
        Figure1::new(quick, 1, 0),
        TrafficMix::mixed(2),
    );
}

#[test]
fn choke_with_several_candidates_packet_by_packet() {
    let few = Set { minth: 10.0, maxth: 40.0, wq: 0.02, ..PLAIN };
    compare("limit=150p,minth=10p,maxth=40p,wq=0.02,candidates=5", Figure1::new(few, 5, 0), TrafficMix::mixed(3));
    let adaptive = Set { minth: 5.0, maxth: 30.0, wq: 0.02, ecn: false, ..PLAIN };
    compare(
        "limit=150p,minth=5p,maxth=30p,wq=0.02,adaptive=5,ecn=off",
        Figure1::new(adaptive, 1, 5),
        TrafficMix::even(4),
    );
}

#[test]
fn choke_with_tcs_defaults() {
    // For 120 packets: max 30, min 8.3333 % = 9.99996; burst 16 and W = 3 as for RED.
    let tc = Set { room: (120, u64::MAX), minth: 9.99996, maxth: 30.0, wq: 0.125, spare_first: true, ..PLAIN };
    let tc = Set { ecn: false, mark_above: true, ..tc };
    compare("preset=linux,limit=120p", Figure1::new(tc, 1, 0), TrafficMix::mixed(5));
}
