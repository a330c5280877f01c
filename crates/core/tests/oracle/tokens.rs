//! The common part of SFED and FABA: Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, section 4.
//! `docs/disciplines/faba.md` settles what the paper leaves open.

use std::collections::VecDeque;

use aqm::disciplines::Faba;
use aqm::{Discipline, Rng, Why};

use crate::oracle::harness::{Arrival, Decision};

/// A setting, in the paper's letters.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The settings as a user writes them.
    pub text: &'static str,
    /// The limit in packets or bytes.
    pub limit: f64,
    pub limit_in_bytes: bool,
    /// Whether a token stands for a byte.
    pub byte_mode: bool,
    pub alpha: f64,
    pub lambda1: f64,
    pub lambda2: f64,
    pub maxp: f64,
    /// The profile of figure 3, or RED's own, which section 4 also allows.
    pub gentle: bool,
    pub ecn: bool,
    pub max_flows: usize,
}

/// Section 5, at 50 packets.
pub const PAPER: Setting = Setting {
    text: "limit=50p",
    limit: 50.0,
    limit_in_bytes: false,
    byte_mode: false,
    alpha: 1.0,
    lambda1: 0.5,
    lambda2: 0.25,
    maxp: 0.02,
    gentle: true,
    ecn: true,
    max_flows: 4096,
};

/// The name of FABA's gauge, also in a state.
pub const TOKENS_PER_DEPARTURE: &str = "tokens_per_departure";

/// The value of FABA's gauge.
pub fn tokens_per_departure(faba: &Faba<usize>) -> f64 {
    let mut found = f64::NAN;
    faba.observe(&mut |gauge, value| found = if gauge == TOKENS_PER_DEPARTURE { value } else { found });
    found
}

/// The name of each flow's bucket in a state.
pub const BUCKETS: [&str; 21] = [
    "bucket 0",
    "bucket 1",
    "bucket 2",
    "bucket 3",
    "bucket 4",
    "bucket 5",
    "bucket 6",
    "bucket 7",
    "bucket 8",
    "bucket 9",
    "bucket 10",
    "bucket 11",
    "bucket 12",
    "bucket 13",
    "bucket 14",
    "bucket 15",
    "bucket 16",
    "bucket 17",
    "bucket 18",
    "bucket 19",
    "bucket 20",
];
/// The value of a missing bucket in a state.
pub const NO_BUCKET: f64 = -1e9;

/// Bytes of a mean packet.
const MEAN: f64 = 1000.0;

impl Setting {
    /// T, in tokens.
    pub fn stock(&self) -> f64 {
        self.alpha
            * match (self.byte_mode, self.limit_in_bytes) {
                (true, false) => self.limit * MEAN,
                (false, true) => self.limit / MEAN,
                _ => self.limit,
            }
    }

    /// Rounds to whole units of tokens: 2^-20 for packets, 2^-8 for bytes.
    pub fn share(&self, tokens: f64) -> f64 {
        let fraction = if self.byte_mode { 256.0 } else { 1_048_576.0 };
        (tokens * fraction).floor() / fraction
    }

    /// The tokens that a packet costs.
    pub fn cost(&self, packet: &Arrival) -> f64 {
        if self.byte_mode { f64::from(packet.bytes) } else { 1.0 }
    }

    /// The maximum that a bucket receives at once when `packet` leaves.
    pub fn grain(&self, packet: &Arrival) -> f64 {
        if self.byte_mode { MEAN.max(f64::from(packet.bytes)) } else { 1.0 }
    }

    pub fn carried(&self, queue: &VecDeque<Arrival>) -> f64 {
        queue.iter().map(|packet| self.cost(packet)).sum()
    }

    fn fits(&self, queue: &VecDeque<Arrival>, packet: &Arrival) -> bool {
        if self.limit_in_bytes {
            let held: f64 = queue.iter().map(|packet| f64::from(packet.bytes)).sum();
            held + f64::from(packet.bytes) <= self.limit
        } else {
            queue.len() as f64 + 1.0 <= self.limit
        }
    }

    /// f_p of figure 3.
    fn profile(&self, x: f64, height: f64) -> f64 {
        let filled = x / height;
        if x <= 0.0 || (!self.gentle && filled <= self.lambda2) {
            1.0
        } else if filled >= self.lambda1 {
            0.0
        } else if filled >= self.lambda2 {
            self.maxp * (self.lambda1 - filled) / (self.lambda1 - self.lambda2)
        } else {
            self.maxp + (1.0 - self.maxp) * (self.lambda2 - filled) / self.lambda2
        }
    }

    /// Judges a packet whose bucket holds `x` of `height`. Returns the decisions, and whether the packet was queued.
    pub fn judge(
        &self,
        queue: &VecDeque<Arrival>,
        packet: &Arrival,
        (x, height): (f64, f64),
        rng: &mut Rng,
    ) -> (Vec<Decision>, bool) {
        let mut decisions = Vec::new();
        if !queue.is_empty() && rng.unit() < self.profile(x, height) {
            let marks = self.ecn && packet.ect() && x >= self.cost(packet) && self.fits(queue, packet);
            if !marks {
                return (vec![Decision::Dropped(packet.number, Why::Bucket)], false);
            }
            decisions.push(Decision::Marked(packet.number, Why::Bucket));
        }
        if !self.fits(queue, packet) {
            return (vec![Decision::Dropped(packet.number, Why::Overflow)], false);
        }
        (decisions, true)
    }
}
