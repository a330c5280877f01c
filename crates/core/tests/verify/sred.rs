//! The claims of SRED: it estimates the number of flows without per-flow state, and its queue length does not depend on
//! this number.

use crate::verify::one_queue::{CAPACITY, FLOOD, flood, responsive, run, steady};
use aqm::Why;

#[test]
fn one_over_the_hit_frequency_is_the_number_of_flows() {
    // With n equal flows, a drawn zombie belongs to the arrival's flow once in n times.
    for flows in [5, 20, 100] {
        let senders = (0..flows).map(|_| steady(0.9 * CAPACITY / f64::from(flows))).collect();
        let sred = run("sred:limit=100p", senders);
        let found = 1.0 / sred.mean("hit_frequency");
        // 80 000 packets at 0.9 of the link's rate, averaged over 4000 packets, give 18 independent estimates. Their
        // standard deviation is sqrt(alpha/2 n), or 0.11 at 100 flows. The list, a sample of 1000 packets, changes over
        // 4000 packets. The tolerance is five standard deviations.
        let tolerance = 5.0 * (2.0 * 0.000_125 * f64::from(flows) / 18.0).sqrt();
        assert!((found / f64::from(flows) - 1.0).abs() < tolerance, "{flows}: {found} (within {tolerance})");
    }
}

#[test]
fn unequal_flows_count_by_the_squares_of_their_shares() {
    // P is the sum of the squares of the shares. One flow has half of the packets and ten flows have the rest: 1/4 +
    // 10/400.
    let mut senders: Vec<_> = (0..10).map(|_| steady(0.05 * CAPACITY)).collect();
    senders.push(steady(0.5 * CAPACITY));
    let found = run("sred:limit=100p", senders).mean("hit_frequency");
    assert!((found - 0.275).abs() < 0.03, "{found}");
}

#[test]
fn the_queue_settles_at_a_third_of_the_buffer_for_any_number_of_flows() {
    // Simple SRED: each of n flows has a window of sqrt(1.5/pzap), and pzap grows with n^2. The windows therefore sum
    // to 256 sqrt(1.5/psred) for any n. With 64 in place of 256, the sum is 202 packets from B/3 on and 405 below. The
    // buffer has 750 packets and the round trip holds 50. At B/3 the sum is 250 + 50 = 300, which lies between 202 and
    // 405, so the queue settles there.
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
    // Full SRED: a packet of a flow with share r hits with probability r, and a hit multiplies the probability by 1 +
    // 1/P. The mean is pzap (1 + r/P). For shares of a half and a twentieth, P = 0.275, and the ratio is 2.82 to 1.18.
    let mut senders: Vec<_> = (0..10).map(|_| steady(0.06 * CAPACITY)).collect();
    senders.push(steady(0.6 * CAPACITY));
    let sred = run("sred:limit=300p,flows=4", senders);
    assert_eq!(sred.counts.drops(Why::Overflow), 0);
    let lost = |flow: usize, rate: f64| 1.0 - sred.sent[flow] as f64 / (80.0 * rate * CAPACITY);
    let ratio = lost(10, 0.6) / ((0..10).map(|flow| lost(flow, 0.06)).sum::<f64>() / 10.0);
    // There are about 9600 and 4000 drops, with a standard deviation of 2 %.
    let expected = (1.0 + 0.5 / 0.275) / (1.0 + 0.05 / 0.275);
    assert!((ratio / expected - 1.0).abs() < 0.1, "{ratio} {expected}");
}

#[test]
fn with_a_flood_sred_estimates_one_flow() {
    // This follows from the paper's equations: a flood with nearly all arrivals brings 1/P near 1 and pzap near
    // 0.15/256^2. SRED then hardly drops, and the queue overflows.
    let sred = run("sred:limit=150p", flood(4.0));
    assert!(sred.mean("active_flows") < 2.0, "{}", sred.mean("active_flows"));
    assert!(sred.share(FLOOD) > 0.9, "{}", sred.share(FLOOD));
    assert!(sred.counts.drops(Why::Overflow) > 100 * sred.counts.drops(Why::Early));
}
