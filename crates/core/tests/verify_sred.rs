//! What SRED claims: the number of flows is known without state for any, and the queue does not depend on it.

#[path = "support/one_queue.rs"]
mod one_queue;

use headgate_core::Why;
use one_queue::{CAPACITY, FLOOD, flood, responsive, run, steady};

#[test]
fn one_over_the_hit_frequency_is_the_number_of_flows() {
    // With n equal flows a zombie drawn is of the arrival's flow once in n times.
    for flows in [5, 20, 100] {
        let senders = (0..flows).map(|_| steady(0.9 * CAPACITY / f64::from(flows))).collect();
        let sred = run("sred:limit=100p", senders);
        let found = 1.0 / sred.mean("hit_frequency");
        // 80 000 packets at 0.9 of the link, averaged over 4000: 18 independent estimates of standard deviation
        // sqrt(alpha/2 n), 0.11 at 100 flows, and the list, a sample of 1000, is as old as 4000: five deviations.
        let tolerance = 5.0 * (2.0 * 0.000_125 * f64::from(flows) / 18.0).sqrt();
        assert!((found / f64::from(flows) - 1.0).abs() < tolerance, "{flows}: {found} (within {tolerance})");
    }
}

#[test]
fn unequal_flows_count_by_the_squares_of_their_shares() {
    // P is the sum of squares of the shares. One with half of the packets and ten with the rest: 1/4 + 10/400.
    let mut senders: Vec<_> = (0..10).map(|_| steady(0.05 * CAPACITY)).collect();
    senders.push(steady(0.5 * CAPACITY));
    let found = run("sred:limit=100p", senders).mean("hit_frequency");
    assert!((found - 0.275).abs() < 0.03, "{found}");
}

#[test]
fn the_queue_settles_at_a_third_of_the_buffer_whatever_the_number_of_flows() {
    // Simple SRED: the windows of n flows are sqrt(1.5/pzap) each, and pzap grows with n^2, so all of them together come
    // to 256 sqrt(1.5/psred), whatever n: with 64 in the place of 256, 202 packets from B/3 on and 405 below. A buffer
    // of 750 packets and the 50 of the round trip lie between: the queue settles at B/3 = 250.
    for flows in [15, 30, 60] {
        let sred = run("sred:limit=750p,preset=simple,flows=64", responsive(flows));
        let queue = sred.mean("queue");
        assert!((queue / 250.0 - 1.0).abs() < 0.15, "{flows}: {queue}");
        assert_eq!(sred.counts.drops(Why::Overflow), 0, "{flows}");
        assert!(sred.utilization() > 0.99, "{flows}: {}", sred.utilization());
    }
    assert!(run("droptail:limit=750p", responsive(30)).mean("queue") > 600.0);
}

#[test]
fn full_sred_drops_the_packets_of_a_flow_by_its_share() {
    // Full SRED: of a flow with the share r, hits are the part r, and a hit multiplies the probability by 1 + 1/P: all
    // in all pzap (1 + r/P). Half of the packets against a twentieth, P = 0.275: 2.82 to 1.18.
    let mut senders: Vec<_> = (0..10).map(|_| steady(0.06 * CAPACITY)).collect();
    senders.push(steady(0.6 * CAPACITY));
    let sred = run("sred:limit=300p,flows=4", senders);
    assert_eq!(sred.counts.drops(Why::Overflow), 0);
    let lost = |flow: usize, rate: f64| 1.0 - sred.sent[flow] as f64 / (80.0 * rate * CAPACITY);
    let ratio = lost(10, 0.6) / ((0..10).map(|flow| lost(flow, 0.06)).sum::<f64>() / 10.0);
    // Some 9600 and 4000 drops: standard deviation 2 %.
    let expected = (1.0 + 0.5 / 0.275) / (1.0 + 0.05 / 0.275);
    assert!((ratio / expected - 1.0).abs() < 0.1, "{ratio} {expected}");
}

#[test]
fn a_flood_makes_sred_believe_that_there_is_one_flow() {
    // Not in the paper, but its arithmetic: a flood with nearly all arrivals brings 1/P near 1, and pzap near
    // 0.15/256^2. SRED falls silent and the queue overflows.
    let sred = run("sred:limit=150p", flood(4.0));
    assert!(sred.mean("active_flows") < 2.0, "{}", sred.mean("active_flows"));
    assert!(sred.share(FLOOD) > 0.9, "{}", sred.share(FLOOD));
    assert!(sred.counts.drops(Why::Overflow) > 100 * sred.counts.drops(Why::Early));
}
