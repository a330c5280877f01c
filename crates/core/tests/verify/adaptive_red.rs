//! Claims of Adaptive RED and Feng's RED: the average stays between the thresholds without a maxp chosen for the load.

use crate::verify::one_queue::{CAPACITY, responsive, run, steady};

const THRESHOLDS: &str = "limit=300p,minth=20p,maxth=60p,wq=0.002";

#[test]
fn ared_keeps_the_average_in_its_target_range_for_any_number_of_flows_and_red_does_not() {
    // Floyd, Gummadi, Shenker 2001, simulations: the average stays near the middle of the thresholds, here 36 to 44
    // packets, at light and heavy load. RED's average depends on load and maxp. (5 flows would need a drop rate of half
    // a percent and so a maxp below 0.01, its minimum.)
    let mean = |qdisc: &str, flows| run(&format!("{qdisc}:{THRESHOLDS}"), responsive(flows)).mean("average");
    let loads = [10, 25, 50, 100];
    let ared = loads.map(|flows| mean("ared", flows));
    assert!(ared.iter().all(|average| (34.0..46.0).contains(average)), "{ared:?}");
    let red = loads.map(|flows| mean("red", flows));
    assert!(red[3] - red[0] > 15.0, "{red:?}");
}

#[test]
fn ared_settles_at_the_maxp_that_drops_the_excess_and_keeps_maxp_in_its_bounds() {
    // At 1.2 times the link's rate, 1/6 of the packets must be dropped. Gaps are uniform in 1..1/pb - 1, so pb = 1/12.
    // At the middle of the thresholds pb is half of maxp; inside the target range it is 0.4 to 0.6 of maxp. A step of
    // maxp is 0.01.
    let ared = run(&format!("ared:{THRESHOLDS},maxp=0.01"), vec![steady(1.2 * CAPACITY)]);
    let maxp = ared.mean("maxp");
    assert!((1.0 / 12.0 / 0.6 - 0.01..1.0 / 12.0 / 0.4 + 0.01).contains(&maxp), "{maxp}");
    assert!((36.0..=44.0).contains(&ared.mean("average")), "{}", ared.mean("average"));
    for (times, expected) in [(0.5, 0.009..0.01), (3.0, 0.5..0.51)] {
        let maxp = run(&format!("ared:{THRESHOLDS}"), vec![steady(times * CAPACITY)]).gauges["maxp"].clone();
        assert!(maxp.iter().skip(3000).all(|maxp| expected.contains(maxp)), "{times}: {:?}", maxp.last());
    }
}

#[test]
fn ared_with_automatic_settings_holds_the_target_delay() {
    // With automatic settings, minth = delay C/2 and maxth = 3 minth. The middle of the target range, 2 minth, is the
    // target delay. On this link 40 packets are 40 ms.
    for target in [30.0, 60.0] {
        let ared = run(&format!("ared:limit=500p,target_delay={target}ms"), responsive(40));
        let average = ared.mean("average");
        assert!((average / target - 1.0).abs() < 0.15, "{target}: {average}");
        assert!(ared.utilization() > 0.97, "{}", ared.utilization());
    }
}

#[test]
fn feng_red_finds_a_maxp_from_any_initial_value_and_stays_between_its_thresholds() {
    // Feng et al. 1999: a fixed maxp is too small for many flows or too large for few. Self-configured, the average
    // stays between the thresholds for both, from any initial maxp.
    for flows in [5, 50] {
        for maxp in [0.001, 0.9] {
            let feng = run(&format!("feng_red:{THRESHOLDS},maxp={maxp}"), responsive(flows));
            let inside = feng.part("average", |average| (20.0..=60.0).contains(&average));
            assert!(inside > 0.8, "{flows} flows from maxp {maxp}: {inside}");
        }
    }
    let fixed = |flows, maxp| {
        let red = run(&format!("red:{THRESHOLDS},maxp={maxp}"), responsive(flows));
        red.part("average", |average| (20.0..=60.0).contains(&average))
    };
    assert!(fixed(50, 0.001) < 0.7 && fixed(5, 0.9) < 0.7, "{} {}", fixed(50, 0.001), fixed(5, 0.9));
}
