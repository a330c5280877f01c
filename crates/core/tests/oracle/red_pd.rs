//! RED-PD: Mahajan, Floyd, Wetherall, ICNP 2001, with what figures 7 and 8 hold and the paper leaves open from ns-2's
//! `red-pd.cc` and `monitoring.tcl`. The output queue is RED of Floyd and Jacobson 1993, figure 2, gentle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use headgate_core::disciplines::{RedPd, RedPdConfig};
use headgate_core::{LinkInfo, Params, Rate, Rng, Time, Why};

use crate::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// Everything that is set, in plain numbers.
#[derive(Clone, Copy)]
struct RedPdNumbers {
    /// In the unit of the queue: packets, or bytes in byte mode.
    limit: f64,
    minth: f64,
    maxth: f64,
    maxp: f64,
    wq: f64,
    /// ns-2's RED: its `wait_`, the first packet above minth is spared, and so is one that finds the queue empty.
    ns2: bool,
    bytes: bool,
    ecn: bool,
    mean: f64,
    m: usize,
    k: usize,
    list_flows: usize,
    counted_flows: usize,
    max_monitored: usize,
    test: bool,
    penalty: f64,
    max_decrease: f64,
    noidle: bool,
    fixed: Option<f64>,
    dynamic: Dynamic,
    min_rtt: f64,
    max_rtt: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Dynamic {
    Off,
    DropRate(f64),
    MonitoredFlow(usize),
}

/// The paper's values; thresholds of the authors' scripts in a buffer of 150.
const PAPER: RedPdNumbers = RedPdNumbers {
    limit: 150.0,
    minth: 30.0,
    maxth: 99.0,
    maxp: 0.1,
    wq: 0.002,
    ns2: false,
    bytes: false,
    ecn: true,
    mean: 1000.0,
    m: 5,
    k: 3,
    list_flows: 50,
    counted_flows: 1024,
    max_monitored: 1024,
    test: true,
    penalty: 1.0,
    max_decrease: 0.05,
    noidle: true,
    fixed: None,
    dynamic: Dynamic::Off,
    min_rtt: 0.010,
    max_rtt: 0.170,
};

struct RedPdFlow {
    p: f64,
    passed: f64,
    /// Nanoseconds.
    changed: i64,
    unresponsive: bool,
    arrived: f64,
    dropped: f64,
    last: (f64, f64),
    /// (arrival rate, drop rate), oldest first.
    pairs: Vec<(f64, f64)>,
}

struct Plain {
    rules: RedPdNumbers,
    queue: VecDeque<Arrival>,
    avg: f64,
    count: f64,
    idle: Option<f64>,
    /// Nanoseconds, as are the lengths.
    started: i64,
    length: i64,
    lengths: Vec<i64>,
    rtt: f64,
    arrivals: f64,
    drops: f64,
    average_rate: Option<f64>,
    filling: BTreeMap<u64, f64>,
    lists: Vec<BTreeMap<u64, f64>>,
    /// Lists and drops of every flow in them, each weighed with its name: what `state` says of them.
    listed: (f64, f64),
    flows: BTreeMap<u64, RedPdFlow>,
}

fn nanos(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

impl Plain {
    fn new(rules: RedPdNumbers) -> Plain {
        let mut plain = Plain {
            rules,
            queue: VecDeque::new(),
            avg: 0.0,
            count: -1.0,
            idle: None,
            started: 0,
            length: 0,
            lengths: Vec::new(),
            rtt: 0.040,
            arrivals: 0.0,
            drops: 0.0,
            average_rate: None,
            filling: BTreeMap::new(),
            lists: Vec::new(),
            listed: (0.0, 0.0),
            flows: BTreeMap::new(),
        };
        plain.length = plain.b(0.0);
        plain
    }

    fn size(&self, packet: Arrival) -> f64 {
        if self.rules.bytes { f64::from(packet.bytes) } else { 1.0 }
    }

    fn held(&self) -> f64 {
        self.queue.iter().map(|packet| self.size(*packet)).sum()
    }

    /// Equation (3), between 2R and 10R.
    fn b(&self, p: f64) -> i64 {
        let p = self.rules.fixed.unwrap_or(p);
        let most = 10.0 * self.rtt;
        let b = if p == 0.0 { most } else { self.rules.k as f64 / self.rules.m as f64 * self.rtt / (1.5 * p).sqrt() };
        nanos(b.min(most).max(2.0 * self.rtt))
    }

    /// A drop enters the list. With counters for n flows only, Misra and Gries.
    fn record(&mut self, flow: u64, size: f64) {
        if self.filling.contains_key(&flow) || self.filling.len() < self.rules.counted_flows {
            *self.filling.entry(flow).or_default() += size;
            return;
        }
        let cut = self.filling.values().copied().fold(size, f64::min);
        self.filling.values_mut().for_each(|drops| *drops -= cut);
        self.filling.retain(|_, drops| *drops > 0.0);
        if size > cut {
            self.filling.insert(flow, size - cut);
        }
    }

    /// In how many lists the flow is, and what it lost in them.
    fn history(&self, flow: u64) -> (usize, f64) {
        let drops: Vec<f64> = self.lists.iter().filter_map(|list| list.get(&flow)).copied().collect();
        (drops.len(), drops.iter().sum())
    }

    /// Figures 7 and 8, at the end of a list.
    fn end_list(&mut self) {
        let now = self.started + self.length;
        let rate = if self.arrivals == 0.0 { 0.0 } else { self.drops / self.arrivals };
        let average = match self.average_rate {
            None => rate,
            Some(average) => 0.5 * rate + 0.5 * average,
        };
        self.average_rate = Some(average);
        self.lengths.push(self.length);

        let mut list: Vec<(u64, f64)> = std::mem::take(&mut self.filling).into_iter().collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        list.truncate(self.rules.list_flows);
        self.lists.push(list.into_iter().collect());
        if self.lists.len() > self.rules.m {
            self.lists.remove(0);
        }
        let all: BTreeSet<u64> = self.lists.iter().flat_map(|list| list.keys().copied()).collect();
        self.listed = all.into_iter().fold((0.0, 0.0), |(lists, drops), flow| {
            let (present, lost) = self.history(flow);
            (lists + (1 + flow) as f64 * present as f64, drops + (1 + flow) as f64 * lost)
        });
        for flow in self.flows.values_mut() {
            flow.last = (flow.arrived, flow.dropped);
            (flow.arrived, flow.dropped) = (0.0, 0.0);
        }
        if rate > 0.001 {
            self.increase(now, rate.min(average));
        }
        self.decrease(now);
        if self.arrivals > 0.0 {
            self.vary_r(rate, average);
        }
        (self.arrivals, self.drops) = (0.0, 0.0);
        self.started = now;
        self.length = self.b(average);
    }

    fn since(&self, lists: usize) -> i64 {
        self.lengths.iter().rev().take(lists).sum::<i64>().max(nanos(0.4))
    }

    fn increase(&mut self, now: i64, usable: f64) {
        let all: BTreeSet<u64> = self.lists.iter().flat_map(|list| list.keys().copied()).collect();
        let identified: Vec<u64> = all.into_iter().filter(|flow| self.history(*flow).0 >= self.rules.k).collect();
        let mean = identified.iter().map(|flow| self.history(*flow).1).sum::<f64>() / identified.len() as f64;
        let (since, seconds) = (self.since(4), self.length as f64 / 1e9);
        for name in identified {
            if !self.lists.last().unwrap().contains_key(&name) {
                continue;
            }
            let inc = usable * self.history(name).1 / mean;
            let Some(flow) = self.flows.get_mut(&name) else {
                let p = inc.min(2.0 * usable).min(0.5);
                self.monitor(name, p, now);
                continue;
            };
            if now - flow.changed < since {
                continue;
            }
            if self.rules.test && unresponsive(&flow.pairs) {
                flow.unresponsive = true;
            }
            let old = flow.p;
            if flow.unresponsive {
                flow.p = if inc > old { 3.0 * old } else { old + 2.0 * inc };
                if flow.p >= 1.0 {
                    flow.p = 1.0 - (1.0 - old) / 3.0;
                }
            } else {
                flow.p = if inc > old { 2.0 * old } else { old + inc };
                if flow.p >= 1.0 {
                    flow.p = 1.0 - (1.0 - old) / 2.0;
                }
            }
            flow.changed = now;
            let (arrived, dropped) = flow.last;
            if arrived > 0.0 {
                flow.pairs.push((arrived / seconds, dropped / arrived));
            }
            if flow.pairs.len() > 5 {
                flow.pairs.remove(0);
            }
        }
    }

    fn monitor(&mut self, name: u64, p: f64, now: i64) {
        if self.flows.len() == self.rules.max_monitored {
            let least = self.flows.iter().min_by(|a, b| a.1.p.total_cmp(&b.1.p)).map(|(name, flow)| (*name, flow.p));
            match least {
                Some((least, smaller)) if smaller < p => self.flows.remove(&least),
                _ => return,
            };
        }
        let fresh = RedPdFlow {
            p,
            passed: 0.0,
            changed: now,
            unresponsive: false,
            arrived: 0.0,
            dropped: 0.0,
            last: (0.0, 0.0),
            pairs: Vec::new(),
        };
        self.flows.insert(name, fresh);
    }

    fn decrease(&mut self, now: i64) {
        let (three, five) = (self.since(3), self.since(5));
        let names: Vec<u64> = self.flows.keys().copied().collect();
        for name in names {
            let absent = self.history(name).0 == 0;
            let flow = self.flows.get_mut(&name).unwrap();
            let waited = now - flow.changed >= if flow.unresponsive { five } else { three };
            if !absent || !waited {
                continue;
            }
            let most = self.rules.max_decrease;
            let (enough, part) = if flow.unresponsive { (0.0025, 1.5) } else { (0.005, 2.0) };
            if flow.p <= enough {
                self.flows.remove(&name);
                continue;
            }
            flow.p = if flow.p > part * most { flow.p - most } else { flow.p / part };
            flow.changed = now;
        }
    }

    /// Not in the paper: R moves by 5 % a list.
    fn vary_r(&mut self, rate: f64, average: f64) {
        let (up, down) = match self.rules.dynamic {
            Dynamic::Off => return,
            Dynamic::DropRate(target) => (average > target, average < target / 2.0),
            Dynamic::MonitoredFlow(most) => (self.flows.len() < most && rate > 0.001, self.flows.len() > most),
        };
        let rtt = if up {
            self.rtt * 1.05
        } else if down {
            self.rtt / 1.05
        } else {
            return;
        };
        self.rtt = (nanos(rtt) as f64 / 1e9).clamp(self.rules.min_rtt, self.rules.max_rtt);
    }

    /// Whether the packet of a monitored flow is dropped before the queue.
    fn filtered(&mut self, packet: Arrival, rng: &mut Rng) -> Option<Why> {
        let (size, waiting, congested) = (self.size(packet), self.queue.len() > 1, self.avg >= self.rules.minth);
        let flow = self.flows.get_mut(&packet.flow)?;
        flow.arrived += size;
        let p = if flow.unresponsive { flow.p * self.rules.penalty } else { flow.p };
        let pa = if p == 0.0 {
            0.0
        } else if flow.passed * p < 1.0 {
            p / (1.0 - flow.passed * p)
        } else {
            1.0
        };
        let drawn = rng.chance(pa);
        let demand = if flow.unresponsive { waiting || !self.rules.noidle } else { waiting && congested };
        if drawn && (demand || self.rules.fixed.is_some()) {
            flow.passed = 0.0;
            flow.dropped += size;
            return Some(if flow.unresponsive { Why::Unresponsive } else { Why::Prefilter });
        }
        flow.passed += 1.0;
        None
    }

    /// RED, figure 2, with the gentle variant's second slope.
    fn red(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Option<Why> {
        let RedPdNumbers { limit, minth, maxth, maxp, wq, ns2, bytes, mean, .. } = self.rules;
        let q = self.held();
        match self.idle {
            Some(since) if q == 0.0 => {
                // The time a mean packet takes, rounded up to nanoseconds; the link is of 10 Mbit/s.
                let slot = (mean * 8.0 / 10e6 * 1e9).ceil() / 1e9;
                self.avg *= (1.0 - wq).powf((now - since) / slot);
                self.idle = Some(now);
            }
            _ => self.avg += wq * (q - self.avg),
        }
        let fits = if bytes { q + f64::from(packet.bytes) <= limit } else { q + 1.0 <= limit };
        if !fits {
            self.count = 0.0;
            return Some(Why::Overflow);
        }
        if self.avg < minth || ns2 && self.queue.is_empty() {
            self.count = -1.0;
            return None;
        }
        if self.avg >= 2.0 * maxth {
            self.count = 0.0;
            return Some(Why::Forced);
        }
        self.count += 1.0;
        if ns2 && self.count == 0.0 {
            return None;
        }
        let slope = if self.avg < maxth {
            maxp * (self.avg - minth) / (maxth - minth)
        } else {
            maxp + (1.0 - maxp) * (self.avg - maxth) / maxth
        };
        let pb = if bytes { slope * f64::from(packet.bytes) / mean } else { slope };
        let pa = if pb == 0.0 || ns2 && self.count * pb < 1.0 {
            0.0
        } else {
            let open = if ns2 { 2.0 } else { 1.0 } - self.count * pb;
            if open > 0.0 { pb / open } else { 1.0 }
        };
        let hit = rng.chance(pa);
        if hit {
            self.count = 0.0;
        }
        hit.then_some(Why::Early)
    }
}

/// Bad: the rate fell by less than the square root of the drop rate asks.
fn unresponsive(pairs: &[(f64, f64)]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for (rate1, p1) in pairs {
        for (rate2, p2) in pairs {
            if p1 < p2 && p1 / p2 > 0.1 {
                if rate2 / rate1 > (p1 / p2).sqrt() { bad += 1 } else { good += 1 }
            }
        }
    }
    good == 0 && bad >= 3 || good == 1 && bad >= 4 || good >= 2 && bad >= 4 * good
}

/// Several numbers as one, in which a change of any by a thousandth shows.
fn digest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, |all, number| all * 1.7 + (1.0 + number).ln())
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        while nanos(now) - self.started >= self.length {
            self.end_list();
        }
        if let Some(why) = self.filtered(packet, rng) {
            return vec![Decision::Dropped(packet.number, why)];
        }
        let size = self.size(packet);
        self.arrivals += size;
        let scale = if self.rules.bytes { f64::from(packet.bytes) / self.rules.mean } else { 1.0 };
        let tested = self.rules.fixed.is_some_and(|p| rng.chance(p * scale));
        let why = if tested { Some(Why::Early) } else { self.red(packet, now, rng) };
        let mark = why == Some(Why::Early) && !tested && self.rules.ecn && packet.ect();
        if why.is_none() || mark {
            self.queue.push_back(packet);
        }
        let Some(why) = why else { return Vec::new() };
        self.drops += size;
        self.record(packet.flow, size);
        if let Some(flow) = self.flows.get_mut(&packet.flow) {
            flow.dropped += size;
        }
        vec![if mark { Decision::Marked(packet.number, why) } else { Decision::Dropped(packet.number, why) }]
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        match self.queue.pop_front() {
            Some(packet) => {
                self.idle = None;
                vec![Decision::Sent(packet.number)]
            }
            None => {
                self.idle = self.idle.or(Some(now));
                Vec::new()
            }
        }
    }

    fn state(&self) -> NamedState {
        let mut state = vec![
            entry("average", self.avg),
            entry("drop rate", self.average_rate.unwrap_or(0.0)),
            entry("R", self.rtt),
            entry("length", self.length as f64),
            entry("in lists", self.listed.0),
            entry("drops in lists", self.listed.1),
        ];
        for (name, flow) in &self.flows {
            let unresponsive = f64::from(u8::from(flow.unresponsive));
            let counts = [flow.passed, flow.changed as f64, unresponsive, flow.arrived, flow.dropped];
            state.push(entry(name.to_string(), flow.p));
            state.push(entry("counts", digest(counts)));
            state.push(entry("pairs", digest(flow.pairs.iter().flat_map(|(rate, p)| [*rate, *p]))));
        }
        state
    }
}

fn look(ours: &RedPd<usize>, _: Time) -> NamedState {
    let mut average = 0.0;
    headgate_core::Discipline::observe(ours, &mut |gauge, value| {
        average = if gauge == "average" { value } else { average }
    });
    let seen = ours.identification().history().records();
    let mut state = vec![
        entry("average", average),
        entry("drop rate", ours.identification().drop_rate()),
        entry("R", ours.identification().target_rtt().as_secs_f64()),
        entry("length", ours.identification().list_length().as_nanos() as f64),
        entry("in lists", seen.iter().map(|s| (1 + s.flow.0) as f64 * f64::from(s.lists)).sum::<f64>()),
        entry("drops in lists", seen.iter().map(|s| (1 + s.flow.0) as f64 * s.drops as f64).sum::<f64>()),
    ];
    let flows: BTreeMap<_, _> = ours.identification().monitored().iter().collect();
    for (name, flow) in flows {
        let unresponsive = f64::from(u8::from(flow.unresponsive));
        let counts = [flow.passed as f64, flow.changed.as_nanos() as f64, unresponsive];
        let current = [flow.current.arrived as f64, flow.current.dropped as f64];
        state.push(entry(name.0.to_string(), flow.probability));
        state.push(entry("counts", digest(counts.into_iter().chain(current))));
        state.push(entry(
            "pairs",
            digest(flow.observations().iter().flat_map(|seen| [seen.arrival_rate, seen.drop_rate])),
        ));
    }
    state
}

/// What a trace showed: one in which nothing happens shows nothing.
#[derive(Clone, Copy)]
struct TraceSummary {
    /// Flows monitored at a time, at most.
    monitored: usize,
    unresponsive: bool,
    /// Least and greatest R, in milliseconds.
    rtt: [f64; 2],
}

/// Both, with `settings` for ours and `rules` for the oracle's.
fn compare(settings: &[(&str, &str)], rules: RedPdNumbers, traffic: TrafficMix) -> TraceSummary {
    let config = RedPdConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    let seen = std::cell::Cell::new(TraceSummary { monitored: 0, unresponsive: false, rtt: [1e9, 0.0] });
    let watched = |ours: &RedPd<usize>, now: Time| {
        let TraceSummary { monitored, unresponsive, rtt: [least, most] } = seen.get();
        let (flows, rtt) =
            (ours.identification().monitored().len(), ours.identification().target_rtt().as_secs_f64() * 1e3);
        seen.set(TraceSummary {
            monitored: monitored.max(flows),
            unresponsive: unresponsive || ours.identification().monitored().iter().any(|(_, flow)| flow.unresponsive),
            rtt: [least.min(rtt), most.max(rtt)],
        });
        look(ours, now)
    };
    agree(RedPd::new(config, &link).unwrap(), Plain::new(rules), watched, traffic);
    seen.get()
}

#[test]
fn red_pd_identifies_and_holds_back_as_published() {
    let seen = compare(&[("limit", "150p")], PAPER, TrafficMix::even(1));
    assert!(seen.monitored >= 2 && seen.unresponsive);
    let seen = compare(
        &[("limit", "150p"), ("unresponsive_test", "off")],
        RedPdNumbers { test: false, ..PAPER },
        TrafficMix::mixed(2),
    );
    assert!(seen.monitored >= 2 && !seen.unresponsive);
}

#[test]
fn red_pd_in_byte_mode_counts_bytes() {
    let bytes = RedPdNumbers { limit: 150e3, minth: 30e3, maxth: 99e3, bytes: true, ..PAPER };
    assert!(compare(&[("limit", "150KB"), ("byte_mode", "on")], bytes, TrafficMix::mixed(3)).monitored >= 2);
}

#[test]
fn red_pd_varies_r_with_the_drop_rate_and_with_the_flows_it_monitors() {
    let rate = RedPdNumbers { dynamic: Dynamic::DropRate(0.03), ..PAPER };
    let settings = [("limit", "150p"), ("dynamic_r", "drop_rate"), ("drop_rate_target", "0.03")];
    let [least, most] = compare(&settings, rate, TrafficMix::even(4)).rtt;
    assert!(least < 40.0 && most > 40.0, "{least} {most}");
    let flows = RedPdNumbers { dynamic: Dynamic::MonitoredFlow(4), ..PAPER };
    let settings = [("limit", "150p"), ("dynamic_r", "monitored"), ("monitored_target", "4")];
    let [least, most] = compare(&settings, flows, TrafficMix::even(5)).rtt;
    assert!(least < 40.0 && most > 40.0, "{least} {most}");
}

#[test]
fn red_pd_with_small_tables_forgets_in_order_and_after_a_silence_starts_anew() {
    let (settings, small) = small();
    let silent = TrafficMix { spell: 8.0, ..TrafficMix::even(6) };
    assert!(compare(&settings, small, silent).monitored == 2);
}

/// Tables that overflow, other lists, and no mercy for the unresponsive.
fn small() -> ([(&'static str, &'static str); 9], RedPdNumbers) {
    let settings = [
        ("limit", "150p"),
        ("counted_flows", "4"),
        ("list_flows", "3"),
        ("max_monitored", "2"),
        ("M", "3"),
        ("K", "2"),
        ("unresponsive_penalty", "1.5"),
        ("maxdecrease", "0.125"),
        ("noidle", "off"),
    ];
    let rules = RedPdNumbers {
        counted_flows: 4,
        list_flows: 3,
        max_monitored: 2,
        m: 3,
        k: 2,
        penalty: 1.5,
        max_decrease: 0.125,
        noidle: false,
        ..PAPER
    };
    (settings, rules)
}

#[test]
fn red_pd_with_a_fixed_drop_rate_identifies_for_it() {
    let fixed = RedPdNumbers { fixed: Some(0.05), ..PAPER };
    assert!(compare(&[("limit", "150p"), ("P_testFRp_", "0.05")], fixed, TrafficMix::mixed(7)).monitored >= 2);
}

#[test]
fn red_pd_as_in_ns2_follows_its_defaults() {
    // 10 Mbit/s in packets of 500 B: C = 2500 a second, 2.5 ms of it are 6.25 packets.
    let minth = 6.25 * 500.0;
    let ns2 = RedPdNumbers {
        limit: 150e3,
        minth,
        maxth: 3.0 * minth,
        wq: 1.0 - (-1.0f64 / 2500.0).exp(),
        ns2: true,
        bytes: true,
        ecn: false,
        mean: 500.0,
        noidle: false,
        ..PAPER
    };
    assert!(compare(&[("preset", "ns2"), ("limit", "150KB")], ns2, TrafficMix::mixed(8)).monitored >= 2);
}
