//! RED-PD beside its transcription, with the paper's settings and others.

use std::collections::BTreeMap;

use aqm::disciplines::{RedPd, RedPdConfig};
use aqm::{LinkInfo, Params, Rate, Time};

use super::numbers::{Dynamic, PAPER, RedPdNumbers};
use super::{Plain, digest};
use crate::oracle::harness::{NamedState, TrafficMix, agree, entry};

fn look(ours: &RedPd<usize>, _: Time) -> NamedState {
    let mut average = 0.0;
    aqm::Discipline::observe(ours, &mut |gauge, value| average = if gauge == "average" { value } else { average });
    let seen = ours.identification().history().records();
    let mut state = vec![
        entry("average", average),
        entry("drop rate", ours.identification().drop_rate()),
        entry("R", ours.identification().target_rtt().as_secs_f64()),
        entry("length", ours.identification().list_length().as_nanos() as f64),
        entry("identified", ours.identification().identified()),
        entry("in lists", seen.iter().map(|s| (1 + s.flow.0) as f64 * f64::from(s.lists)).sum::<f64>()),
        entry("drops in lists", seen.iter().map(|s| (1 + s.flow.0) as f64 * s.drops as f64).sum::<f64>()),
    ];
    let flows: BTreeMap<_, _> = ours.identification().monitored().iter().collect();
    for (name, flow) in flows {
        let unresponsive = f64::from(u8::from(flow.unresponsive));
        let counts = [flow.passed as f64, flow.changed.as_nanos() as f64, unresponsive];
        let current = [flow.current.arrived as f64, flow.current.dropped as f64];
        state.push(entry(name.0.to_string(), flow.probability));
        state.push(entry("counts", digest(counts.into_iter().chain(current))));
        state.push(entry(
            "pairs",
            digest(flow.observations().iter().flat_map(|seen| [seen.arrival_rate, seen.drop_rate])),
        ));
    }
    state
}

/// Events of a trace. A trace without them would prove nothing.
#[derive(Clone, Copy)]
struct TraceSummary {
    /// Largest number of flows monitored at a time.
    monitored: usize,
    unresponsive: bool,
    /// Least and greatest R, in milliseconds.
    rtt: [f64; 2],
}

/// Compares the discipline with `settings` and the oracle with `rules`.
fn compare(settings: &[(&str, &str)], rules: RedPdNumbers, traffic: TrafficMix) -> TraceSummary {
    let config = RedPdConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    let seen = std::cell::Cell::new(TraceSummary { monitored: 0, unresponsive: false, rtt: [1e9, 0.0] });
    let watched = |ours: &RedPd<usize>, now: Time| {
        let TraceSummary { monitored, unresponsive, rtt: [least, most] } = seen.get();
        let (flows, rtt) =
            (ours.identification().monitored().len(), ours.identification().target_rtt().as_secs_f64() * 1e3);
        seen.set(TraceSummary {
            monitored: monitored.max(flows),
            unresponsive: unresponsive || ours.identification().monitored().iter().any(|(_, flow)| flow.unresponsive),
            rtt: [least.min(rtt), most.max(rtt)],
        });
        look(ours, now)
    };
    agree(RedPd::new(config, &link).unwrap(), Plain::new(rules), watched, traffic);
    seen.get()
}

#[test]
fn red_pd_identifies_and_limits_flows_as_published() {
    let seen = compare(&[("limit", "150p")], PAPER, TrafficMix::even(1));
    assert!(seen.monitored >= 2 && seen.unresponsive);
    let seen = compare(
        &[("limit", "150p"), ("unresponsive_test", "off")],
        RedPdNumbers { test: false, ..PAPER },
        TrafficMix::mixed(2),
    );
    assert!(seen.monitored >= 2 && !seen.unresponsive);
}

#[test]
fn red_pd_in_byte_mode_counts_bytes() {
    let bytes = RedPdNumbers { limit: 150e3, minth: 30e3, maxth: 99e3, bytes: true, ..PAPER };
    assert!(compare(&[("limit", "150KB"), ("byte_mode", "on")], bytes, TrafficMix::mixed(3)).monitored >= 2);
}

#[test]
fn red_pd_varies_r_with_the_drop_rate_and_with_the_flows_it_monitors() {
    let rate = RedPdNumbers { dynamic: Dynamic::DropRate(0.03), ..PAPER };
    let settings = [("limit", "150p"), ("dynamic_r", "drop_rate"), ("drop_rate_target", "0.03")];
    let [least, most] = compare(&settings, rate, TrafficMix::even(4)).rtt;
    assert!(least < 40.0 && most > 40.0, "{least} {most}");
    let flows = RedPdNumbers { dynamic: Dynamic::MonitoredFlow(4), ..PAPER };
    let settings = [("limit", "150p"), ("dynamic_r", "monitored"), ("monitored_target", "4")];
    let [least, most] = compare(&settings, flows, TrafficMix::even(5)).rtt;
    assert!(least < 40.0 && most > 40.0, "{least} {most}");
}

#[test]
fn red_pd_with_small_tables_evicts_in_order_and_starts_again_after_a_silence() {
    let (settings, small) = small();
    let silent = TrafficMix { spell: 8.0, ..TrafficMix::even(6) };
    assert!(compare(&settings, small, silent).monitored == 2);
}

/// Tables that overflow, other lists, and no exemption for unresponsive flows.
fn small() -> ([(&'static str, &'static str); 9], RedPdNumbers) {
    let settings = [
        ("limit", "150p"),
        ("counted_flows", "4"),
        ("list_flows", "3"),
        ("max_monitored", "2"),
        ("M", "3"),
        ("K", "2"),
        ("unresponsive_penalty", "1.5"),
        ("maxdecrease", "0.125"),
        ("noidle", "off"),
    ];
    let rules = RedPdNumbers {
        counted_flows: 4,
        list_flows: 3,
        max_monitored: 2,
        m: 3,
        k: 2,
        penalty: 1.5,
        max_decrease: 0.125,
        noidle: false,
        ..PAPER
    };
    (settings, rules)
}

#[test]
fn red_pd_with_a_fixed_drop_rate_derives_its_lists_from_that_rate() {
    let fixed = RedPdNumbers { fixed: Some(0.05), ..PAPER };
    assert!(compare(&[("limit", "150p"), ("P_testFRp_", "0.05")], fixed, TrafficMix::mixed(7)).monitored >= 2);
}

#[test]
fn red_pd_as_in_ns2_follows_its_defaults() {
    // At 10 Mbit/s with packets of 500 B, C = 2500 packets a second, and 2.5 ms are 6.25 packets.
    let minth = 6.25 * 500.0;
    let ns2 = RedPdNumbers {
        limit: 150e3,
        minth,
        maxth: 3.0 * minth,
        wq: 1.0 - (-1.0f64 / 2500.0).exp(),
        ns2: true,
        bytes: true,
        ecn: false,
        mean: 500.0,
        noidle: false,
        spare_unresponsive: false,
        start: Some(10.1),
        ..PAPER
    };
    assert!(compare(&[("preset", "ns2"), ("limit", "150KB")], ns2, TrafficMix::mixed(8)).monitored >= 2);
}

#[test]
fn red_pd_drops_unresponsive_flows_below_minth_as_the_authors_engine_does() {
    let engine = RedPdNumbers { spare_unresponsive: false, ..PAPER };
    let settings = [("limit", "150p"), ("spare_unresponsive", "off")];
    assert!(compare(&settings, engine, TrafficMix::even(9)).unresponsive);
    let all = RedPdNumbers { noidle: false, ..PAPER };
    assert!(compare(&[("limit", "150p"), ("noidle", "off")], all, TrafficMix::even(10)).unresponsive);
}

#[test]
fn red_pd_agrees_with_other_numbers_than_those_of_the_authors_scripts() {
    let settings = [
        ("limit", "150p"),
        ("start", "3s"),
        ("min_list", "1"),
        ("max_list", "4"),
        ("rate_weight", "0.25"),
        ("min_drop_rate", "0.02"),
        ("min_hold", "50ms"),
        ("increase_hold", "2"),
        ("decrease_hold", "1"),
        ("unresponsive_hold", "7"),
        ("first_max", "0.0625"),
        ("first_rates", "0.75"),
        ("growth", "1.5"),
        ("unresponsive_growth", "4"),
        ("easing", "3"),
        ("unresponsive_easing", "1.25"),
        ("release", "0.01"),
        ("unresponsive_release", "0.02"),
        ("comparable", "0.3"),
        ("dynamic_r", "drop_rate"),
        ("drop_rate_target", "0.05"),
        ("rtt_step", "0.1"),
    ];
    let rules = RedPdNumbers {
        start: Some(3.0),
        list: [1.0, 4.0],
        weight: 0.25,
        least_rate: 0.02,
        hold: 0.05,
        holds: [2, 1, 7],
        first: [0.0625, 0.75],
        changes: [[1.5, 3.0, 0.01], [4.0, 1.25, 0.02]],
        comparable: 0.3,
        dynamic: Dynamic::DropRate(0.05),
        step: 0.1,
        ..PAPER
    };
    let seen = compare(&settings, rules, TrafficMix::even(11));
    assert!(seen.monitored >= 2 && seen.unresponsive);
}
