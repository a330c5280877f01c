//! When flows arrive that come by themselves: a Poisson process.

use headgate_core::{Rng, Span};

/// Moments of arrival, one after the other, without end: the gaps are independent and exponential, so that how many
/// come in any stretch is Poisson distributed. Flows of people's sessions arrive so, their packets do not (Paxson,
/// Floyd, IEEE/ACM ToN 3(3), 1995).
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// In nanoseconds.
    mean_gap: f64,
    /// In nanoseconds: kept as a fraction, so that the rounding of one moment does not shift the next.
    at: f64,
    rng: Rng,
}

impl Arrivals {
    /// Arrivals at `rate` a second from the beginning on; none ever if it is 0.
    pub fn new(rate: f64, rng: Rng) -> Arrivals {
        Arrivals { mean_gap: 1e9 / rate.max(0.0), at: 0.0, rng }
    }
}

impl Iterator for Arrivals {
    type Item = Span;

    /// The next moment.
    fn next(&mut self) -> Option<Span> {
        self.at += -libm::log(1.0 - self.rng.unit()) * self.mean_gap;
        self.at.is_finite().then(|| Span::from_nanos(self.at as u64))
    }
}

/// How many arrivals at `rate` a second will not be exceeded within `span`: the mean and five standard deviations more.
/// One run in three million has more.
pub fn most_arrivals(rate: f64, span: Span) -> u64 {
    let mean = rate.max(0.0) * span.as_secs_f64();
    libm::ceil(mean + 5.0 * libm::sqrt(mean)) as u64
}
