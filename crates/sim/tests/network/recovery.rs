//! Loss recovery at a congested bottleneck.

use headgate_sim::run;

use crate::network::scenario;

/// Retransmission timeouts and goodput, in Mbit/s, of SACK flows with `options`, over five seeds.
fn congested(flows: u32, options: &str) -> (u64, f64) {
    let groups = format!("[[tcp]]\nflows = {flows}\nstart = \"0s..1s\"\nsend_jitter = \"1ms\"\n{options}");
    let scenario = scenario("20s", "droptail", &groups);
    let outcomes = (1..=5).map(|seed| run(&scenario, &scenario.qdiscs[0], seed, &mut ()).expect("it runs"));
    let flows: Vec<_> = outcomes.flat_map(|outcome| outcome.flows).collect();
    let goodput: f64 = flows.iter().map(|flow| flow.goodput_bps).sum();
    (flows.iter().map(|flow| flow.timeouts).sum(), goodput / 5e6)
}

#[test]
fn losses_found_by_time_leave_little_to_the_timer() {
    // 20 flows share about 90 packets of path and queue, so windows have four to five segments. A loss then causes fewer
    // than three duplicates, and many retransmissions are lost. RFC 8985 (section 1.2) addresses lost retransmissions and
    // lost tails of a flight. It gives no figure.
    let (by_count, by_time) = (congested(20, ""), congested(20, "recovery = 'rack'\nprr = true"));
    assert!(by_count.0 > 100, "five runs of 20 s: {} timeouts", by_count.0);
    assert!(2 * by_time.0 < by_count.0, "{} timeouts instead of {}", by_time.0, by_count.0);
    assert!(by_time.1 > 0.99 * by_count.1, "{} Mbit/s instead of {}", by_time.1, by_count.1);
}
