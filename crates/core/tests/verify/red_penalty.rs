//! The claims of Floyd and Fall: the tests and the penalty box limit floods, and do not penalize flows with congestion
//! control.

use crate::verify::one_queue::{CAPACITY, FLOOD, flood, responsive, run, steady};
use aqm::Why;

const SETTINGS: &str = "limit=150p,minth=50p,maxth=100p,wq=0.02";

#[test]
fn a_flood_is_limited_to_the_boxs_rate_while_red_lets_it_take_the_link() {
    // The paper's simulations: the unresponsive flows are regulated, the others get the rest.
    for times in [1.5, 2.0, 4.0] {
        let red = run(&format!("red:{SETTINGS}"), flood(times)).share(FLOOD);
        let boxed = run(&format!("red_penalty:{SETTINGS}"), flood(times));
        // The box may use at most a quarter of the link. The first interval is in the warm-up.
        assert!(red > 0.8 && boxed.share(FLOOD) <= 0.25, "{times}: {red} {}", boxed.share(FLOOD));
        assert!(boxed.part("penalized", |flows| flows == 1.0) > 0.99, "{times}");
        assert!(boxed.utilization() > 0.98, "{times}: {}", boxed.utilization());
    }
}

#[test]
fn responsive_flows_are_not_penalized() {
    // Any conformant TCP passes the tests. The shortest round trip here is the link's 50 ms, and the queue lengthens
    // it, so no flow reaches 1.22 B/(R sqrt p).
    for flows in [5, 20, 60] {
        let seen = run(&format!("red_penalty:{SETTINGS},rtt=50ms,mtu=1000B"), responsive(flows));
        assert!(seen.part("penalized", |flows| flows == 0.0) > 0.99, "{flows}: {}", seen.mean("penalized"));
        assert_eq!(seen.counts.drops(Why::Unresponsive), 0, "{flows}");
    }
}

#[test]
fn an_unresponsive_flow_with_a_low_rate_is_not_penalized() {
    // An unresponsive flow below the TCP-friendly rate does no harm.
    let mut senders = responsive(10);
    senders.push(steady(0.05 * CAPACITY));
    let seen = run(&format!("red_penalty:{SETTINGS}"), senders);
    assert_eq!(seen.counts.drops(Why::Unresponsive), 0);
    assert!(seen.share(10) > 0.045, "{}", seen.share(10));
}

#[test]
fn several_floods_are_found_one_an_interval_and_share_the_box() {
    let mut senders = responsive(10);
    senders.extend((0..4).map(|_| steady(0.5 * CAPACITY)));
    let seen = run(&format!("red_penalty:{SETTINGS},interval=1s"), senders);
    let floods: f64 = (10..14).map(|flow| seen.share(flow)).sum();
    assert!(seen.mean("penalized") > 3.5 && floods < 0.3, "{} {floods}", seen.mean("penalized"));
}
