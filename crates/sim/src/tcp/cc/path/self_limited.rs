//! Periods in which the sender limited itself, to be excluded from estimates of the path.

/// A span of deliveries that does not count because the sender limited itself. It lasts from the limit's beginning
/// until the data in flight at its end is delivered (draft-ietf-ccwg-bbr-06, section 4.1.2.4,
/// `MarkConnectionAppLimited`).
#[derive(Clone, Copy, Debug, Default)]
pub struct SelfLimitedSpan {
    from: u32,
    /// Exclusive, so that an empty span covers nothing.
    until: u32,
}

impl SelfLimitedSpan {
    /// The sender limits itself now, with `delivered` segments delivered and `inflight` in flight.
    pub fn extend(&mut self, delivered: u32, inflight: u32) {
        if delivered >= self.until {
            self.from = delivered;
        }
        self.until = delivered + inflight + 1;
    }

    /// Whether the span covers a segment that was sent with `prior` segments delivered.
    pub fn covers(&self, prior: u32) -> bool {
        (self.from..self.until).contains(&prior)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_when_the_data_in_flight_at_its_end_is_delivered() {
        let mut span = SelfLimitedSpan::default();
        assert!(!span.covers(0));
        span.extend(100, 8);
        span.extend(104, 4);
        let covered: Vec<u32> = (90..120).filter(|prior| span.covers(*prior)).collect();
        assert_eq!(
            covered,
            (100..=108).collect::<Vec<_>>(),
            "sent after 100 and before more than 104 + 4 were delivered"
        );
        span.extend(200, 4);
        assert!(!span.covers(150) && span.covers(200), "a second span");
    }
}
