//! `X_recv_set`: the recently reported receive rates, which bound the sending rate (RFC 5348, section 4.3).

use aqm::{Span, Time};

/// Receive rates in bytes per second with the times at which they were reported; never empty.
#[derive(Clone, Debug)]
pub struct ReceiveRates(Vec<(f64, Time)>);

impl ReceiveRates {
    /// No bound yet.
    pub fn unbounded(now: Time) -> ReceiveRates {
        ReceiveRates(vec![(f64::INFINITY, now)])
    }

    pub fn max(&self) -> f64 {
        self.0.iter().fold(0.0, |most, (rate, _)| most.max(*rate))
    }

    /// After an interval that was not data-limited: adds `rate`, and removes rates older than two round trips.
    pub fn update(&mut self, rate: f64, rtt: Span, now: Time) {
        self.0.retain(|(_, then)| now - *then <= rtt * 2);
        self.0.push((rate, now));
    }

    /// After a data-limited interval: keeps the greatest of all rates and `rate`, dated now. The initial unbounded
    /// entry is removed.
    pub fn maximize(&mut self, rate: f64, now: Time) {
        let finite = self.0.iter().map(|(rate, _)| *rate).filter(|rate| rate.is_finite());
        let most = finite.fold(rate, f64::max);
        self.replace(most, now);
    }

    pub fn halve(&mut self) {
        self.0.iter_mut().for_each(|(rate, _)| *rate /= 2.0);
    }

    /// Keeps nothing but `rate`.
    pub fn replace(&mut self, rate: f64, now: Time) {
        self.0.clear();
        self.0.push((rate, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn rates_of_two_round_trips_bound_together() {
        let mut rates = ReceiveRates::unbounded(at(0));
        rates.update(500.0, RTT, at(100));
        assert_eq!(rates.max(), f64::INFINITY);
        rates.update(300.0, RTT, at(201));
        assert_eq!(rates.max(), 500.0);
        rates.update(200.0, RTT, at(301));
        assert_eq!(rates.max(), 300.0);
    }

    #[test]
    fn a_data_limited_interval_keeps_the_greatest() {
        let mut rates = ReceiveRates::unbounded(at(0));
        rates.maximize(100.0, at(10));
        assert_eq!(rates.max(), 100.0);
        rates.maximize(40.0, at(500));
        assert_eq!(rates.max(), 100.0);
        rates.halve();
        assert_eq!(rates.max(), 50.0);
        // It is as of 500 ms, so another update within two round trips keeps it.
        rates.update(10.0, RTT, at(700));
        assert_eq!(rates.max(), 50.0);
        rates.update(10.0, RTT, at(701));
        assert_eq!(rates.max(), 10.0);
    }
}
