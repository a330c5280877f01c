//! What is claimed of disciplines that look for the flows that take most.

use headgate_core::Why;

#[path = "support/link.rs"]
mod link;

use link::{CAPACITY, Flow, Seen, against, flow, run};

/// A hundred flows that together ask for `share` of the link, and others that ask for so many links each.
fn light(share: f64, others: &[f64]) -> Vec<Flow> {
    let mut all = vec![flow(share * CAPACITY / 100.0); 100];
    all.extend(others.iter().map(|times| flow(times * CAPACITY)));
    all
}

/// What the hundred get, in packets a second.
fn of_light(seen: &Seen) -> f64 {
    (0..100).map(|flow| seen.rate(flow)).sum()
}

#[test]
fn breathe_under_congestion_admits_of_a_heavy_flow_just_below_r_limit() {
    // Chang and Lin, section 3.1. With k = C/r_limit counters, of which none stays free, k packets counted before and
    // one more are done with each time all are lowered, so that happens C/(k + 1) times a second; and a flow that is
    // always in the set is admitted once each time, whatever it sends. Over 80 s one packet is a third of a percent.
    for (r_limit, counters) in [("800kbit/s", 10.0), ("400kbit/s", 20.0), ("200kbit/s", 40.0)] {
        for times in [1.0, 5.0, 20.0] {
            let seen = run(&format!("breathe:limit=200p,r_limit={r_limit}"), &light(1.2, &[times]));
            let expected = CAPACITY / (counters + 1.0);
            assert!((seen.rate(100) / expected - 1.0).abs() < 0.01, "{r_limit} x{times}: {}", seen.rate(100));
        }
    }
}

#[test]
fn breathe_bounds_heavy_flows_alike_whatever_each_sends() {
    // Section 4: it bounds every flow's throughput as scheduling does.
    let seen = run("breathe:limit=200p,r_limit=400kbit/s", &light(1.0, &[0.2, 0.5, 1.0, 2.0, 5.0]));
    let expected = CAPACITY / 21.0;
    assert!((100..105).all(|flow| (seen.rate(flow) / expected - 1.0).abs() < 0.01), "{:?}", &seen.rates[100..]);
}

#[test]
fn breathe_protects_the_others_and_gives_a_heavy_flow_what_they_leave() {
    // Section 4, where RED gives the heavy flows nearly all. The others ask for 90 % of the link, one for five links.
    let [breathe, red] =
        ["breathe:limit=200p,r_limit=800kbit/s", "red:limit=200p"].map(|qdisc| run(qdisc, &light(0.9, &[5.0])));
    assert!(
        of_light(&breathe) > 0.95 * 900.0 && of_light(&red) < 0.2 * 900.0,
        "{} {}",
        of_light(&breathe),
        of_light(&red)
    );
    assert!((of_light(&breathe) + breathe.rate(100) - CAPACITY).abs() < 1.0, "the link is never idle");
    assert!(breathe.counts.drops[Why::HeavyHitter as usize] > breathe.counts.dropped() * 99 / 100);
}

#[test]
fn breathe_with_as_many_counters_as_flows_keeps_all_of_them_in_the_set() {
    // No flow misses a counter, so none is ever lowered: from minth on, all are refused, and nobody is protected.
    let seen = run("breathe:limit=200p,r_limit=800kbit/s", &against(5.0, 9));
    assert_eq!(
        (seen.gauge("heavy_hitters"), seen.counts.drops[Why::HeavyHitter as usize]),
        (10.0, seen.counts.dropped())
    );
    assert!(seen.rate(9) > 300.0, "{}", seen.rate(9));
}
