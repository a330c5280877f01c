//! The output queue: RED of Floyd and Jacobson 1993, figure 2, gentle.

use aqm::{Rng, Why};

use super::{Plain, RedPdNumbers};
use crate::oracle::harness::Arrival;

impl Plain {
    /// RED, figure 2, with the gentle variant's second slope.
    pub(super) fn red(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Option<Why> {
        let RedPdNumbers { limit, minth, maxth, maxp, wq, ns2, bytes, mean, .. } = self.rules;
        let q = self.held();
        match self.idle {
            Some(since) if q == 0.0 => {
                // Transmission time of a mean packet at 10 Mbit/s, rounded up to nanoseconds.
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
