//! The lab beside plain runs, its picture of the queue, and its messages for bad input.

use std::thread;

use aqm::registry;
use headgate_scenario::{Changes, Scenario};
use headgate_web::{Lab, SetOutcome, changed, disciplines, reasons};
use serde_json::Value;

const PROTECT: &str = include_str!("../../../python/headgate/scenarios/protect.toml");
const ECN: &str = include_str!("../../../python/headgate/scenarios/ecn.toml");
const MIXED_RTT: &str = include_str!("../../../python/headgate/scenarios/mixed-rtt.toml");

fn shortened(toml: &str) -> String {
    changed(toml, &["duration=12s".to_string(), "warmup=4s".to_string()]).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The outcome of a plain run, in words: undefined numbers are equal to themselves.
fn plain_run(toml: &str, qdisc: &str, seed: u64) -> String {
    let changes = Changes { qdiscs: vec![qdisc.to_string()], ..Changes::default() };
    let scenario = Scenario::read(toml, "plain.toml", &changes).unwrap();
    format!("{:?}", headgate_sim::run(&scenario, &scenario.qdiscs[0], seed, &mut ()).unwrap())
}

/// A run that is looked at all the time gives the same outcome.
fn agrees(toml: &str, qdisc: &str, seed: u64) {
    let mut lab = Lab::new(toml, qdisc, seed).unwrap();
    let mut until = 0.0;
    for turn in 0.. {
        until += [0.37, 41.0, 250.0, 1_999.999_999][turn % 4];
        match turn % 3 {
            0 => lab.skip(until),
            1 => lab.advance(until),
            _ => until = until.max(lab.step()),
        }
        let shown = json(&lab.snapshot());
        assert_eq!(shown["queue"].as_array().unwrap().len() as u64, shown["packets"].as_u64().unwrap(), "{qdisc}");
        if shown["finished"] == true {
            break;
        }
    }
    let found = format!("{:?}", lab.outcome().unwrap());
    assert!(found == plain_run(toml, qdisc, seed), "the lab of {qdisc} differs from a plain run");
}

#[test]
fn a_run_that_is_looked_at_equals_a_plain_run_with_every_discipline() {
    thread::scope(|scope| {
        for toml in [PROTECT, ECN, MIXED_RTT] {
            let toml = shortened(toml);
            scope.spawn(move || registry::ENTRIES.iter().for_each(|entry| agrees(&toml, entry.name, 3)));
        }
    });
}

#[test]
fn the_result_has_the_rows_of_the_tables() {
    let toml = shortened(PROTECT);
    let result = json(&Lab::new(&toml, "sfb", 1).unwrap().result());
    let flows = result["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 10);
    let goodput: f64 = flows.iter().map(|flow| flow["goodput_bps"].as_f64().unwrap()).sum();
    // The buffer that filled in the warm-up is delivered too.
    assert!((5e6..10.5e6).contains(&goodput), "{goodput} bit/s over a link of 10 Mbit/s");
}

#[test]
fn a_snapshot_tells_what_happened_to_each_packet() {
    let mut lab = Lab::new(&shortened(PROTECT), "droptail:limit=20p", 1).unwrap();
    lab.advance(3000.0);
    let shown = json(&lab.snapshot());
    let events = shown["events"].as_array().unwrap();
    let count = |kind: &str| events.iter().filter(|event| event[1] == kind).count() as u64;
    assert_eq!(count("arrived"), count("sent") + count("dropped") + shown["packets"].as_u64().unwrap());
    assert!(count("dropped") > 0 && events.iter().any(|event| event[5] == "overflow"), "a full queue drops");
    let arrivals: Vec<f64> = shown["queue"].as_array().unwrap().iter().map(|row| row[1].as_f64().unwrap()).collect();
    assert!(arrivals.is_sorted() && arrivals.last() <= Some(&3000.0));
    assert_eq!(json(&lab.snapshot())["events"], Value::Array(Vec::new()), "each event is shown once");
    let before = json(&lab.snapshot())["t_ms"].as_f64().unwrap();
    assert!(lab.step() > before);
    assert!(!json(&lab.snapshot())["events"].as_array().unwrap().is_empty());
}

#[test]
fn delivered_bytes_go_on_over_the_end_of_the_warm_up() {
    let mut lab = Lab::new(&shortened(PROTECT), "droptail", 1).unwrap();
    let mut last = vec![0; 10];
    for tenth in 1..=80 {
        lab.skip(f64::from(tenth) * 100.0);
        let sample = json(&lab.sample());
        let flows = sample["flows"].as_array().unwrap();
        let delivered: Vec<u64> = flows.iter().map(|flow| flow["delivered_bytes"].as_u64().unwrap()).collect();
        assert!(delivered.iter().zip(&last).all(|(now, before)| now >= before), "{delivered:?} after {last:?}");
        last = delivered;
    }
    // 5 Mbit/s for 8 s, less headers and drops.
    assert!(last[9] > 1_500_000, "the unresponsive flow delivered {} bytes", last[9]);
}

#[test]
fn rates_and_parameters_change_while_the_run_goes_on() {
    let toml = shortened(PROTECT);
    let mut lab = Lab::new(&toml, "red", 1).unwrap();
    lab.advance(2000.0);
    for (key, value) in [("link.rate", "5Mbit/s"), ("cbr.rate", "1Mbit/s"), ("qdisc.red.maxp", "0.5")] {
        assert_eq!(lab.set(key, value), Ok(SetOutcome::Applied), "{key}");
    }
    for (key, value) in [("link.delay", "50ms"), ("tcp.flows", "3")] {
        assert_eq!(lab.set(key, value), Ok(SetOutcome::NeedsRestart), "{key}");
    }
    let about = json(&lab.about());
    assert_eq!((&about["link"]["rate_bps"], &about["link"]["delay_ms"]), (&5_000_000.into(), &14.0.into()));
    assert!(about["qdisc"].as_str().unwrap().contains("maxp=0.5"));
    lab.advance(4000.0);
    let bytes = |lab: &mut Lab| {
        let sample = json(&lab.sample());
        sample["flows"].as_array().unwrap().iter().map(|flow| flow["delivered_bytes"].as_u64().unwrap()).sum::<u64>()
    };
    let before = bytes(&mut lab);
    lab.advance(8000.0);
    let rate = (bytes(&mut lab) - before) * 8 / 4;
    // What was received out of order before is delivered too.
    assert!((3_000_000..=5_500_000).contains(&rate), "{rate} bit/s over a link of 5 Mbit/s");
    assert!(lab.outcome().unwrap().conserves());
}

#[test]
fn bad_input_is_answered_with_a_message() {
    let refused = |toml: &str, qdisc: &str| Lab::new(toml, qdisc, 1).err().unwrap_or_default();
    assert!(refused("name = ", "red").contains("error"));
    assert!(refused(PROTECT, "rde").contains("did you mean `red`"), "{}", refused(PROTECT, "rde"));
    assert!(refused(&PROTECT.replace("delay", "dealy"), "red").contains("did you mean `delay`"));
    assert!(changed(PROTECT, &["link.rat=3".to_string()]).unwrap_err().contains("rate"));
    assert!(changed(PROTECT, &["tcp.flows=100000".to_string()]).unwrap_err().contains("at most 500 flows"));
    assert!(changed(PROTECT, &["link.rate=100Gbit/s".to_string()]).unwrap_err().contains("million packets"));
    let intervals = ["record.interval=100us".to_string()];
    assert!(changed(PROTECT, &intervals).unwrap_err().contains("at most 100000 intervals"));
    let flood = ["cbr.rate=100Gbit/s".to_string(), "cbr.access.rate=100Gbit/s".to_string()];
    assert!(changed(PROTECT, &flood).unwrap_err().contains("million packets"), "a source that the link cannot carry");
    let mut lab = Lab::new(PROTECT, "red", 1).unwrap();
    assert!(lab.set("link.rate", "fast").unwrap_err().contains("rate"));
    assert!(lab.set("nothing", "1").is_err());
    lab.advance(f64::NAN);
    lab.advance(-5.0);
    assert_eq!(json(&lab.sample())["t_ms"], 0.0);
}

#[test]
fn the_catalog_has_every_discipline_with_its_parameters() {
    let all = json(&disciplines());
    assert_eq!(all.as_array().unwrap().len(), registry::ENTRIES.len());
    let red = all.as_array().unwrap().iter().find(|entry| entry["name"] == "red").unwrap();
    assert!(red["parameters"].as_array().unwrap().iter().any(|parameter| parameter["name"] == "minth"));
    assert_eq!(json(&reasons()).as_object().unwrap().len(), registry::reasons().len());
}

#[test]
fn bins_are_shown_level_by_level() {
    let shown = |qdisc: &str| {
        let mut lab = Lab::new(&shortened(PROTECT), qdisc, 1).unwrap();
        lab.skip(10_000.0);
        json(&lab.sample())
    };
    let sfb = shown("sfb:bins=23,levels=2");
    for level in sfb["bins"].as_array().unwrap() {
        let bins = level.as_array().unwrap();
        let queued: u64 = bins.iter().map(|bin| bin[1].as_u64().unwrap()).sum();
        assert_eq!(
            (bins.len(), queued),
            (23, sfb["packets"].as_u64().unwrap()),
            "each level counts every queued packet"
        );
        assert!(bins.iter().any(|bin| bin[0].as_f64() > Some(0.5)), "the unresponsive flow has a bin in every level");
    }
    assert_eq!(shown("sfred")["bins"].as_array().unwrap().len(), 2);
    assert!(shown("red")["bins"].as_array().unwrap().is_empty());
}
