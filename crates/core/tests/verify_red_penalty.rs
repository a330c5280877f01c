//! What Floyd and Fall claim of their tests and of a penalty box: floods are found and held back, and flows that use
//! congestion control are left alone.

#[path = "support/one_queue.rs"]
mod one_queue;

use headgate_core::Why;
use one_queue::{CAPACITY, FLOOD, flood, responsive, run, steady};

const SETTINGS: &str = "limit=150p,minth=50p,maxth=100p,wq=0.02";

#[test]
fn a_flood_is_held_to_the_boxs_rate_where_red_lets_it_take_the_link() {
    // The paper's simulations: the unresponsive flows are regulated, the others get the rest.
    for times in [1.5, 2.0, 4.0] {
        let red = run(&format!("red:{SETTINGS}"), flood(times)).share(FLOOD);
        let boxed = run(&format!("red_penalty:{SETTINGS}"), flood(times));
        // The box may send a quarter of the link at most; the first interval is in the warm-up.
        assert!(red > 0.8 && boxed.share(FLOOD) <= 0.25, "{times}: {red} {}", boxed.share(FLOOD));
        assert!(boxed.part("penalized", |flows| flows == 1.0) > 0.99, "{times}");
        assert!(boxed.utilization() > 0.98, "{times}: {}", boxed.utilization());
    }
}

#[test]
fn responsive_flows_are_not_penalized() {
    // The tests are meant to be met by any conformant TCP. The least round trip here is the 50 ms of the
    // link, and the queue lengthens it: no flow comes to 1.22 B/(R sqrt p).
    for flows in [5, 20, 60] {
        let seen = run(&format!("red_penalty:{SETTINGS},rtt=50ms,mtu=1000B"), responsive(flows));
        assert!(seen.part("penalized", |flows| flows == 0.0) > 0.99, "{flows}: {}", seen.mean("penalized"));
        assert_eq!(seen.counts.drops(Why::Unresponsive), 0, "{flows}");
    }
}

#[test]
fn an_unresponsive_flow_with_a_low_rate_is_not_penalized() {
    // A flow whose rate is below that of a TCP in its place does no harm, whatever it is.
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
