//! The ends of the warm-up and of the run.

use aqm::Time;
use headgate_scenario::Scenario;

/// The moments at which senders that are ahead of time are counted.
pub struct RunSpan {
    /// The end of the warm-up; [`Time::NEVER`] once it is over.
    pub warmup_end: Time,
    pub end: Time,
}

impl RunSpan {
    pub fn new(scenario: &Scenario) -> RunSpan {
        RunSpan { warmup_end: Time::ZERO + scenario.warmup, end: Time::ZERO + scenario.duration }
    }
}
