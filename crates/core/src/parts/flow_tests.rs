use crate::packet::FlowId;

/// The test a flow failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedTest {
    /// It sends faster than TCP could at this drop rate.
    Unfriendly,
    /// It did not reduce its rate when the drop rate grew.
    Unresponsive,
    /// It sends far more than its share of the traffic.
    Disproportionate,
}

/// Measurements of a flow in one interval.
#[derive(Clone, Copy, Debug)]
pub struct FlowSample {
    /// The flow.
    pub flow: FlowId,
    /// Share of all flows' packets that were dropped or marked.
    pub drop_rate: f64,
    /// Its rate in bytes a second.
    pub rate: f64,
}

/// Three tests of whether a flow uses congestion control (Floyd, Fall, IEEE/ACM ToN 7(4), 1999), with their limits.
#[derive(Clone, Copy, Debug)]
pub struct FlowTests {
    /// The paper's R: the flows' minimum round-trip time, in seconds.
    pub rtt: f64,
    /// The paper's B: the flows' maximum packet size, in bytes.
    pub mtu: f64,
    /// A flow above this many times the TCP-friendly rate is unfriendly.
    pub safety: f64,
    /// A flow must respond if the drop rate has grown by more than this factor.
    pub drop_rate_factor: f64,
    /// A flow has not responded if its rate is above this share of its earlier rate.
    pub flow_rate_factor: f64,
    /// The paper's c, in bytes a second. Only a flow above c/sqrt(p) is disproportionate, p being the drop rate.
    pub disproportionate: f64,
}

impl FlowTests {
    /// TCP's rate at drop rate p = `drops`, in bytes/s: 1.22 B/(R sqrt p). `None` without drops.
    pub fn friendly_rate(&self, drops: f64) -> Option<f64> {
        (drops > 0.0).then(|| 1.22 * self.mtu / (self.rtt * libm::sqrt(drops)))
    }

    /// Whether `rate` exceeds the TCP-friendly rate.
    pub fn is_unfriendly(&self, rate: f64, drops: f64) -> bool {
        self.friendly_rate(drops).is_some_and(|friendly| rate > self.safety * friendly)
    }

    /// Whether a flow did not respond to the drop rate's growth since its sample `then`.
    pub fn is_unresponsive(&self, now: FlowSample, then: FlowSample) -> bool {
        now.drop_rate > self.drop_rate_factor * then.drop_rate && now.rate > self.flow_rate_factor * then.rate
    }

    /// Whether a flow sends more than ln(3n)/n of `all`, the rate of n = `flows` flows, and more than c/sqrt(drops).
    pub fn is_disproportionate(&self, rate: f64, drops: f64, all: f64, flows: usize) -> bool {
        let n = flows.max(1) as f64;
        rate > libm::log(3.0 * n) / n * all && rate * libm::sqrt(drops) > self.disproportionate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: FlowTests = FlowTests {
        rtt: 0.05,
        mtu: 512.0,
        safety: 1.2,
        drop_rate_factor: 2.0,
        flow_rate_factor: 0.8,
        disproportionate: 12_000.0,
    };

    #[test]
    fn a_flow_is_unfriendly_above_the_tcp_friendly_rate() {
        // By hand: 1.22 x 512 / 0.05 = 12 493 bytes a second, divided by sqrt p. At p = 1 % this is 124 928, and with
        // the factor of 1.2 it is 149 914.
        assert!((TESTS.friendly_rate(0.01).unwrap() - 124_928.0).abs() < 1e-6);
        assert!(!TESTS.is_unfriendly(149_000.0, 0.01) && TESTS.is_unfriendly(150_000.0, 0.01));
        assert!(!TESTS.is_unfriendly(1e9, 0.0), "without drops any rate is friendly");
    }

    #[test]
    fn a_flow_is_unresponsive_if_drops_doubled_and_it_kept_its_rate() {
        let sample = |drop_rate, rate| FlowSample { flow: FlowId(1), drop_rate, rate };
        let then = sample(0.01, 1000.0);
        // TCP would have fallen to 1/sqrt(2.1) = 0.69 of its rate.
        assert!(TESTS.is_unresponsive(sample(0.021, 810.0), then));
        assert!(
            !TESTS.is_unresponsive(sample(0.021, 690.0), then) && !TESTS.is_unresponsive(sample(0.019, 1000.0), then)
        );
    }

    #[test]
    fn a_flow_is_disproportionate_above_its_share_while_the_drop_rate_is_high() {
        // ln(30)/10 = 0.34 of the traffic; 12 000/sqrt(0.04) = 60 000 bytes a second.
        assert!(TESTS.is_disproportionate(70_000.0, 0.04, 200_000.0, 10));
        assert!(!TESTS.is_disproportionate(67_000.0, 0.04, 200_000.0, 10), "a third of the traffic is not");
        assert!(!TESTS.is_disproportionate(59_000.0, 0.04, 100_000.0, 10), "nor is a rate below c/sqrt(p)");
        assert!(!TESTS.is_disproportionate(1e9, 0.04, 1e9, 1), "a flow alone competes with no other flow");
    }
}
