//! Adaptive RED: Floyd, Gummadi, Shenker, 2001, with a timer that ends every interval.

use aqm::disciplines::{Ared, AredConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::red::{Figure2, PLAIN, Set};

struct PlainAred {
    red: Figure2,
    alpha: f64,
    beta: f64,
    interval: f64,
    top: f64,
    bottom: f64,
    /// As in ns-2: without a timer, an arrival changes maxp if an interval has passed since the last change.
    with_arrivals: bool,
    /// Next end of an interval, or the time of maxp's last change.
    clock: f64,
}

impl PlainAred {
    fn timer(set: Set) -> PlainAred {
        let red = Figure2::new(set);
        let (alpha, beta, interval, top, bottom) = (0.01, 0.9, 0.5, 0.5, 0.01);
        PlainAred { red, alpha, beta, interval, top, bottom, with_arrivals: false, clock: interval }
    }

    /// "Every interval seconds".
    fn every_interval(&mut self, avg: f64) -> bool {
        let Set { minth, maxth, .. } = self.red.set;
        let target = [0.4, 0.6].map(|part| minth + part * (maxth - minth));
        let before = self.red.maxp;
        if avg > target[1] && self.red.maxp <= self.top {
            self.red.maxp += self.alpha.min(self.red.maxp / 4.0);
        } else if avg < target[0] && self.red.maxp >= self.bottom {
            self.red.maxp *= self.beta;
        }
        self.red.maxp != before
    }

    /// The average at `time`, decayed by idle time.
    fn avg_at(&self, time: f64) -> f64 {
        match self.red.q_time {
            Some(q_time) if self.red.queue.is_empty() => {
                self.red.avg * (1.0 - self.red.set.wq).powf((time - q_time) / self.red.set.s)
            }
            _ => self.red.avg,
        }
    }
}

impl Oracle for PlainAred {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        while !self.with_arrivals && self.clock <= now {
            let avg = self.avg_at(self.clock);
            self.every_interval(avg);
            self.clock += self.interval;
        }
        self.red.calculate_average(now);
        if self.with_arrivals && now > self.clock + self.interval && self.every_interval(self.red.avg) {
            self.clock = now;
        }
        self.red.judge(packet, rng)
    }
    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.red.depart(now, rng)
    }
    fn state(&self) -> NamedState {
        let mut state = self.red.state();
        state.push(entry("maxp", self.red.maxp));
        state
    }
}

fn look(ared: &Ared<usize>, _: Time) -> NamedState {
    let (detector, held) = (ared.detector(), ared.backlog());
    vec![
        entry("avg", detector.average()),
        entry("count", detector.count() as f64),
        entry("pb", detector.probability()),
        entry("packets", held.packets),
        entry("bytes", held.bytes as f64),
        entry("maxp", detector.maxp()),
    ]
}

fn compare(settings: &str, oracle: PlainAred, traffic: TrafficMix) {
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let config = AredConfig::from_settings(&settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    agree(Ared::new(config, &link).unwrap(), oracle, look, traffic);
}

#[test]
fn adaptive_red_packet_by_packet() {
    // C = 1250 packets a second: minth 5 packets, as 2.5 ms of it are 3; maxth 15; wq = 1 - exp(-1/1250).
    let auto = Set { minth: 5.0, maxth: 15.0, maxp: 0.1, wq: 1.0 - (-1.0f64 / 1250.0).exp(), gentle: true, ..PLAIN };
    compare("limit=150p", PlainAred::timer(auto), TrafficMix::even(1));
    // maxp changes often and by large steps, so that it reaches both bounds. Spells last 5 s, so that a silence has
    // many intervals.
    let wild = Set { minth: 10.0, maxth: 40.0, maxp: 0.2, wq: 0.05, ecn: false, ..auto };
    let wild = PlainAred { alpha: 0.05, interval: 0.05, bottom: 0.02, clock: 0.05, ..PlainAred::timer(wild) };
    compare(
        "limit=150p,minth=10p,maxth=40p,maxp=0.2,wq=0.05,ecn=off,alpha=0.05,interval=50ms,bottom=0.02",
        wild,
        TrafficMix { spell: 5.0, ..TrafficMix::mixed(2) },
    );
}

#[test]
fn adaptive_red_as_in_ns2_and_linux() {
    // 10 Mbit/s and 500 B: C = 2500, minth 6.25 packets, maxth 18.75; bottom 80 000 / 10^7.
    let wq = 1.0 - (-1.0f64 / 2500.0).exp();
    let ns2 = Set { minth: 3125.0, maxth: 9375.0, maxp: 0.1, wq, s: 0.0004, mean: 500.0, ecn: false, ..PLAIN };
    let ns2 = Set { bytes: true, by_size: true, gentle: true, wait: true, spare_first: true, spare_below: 1, ..ns2 };
    let ns2 = PlainAred { bottom: 0.008, with_arrivals: true, clock: 0.0, ..PlainAred::timer(ns2) };
    compare("preset=ns2,limit=150p", ns2, TrafficMix::mixed(3));
    // The same thresholds as red:preset=linux,limit=120KB.
    let tc = Set { room: (usize::MAX, 120_000), minth: 9999.96, maxth: 30_000.0, wq: 0.125, bytes: true, ..PLAIN };
    let tc = Set { spare_first: true, mark_above: true, ..tc };
    compare("preset=linux,limit=120KB,ecn=on", PlainAred::timer(tc), TrafficMix::mixed(4));
}
