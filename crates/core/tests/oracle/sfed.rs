//! SFED: Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, section 4.1, event by event.

use std::collections::VecDeque;

use aqm::disciplines::{Sfed, SfedConfig};
use aqm::{ClassId, FlowId, LinkInfo, Params, Rate, Rng, Time};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::tokens::{BUCKETS, NO_BUCKET, PAPER, Setting};

struct Sfed41 {
    set: Setting,
    /// A bucket for each class (section 3: "or aggregate of flows"), not for each flow.
    classes: bool,
    queue: VecDeque<Arrival>,
    /// Flow and occupancy x_j. The last bucket takes the position of a deleted bucket.
    buckets: Vec<(u64, f64)>,
    next: usize,
    sigma: f64,
}

impl Sfed41 {
    fn new(set: Setting, classes: bool) -> Sfed41 {
        Sfed41 { set, classes, queue: VecDeque::new(), buckets: Vec::new(), next: 0, sigma: set.stock() }
    }

    /// L_N = T/N.
    fn height(&self) -> f64 {
        self.set.share(self.set.stock() / self.buckets.len().max(1) as f64)
    }

    /// Step 4.
    fn create(&mut self, flow: u64) {
        if self.buckets.len() == self.set.max_flows {
            let ahead: Vec<usize> = (0..4).map(|k| (self.next + k) % self.buckets.len()).collect();
            let most = ahead.iter().map(|j| self.buckets[*j].1).fold(f64::MIN, f64::max);
            let fullest = ahead.into_iter().rfind(|j| self.buckets[*j].1 == most).unwrap();
            self.sigma += self.buckets.swap_remove(fullest).1;
            if self.next >= self.buckets.len() {
                self.next = 0;
            }
        }
        self.buckets.push((flow, 0.0));
        let height = self.height();
        self.buckets.last_mut().unwrap().1 = height;
        self.sigma -= height;
        for (_, x) in &mut self.buckets {
            if *x > height {
                self.sigma += *x - height;
                *x = height;
            }
        }
    }

    /// Step 3, with step 5.
    fn distribute(&mut self, token: f64) {
        while self.sigma >= token && !self.buckets.is_empty() {
            let height = self.height();
            self.buckets[self.next].1 += token;
            self.sigma -= token;
            if self.buckets[self.next].1 >= height {
                self.sigma += self.buckets.swap_remove(self.next).1;
            } else {
                self.next += 1;
            }
            if self.next >= self.buckets.len() {
                self.next = 0;
            }
        }
    }
}

impl Oracle for Sfed41 {
    fn arrive(&mut self, packet: Arrival, _: f64, rng: &mut Rng) -> Vec<Decision> {
        let owner = if self.classes { u64::from(packet.class) } else { packet.flow };
        if !self.buckets.iter().any(|(of, _)| *of == owner) {
            self.create(owner);
        }
        let height = self.height();
        let x = &mut self.buckets.iter_mut().find(|(of, _)| *of == owner).unwrap().1;
        let (decisions, queued) = self.set.judge(&self.queue, &packet, (*x, height), rng);
        if queued {
            *(if *x > 0.0 { x } else { &mut self.sigma }) -= self.set.cost(&packet);
            self.queue.push_back(packet);
        }
        decisions
    }

    fn depart(&mut self, _: f64, _: &mut Rng) -> Vec<Decision> {
        let Some(packet) = self.queue.pop_front() else { return Vec::new() };
        self.sigma += self.set.cost(&packet);
        self.distribute(self.set.grain(&packet));
        vec![Decision::Sent(packet.number)]
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("sigma", self.sigma), entry("height", self.height())];
        for (flow, name) in (0..).zip(BUCKETS) {
            let bucket = self.buckets.iter().find(|(of, _)| *of == flow);
            state.push(entry(name, bucket.map_or(NO_BUCKET, |(_, x)| *x)));
        }
        state
    }
}

fn look(sfed: &Sfed<usize>, _: Time) -> NamedState {
    let mut state = vec![entry("sigma", sfed.sigma()), entry("height", sfed.bucket_height())];
    // The same number as flow and as class: the discipline uses one of the two.
    let bucket = |owner: u64| sfed.bucket(FlowId(owner), ClassId(owner as u16)).unwrap_or(NO_BUCKET);
    state.extend((0..).zip(BUCKETS).map(|(flow, name)| entry(name, bucket(flow))));
    state
}

#[test]
fn sfed_does_what_section_4_1_says() {
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
        // RED's own profile; with lambda2 = 0 the probability rises in one line from 0 to maxp.
        (Setting { text: "limit=50p,gentle=off", gentle: false, ..PAPER }, TrafficMix::even(7)),
        (
            Setting { text: "limit=50p,lambda1=1,lambda2=0,maxp=1", lambda1: 1.0, lambda2: 0.0, maxp: 1.0, ..PAPER },
            TrafficMix::even(8),
        ),
        // Fewer tokens than flows.
        (Setting { text: "limit=10p", limit: 10.0, ..PAPER }, TrafficMix::even(6)),
    ];
    for (set, traffic) in settings {
        compare(set, false, traffic);
    }
}

#[test]
fn sfed_does_the_same_for_aggregates_of_flows() {
    compare(Setting { text: "limit=50p,per=class", ..PAPER }, true, TrafficMix::even(9));
    let bytes = Setting { text: "limit=60KB,per=class,gentle=off", limit: 60e3, limit_in_bytes: true, ..PAPER };
    compare(Setting { byte_mode: true, gentle: false, ..bytes }, true, TrafficMix::mixed(10));
    compare(Setting { text: "limit=50p,per=class,max_flows=2", max_flows: 2, ..PAPER }, true, TrafficMix::even(11));
}

fn compare(set: Setting, classes: bool, traffic: TrafficMix) {
    let pairs: Vec<(&str, &str)> = set.text.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    let sfed = Sfed::new(SfedConfig::from_settings(&pairs).unwrap(), &link).unwrap();
    agree(sfed, Sfed41::new(set, classes), look, traffic);
}
