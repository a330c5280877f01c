//! RED with a penalty box: the three tests of Floyd, Fall, ToN 7(4), 1999. Boxes and intervals follow
//! docs/disciplines/red_penalty.md, which follows the paper's ns-2 scripts.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use aqm::disciplines::{RedPenalty, RedPenaltyConfig};
use aqm::parts::FailedTest;
use aqm::{Discipline, FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::red::{Figure2, PLAIN, Set};

const FLOWS: u64 = 21;
const LINK: f64 = 10e6;

/// A flow in the bad box.
struct Bad {
    reason: &'static str,
    /// Its rate when it entered the box, in bytes a second.
    rate: f64,
    bytes: f64,
}

struct Boxes {
    red: Figure2,
    interval: f64,
    log_size: usize,
    max_penalized: usize,
    rtt: f64,
    mtu: f64,
    safety: f64,
    high: f64,
    fixed_rate: Option<u64>,
    next: f64,
    since: f64,
    log: VecDeque<u64>,
    /// Samples: flow, drop rate, rate.
    history: VecDeque<(u64, f64, f64)>,
    bad: BTreeMap<u64, Bad>,
    /// Arrivals, signals and bytes outside the box; arrivals and signals in it.
    good_arrivals: f64,
    good_signals: f64,
    good_bytes: f64,
    bad_arrivals: f64,
    bad_signals: f64,
    /// The rate limit in bit/s, and the time at which the bucket of 2 mtu will be full, in whole nanoseconds.
    rate: u64,
    full_at: u64,
    /// The events of the trace. A trace without them would prove nothing.
    seen: Rc<RefCell<BTreeSet<&'static str>>>,
}

impl Boxes {
    fn new(set: Set) -> Boxes {
        Boxes {
            red: Figure2::new(set),
            interval: 5.0,
            log_size: 1000,
            max_penalized: 100,
            rtt: 0.06,
            mtu: 1500.0,
            safety: 1.2,
            high: 12_000.0,
            fixed_rate: None,
            next: 5.0,
            since: 0.0,
            log: VecDeque::new(),
            history: VecDeque::new(),
            bad: BTreeMap::new(),
            good_arrivals: 0.0,
            good_signals: 0.0,
            good_bytes: 0.0,
            bad_arrivals: 0.0,
            bad_signals: 0.0,
            rate: 0,
            full_at: 0,
            seen: Rc::default(),
        }
    }

    fn unfriendly(&self, rate: f64, p: f64) -> bool {
        p > 0.0 && rate > self.safety * (1.22 * self.mtu / (self.rtt * p.sqrt()))
    }

    fn high(&self, rate: f64, p: f64, all: f64, n: usize) -> bool {
        rate > (3.0 * n as f64).ln() / n as f64 * all && rate * p.sqrt() > self.high
    }

    fn counts(&self) -> BTreeMap<u64, usize> {
        self.log.iter().fold(BTreeMap::new(), |mut counts, flow| {
            *counts.entry(*flow).or_default() += 1;
            counts
        })
    }

    fn most(&self) -> Option<(u64, usize)> {
        // The largest count; among equals the smallest flow number, which comes first.
        let counts = self.counts();
        let greatest = counts.values().copied().max()?;
        counts.into_iter().find(|(_, count)| *count == greatest)
    }

    fn see(&self, what: &'static str) {
        self.seen.borrow_mut().insert(what);
    }

    fn examine(&mut self, now: f64) {
        let elapsed = now - self.since;
        let all = self.good_bytes / elapsed;
        let n = self.counts().len();

        // do_reward: every flow in the box.
        let p = if self.bad_arrivals == 0.0 { 0.0 } else { self.bad_signals / self.bad_arrivals };
        for flow in self.bad.keys().copied().collect::<Vec<_>>() {
            let Bad { reason, rate: before, bytes } = self.bad[&flow];
            let rate = bytes / elapsed;
            let again = match reason {
                "UNRESPONSIVE" => rate > 0.8 * before,
                "HIGH" => self.high(rate, p, all + rate, n + 1),
                _ => false,
            };
            if !again && !self.unfriendly(rate, p) {
                self.see("released");
                self.bad.remove(&flow);
            }
        }

        // do_detect: the flow with most drops.
        let p = if self.good_arrivals == 0.0 { 0.0 } else { self.good_signals / self.good_arrivals };
        if let Some((flow, drops)) = self.most() {
            let rate = drops as f64 / self.log.len() as f64 * all;
            let mut calmest: Option<(f64, f64)> = None;
            for (_, p, rate) in self.history.iter().filter(|(name, ..)| *name == flow) {
                if calmest.is_none_or(|(least, _)| *p < least) {
                    calmest = Some((*p, *rate));
                }
            }
            let reason = if self.unfriendly(rate, p) {
                "UNFRIENDLY"
            } else if calmest.is_some_and(|(then, before)| p > 2.0 * then && rate > 0.8 * before) {
                "UNRESPONSIVE"
            } else if self.high(rate, p, all, n) {
                "HIGH"
            } else {
                self.history.push_back((flow, p, rate));
                if self.history.len() > 10 {
                    self.history.pop_front();
                }
                "OK"
            };
            self.see(reason);
            if reason != "OK" && self.bad.len() < self.max_penalized {
                self.bad.insert(flow, Bad { reason, rate, bytes: 0.0 });
            }
        }

        // Half a friendly rate for each flow in the box.
        let mut rate = self.rate;
        if let Some(fixed) = self.fixed_rate {
            rate = fixed;
        } else if p > 0.0 {
            let friendly = 1.22 * self.mtu / (self.rtt * p.sqrt());
            rate = ((4.0 * friendly * self.bad.len() as f64) as u64).clamp(1, (LINK / 4.0) as u64);
        }
        if !self.bad.is_empty() && rate != self.rate {
            self.rate = rate;
            self.full_at = 0;
        }

        self.log.clear();
        self.bad.values_mut().for_each(|flow| flow.bytes = 0.0);
        (self.good_arrivals, self.good_signals, self.good_bytes) = (0.0, 0.0, 0.0);
        (self.bad_arrivals, self.bad_signals, self.since) = (0.0, 0.0, now);
    }

    /// Whether the bucket has tokens for the packet; takes them if it has.
    fn take(&mut self, bytes: f64, now: f64) -> bool {
        let now = (now * 1e9).round() as u64;
        let time = |bytes: f64| (bytes as u128 * 8_000_000_000).div_ceil(u128::from(self.rate)) as u64;
        let lacking = self.full_at.saturating_sub(now);
        let admitted = lacking == 0 || lacking + time(bytes) <= time(2.0 * self.mtu);
        if admitted {
            self.full_at = self.full_at.max(now) + time(bytes);
        }
        admitted
    }
}

impl Oracle for Boxes {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        if now >= self.next {
            self.examine(now);
            while self.next <= now {
                self.next += self.interval;
            }
        }
        let bytes = f64::from(packet.bytes);
        if let Some(bad) = self.bad.get_mut(&packet.flow) {
            bad.bytes += bytes;
            self.bad_arrivals += 1.0;
            if !self.take(bytes, now) {
                self.bad_signals += 1.0;
                return vec![Decision::Dropped(packet.number, Why::Unresponsive)];
            }
            self.red.calculate_average(now);
            let decisions = self.red.judge(packet, rng);
            self.bad_signals += decisions.len() as f64;
            return decisions;
        }
        self.good_arrivals += 1.0;
        self.good_bytes += bytes;
        self.red.calculate_average(now);
        let decisions = self.red.judge(packet, rng);
        if !decisions.is_empty() {
            self.good_signals += 1.0;
            self.log.push_back(packet.flow);
            if self.log.len() > self.log_size {
                self.log.pop_front();
            }
        }
        decisions
    }

    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.red.depart(now, rng)
    }

    fn state(&self) -> NamedState {
        let mut state = self.red.state();
        let most = self.most().map_or((0, 0), |(flow, count)| (flow, count));
        state.push(entry("logged", self.log.len() as u32));
        state.push(entry("most", most.0 as f64));
        state.push(entry("its signals", most.1 as u32));
        state.push(entry("penalty rate", self.rate as f64));
        for flow in 0..FLOWS {
            if let Some(bad) = self.bad.get(&flow) {
                state.push(entry(format!("{flow} {}", bad.reason), bad.rate));
                state.push(entry(format!("bytes of {flow}"), bad.bytes));
            }
        }
        state
    }
}

fn look(red: &RedPenalty<usize>, _: Time) -> NamedState {
    let (detector, held, most) = (red.detector(), red.backlog(), red.log.top_flow().unwrap_or((FlowId(0), 0)));
    let mut state = vec![
        entry("avg", detector.average()),
        entry("count", detector.count() as f64),
        entry("pb", detector.probability()),
        entry("packets", held.packets),
        entry("bytes", held.bytes as f64),
        entry("logged", red.log.len() as u32),
        entry("most", most.0.0 as f64),
        entry("its signals", most.1),
        entry("penalty rate", red.penalty_rate.as_bits() as f64),
    ];
    for flow in 0..FLOWS {
        if let Some(penalty) = red.penalty(FlowId(flow)) {
            let reason = match penalty.failed {
                FailedTest::Unfriendly => "UNFRIENDLY",
                FailedTest::Unresponsive => "UNRESPONSIVE",
                FailedTest::Disproportionate => "HIGH",
            };
            state.push(entry(format!("{flow} {reason}"), penalty.rate));
            state.push(entry(format!("bytes of {flow}"), penalty.bytes as f64));
        }
    }
    state
}

/// Compares, and returns the results of the examinations.
fn compare(settings: &str, oracle: Boxes, traffic: TrafficMix) -> BTreeSet<&'static str> {
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let config = RedPenaltyConfig::from_settings(&settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(LINK as u64), 1000, 7);
    let seen = oracle.seen.clone();
    agree(RedPenalty::new(config, &link).unwrap(), oracle, look, traffic);
    seen.take()
}

#[test]
fn the_penalty_box_packet_by_packet() {
    let red = Set { minth: 10.0, maxth: 30.0, wq: 0.02, maxp: 0.1, ..PLAIN };
    let short = Boxes { log_size: 200, ..Boxes::new(red) };
    let mut seen = compare("limit=150p,minth=10p,maxth=30p,wq=0.02,maxp=0.1,log=200", short, TrafficMix::even(1));
    // With such a short round trip no flow is unfriendly, so the other two tests decide.
    let patient = Boxes { interval: 1.0, next: 1.0, rtt: 0.001, log_size: 50, high: 5000.0, ..Boxes::new(red) };
    let settings = "limit=150p,minth=10p,maxth=30p,wq=0.02,maxp=0.1,interval=1s,rtt=1ms,log=50,disproportionate=5000";
    seen.extend(compare(settings, patient, TrafficMix::mixed(2)));
    let strict = Set { ecn: false, ..red };
    let strict =
        Boxes { interval: 0.5, next: 0.5, rtt: 0.2, mtu: 600.0, safety: 1.0, max_penalized: 3, ..Boxes::new(strict) };
    let strict = Boxes { fixed_rate: Some(160_000), ..strict };
    let settings = "limit=150p,minth=10p,maxth=30p,wq=0.02,maxp=0.1,ecn=off,interval=500ms,rtt=200ms,mtu=600B,safety=1,\
                    max_penalized=3,penalty_rate=160kbit/s";
    seen.extend(compare(settings, strict, TrafficMix::mixed(3)));
    assert_eq!(seen, BTreeSet::from(["HIGH", "OK", "UNFRIENDLY", "UNRESPONSIVE", "released"]));
}
