//! Properties of the whole simulator, from a scenario's text to its outcome.

mod apps;
mod balance;
mod bbr;
mod boundaries;
mod cake;
mod calls;
mod classes;
mod control;
mod delays;
mod event_log;
mod limits;
mod links;
mod linux;
mod media;
mod metrics;
mod paths;
mod recovery;
mod repeat;
mod steps;
mod tfrc;

use headgate_measure::{EventBatch, EventRow, Outcome, RunObserver};
use headgate_scenario::{Changes, Scenario};
use headgate_sim::run;

/// A scenario of 10 Mbit/s and 10 ms with a queue of 50 packets, access links of 100 Mbit/s and 1 ms, no warm-up.
/// `rest` continues the table `[link]` and then has the flows.
fn scenario(duration: &str, qdisc: &str, rest: &str) -> Scenario {
    let text = format!(
        "name = \"test\"\nduration = \"{duration}\"\nwarmup = \"0s\"\nqdiscs = [\"{qdisc}\"]\n\
         record = {{ interval = \"1s\", events = \"all\" }}\n\
         [link]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nlimit = \"50p\"\n{rest}"
    );
    Scenario::read(&text, "test", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Stores all events and the times of its calls; stops the run at `stop_at` seconds.
struct Witness {
    events: Vec<EventRow>,
    calls: Vec<f64>,
    stop_at: f64,
}

impl Witness {
    fn new() -> Witness {
        Witness { events: Vec::new(), calls: Vec::new(), stop_at: f64::INFINITY }
    }
}

impl RunObserver for Witness {
    fn should_continue(&mut self, now: aqm::Time) -> bool {
        self.calls.push(now.as_secs_f64());
        now.as_secs_f64() < self.stop_at
    }
    fn events(&mut self, batch: &EventBatch) {
        self.events.extend_from_slice(&batch.rows);
    }
}

/// Runs the scenario's first discipline with seed 1.
fn go(scenario: &Scenario) -> Outcome {
    let outcome = run(scenario, &scenario.qdiscs[0], 1, &mut ()).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.conserves(), "{:?}", outcome.balance);
    outcome
}

/// The same, with the events.
fn witness(scenario: &Scenario) -> (Outcome, Vec<EventRow>) {
    let mut witness = Witness::new();
    let outcome = run(scenario, &scenario.qdiscs[0], 1, &mut witness).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.conserves(), "{:?}", outcome.balance);
    (outcome, witness.events)
}
