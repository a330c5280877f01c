//! PI2's controller. Its linear probability p' is squared for Classic traffic and scaled for Scalable traffic.
//!
//! Every `tupdate`, p' changes by alpha times the delay's distance from the target plus beta times the delay's growth.
//! PIE has to scale its steps with the probability; squaring p' makes that unnecessary.
//!
//! Source: K. De Schepper, O. Bondarenko, I. Tsang, B. Briscoe, "PI2: a linearized AQM for both Classic and Scalable
//! TCP", ACM CoNEXT 2016; RFC 9332, appendix A.2, `dualpi2_update`.

use super::polled_timer::PolledTimer;
use crate::time::{Span, Time};

/// A controller's settings.
#[derive(Clone, Copy, Debug)]
pub struct Pi2Settings {
    /// The target queueing delay.
    pub target: Span,
    /// Time between updates, above zero.
    pub tupdate: Span,
    /// Increase per update for each second of delay above the target, in Hz.
    pub alpha: f64,
    /// Increase per update for each second of delay growth since the last, in Hz.
    pub beta: f64,
    /// The probability's upper bound.
    pub most: f64,
}

/// A controller's state.
#[derive(Clone, Debug)]
pub struct Pi2Controller {
    rules: Pi2Settings,
    timer: PolledTimer,
    /// p' after the last update.
    pub probability: f64,
    /// The delay at the last update, in seconds.
    pub delay: f64,
}

impl Pi2Controller {
    /// A probability of 0. The first update is due one `tupdate` into the run.
    pub fn new(rules: Pi2Settings) -> Pi2Controller {
        Pi2Controller { rules, timer: PolledTimer::new(rules.tupdate, Time::ZERO), probability: 0.0, delay: 0.0 }
    }

    /// Whether an update is due.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.timer.is_due(now)
    }

    /// Makes the updates due since the last call, assuming no arrival or departure meanwhile. `oldest` is the arrival
    /// time of the oldest queued packet.
    #[inline]
    pub fn catch_up(&mut self, oldest: Option<Time>, now: Time) {
        let due = self.timer.advance(now);
        if due > 0 {
            self.update(due, oldest);
        }
    }

    /// Applies p' <- p' + alpha (q - target) + beta (q - q_old) `due` times. The first step is computed alone, the
    /// others in closed form. In each of the others, q grows by `tupdate`, or stays 0 if the queue is empty. Each step
    /// is therefore at least as large as the one before. All negative steps, which may take p' to 0, precede all
    /// positive ones, which may take it to the upper bound.
    fn update(&mut self, due: u64, oldest: Option<Time>) {
        let Pi2Settings { target, tupdate, alpha, beta, .. } = self.rules;
        let since = (tupdate * (due - 1)).as_nanos();
        let first = Time::from_nanos(self.timer.last_end().as_nanos().saturating_sub(since));
        let delay = oldest.map_or(0.0, |oldest| (first - oldest).as_secs_f64());
        self.add(alpha * (delay - target.as_secs_f64()) + beta * (delay - self.delay));
        self.delay = delay;
        let others = (due - 1) as f64;
        if others > 0.0 {
            let growth = if oldest.is_some() { tupdate.as_secs_f64() } else { 0.0 };
            let step = alpha * (delay - target.as_secs_f64()) + beta * growth;
            let rise = alpha * growth;
            let falling = if rise > 0.0 { libm::floor((-step / rise).clamp(0.0, others)) } else { others };
            let sum = |n: f64| n * step + rise * n * (n + 1.0) / 2.0;
            self.add(sum(falling));
            self.add(sum(others) - sum(falling));
            self.delay = delay + others * growth;
        }
    }

    fn add(&mut self, change: f64) {
        self.probability = (self.probability + change).clamp(0.0, self.rules.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 9332's constants: target 15 ms, update every 15 ms, 0.15 Hz, 3 Hz.
    const RFC: Pi2Settings = Pi2Settings {
        target: Span::from_millis(15),
        tupdate: Span::from_millis(15),
        alpha: 0.15,
        beta: 3.0,
        most: 1.0,
    };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn updates_follow_the_rfc_worked_by_hand() {
        let mut pi = Pi2Controller::new(RFC);
        pi.catch_up(Some(at(0)), at(14));
        assert_eq!(pi.probability, 0.0, "no update is due");
        // At 15 ms the packet that arrived at 0 ms has a delay of 15 ms: 0.15 x 0 + 3 x 0.015.
        pi.catch_up(Some(at(0)), at(15));
        assert!(near(pi.probability, 0.045));
        // At 30 ms the oldest packet arrived at 5 ms, a delay of 25 ms: + 0.15 x 0.010 + 3 x 0.010.
        pi.catch_up(Some(at(5)), at(31));
        assert!(near(pi.probability, 0.0765), "{}", pi.probability);
        // At 45 ms it arrived at 35 ms: - 0.15 x 0.005 - 3 x 0.015.
        pi.catch_up(Some(at(35)), at(45));
        assert!(near(pi.probability, 0.03075), "{}", pi.probability);
        // At 60 ms the queue is empty: - 0.15 x 0.015 - 3 x 0.010 = -0.03225, below 0.
        pi.catch_up(None, at(60));
        assert_eq!((pi.probability, pi.delay), (0.0, 0.0));
    }

    #[test]
    fn missed_updates_are_made_at_the_next_call() {
        // By hand, delays at 15, 30 and 45 ms are 15, 30 and 45 ms: 0.045, + 0.00225 + 0.045, + 0.0045 + 0.045.
        let mut pi = Pi2Controller::new(RFC);
        pi.catch_up(Some(at(0)), at(50));
        assert!(near(pi.probability, 0.14175) && near(pi.delay, 0.045), "{}", pi.probability);
        // Six updates on an empty queue: -0.15 x 0.015 - 3 x 0.045, and five of -0.00225.
        let mut calm = Pi2Controller::new(RFC);
        calm.catch_up(Some(at(0)), at(50));
        calm.catch_up(None, at(60));
        assert!(near(calm.probability, 0.0045), "{}", calm.probability);
        calm.catch_up(None, at(75));
        assert!(near(calm.probability, 0.00225));
        calm.catch_up(None, Time::NEVER);
        assert_eq!(calm.probability, 0.0);
        pi.catch_up(Some(at(0)), Time::NEVER);
        assert_eq!(pi.probability, 1.0);
    }

    proptest! {
        #[test]
        fn the_probability_does_not_depend_on_how_often_the_host_calls(
            start in 0u64..100, asks in prop::collection::vec(1u64..2000, 1..20), empty: bool,
            (target, alpha, beta) in (0u64..500, 0.0f64..1.0, 0.0f64..0.05),
        ) {
            let rules = Pi2Settings { target: Span::from_millis(target), alpha, beta, ..RFC };
            let [mut often, mut rarely] = [(); 2].map(|()| Pi2Controller::new(rules));
            // Starts with a nonzero probability.
            often.catch_up(Some(at(0)), at(150));
            rarely.catch_up(Some(at(0)), at(150));
            let oldest = (!empty).then_some(at(start));
            let mut now = 150;
            for wait in asks {
                (0..wait).for_each(|ms| often.catch_up(oldest, at(now + ms)));
                now += wait;
                often.catch_up(oldest, at(now));
                rarely.catch_up(oldest, at(now));
                prop_assert!((often.probability - rarely.probability).abs() < 1e-9);
                prop_assert!((often.delay - rarely.delay).abs() < 1e-9);
            }
        }
    }
}
