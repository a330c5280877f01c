//! The rate at which packets arrived in a window of time.

use std::collections::VecDeque;

use aqm::{Span, Time};

/// Arrivals in the last [`WINDOW`], at most [`MOST`] entries: several packets may share one.
#[derive(Clone, Debug, Default)]
pub struct ReceiveRate {
    arrivals: VecDeque<(Time, u64)>,
    bytes: u64,
}

/// LOGWIN of RFC 8698, figure 3, and T of draft-ietf-rmcat-gcc-02, section 5.5 (0.5 to 1 s).
pub const WINDOW: Span = Span::from_millis(500);

/// Arrivals closer than this share an entry.
const GRAIN: Span = Span::from_millis(2);

impl ReceiveRate {
    /// A packet arrived.
    pub fn add(&mut self, at: Time, bytes: u32) {
        self.bytes += u64::from(bytes);
        match self.arrivals.back_mut() {
            Some((latest, sum)) if at < *latest + GRAIN => *sum += u64::from(bytes),
            _ => self.arrivals.push_back((at, u64::from(bytes))),
        }
        while let Some(&(oldest, sum)) = self.arrivals.front()
            && oldest + WINDOW <= at
        {
            self.arrivals.pop_front();
            self.bytes -= sum;
        }
    }

    /// Bytes per second in the window that ends with the last arrival; `None` until arrivals have filled most of it.
    pub fn bytes_per_second(&self, began: Time) -> Option<f64> {
        let (latest, _) = self.arrivals.back()?;
        (*latest >= began + WINDOW).then(|| self.bytes as f64 / WINDOW.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_half_second() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let mut rate = ReceiveRate::default();
        (0..40).for_each(|number| rate.add(at(10 * number), 1000));
        assert_eq!(rate.bytes_per_second(at(0)), None, "400 ms are no window");
        (40..100).for_each(|number| rate.add(at(10 * number), 1000));
        assert_eq!(rate.bytes_per_second(at(0)), Some(100_000.0));
        (200..300).for_each(|number| rate.add(at(10 * number), 500));
        assert_eq!(rate.bytes_per_second(at(0)), Some(50_000.0));
        assert!(rate.arrivals.len() <= 250);
    }
}
