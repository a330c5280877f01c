use crate::time::{Span, Time};

/// RED's average queue length: exponentially weighted, corrected for idle time.
///
/// Each arrival updates avg <- (1 - wq) avg + wq q. No packets arrive while the link is idle, so the average would stay
/// high. It therefore decays as if m = t/s packets had arrived at an empty queue: avg <- (1 - wq)^m avg. t is the idle
/// time, s the transmission time of a mean packet.
///
/// Queue lengths are in packets or bytes, as the caller chooses. Source: Floyd, Jacobson, "Random early detection
/// gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993, figure 2.
#[derive(Clone, Debug)]
pub struct Average {
    value: f64,
    weight: f64,
    /// The paper's s: transmission time of a mean packet, in nanoseconds.
    slot: f64,
    /// The time up to which the current idle period has been applied; `None` while the link is busy.
    idle: Option<Time>,
}

impl Average {
    /// An average of 0 with the paper's wq = `weight` in (0, 1]; the link sends a mean packet in `slot`. The link
    /// counts as busy until [`record_dequeue`](Average::record_dequeue) reports an empty dequeue.
    pub fn new(weight: f64, slot: Span) -> Average {
        Average { value: 0.0, weight, slot: slot.as_nanos().max(1) as f64, idle: None }
    }

    /// Updates the average with the queue length before an arrival is stored (FRED: at departures too) and returns it.
    #[inline]
    pub fn update(&mut self, queue: f64, now: Time) -> f64 {
        match self.idle {
            // The arriving packet may be dropped, and the link then stays idle: the idle period continues from `now`.
            Some(since) if queue == 0.0 => self.decay(since, now),
            _ => self.value += self.weight * (queue - self.value),
        }
        self.value
    }

    /// Records a dequeue, and whether it `found` a packet. The first dequeue without a packet starts the idle period.
    #[inline]
    pub fn record_dequeue(&mut self, found: bool, now: Time) {
        match (found, self.idle) {
            (true, _) => self.idle = None,
            (false, None) => self.idle = Some(now),
            (false, Some(_)) => {}
        }
    }

    /// The average at the last update.
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The average decayed to `now`, without an update.
    pub fn decayed_to(&self, queue: f64, now: Time) -> f64 {
        match self.idle {
            Some(since) if queue == 0.0 => self.decayed(since, now),
            _ => self.value,
        }
    }

    #[cold]
    fn decay(&mut self, since: Time, now: Time) {
        self.value = self.decayed(since, now);
        self.idle = Some(now);
    }

    fn decayed(&self, since: Time, now: Time) -> f64 {
        // Saves computing a power for an empty queue, the common case.
        if self.value == 0.0 {
            return 0.0;
        }
        let missed = (now - since).as_nanos() as f64 / self.slot;
        self.value * libm::pow(1.0 - self.weight, missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Span = Span::from_millis(1);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn an_arrival_moves_the_average_by_its_weight() {
        let mut average = Average::new(0.25, SLOT);
        // By hand: 0 + 8/4 = 2; 2 + (10 - 2)/4 = 4; an empty queue before a busy link counts like any other: 3.
        assert_eq!([8.0, 10.0, 0.0].map(|queue| average.update(queue, at(0))), [2.0, 4.0, 3.0]);
    }

    #[test]
    fn idle_time_counts_as_the_packets_that_could_have_been_sent() {
        let mut average = Average::new(0.5, SLOT);
        average.update(64.0, at(0));
        average.record_dequeue(false, at(10));
        average.record_dequeue(false, at(12));
        // 3 ms idle, 1 ms a packet: 32 / 2^3. The dequeue at 12 ms did not restart the idle time.
        assert_eq!(average.update(0.0, at(13)), 4.0);
        // The packet was dropped, so the link stays idle. Only the time since the last update counts.
        assert_eq!(average.update(0.0, at(14)), 2.0);
        // The next packet was stored, and another arrives before its departure: no idle time, one packet is queued.
        assert_eq!(average.update(1.0, at(15)), 1.5);
        average.record_dequeue(true, at(15));
        assert_eq!(average.update(0.0, at(99)), 0.75, "the link is busy with the last packet");
    }

    #[test]
    fn hours_of_idle_time_and_a_rate_of_zero_leave_a_finite_average() {
        let mut average = Average::new(0.002, Span::ZERO);
        average.update(1e9, at(0));
        average.record_dequeue(false, at(0));
        assert_eq!(average.update(0.0, Time::NEVER), 0.0);
        let mut stopped = Average::new(0.002, Span::MAX);
        let before = stopped.update(1e9, at(0));
        stopped.record_dequeue(false, at(0));
        assert!((stopped.update(0.0, at(3_600_000)) / before - 1.0).abs() < 1e-6);
    }
}
