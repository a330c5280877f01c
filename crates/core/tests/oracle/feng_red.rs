//! Self-configuring RED: Feng, Kandlur, Saha, Shin, INFOCOM 1999.

use aqm::disciplines::{FengRed, FengRedConfig};
use aqm::parts::Zone;
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::red::{Figure2, PLAIN, Set};

struct PlainFengRed {
    red: Figure2,
    status: &'static str,
    alpha: f64,
    beta: f64,
}

impl PlainFengRed {
    fn new(set: Set) -> PlainFengRed {
        // The paper leaves the initial status open: an empty queue is below minth.
        PlainFengRed { red: Figure2::new(set), status: "Below", alpha: 3.0, beta: 2.0 }
    }
}

impl Oracle for PlainFengRed {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        // "Every Q_ave update"
        self.red.calculate_average(now);
        let (q_ave, Set { minth, maxth, .. }) = (self.red.avg, self.red.set);
        if minth < q_ave && q_ave < maxth {
            self.status = "Between";
        }
        if q_ave < minth && self.status != "Below" {
            self.status = "Below";
            // Departs from the paper: no lower than 0.0001.
            self.red.maxp = (self.red.maxp / self.alpha).max(0.0001);
        }
        if q_ave > maxth && self.status != "Above" {
            self.status = "Above";
            // maxp is a probability, at most 1.
            self.red.maxp = (self.red.maxp * self.beta).min(1.0);
        }
        self.red.judge(packet, rng)
    }
    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.red.depart(now, rng)
    }
    fn state(&self) -> NamedState {
        let mut state = self.red.state();
        state.push(entry("maxp", self.red.maxp));
        state.push(entry(self.status, 1));
        state
    }
}

fn look(red: &FengRed<usize>, _: Time) -> NamedState {
    let (detector, held) = (red.detector(), red.backlog());
    let status = match red.zone() {
        Zone::Below => "Below",
        Zone::Between => "Between",
        Zone::Above => "Above",
    };
    vec![
        entry("avg", detector.average()),
        entry("count", detector.count() as f64),
        entry("pb", detector.probability()),
        entry("packets", held.packets),
        entry("bytes", held.bytes as f64),
        entry("maxp", detector.maxp()),
        entry(status, 1),
    ]
}

fn compare(settings: &str, oracle: PlainFengRed, traffic: TrafficMix) {
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let config = FengRedConfig::from_settings(&settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    agree(FengRed::new(config, &link).unwrap(), oracle, look, traffic);
}

#[test]
fn self_configuring_red_packet_by_packet() {
    compare("limit=150p,minth=50p,maxth=100p", PlainFengRed::new(PLAIN), TrafficMix::even(1));
    let quick = Set { minth: 5.0, maxth: 15.0, wq: 0.1, maxp: 0.3, ..PLAIN };
    compare("limit=150p,minth=5p,maxth=15p,wq=0.1,maxp=0.3", PlainFengRed::new(quick), TrafficMix::mixed(2));
    let hasty = Set { minth: 10.0, maxth: 40.0, wq: 0.02, maxp: 1.0, ecn: false, ..PLAIN };
    let hasty = PlainFengRed { alpha: 10.0, beta: 1.5, ..PlainFengRed::new(hasty) };
    compare("limit=150p,minth=10p,maxth=40p,wq=0.02,maxp=1,alpha=10,beta=1.5,ecn=off", hasty, TrafficMix::even(3));
    // The same thresholds as ared:preset=ns2.
    let wq = 1.0 - (-1.0f64 / 2500.0).exp();
    let ns2 = Set { minth: 3125.0, maxth: 9375.0, maxp: 0.1, wq, s: 0.0004, mean: 500.0, ecn: false, ..PLAIN };
    let ns2 = Set { bytes: true, by_size: true, gentle: true, wait: true, spare_first: true, spare_below: 1, ..ns2 };
    compare("preset=ns2,limit=150p", PlainFengRed::new(ns2), TrafficMix::mixed(4));
}
