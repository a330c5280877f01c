//! PI's claim: the queue keeps its reference length whatever the load, where RED's queue grows with the load.

use aqm::{Rate, Span};

use crate::verify::closed_loop::{LoopMeasurements, LoopSender, run};

/// The paper's 3750 packets a second, with packets of 1500 bytes.
const LINK: Rate = Rate::from_bits(45_000_000);
/// Without the queue. A queue of 200 packets adds 53 ms, and the gains are for at most 246 ms.
const RTT: Span = Span::from_millis(190);
const SECONDS: u64 = 200;
const GAINS: [f64; 2] = [1.822e-5, 1.816e-5];

fn through(qdisc: &str, flows: usize) -> LoopMeasurements {
    run(qdisc, LINK, &vec![LoopSender::Aimd { rtt: RTT, ect: false }; flows], SECONDS)
}

/// Mean queue length in packets, as departing packets found it.
fn queue(seen: &LoopMeasurements) -> f64 {
    seen.mean_delay() / 1000.0 * 3750.0
}

#[test]
fn pi_holds_the_queue_at_the_reference_for_any_number_of_flows_and_red_does_not() {
    // Hollot et al., INFOCOM 2001: the integral part makes the steady error zero, so the operating queue length does
    // not depend on the load. With 60 flows, the least that the gains are designed for, to 240.
    let flows = [60, 120, 240];
    let pi = flows.map(|flows| through("pi:preset=hollot2001", flows));
    for (seen, flows) in pi.iter().zip(flows) {
        // Over time the probability changes by (a - b) w times the sum of all errors, as the proportional part cancels.
        // All of the last probability may be due to the measured seconds: this bounds the mean error.
        let most = seen.gauge("probability") / ((GAINS[0] - GAINS[1]) * 160.0 * SECONDS as f64);
        let error = queue(seen) - 200.0;
        assert!(error.abs() < most.max(5.0), "{flows}: {error} packets off, at most {most}");
        assert!(seen.used() > 0.98, "{flows}: {}", seen.used());
    }
    // Four times the flows have a quarter of the window, and need up to sixteen times the probability.
    assert!(pi[2].gauge("probability") > 4.0 * pi[0].gauge("probability"));
    // RED's probability is in proportion to its average. The same thresholds serve both loads.
    let red = [60, 240].map(|flows| queue(&through("red:limit=1000p,minth=100p,maxth=700p,maxp=0.1", flows)));
    let growth = queue(&pi[2]) - queue(&pi[0]);
    assert!(red[1] - red[0] > 3.0 * growth.abs() && red[1] > 1.5 * red[0], "RED {red:?}, PI grew by {growth}");
}
