//! BLUE, from figure 3 of the BLUE paper and the text of its section III-A.

use std::collections::VecDeque;

use aqm::disciplines::{Blue, BlueConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// Times in nanoseconds: whole numbers, so that sums of them are exact.
struct Plain {
    delta1: f64,
    delta2: f64,
    freeze_time: f64,
    /// Draws each freeze time from 0.5 to 1.5 times `freeze_time`.
    random: bool,
    room: Room,
    /// Figure 3's L, in the unit of `room`.
    threshold: f64,
    pm: f64,
    last_update: f64,
    /// Time after `last_update` in which the probability stays constant.
    frozen_for: f64,
    /// Time of the first dequeue from the empty queue, if no packet was queued since.
    idle_since: Option<f64>,
    queue: VecDeque<Arrival>,
}

enum Room {
    Packets(usize),
    Bytes(u64),
}

impl Plain {
    fn new(deltas: (f64, f64), freeze_ms: f64, random: bool, room: Room, threshold: f64) -> Plain {
        let (delta1, delta2) = deltas;
        let queue = VecDeque::new();
        let freeze_time = freeze_ms * 1e6;
        // No update precedes the run, so the first event may change the probability.
        let (last_update, frozen_for, idle_since, pm) = (0.0, 0.0, None, 0.0);
        Plain { delta1, delta2, freeze_time, random, room, threshold, pm, last_update, frozen_for, idle_since, queue }
    }

    fn bytes(&self) -> u64 {
        self.queue.iter().map(|packet| u64::from(packet.bytes)).sum()
    }

    fn fits(&self, packet: Arrival) -> bool {
        match self.room {
            Room::Packets(limit) => self.queue.len() < limit,
            Room::Bytes(limit) => self.bytes() + u64::from(packet.bytes) <= limit,
        }
    }

    fn queue_length(&self) -> f64 {
        match self.room {
            Room::Packets(_) => self.queue.len() as f64,
            Room::Bytes(_) => self.bytes() as f64,
        }
    }

    /// The figure has `>`. The discipline's page allows a change as soon as the freeze time has passed.
    fn may_change(&self, now: f64) -> bool {
        now - self.last_update >= self.frozen_for
    }

    fn draw_freeze_time(&mut self, rng: &mut Rng) {
        self.frozen_for =
            if self.random { (self.freeze_time * rng.between(0.5, 1.5)).round() } else { self.freeze_time };
    }

    fn on_loss_or_high_queue(&mut self, now: f64, rng: &mut Rng) {
        if self.may_change(now) {
            self.pm = f64::min(self.pm + self.delta1, 1.0);
            self.last_update = now;
            self.draw_freeze_time(rng);
        }
    }

    /// Every link-idle event that was due up to now.
    fn apply_idle_time(&mut self, now: f64, rng: &mut Rng) {
        let Some(since) = self.idle_since else { return };
        if !self.may_change(now) {
            return;
        }
        let mut due = f64::max(since, self.last_update + self.frozen_for);
        let mut events = 0.0;
        // Random freeze times have the mean `freeze_time`. Only the current one is drawn.
        while due <= now {
            events += 1.0;
            self.last_update = due;
            due += self.freeze_time;
        }
        // All steps are subtracted together. One by one, rounding would leave 1e-18 where they sum to the probability.
        self.pm = f64::max(self.pm - events * self.delta2, 0.0);
        self.draw_freeze_time(rng);
    }
}

fn nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round()
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let now = nanoseconds(now);
        self.apply_idle_time(now, rng);
        if !self.fits(packet) {
            self.on_loss_or_high_queue(now, rng);
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        let mut decisions = Vec::new();
        // Draws only if the outcome is open.
        let hit = self.pm > 0.0 && (self.pm >= 1.0 || rng.unit() < self.pm);
        if hit && !packet.ect() {
            decisions.push(Decision::Dropped(packet.number, Why::Early));
        } else {
            if hit {
                decisions.push(Decision::Marked(packet.number, Why::Early));
            }
            self.queue.push_back(packet);
            self.idle_since = None;
        }
        if self.queue_length() > self.threshold {
            self.on_loss_or_high_queue(now, rng);
        }
        decisions
    }

    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let now = nanoseconds(now);
        if let Some(packet) = self.queue.pop_front() {
            return vec![Decision::Sent(packet.number)];
        }
        self.idle_since = Some(self.idle_since.unwrap_or(now));
        self.apply_idle_time(now, rng);
        Vec::new()
    }

    fn state(&self) -> NamedState {
        vec![
            entry("pm", self.pm),
            entry("frozen until", self.last_update + self.frozen_for),
            entry("idle since", self.idle_since.unwrap_or(-1.0)),
            entry("packets", self.queue.len() as u32),
        ]
    }
}

fn look(blue: &Blue<usize>, _: Time) -> NamedState {
    let time = |time: Time| time.as_nanos() as f64;
    vec![
        entry("pm", blue.probability),
        entry("frozen until", time(blue.frozen_until)),
        entry("idle since", blue.idle_since.map_or(-1.0, time)),
        entry("packets", blue.backlog().packets),
    ]
}

fn compare(settings: &[(&str, &str)], plain: Plain, traffic: TrafficMix) {
    let config = BlueConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    agree(Blue::new(config, &link).unwrap(), plain, look, traffic);
}

#[test]
fn blue_moves_its_probability_as_figure_3_does_in_every_configuration_of_the_papers() {
    // Table II and section III-E; the comparison paper's section 3.3.2 has B3.
    for (seed, (preset, deltas, freeze_ms)) in (1..).zip([
        ("paper", (0.02, 0.002), 100.0),
        ("B1", (0.0025, 0.00025), 10.0),
        ("B2", (0.0025, 0.00025), 100.0),
        ("B3", (0.02, 0.002), 10.0),
        ("B4", (0.02, 0.002), 100.0),
        ("testbed", (0.01, 0.001), 50.0),
    ]) {
        let plain = Plain::new(deltas, freeze_ms, false, Room::Packets(50), f64::INFINITY);
        compare(&[("preset", preset), ("limit", "50p")], plain, TrafficMix::mixed(seed));
    }
}

#[test]
fn blue_with_random_freeze_times_draws_one_after_each_change() {
    let plain = |freeze_ms| Plain::new((0.02, 0.002), freeze_ms, true, Room::Packets(40), f64::INFINITY);
    for (freeze_time, freeze_ms) in [("100ms", 100.0), ("10ms", 10.0), ("3ms", 3.0)] {
        let settings = [("limit", "40p"), ("freeze_time", freeze_time), ("randomize_freeze", "on")];
        compare(&settings, plain(freeze_ms), TrafficMix::mixed(7));
    }
}

#[test]
fn blue_with_a_threshold_rises_above_it_and_at_an_overflow() {
    let settings = |threshold, limit| [("limit", limit), ("L", threshold), ("freeze_time", "10ms")];
    let plain = |random, room, threshold| Plain::new((0.02, 0.002), 10.0, random, room, threshold);
    compare(&settings("20p", "50p"), plain(false, Room::Packets(50), 20.0), TrafficMix::mixed(8));
    compare(&settings("12.5KB", "50KB"), plain(false, Room::Bytes(50_000), 12_500.0), TrafficMix::mixed(9));
    compare(&settings("50%", "30KB"), plain(false, Room::Bytes(30_000), 15_000.0), TrafficMix::mixed(10));
    let random = [&settings("20p", "50p")[..], &[("randomize_freeze", "on")]].concat();
    compare(&random, plain(true, Room::Packets(50), 20.0), TrafficMix::mixed(11));
}
