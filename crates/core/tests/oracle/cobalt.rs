//! COBALT: `cobalt_queue_full`, `cobalt_queue_empty` and `cobalt_should_drop` of Linux's `sch_cake.c`, with the
//! additions of ns-3's port. Roots are exact and probabilities in floating point.

use std::collections::VecDeque;

use aqm::disciplines::{Cobalt, CobaltConfig};
use aqm::parts::CobaltLoop;
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Why};

use super::codel::nanos;
use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// Times in nanoseconds.
#[derive(Clone)]
pub struct Plain {
    pub limit: usize,
    pub ecn: bool,
    pub interval: i64,
    pub target: i64,
    pub mtu_time: i64,
    pub p_inc: f64,
    pub p_dec: f64,
    pub keep_last: bool,
    pub blue_threshold: i64,
    pub queue: VecDeque<(Arrival, i64)>,
    pub count: u32,
    pub drop_next: i64,
    pub blue_timer: i64,
    pub p_drop: f64,
    pub dropping: bool,
    /// Start of the idle time. CAKE's watchdog dequeues from empty queues repeatedly.
    pub idle_since: Option<i64>,
}

impl Plain {
    /// One queue of CAKE that shapes to `rate`; without a rate, ns-3's queue.
    pub fn new(limit: usize, rate: Option<f64>) -> Plain {
        let (mut target, mut interval, mut mtu_time) = (5_000_000, 100_000_000, 0);
        if let Some(rate) = rate {
            mtu_time = (1514.0 * 8.0 / rate * 1e9).ceil() as i64;
            let fitted = (mtu_time * 3 / 2).max(target);
            interval = (interval + fitted - target).max(2 * fitted);
            target = fitted;
        }
        Plain {
            limit,
            ecn: true,
            interval,
            target,
            mtu_time,
            p_inc: 1.0 / 256.0,
            p_dec: 1.0 / 4096.0,
            keep_last: true,
            blue_threshold: i64::MAX,
            queue: VecDeque::new(),
            count: 0,
            drop_next: 0,
            blue_timer: 0,
            p_drop: 0.0,
            dropping: false,
            idle_since: None,
        }
    }

    fn control(&self, t: i64) -> i64 {
        t + (self.interval as f64 / f64::from(self.count.max(1)).sqrt()) as i64
    }

    fn more_blue(&mut self, now: i64) {
        if now - self.blue_timer > self.target {
            self.p_drop += self.p_inc;
            if self.p_drop > 1.0 {
                self.p_drop = 1.0;
            }
            self.blue_timer = now;
        }
    }

    fn less_blue(&mut self, now: i64) {
        if self.p_drop > 0.0 && now - self.blue_timer > self.target {
            if self.p_drop < self.p_dec {
                self.p_drop = 0.0;
            } else {
                self.p_drop -= self.p_dec;
            }
            self.blue_timer = now;
        }
    }

    /// Lowers the probability for idle time, each time as soon as a change is allowed.
    pub fn watchdog(&mut self, now: i64) {
        let Some(since) = self.idle_since else { return };
        loop {
            let at = since.max(self.blue_timer + self.target + 1);
            if self.p_drop == 0.0 || at > now {
                return;
            }
            self.less_blue(at);
        }
    }

    pub fn queue_full(&mut self, now: i64) {
        self.more_blue(now);
        self.dropping = true;
        self.drop_next = now;
        if self.count == 0 {
            self.count = 1;
        }
    }

    pub fn queue_empty(&mut self, now: i64) {
        self.dropping = false;
        if self.count > 0 && now - self.drop_next >= 0 {
            self.count -= 1;
            self.drop_next = self.control(self.drop_next);
        }
    }

    /// Whether to drop, whether to mark, and the reason, before the last packet is spared.
    pub fn should_drop(&mut self, packet: Arrival, arrived: i64, now: i64, rng: &mut Rng) -> (bool, bool, Why) {
        let sojourn = now - arrived;
        let mut schedule = now - self.drop_next;
        let over_target = sojourn > self.target && sojourn > self.mtu_time * 4;
        let mut next_due = self.count > 0 && schedule >= 0;
        let (mut drop, mut marked, mut why) = (false, false, Why::Sojourn);
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else if self.dropping {
            self.dropping = false;
        }
        if next_due && self.dropping {
            marked = self.ecn && packet.ect();
            drop = !marked;
            self.count += 1;
            self.drop_next = self.control(self.drop_next);
            schedule = now - self.drop_next;
        } else {
            while next_due {
                self.count -= 1;
                self.drop_next = self.control(self.drop_next);
                schedule = now - self.drop_next;
                next_due = self.count > 0 && schedule >= 0;
            }
        }
        if sojourn > self.blue_threshold {
            self.more_blue(now);
        }
        if self.p_drop >= 1.0 || (self.p_drop > 0.0 && rng.unit() < self.p_drop) {
            (drop, why) = (true, Why::Early);
        }
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if schedule > 0 && !drop {
            self.drop_next = now;
        }
        (drop, marked, why)
    }
}

impl Plain {
    /// An arriving packet was queued.
    pub fn queued(&mut self) {
        self.idle_since = None;
    }

    /// The queue was found empty.
    pub fn found_empty(&mut self, now: i64) {
        self.idle_since.get_or_insert(now);
        self.watchdog(now);
        self.queue_empty(now);
    }

    pub fn loop_state(&self) -> NamedState {
        vec![
            entry("count", self.count),
            entry("drop_next", self.drop_next as f64),
            entry("dropping", u8::from(self.dropping)),
            entry("probability", self.p_drop),
            entry("changed", self.blue_timer as f64),
        ]
    }
}

/// What [`Plain::loop_state`] has, of the discipline's loop.
pub fn seen(cobalt: &CobaltLoop) -> NamedState {
    vec![
        entry("count", cobalt.count),
        entry("drop_next", cobalt.drop_next.as_nanos() as f64),
        entry("dropping", u8::from(cobalt.dropping)),
        entry("probability", cobalt.probability),
        entry("changed", cobalt.changed.as_nanos() as f64),
    ]
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, _: &mut Rng) -> Vec<Decision> {
        let now = nanos(now);
        self.watchdog(now);
        if self.queue.len() == self.limit {
            self.queue_full(now);
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        self.queue.push_back((packet, now));
        self.queued();
        Vec::new()
    }

    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let (now, mut said) = (nanos(now), Vec::new());
        while let Some((packet, arrived)) = self.queue.pop_front() {
            let (drop, marked, why) = self.should_drop(packet, arrived, now, rng);
            if drop && !(self.keep_last && self.queue.is_empty()) {
                said.push(Decision::Dropped(packet.number, why));
                continue;
            }
            if marked {
                said.push(Decision::Marked(packet.number, Why::Sojourn));
            }
            said.push(Decision::Sent(packet.number));
            return said;
        }
        self.found_empty(now);
        said
    }

    fn state(&self) -> NamedState {
        [self.loop_state(), vec![entry("packets", self.queue.len() as u32)]].concat()
    }
}

fn check(settings: &[(&str, &str)], plain: Plain, traffic: TrafficMix) {
    let config = CobaltConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(traffic.rate as u64), 1000, 7);
    let look =
        |cobalt: &Cobalt<usize>, _| [seen(cobalt.state()), vec![entry("packets", cobalt.backlog().packets)]].concat();
    agree(Cobalt::new(config, &link).unwrap(), plain, look, traffic);
}

#[test]
fn cobalt_does_what_cake_does_with_one_queue() {
    check(&[("limit", "300p")], Plain::new(300, Some(10e6)), TrafficMix::mixed(1));
    let slow = TrafficMix { rate: 1e6, ect: 1.0, ..TrafficMix::mixed(2) };
    check(&[("limit", "40p"), ("ecn", "off")], Plain { ecn: false, ..Plain::new(40, Some(1e6)) }, slow);
    let steep = Plain { p_inc: 0.0625, p_dec: 0.0078125, ..Plain::new(100, None) };
    let settings = [("limit", "100p"), ("fit_rate", "off"), ("increment", "0.0625"), ("decrement", "0.0078125")];
    check(&settings, steep, TrafficMix { spell: 0.12, ..TrafficMix::mixed(3) });
}

#[test]
fn cobalt_with_ns3_settings_does_what_ns3_does() {
    let ns3 = Plain { ecn: false, keep_last: false, blue_threshold: 400_000_000, ..Plain::new(1000, None) };
    check(&[("preset", "ns3"), ("limit", "1000p")], ns3, TrafficMix::mixed(4));
}

/// CAKE stores roots in 32 bits. A table holds the roots for counts below 16, from four steps of Newton's method each.
/// Above 16, each count takes one step from the previous root.
#[test]
fn cakes_roots_are_exact_to_two_thousandths() {
    let step = |root: u64, count: u64| -> u64 {
        let square = (root * root) >> 32;
        let rest = ((3 << 32) - count * square) >> 2;
        (rest * root) >> 31
    };
    let mut root = u64::from(u32::MAX);
    for count in 1..2000_u64 {
        let steps = if count < 16 { 4 } else { 1 };
        (0..steps).for_each(|_| root = step(root, count));
        let error = root as f64 / 2_f64.powi(32) * (count as f64).sqrt() - 1.0;
        // A step leaves 3/2 e^2 of an error e. An increment of count makes e = 1/(2 count): 0.0015 at 16. Four steps
        // reduce the initial error of 41 % at count 2 to 0.0006.
        assert!(error.abs() < 0.002, "{count}: {error}");
    }
}
