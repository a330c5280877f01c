//! DualPI2, from the pseudocode of RFC 9332, appendix A.2, line by line. Weighted round robin and the protection of
//! short queues follow Linux's sch_dualpi2. The time-shifted FIFO follows the RFC's text.

use std::collections::VecDeque;

use aqm::disciplines::{Dualpi2, Dualpi2Config};
use aqm::{LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

#[derive(Default)]
struct PlainDualQueue {
    /// With the time of arrival, in whole nanoseconds.
    packets: VecDeque<(Arrival, f64)>,
    count: f64,
}

impl PlainDualQueue {
    fn byt(&self) -> f64 {
        self.packets.iter().map(|(packet, _)| f64::from(packet.bytes)).sum()
    }

    /// Queueing delay of the first packet, in seconds.
    fn time(&self, now: f64) -> f64 {
        self.packets.front().map_or(0.0, |(_, arrived)| (now - arrived) / 1e9)
    }
}

struct Plain {
    limit: f64,
    k: f64,
    target: f64,
    tupdate: f64,
    alpha: f64,
    beta: f64,
    min_th: f64,
    range: f64,
    /// Packets that must remain in the queue for a mark: Linux's minimum, or the RFC's Th_len plus one.
    min_len: usize,
    min_backlog: f64,
    /// The scheduler, with the Classic weight or the time shift.
    scheduler: PlainDualScheduler,
    random: bool,
    drop_on_overload: bool,
    lq: PlainDualQueue,
    cq: PlainDualQueue,
    p: f64,
    prev_q: f64,
    updates: u32,
    credit: f64,
}

#[derive(Clone, Copy)]
enum PlainDualScheduler {
    Wrr(f64),
    TsFifo(f64),
}

/// dualpi2_params_init.
fn rfc() -> Plain {
    let (k, target, rtt_max) = (2.0, 0.015, 0.1);
    let tupdate = f64::min(target, rtt_max / 3.0);
    Plain {
        limit: 10e6 / 8.0 * 0.25,
        k,
        target,
        tupdate,
        alpha: 0.1 * tupdate / (rtt_max * rtt_max),
        beta: 0.3 / rtt_max,
        min_th: 0.0008,
        range: 0.0004,
        min_len: 2,
        min_backlog: 0.0,
        scheduler: PlainDualScheduler::Wrr(1.0 / 16.0),
        random: false,
        drop_on_overload: true,
        lq: PlainDualQueue::default(),
        cq: PlainDualQueue::default(),
        p: 0.0,
        prev_q: 0.0,
        updates: 0,
        credit: 1000.0 * (2.0 / 16.0 - 1.0),
    }
}

impl Plain {
    /// Every dualpi2_update that was due. The queues do not change between calls.
    fn updates_due(&mut self, now: f64) {
        loop {
            let at = f64::from(self.updates + 1) * (self.tupdate * 1e9).round();
            if at > now {
                return;
            }
            self.updates += 1;
            let cur_q = f64::max(self.cq.time(at), self.lq.time(at));
            self.p += self.alpha * (cur_q - self.target) + self.beta * (cur_q - self.prev_q);
            self.p = self.p.clamp(0.0, if self.drop_on_overload { 1.0 } else { 1.0 / self.k });
            self.prev_q = cur_q;
        }
    }

    fn p_c(&self) -> f64 {
        self.p * self.p
    }

    fn p_cl(&self) -> f64 {
        f64::min(self.k * self.p, 1.0)
    }

    fn laqm(&self, delay: f64) -> f64 {
        // Nanoseconds, so that the comparisons are exact.
        let [min_th, max_th] = [self.min_th, self.min_th + self.range].map(|time| (time * 1e9).round());
        if delay >= max_th {
            1.0
        } else if delay > min_th {
            (delay - min_th) / (self.range * 1e9).round()
        } else {
            0.0
        }
    }

    fn chooses_lq(&self, now: f64) -> bool {
        match self.scheduler {
            _ if self.cq.packets.is_empty() => true,
            _ if self.lq.packets.is_empty() => false,
            PlainDualScheduler::Wrr(_) => self.credit <= 0.0,
            PlainDualScheduler::TsFifo(tshift) => self.cq.time(now) - self.lq.time(now) <= tshift + 1e-12,
        }
    }

    fn recur(&mut self, lq: bool, likelihood: f64, rng: &mut Rng) -> bool {
        if self.random {
            return likelihood >= 1.0 || (likelihood > 0.0 && rng.unit() < likelihood);
        }
        let count = if lq { &mut self.lq.count } else { &mut self.cq.count };
        *count += likelihood;
        if *count > 1.0 {
            *count -= 1.0;
            return true;
        }
        false
    }
}

impl Oracle for Plain {
    /// dualpi2_enqueue.
    fn arrive(&mut self, packet: Arrival, now: f64, _: &mut Rng) -> Vec<Decision> {
        let now = (now * 1e9).round();
        self.updates_due(now);
        if self.lq.byt() + self.cq.byt() + f64::from(packet.bytes) > self.limit {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        let queue = if packet.ecn.bits() % 2 == 1 { &mut self.lq } else { &mut self.cq };
        queue.packets.push_back((packet, now));
        Vec::new()
    }

    /// dualpi2_dequeue.
    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let now = (now * 1e9).round();
        self.updates_due(now);
        let mut decisions = Vec::new();
        while !self.lq.packets.is_empty() || !self.cq.packets.is_empty() {
            let both = !self.lq.packets.is_empty() && !self.cq.packets.is_empty();
            let lq = self.chooses_lq(now);
            let queue = if lq { &mut self.lq } else { &mut self.cq };
            let (packet, arrived) = queue.packets.pop_front().unwrap();
            let (mut p_c, mut p_cl) = (self.p_c(), self.p_cl());
            if self.lq.byt() + self.cq.byt() < self.min_backlog {
                (p_c, p_cl) = (0.0, 0.0);
            }
            if lq {
                if p_cl < 1.0 || !self.drop_on_overload {
                    let native = if self.lq.packets.len() >= self.min_len { self.laqm(now - arrived) } else { 0.0 };
                    if self.recur(true, f64::max(native, p_cl), rng) {
                        let why = if native > p_cl { Why::Forced } else { Why::Sojourn };
                        decisions.push(Decision::Marked(packet.number, why));
                    }
                } else {
                    if self.recur(true, p_c, rng) {
                        decisions.push(Decision::Dropped(packet.number, Why::Sojourn));
                        continue;
                    }
                    if self.recur(true, p_cl, rng) {
                        decisions.push(Decision::Marked(packet.number, Why::Sojourn));
                    }
                }
            } else if self.recur(false, p_c, rng) {
                let overload = self.drop_on_overload && p_c >= f64::min(1.0 / (self.k * self.k), 1.0);
                if !packet.ect() || overload {
                    decisions.push(Decision::Dropped(packet.number, Why::Sojourn));
                    continue;
                }
                decisions.push(Decision::Marked(packet.number, Why::Sojourn));
            }
            if let (true, PlainDualScheduler::Wrr(wc)) = (both, self.scheduler) {
                self.credit += if lq { wc } else { wc - 1.0 } * f64::from(packet.bytes);
            }
            decisions.push(Decision::Sent(packet.number));
            return decisions;
        }
        if let PlainDualScheduler::Wrr(wc) = self.scheduler {
            self.credit = 1000.0 * (2.0 * wc - 1.0);
        }
        decisions
    }

    fn state(&self) -> NamedState {
        let credit = if let PlainDualScheduler::Wrr(_) = self.scheduler { self.credit } else { 0.0 };
        vec![
            entry("p'", self.p),
            entry("p_C", self.p_c()),
            entry("p_CL", self.p_cl()),
            entry("prev_q", self.prev_q),
            // A count accumulates rounding errors. The comparison is relative to 1 + count: to a billionth of a drop or
            // mark.
            entry("1 + lq.count", 1.0 + self.lq.count),
            entry("1 + cq.count", 1.0 + self.cq.count),
            entry("lq.byt", self.lq.byt()),
            entry("cq.byt", self.cq.byt()),
            entry("credit", credit),
        ]
    }
}

fn compare(settings: &[(&str, &str)], plain: Plain, traffic: TrafficMix) {
    let wrr = matches!(plain.scheduler, PlainDualScheduler::Wrr(_));
    let look = |dual: &Dualpi2<usize>, _: Time| {
        let (coupled, [low, classic], [low_count, classic_count]) =
            (dual.probabilities(), dual.backlogs(), dual.counts());
        vec![
            entry("p'", dual.controller.probability),
            entry("p_C", coupled.classic),
            entry("p_CL", coupled.low),
            entry("prev_q", dual.controller.delay),
            entry("1 + lq.count", 1.0 + low_count),
            entry("1 + cq.count", 1.0 + classic_count),
            entry("lq.byt", low.bytes as f64),
            entry("cq.byt", classic.bytes as f64),
            entry("credit", if wrr { dual.credit } else { 0.0 }),
        ]
    };
    let config = Dualpi2Config::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    agree(Dualpi2::new(config, &link).unwrap(), plain, look, traffic);
}

/// Most flows are ECN-capable, so that both queues fill. The hog is not.
fn traffic(seed: u64, hog: f64) -> TrafficMix {
    TrafficMix { ect: 0.9, hog, ..TrafficMix::mixed(seed) }
}

#[test]
fn dualpi2_is_the_pseudocode_of_the_rfc() {
    compare(&[], rfc(), traffic(1, 0.1));
    // The load exceeds the link's rate only a little: no overload.
    let light = TrafficMix { loads: &[0.0, 0.9, 1.02, 1.1], ..traffic(2, 0.1) };
    compare(&[], rfc(), light);
    compare(&[("coupling_factor", "3"), ("limit", "50KB")], Plain { k: 3.0, limit: 50e3, ..rfc() }, traffic(3, 0.0));
    let other = [("target", "5ms"), ("max_rtt", "30ms"), ("min_th", "3ms"), ("range", "5ms"), ("min_qlen_step", "0")];
    let tupdate = 0.005;
    let plain = Plain { target: 0.005, tupdate, alpha: 0.1 * tupdate / 0.0009, beta: 10.0, ..rfc() };
    compare(&other, Plain { min_th: 0.003, range: 0.005, min_len: 0, ..plain }, traffic(4, 0.1));
}

#[test]
fn dualpi2_with_a_time_shifted_fifo_and_without_drops_on_overload_agrees_too() {
    let plain = Plain { scheduler: PlainDualScheduler::TsFifo(0.05), ..rfc() };
    compare(&[("scheduler", "ts_fifo")], plain, traffic(5, 0.1));
    let settings = [("drop_on_overload", "off"), ("scheduler", "ts_fifo"), ("tshift", "5ms")];
    let plain = Plain { scheduler: PlainDualScheduler::TsFifo(0.005), drop_on_overload: false, ..rfc() };
    compare(&settings, plain, traffic(6, 0.3));
}

#[test]
fn dualpi2_as_in_linux_signals_at_random_and_spares_short_queues() {
    let linux = || Plain {
        limit: 300e3,
        tupdate: 0.016,
        alpha: 0.16,
        beta: 3.2,
        min_th: 0.001,
        range: 0.0,
        min_len: 0,
        min_backlog: 3028.0,
        scheduler: PlainDualScheduler::Wrr(0.1),
        random: true,
        credit: -800.0,
        ..rfc()
    };
    let settings = [("preset", "linux"), ("limit", "300KB")];
    compare(&settings, linux(), traffic(7, 0.1));
    let marking = [&settings[..], &[("drop_on_overload", "off")]].concat();
    compare(&marking, Plain { drop_on_overload: false, ..linux() }, traffic(8, 0.1));
}
