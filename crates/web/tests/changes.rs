//! Changes to a run, with every discipline and on every link, and what a snapshot shows around them.

use aqm::registry;
use headgate_web::{Lab, SetOutcome, changed};
use serde_json::Value;

const PROTECT: &str = include_str!("../../../python/headgate/scenarios/protect.toml");
const CHAIN: &str = include_str!("../../../python/headgate/scenarios/chain.toml");

fn lab(toml: &str, qdisc: &str) -> Lab {
    let toml = changed(toml, &["duration=12s".to_string(), "warmup=4s".to_string()]).unwrap();
    Lab::new(&toml, qdisc, 1).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The snapshot, whose picture of the queue has as many packets as the queue.
fn checked(lab: &mut Lab) -> Value {
    let shown = json(&lab.snapshot());
    let drawn = shown["queue"].as_array().unwrap().len() as u64;
    assert_eq!(drawn, shown["packets"].as_u64().unwrap(), "{}", lab.qdisc());
    shown
}

fn delivered(lab: &mut Lab, flow: usize) -> u64 {
    json(&lab.sample())["flows"][flow]["delivered_bytes"].as_u64().unwrap()
}

#[test]
fn every_parameter_of_every_discipline_changes_while_packets_are_queued() {
    for entry in registry::ENTRIES {
        let mut lab = lab(PROTECT, entry.name);
        lab.advance(2000.0);
        for parameter in entry.fields() {
            let key = format!("qdisc.{}.{}", entry.name, parameter.name);
            assert_eq!(lab.set(&key, &parameter.default), Ok(SetOutcome::Applied), "{key}={}", parameter.default);
            let now = checked(&mut lab)["t_ms"].as_f64().unwrap();
            lab.advance(now + 33.3);
            checked(&mut lab);
        }
        assert!(lab.outcome().unwrap().conserves(), "{}", entry.name);
    }
}

#[test]
fn a_smaller_buffer_drops_the_packets_that_do_not_fit_and_the_next_snapshot_has_them() {
    let mut lab = lab(PROTECT, "droptail");
    lab.advance(3000.0);
    let queued = checked(&mut lab)["packets"].as_u64().unwrap();
    assert!(queued > 50, "{queued} packets are queued");
    assert_eq!(lab.set("qdisc.droptail.limit", "20p"), Ok(SetOutcome::Applied));
    let shown = checked(&mut lab);
    let dropped = shown["events"].as_array().unwrap().iter().filter(|event| event[1] == "dropped").count() as u64;
    assert_eq!((shown["packets"].as_u64().unwrap(), dropped), (20, queued - 20));
}

#[test]
fn a_parameter_changes_on_every_link_that_compares_disciplines() {
    let drops_at_the_last_link = |limit: Option<&str>| {
        let mut lab = lab(CHAIN, "droptail");
        lab.advance(1000.0);
        if let Some(limit) = limit {
            assert_eq!(lab.set("qdisc.droptail.limit", limit), Ok(SetOutcome::Applied));
        }
        let links = &lab.outcome().unwrap().links;
        links.iter().rfind(|link| link.compared).unwrap().counts.dropped()
    };
    let [before, after] = [drops_at_the_last_link(None), drops_at_the_last_link(Some("2p"))];
    assert!(after > 2 * before, "{before} drops, and {after} with a buffer of two packets");
}

#[test]
fn a_change_that_needs_a_new_run_changes_nothing() {
    let schedule = "limit = \"780p\"\nschedule = [{ at = \"1s\", rate = \"5Mbit/s\" }]";
    let toml = PROTECT.replace("limit = \"780p\"", schedule);
    let state_after = |change: Option<(&str, &str)>| {
        let mut lab = lab(&toml, "droptail");
        lab.advance(3000.0);
        if let Some((key, value)) = change {
            assert_eq!(lab.set(key, value), Ok(SetOutcome::NeedsRestart), "{key}={value}");
        }
        lab.skip(9000.0);
        (lab.sample(), lab.about(), lab.result())
    };
    let unchanged = state_after(None);
    for change in [("link.rate", "1Mbit/s"), ("tcp.cc", "cubic"), ("duration", "20s"), ("link.limit", "5p")] {
        assert!(state_after(Some(change)) == unchanged, "{change:?}");
    }
}

#[test]
fn the_rate_of_one_direction_changes_though_that_of_the_other_varies_by_itself() {
    let schedule =
        "limit = \"780p\"\nreverse = { rate = \"9Mbit/s\", schedule = [{ at = \"1s\", rate = \"5Mbit/s\" }] }";
    let mut lab = lab(&PROTECT.replace("limit = \"780p\"", schedule), "droptail");
    lab.skip(3000.0);
    assert_eq!(lab.set("link.rate", "1Mbit/s"), Ok(SetOutcome::Applied));
    assert_eq!(lab.set("link.reverse.rate", "1Mbit/s"), Ok(SetOutcome::NeedsRestart));
    // Packets that left at the old rate are still to arrive.
    lab.skip(3100.0);
    let before: u64 = (0..10).map(|flow| delivered(&mut lab, flow)).sum();
    lab.skip(11_100.0);
    // Eight bits a byte, over eight seconds.
    let rate = (0..10).map(|flow| delivered(&mut lab, flow)).sum::<u64>() - before;
    assert!((700_000..=1_000_000).contains(&rate), "{rate} bit/s over a link of 1 Mbit/s");
}

#[test]
fn a_step_goes_to_the_next_event_however_many_events_wait_for_a_snapshot() {
    let mut lab = lab(PROTECT, "droptail");
    lab.advance(8000.0);
    assert!(lab.step() < 8010.0);
    let shown = checked(&mut lab);
    assert!(shown["events"].as_array().unwrap().len() == 20_000 && shown["lost_events"].as_u64().unwrap() > 0);
}

#[test]
fn delivered_bytes_grow_when_steps_cross_the_end_of_the_warm_up() {
    let mut lab = lab(PROTECT, "droptail");
    lab.skip(3990.0);
    let mut last = delivered(&mut lab, 9);
    while lab.step() < 4010.0 {
        let now = delivered(&mut lab, 9);
        assert!(now >= last, "the unresponsive flow had delivered {last} bytes, and then {now}");
        last = now;
    }
}

#[test]
fn a_finished_run_still_shows_its_last_moment() {
    let mut lab = lab(PROTECT, "red");
    lab.skip(f64::INFINITY);
    let before = checked(&mut lab);
    lab.result();
    let after = checked(&mut lab);
    for name in ["t_ms", "finished", "packets", "queue", "gauges", "flows"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    assert_eq!(lab.step(), 12_000.0);
    assert_eq!(lab.set("link.rate", "1Mbit/s"), Ok(SetOutcome::NeedsRestart));
    assert_eq!(lab.result(), lab.result());
}
