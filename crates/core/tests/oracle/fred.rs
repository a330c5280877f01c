//! FRED: Lin, Morris, "Dynamics of random early detection", SIGCOMM 1997, its pseudocode as the comparison
//! paper (section 2.2) restates it.

use std::collections::{BTreeMap, VecDeque};

use aqm::disciplines::{Fred, FredConfig};
use aqm::{Discipline, FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

const FLOWS: u64 = 21;

struct Pseudocode {
    room: usize,
    minth: f64,
    maxth: f64,
    maxp: f64,
    wq: f64,
    minq: f64,
    many_flows: bool,
    ecn: bool,
    queue: VecDeque<Arrival>,
    /// qlen and strike of the flows with packets queued.
    flows: BTreeMap<u64, (u32, u32)>,
    avg: f64,
    count: i64,
    idle_since: Option<f64>,
}

impl Pseudocode {
    fn nactive(&self) -> usize {
        self.flows.len()
    }

    fn avgcq(&self) -> f64 {
        (self.avg / self.nactive().max(1) as f64).max(1.0)
    }

    /// `calculate average queue length`, on arrivals and departures.
    fn average(&mut self, now: f64) {
        if let (true, Some(since)) = (self.queue.is_empty(), self.idle_since) {
            self.avg *= (1.0 - self.wq).powf((now - since) / 0.0008);
            self.idle_since = Some(now);
        } else {
            self.avg = (1.0 - self.wq) * self.avg + self.wq * self.queue.len() as f64;
        }
    }

    fn pb(&self) -> f64 {
        match self.avg {
            avg if avg < self.minth => 0.0,
            avg if avg < self.maxth => self.maxp * (avg - self.minth) / (self.maxth - self.minth),
            _ => 1.0,
        }
    }
}

impl Oracle for Pseudocode {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.average(now);
        let (qlen, strike) = self.flows.get(&packet.flow).copied().unwrap_or((0, 0));
        let (held, avgcq) = (f64::from(qlen), self.avgcq());
        let maxq = if self.avg >= self.maxth { 2.0 } else { self.minth };
        let drop = |why| vec![Decision::Dropped(packet.number, why)];

        // "identify and manage non-adaptive flows"
        let limit = held >= maxq || (self.avg >= self.maxth && held > 2.0 * avgcq);
        if limit || (held >= avgcq && strike > 1) {
            if let Some(flow) = self.flows.get_mut(&packet.flow) {
                flow.1 += 1;
            }
            return drop(if limit { Why::FlowLimit } else { Why::Unresponsive });
        }

        let mut decisions = Vec::new();
        if self.avg < self.minth {
            // "no drop mode"
            self.count = -1;
        } else if self.avg < self.maxth {
            // "operate in random drop mode", "drop from robust flows only"
            self.count += 1;
            if held >= self.minq.max(avgcq) {
                let used = self.count as f64 * self.pb();
                let pa = if used < 1.0 { (self.pb() / (1.0 - used)).min(1.0) } else { 1.0 };
                if rng.chance(pa) {
                    self.count = 0;
                    if !(self.ecn && packet.ect() && self.queue.len() < self.room) {
                        return drop(Why::Early);
                    }
                    decisions.push(Decision::Marked(packet.number, Why::Early));
                }
            }
        } else if !(self.many_flows && qlen < 2) {
            // "drop tail mode", except for the two packets of section 6
            self.count = 0;
            return drop(Why::Forced);
        }
        if self.queue.len() >= self.room {
            self.count = 0;
            return drop(Why::Overflow);
        }
        self.flows.entry(packet.flow).or_default().0 += 1;
        self.queue.push_back(packet);
        decisions
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        let Some(packet) = self.queue.pop_front() else {
            self.idle_since = self.idle_since.or(Some(now));
            return Vec::new();
        };
        self.idle_since = None;
        self.average(now);
        let flow = self.flows.get_mut(&packet.flow).unwrap();
        flow.0 -= 1;
        if flow.0 == 0 {
            self.flows.remove(&packet.flow);
        }
        vec![Decision::Sent(packet.number)]
    }

    fn state(&self) -> NamedState {
        let mut state = vec![
            entry("avg", self.avg),
            entry("count", self.count as f64),
            entry("Nactive", self.nactive() as u32),
            entry("avgcq", self.avgcq()),
            entry("packets", self.queue.len() as u32),
        ];
        for flow in 0..FLOWS {
            let (qlen, strike) = self.flows.get(&flow).copied().unwrap_or((0, 0));
            state.push(entry(format!("qlen {flow}"), qlen));
            state.push(entry(format!("strike {flow}"), strike));
        }
        state
    }
}

fn look(fred: &Fred<usize>, _: Time) -> NamedState {
    let mut gauges = BTreeMap::new();
    fred.observe(&mut |name, value| {
        gauges.insert(name, value);
    });
    let mut state = vec![
        entry("avg", fred.detector().average()),
        entry("count", fred.detector().count() as f64),
        entry("Nactive", gauges["flows"]),
        entry("avgcq", gauges["avgcq"]),
        entry("packets", fred.backlog().packets),
    ];
    for flow in 0..FLOWS {
        let found = fred.flow(FlowId(flow)).unwrap_or_default();
        state.push(entry(format!("qlen {flow}"), found.queued));
        state.push(entry(format!("strike {flow}"), found.strikes));
    }
    state
}

/// A buffer of 100 packets, with the comparison paper's values.
fn pseudocode() -> Pseudocode {
    Pseudocode {
        room: 100,
        minth: 25.0,
        maxth: 50.0,
        maxp: 0.02,
        wq: 0.002,
        minq: 2.0,
        many_flows: true,
        ecn: true,
        queue: VecDeque::new(),
        flows: BTreeMap::new(),
        avg: 0.0,
        count: -1,
        idle_since: None,
    }
}

fn compare(settings: &str, oracle: Pseudocode, traffic: TrafficMix) {
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let config = FredConfig::from_settings(&settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    agree(Fred::new(config, &link).unwrap(), oracle, look, traffic);
}

#[test]
fn fred_packet_by_packet() {
    compare("limit=100p", pseudocode(), TrafficMix::even(1));
    let small = Pseudocode { room: 20, minth: 5.0, maxth: 10.0, wq: 0.05, maxp: 0.2, ..pseudocode() };
    compare("limit=20p,wq=0.05,maxp=0.2", small, TrafficMix::mixed(2));
    let strict = Pseudocode { wq: 0.2, maxp: 0.5, minq: 4.0, many_flows: false, ecn: false, ..pseudocode() };
    compare("limit=100p,wq=0.2,maxp=0.5,minq=4,many_flows=off,ecn=off", strict, TrafficMix::mixed(3));
    let full = Pseudocode { minth: 80.0, maxth: 100.0, minq: 1.0, ..pseudocode() };
    compare("limit=100p,minth=80p,maxth=100p,minq=1", full, TrafficMix::even(4));
}
