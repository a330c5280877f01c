//! A run that is advanced step by step is the same run, however its steps fall.

use aqm::registry::ENTRIES;
use aqm::{Span, Time};
use headgate_measure::{EventRow, Outcome};
use headgate_scenario::Scenario;
use headgate_sim::{RunError, World};

use crate::network::{Witness, scenario, witness};

const FLOWS: &str = r#"
[[tcp]]
flows = 3
start = "0s..1s"
ecn = true
[[udp]]
rate = "4Mbit/s"
jitter = 0.3
"#;

/// Advances the run of `scenario` before each step by `advance`, until that returns false. Then finishes it.
fn divided(
    scenario: &Scenario,
    mut advance: impl FnMut(&mut World, &mut Witness) -> Result<bool, RunError>,
) -> (Outcome, Vec<EventRow>) {
    let mut witness = Witness::new();
    let mut world = World::build(scenario, &scenario.qdiscs[0], 1, &()).unwrap();
    while advance(&mut world, &mut witness).unwrap() {}
    (world.finish(scenario, &mut witness).unwrap(), witness.events)
}

/// Advances by steps of odd lengths, from a nanosecond to half a second. The first step and some others are empty.
fn odd_steps(scenario: &Scenario) -> impl FnMut(&mut World, &mut Witness) -> Result<bool, RunError> {
    let end = Time::ZERO + scenario.duration;
    let lengths = [0, 1, 77_777, 1_000_003, 0, 33_333_331, 499_999_999];
    let (mut until, mut lengths) = (Time::ZERO, lengths.into_iter().cycle());
    move |world, witness| {
        until += Span::from_nanos(lengths.next().expect("a cycle has no end"));
        world.advance(until, witness)?;
        Ok(until < end)
    }
}

#[test]
fn a_run_in_steps_has_the_outcome_and_the_events_of_an_undivided_one() {
    for entry in ENTRIES {
        let scenario = scenario("4s", entry.name, FLOWS);
        let whole = witness(&scenario);
        assert!(divided(&scenario, odd_steps(&scenario)) == whole, "{}: steps of odd lengths", entry.name);
        let singly = divided(&scenario, |world, witness| Ok(world.advance_one(witness)?.is_some()));
        assert!(singly == whole, "{}: one event at a time", entry.name);
    }
}

#[test]
fn each_step_reports_its_own_events_and_ends_no_later_than_the_run() {
    let scenario = scenario("2s", "droptail", FLOWS);
    let mut world = World::build(&scenario, &scenario.qdiscs[0], 1, &()).unwrap();
    for tenth in 1..=30 {
        let mut witness = Witness::new();
        let [from, until] = [tenth - 1, tenth].map(|tenths| Time::ZERO + Span::from_millis(100 * tenths));
        world.advance(until, &mut witness).unwrap();
        let within = |event: &EventRow| (from..until).contains(&event.time);
        assert!(witness.events.iter().all(within), "step {tenth}");
        assert_eq!(witness.events.is_empty(), tenth > 20, "step {tenth}: the run lasts 20 tenths");
    }
}

#[test]
fn an_observer_that_stops_a_step_stops_the_run() {
    let scenario = scenario("4s", "droptail", FLOWS);
    let mut world = World::build(&scenario, &scenario.qdiscs[0], 1, &()).unwrap();
    let mut witness = Witness { stop_at: 1.0, ..Witness::new() };
    assert_eq!(world.advance(Time::ZERO + Span::from_secs(3), &mut witness), Err(RunError::Stopped));
}
