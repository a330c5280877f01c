//! FABA: Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, section 4.2, event by event.

use std::collections::VecDeque;

use aqm::disciplines::{Faba, FabaConfig};
use aqm::{ClassId, FlowId, LinkInfo, Params, Rate, Rng, Time};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::tokens::{BUCKETS, NO_BUCKET, PAPER, Setting, TOKENS_PER_DEPARTURE, tokens_per_departure};

struct Faba42 {
    set: Setting,
    queue: VecDeque<Arrival>,
    /// Flow and occupancy x_j. The last bucket takes the position of a deleted bucket.
    buckets: Vec<(u64, f64)>,
    sigma: f64,
    /// Tokens that step 3 added to buckets, less the tokens that it took from them; and the departures.
    distributed: f64,
    departures: f64,
}

impl Faba42 {
    fn new(set: Setting) -> Faba42 {
        let (distributed, departures) = (0.0, 0.0);
        Faba42 { set, queue: VecDeque::new(), buckets: Vec::new(), sigma: set.stock(), distributed, departures }
    }

    /// L_N = T/N.
    fn height(&self) -> f64 {
        self.set.share(self.set.stock() / self.buckets.len().max(1) as f64)
    }

    fn random(&self, rng: &mut Rng) -> usize {
        rng.below(self.buckets.len() as u32) as usize
    }

    /// Step 4.
    fn create(&mut self, flow: u64, rng: &mut Rng) {
        if self.buckets.len() == self.set.max_flows {
            let drawn: Vec<usize> = (0..4).map(|_| self.random(rng)).collect();
            let most = drawn.iter().map(|j| self.buckets[*j].1).fold(f64::MIN, f64::max);
            let fullest = drawn.into_iter().rfind(|j| self.buckets[*j].1 == most).unwrap();
            self.sigma += self.buckets.swap_remove(fullest).1;
        }
        self.buckets.push((flow, 0.0));
        let height = self.height();
        self.buckets.last_mut().unwrap().1 = height;
        self.sigma -= height;
    }

    /// Step 3, with step 5.
    fn distribute(&mut self, token: f64, rng: &mut Rng) {
        let q = self.set.carried(&self.queue).max(token);
        let b = ((self.sigma.abs() / q).floor() + 1.0).min(4.0) as u32;
        for _ in 0..b {
            if self.sigma == 0.0 || self.buckets.is_empty() {
                return;
            }
            let j = self.random(rng);
            let height = self.height();
            let x = &mut self.buckets[j].1;
            let moved =
                if self.sigma > 0.0 { self.sigma.min(token) } else { -(-self.sigma).min(token).min(x.max(0.0)) };
            *x += moved;
            self.sigma -= moved;
            self.distributed += moved;
            if *x > height {
                self.sigma += self.buckets.swap_remove(j).1;
            }
        }
    }
}

impl Oracle for Faba42 {
    fn arrive(&mut self, packet: Arrival, _: f64, rng: &mut Rng) -> Vec<Decision> {
        if !self.buckets.iter().any(|(flow, _)| *flow == packet.flow) {
            self.create(packet.flow, rng);
        }
        let height = self.height();
        let x = &mut self.buckets.iter_mut().find(|(flow, _)| *flow == packet.flow).unwrap().1;
        if *x > height {
            self.sigma += *x - height;
            *x = height;
        }
        let (decisions, queued) = self.set.judge(&self.queue, &packet, (*x, height), rng);
        if queued {
            *(if *x > 0.0 { x } else { &mut self.sigma }) -= self.set.cost(&packet);
            self.queue.push_back(packet);
        }
        decisions
    }

    fn depart(&mut self, _: f64, rng: &mut Rng) -> Vec<Decision> {
        let Some(packet) = self.queue.pop_front() else { return Vec::new() };
        self.sigma += self.set.cost(&packet);
        self.departures += 1.0;
        self.distribute(self.set.grain(&packet), rng);
        vec![Decision::Sent(packet.number)]
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("sigma", self.sigma), entry("height", self.height())];
        state.push(entry(TOKENS_PER_DEPARTURE, self.distributed / self.departures.max(1.0)));
        for (flow, name) in (0..).zip(BUCKETS) {
            let bucket = self.buckets.iter().find(|(of, _)| *of == flow);
            state.push(entry(name, bucket.map_or(NO_BUCKET, |(_, x)| *x)));
        }
        state
    }
}

fn look(faba: &Faba<usize>, _: Time) -> NamedState {
    let mut state = vec![entry("sigma", faba.sigma()), entry("height", faba.bucket_height(ClassId(0)).unwrap())];
    state.push(entry(TOKENS_PER_DEPARTURE, tokens_per_departure(faba)));
    let bucket = |flow| faba.bucket(FlowId(flow), ClassId(0)).unwrap_or(NO_BUCKET);
    state.extend((0..).zip(BUCKETS).map(|(flow, name)| entry(name, bucket(flow))));
    state
}

#[test]
fn faba_does_what_section_4_2_says() {
    let bytes = Setting { limit_in_bytes: true, byte_mode: true, ..PAPER };
    let settings = [
        (PAPER, TrafficMix::even(1)),
        (
            Setting { text: "limit=100p,alpha=1.4,ecn=off", limit: 100.0, alpha: 1.4, ecn: false, ..PAPER },
            TrafficMix::mixed(2),
        ),
        (
            Setting {
                text: "limit=20p,maxp=0.3,lambda1=0.9,lambda2=0.6",
                limit: 20.0,
                maxp: 0.3,
                lambda1: 0.9,
                lambda2: 0.6,
                ..PAPER
            },
            TrafficMix::even(3),
        ),
        (Setting { text: "limit=60KB", limit: 60e3, ..bytes }, TrafficMix::mixed(4)),
        (
            Setting {
                text: "limit=60KB,byte_mode=off,max_flows=7",
                limit: 60e3,
                byte_mode: false,
                max_flows: 7,
                ..bytes
            },
            TrafficMix::mixed(5),
        ),
        // Fewer tokens than flows.
        (Setting { text: "limit=10p", limit: 10.0, ..PAPER }, TrafficMix::even(6)),
    ];
    for (set, traffic) in settings {
        let pairs: Vec<(&str, &str)> = set.text.split(',').filter_map(|pair| pair.split_once('=')).collect();
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
        let faba = Faba::new(FabaConfig::from_settings(&pairs).unwrap(), &link).unwrap();
        agree(faba, Faba42::new(set), look, traffic);
    }
}
