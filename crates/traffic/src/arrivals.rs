//! Flow arrivals as a Poisson process.

use aqm::{Rng, Span};

/// An endless sequence of arrival times with independent, exponential gaps. User sessions arrive like this, but their
/// packets do not (Paxson, Floyd, IEEE/ACM ToN 3(3), 1995).
#[derive(Clone, Debug)]
pub struct PoissonArrivals {
    /// Mean gap in nanoseconds.
    mean_gap: f64,
    /// Time of the last arrival in nanoseconds, with a fraction, so that rounding errors do not accumulate.
    at: f64,
    rng: Rng,
}

impl PoissonArrivals {
    /// Arrivals at `rate` a second from time zero; none at a rate of 0.
    pub fn new(rate: f64, rng: Rng) -> PoissonArrivals {
        PoissonArrivals { mean_gap: 1e9 / rate.max(0.0), at: 0.0, rng }
    }
}

impl Iterator for PoissonArrivals {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        self.at += -libm::log(1.0 - self.rng.unit()) * self.mean_gap;
        self.at.is_finite().then(|| Span::from_nanos(self.at as u64))
    }
}

/// An upper bound for arrivals at `rate` a second within `span`: the mean plus five standard deviations, exceeded in
/// one run of three million.
pub fn most_arrivals(rate: f64, span: Span) -> u64 {
    let mean = rate.max(0.0) * span.as_secs_f64();
    libm::ceil(mean + 5.0 * libm::sqrt(mean)) as u64
}
