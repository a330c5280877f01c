//! RED-PD: Mahajan, Floyd, Wetherall, ICNP 2001, figures 7 and 8. What the paper leaves open follows ns-2's `red-pd.cc`
//! and `monitoring.tcl`. The output queue is RED of Floyd and Jacobson 1993, figure 2, gentle.

mod filter;
mod lists;
mod numbers;
mod output_queue;
mod tests;

use std::collections::{BTreeMap, VecDeque};

use aqm::{Rng, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, entry};
use numbers::{Dynamic, RedPdNumbers};

struct RedPdFlow {
    p: f64,
    passed: f64,
    /// Times in nanoseconds.
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
    /// Times and lengths in nanoseconds.
    started: i64,
    length: i64,
    lengths: Vec<i64>,
    rtt: f64,
    arrivals: f64,
    drops: f64,
    average_rate: Option<f64>,
    filling: BTreeMap<u64, f64>,
    lists: Vec<BTreeMap<u64, f64>>,
    /// Number of lists and drops of every flow, each weighted with the flow's number. `state` reports these sums.
    listed: (f64, f64),
    /// Flows that the last list identified.
    identified: usize,
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
            identified: 0,
            flows: BTreeMap::new(),
        };
        plain.length = plain.rules.start.map_or_else(|| plain.list_length(0.0), nanos);
        plain
    }

    fn size(&self, packet: Arrival) -> f64 {
        if self.rules.bytes { f64::from(packet.bytes) } else { 1.0 }
    }

    fn held(&self) -> f64 {
        self.queue.iter().map(|packet| self.size(*packet)).sum()
    }
}

/// Combines several numbers into one that shows a change of any of them by a thousandth.
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
            entry("identified", self.identified as u32),
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
