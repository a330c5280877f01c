//! PIE's estimate of the departure rate, as the time in which 16 KiB leave (RFC 8033, section 5.2).

use crate::time::{Span, Time};

/// Bytes per measurement (DQ_THRESHOLD; QUEUE_THRESHOLD in Linux).
const THRESHOLD: u64 = 1 << 14;
/// A measured time's weight in the average: 2^14 / 2^16.
const WEIGHT: f64 = 0.25;
/// A measured rate's weight in Linux's average.
const LINUX_WEIGHT: f64 = 0.125;

/// Measures the time in which [`THRESHOLD`] bytes leave.
#[derive(Clone, Debug, Default)]
pub(super) struct DepartureRate {
    /// Start of the current measurement, and the bytes since. While Linux measures nothing, it stores the time of the
    /// last departure here.
    measured: Option<(Time, u64)>,
    /// In seconds; 0 before the first measurement.
    average: f64,
}

impl DepartureRate {
    /// The average time of 16 KiB in seconds; 0 before the first measurement.
    pub(super) fn time(&self) -> f64 {
        self.average
    }

    /// Time in which `bytes` leave, by Little's law.
    pub(super) fn delay_of(&self, bytes: u64) -> f64 {
        bytes as f64 * self.average / THRESHOLD as f64
    }

    /// Time since the last call; zero at the first.
    pub(super) fn since_last(&mut self, now: Time) -> Span {
        let (last, _) = self.measured.replace((now, 0)).unwrap_or((now, 0));
        now - last
    }

    /// Counts a departure of `packet` bytes that leaves `bytes` queued. Returns the duration of the measurement that it
    /// ended, otherwise zero.
    pub(super) fn left(&mut self, packet: u32, bytes: u64, now: Time, linux: bool) -> Span {
        if linux {
            // Linux counts the first packet of a measurement, too.
            self.start(bytes, now);
        }
        let mut took = Span::ZERO;
        if let Some((since, count)) = &mut self.measured {
            *count += u64::from(packet);
            if *count >= THRESHOLD && (now > *since || !linux) {
                took = now - *since;
                self.average = averaged(self.average, took.as_secs_f64(), *count, linux);
                self.measured = None;
            }
        }
        if took > Span::ZERO || !linux {
            self.start(bytes, now);
        }
        took
    }

    fn start(&mut self, bytes: u64, now: Time) {
        if self.measured.is_none() && bytes >= THRESHOLD {
            self.measured = Some((now, 0));
        }
    }
}

/// The RFC averages times of 16 KiB. Linux averages rates, over as many bytes as left.
fn averaged(average: f64, took: f64, count: u64, linux: bool) -> f64 {
    let time = if linux { took * THRESHOLD as f64 / count as f64 } else { took };
    match (average == 0.0, linux) {
        (true, _) => time,
        (_, false) => time * WEIGHT + average * (1.0 - WEIGHT),
        (_, true) => 1.0 / (LINUX_WEIGHT / time + (1.0 - LINUX_WEIGHT) / average),
    }
}
