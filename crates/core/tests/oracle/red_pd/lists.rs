//! The drop lists and the probabilities of monitored flows (section 4, figures 7 and 8).

use std::collections::BTreeSet;

use super::{Dynamic, Plain, RedPdFlow, nanos};

impl Plain {
    /// Equation (3), bounded by 2R and 10R by default.
    pub(super) fn list_length(&self, p: f64) -> i64 {
        let p = self.rules.fixed.unwrap_or(p);
        let [least, most] = self.rules.list.map(|multiple| multiple * self.rtt);
        let b = if p == 0.0 { most } else { self.rules.k as f64 / self.rules.m as f64 * self.rtt / (1.5 * p).sqrt() };
        nanos(b.min(most).max(least))
    }

    /// Records a drop in the list. With counters for n flows only, it is the algorithm of Misra and Gries.
    pub(super) fn record(&mut self, flow: u64, size: f64) {
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

    /// The number of lists with the flow, and its drops in them.
    fn history(&self, flow: u64) -> (usize, f64) {
        let drops: Vec<f64> = self.lists.iter().filter_map(|list| list.get(&flow)).copied().collect();
        (drops.len(), drops.iter().sum())
    }

    /// Ends a list: figures 7 and 8.
    pub(super) fn end_list(&mut self) {
        let now = self.started + self.length;
        let rate = if self.arrivals == 0.0 { 0.0 } else { self.drops / self.arrivals };
        let average = match self.average_rate {
            None => rate,
            Some(average) => self.rules.weight * rate + (1.0 - self.rules.weight) * average,
        };
        self.average_rate = Some(average);
        if self.rules.start.is_none() || self.started > 0 {
            self.lengths.push(self.length);
        }

        let mut list: Vec<(u64, f64)> = std::mem::take(&mut self.filling).into_iter().collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        list.truncate(self.rules.list_flows);
        self.lists.push(list.into_iter().collect());
        if self.lists.len() > self.rules.m {
            self.lists.remove(0);
        }
        let all: BTreeSet<u64> = self.lists.iter().flat_map(|list| list.keys().copied()).collect();
        self.identified = all.iter().filter(|flow| self.history(**flow).0 >= self.rules.k).count();
        self.listed = all.into_iter().fold((0.0, 0.0), |(lists, drops), flow| {
            let (present, lost) = self.history(flow);
            (lists + (1 + flow) as f64 * present as f64, drops + (1 + flow) as f64 * lost)
        });
        for flow in self.flows.values_mut() {
            flow.last = (flow.arrived, flow.dropped);
            (flow.arrived, flow.dropped) = (0.0, 0.0);
        }
        if rate > self.rules.least_rate {
            self.increase(now, rate.min(average));
        }
        self.decrease(now);
        if self.arrivals > 0.0 {
            self.vary_r(rate, average);
        }
        (self.arrivals, self.drops) = (0.0, 0.0);
        self.started = now;
        self.length = self.list_length(average);
    }

    fn since(&self, lists: usize) -> i64 {
        self.lengths.iter().rev().take(lists).sum::<i64>().max(nanos(self.rules.hold))
    }

    fn increase(&mut self, now: i64, usable: f64) {
        let all: BTreeSet<u64> = self.lists.iter().flat_map(|list| list.keys().copied()).collect();
        let identified: Vec<u64> = all.into_iter().filter(|flow| self.history(*flow).0 >= self.rules.k).collect();
        let mean = identified.iter().map(|flow| self.history(*flow).1).sum::<f64>() / identified.len() as f64;
        let (since, seconds) = (self.since(self.rules.holds[0]), self.length as f64 / 1e9);
        for name in identified {
            if !self.lists.last().unwrap().contains_key(&name) {
                continue;
            }
            let inc = usable * self.history(name).1 / mean;
            let Some(flow) = self.flows.get_mut(&name) else {
                let [most, rates] = self.rules.first;
                let p = inc.min(rates * usable).min(most);
                self.monitor(name, p, now);
                continue;
            };
            if now - flow.changed < since {
                continue;
            }
            if self.rules.test && unresponsive(&flow.pairs, self.rules.comparable) {
                flow.unresponsive = true;
            }
            let old = flow.p;
            let [growth, ..] = self.rules.changes[usize::from(flow.unresponsive)];
            flow.p = if inc > old { growth * old } else { old + (growth - 1.0) * inc };
            if flow.p >= 1.0 {
                flow.p = 1.0 - (1.0 - old) / growth;
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
        let [_, three, five] = self.rules.holds.map(|lists| self.since(lists));
        let names: Vec<u64> = self.flows.keys().copied().collect();
        for name in names {
            let absent = self.history(name).0 == 0;
            let flow = self.flows.get_mut(&name).unwrap();
            let waited = now - flow.changed >= if flow.unresponsive { five } else { three };
            if !absent || !waited {
                continue;
            }
            let most = self.rules.max_decrease;
            let [_, part, enough] = self.rules.changes[usize::from(flow.unresponsive)];
            if flow.p <= enough {
                self.flows.remove(&name);
                continue;
            }
            flow.p = if flow.p > part * most { flow.p - most } else { flow.p / part };
            flow.changed = now;
        }
    }

    /// Not in the paper: R changes by 5 % per list by default.
    fn vary_r(&mut self, rate: f64, average: f64) {
        let (up, down) = match self.rules.dynamic {
            Dynamic::Off => return,
            Dynamic::DropRate(target) => (average > target, average < target / 2.0),
            Dynamic::MonitoredFlow(most) => {
                (self.flows.len() < most && rate > self.rules.least_rate, self.flows.len() > most)
            }
        };
        let rtt = if up {
            self.rtt * (1.0 + self.rules.step)
        } else if down {
            self.rtt / (1.0 + self.rules.step)
        } else {
            return;
        };
        self.rtt = (nanos(rtt) as f64 / 1e9).clamp(self.rules.min_rtt, self.rules.max_rtt);
    }
}

/// Whether the flow is unresponsive. A pair is bad if the rate fell by less than the square root of the drop rate
/// requires.
fn unresponsive(pairs: &[(f64, f64)], comparable: f64) -> bool {
    let (mut good, mut bad) = (0, 0);
    for (rate1, p1) in pairs {
        for (rate2, p2) in pairs {
            if p1 < p2 && p1 / p2 > comparable {
                if rate2 / rate1 > (p1 / p2).sqrt() { bad += 1 } else { good += 1 }
            }
        }
    }
    good == 0 && bad >= 3 || good == 1 && bad >= 4 || good >= 2 && bad >= 4 * good
}
