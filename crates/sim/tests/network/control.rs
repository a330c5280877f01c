//! Effects of congestion controllers on a queue and on each other.

use headgate_measure::{LinkRow, Outcome};
use headgate_scenario::{Changes, Scenario};

use crate::network::go;

/// One link with fast access links of 1 ms: the base round-trip time is 4 ms plus twice `delay`.
fn link(times: &str, rate: &str, delay: &str, limit: &str, qdisc: &str, groups: &str) -> Outcome {
    let text = format!(
        "name = 'control'\n{times}\nqdiscs = [\"{qdisc}\"]\n\
         [link]\nrate = '{rate}'\ndelay = '{delay}'\nlimit = '{limit}'\n{groups}"
    );
    go(&Scenario::read(&text, "test", &Changes::default()).unwrap_or_else(|error| panic!("{error}")))
}

fn bottleneck(outcome: &Outcome) -> &LinkRow {
    outcome.compared().next().expect("one link is compared").1
}

/// The first group's share of the goodput.
fn share(outcome: &Outcome) -> f64 {
    let sum = |wanted: fn(u32) -> bool| -> f64 {
        outcome.flows.iter().filter(|flow| wanted(flow.group)).map(|flow| flow.goodput_bps).sum()
    };
    sum(|group| group == 0) / sum(|_| true)
}

const DCTCP: &str = "[[tcp]]\nname = 'dctcp'\nflows = 2\ncc = 'dctcp'\ndelayed_ack = 'off'\naccess = { rate = '1Gbit/s' }\n\
                     start = '0s..10ms'\n";

#[test]
fn dctcp_holds_the_queue_at_the_marking_threshold_and_fills_the_link() {
    // Alizadeh et al., SIGCOMM 2010, section 3.3: with N flows and marks above K packets, the queue has at most K + N
    // packets and oscillates by A = sqrt(2 N (C RTT + K)) / 2. The link stays busy if K > C RTT / 7. C RTT is 83 packets.
    // With K = 20 and N = 2 the queue has 12 to 22 packets of 0.12 ms. As a delay the threshold is 2.4 ms.
    for qdisc in ["step:k=20p", "step:k=auto,ce_threshold=2.4ms", "codel:ce_threshold=2.4ms"] {
        let outcome = link("duration = '5s'\nwarmup = '2s'", "100Mbit/s", "3ms", "1000p", qdisc, DCTCP);
        let row = bottleneck(&outcome);
        assert!(row.utilization.unwrap() > 0.99, "{qdisc}: {}", row.utilization.unwrap());
        let queue = row.queue_packets_mean;
        assert!((12.0..22.0).contains(&queue), "{qdisc}: {queue} packets");
        // Windows grow unevenly: one more packet for each flow.
        let most = row.port.queue_delay.quantile(0.99).unwrap() / 1e6;
        assert!(most < 0.12 * 24.0, "{qdisc}: {most} ms");
        assert_eq!(row.counts.dropped(), 0, "{qdisc}");
    }
}

#[test]
fn hystart_leaves_slow_start_before_the_queue_overflows() {
    // The BDP is 83 packets. The round of 160 segments is the first with a queue, but its first segment has no delay, and
    // a round's minimum counts. The round of 320 finds 80 packets queued from its start. Eight samples later slow start is
    // conservative for five rounds: 406, 507, 634, 793, 991 segments. It ends below the 1033 that path and buffer hold.
    // Plain slow start goes on from 640 to 1280 segments and overflows the buffer.
    let losses = |hystart| {
        let flow = format!("[[tcp]]\ncc = 'cubic'\nhystart = {hystart}\ndelayed_ack = 'off'\n");
        let outcome = link("duration = '7s'\nwarmup = '0s'", "10Mbit/s", "48ms", "950p", "droptail", &flow);
        (bottleneck(&outcome).counts.dropped(), outcome.flows[0].goodput_bps)
    };
    let ((plain, _), (hystart, goodput)) = (losses(false), losses(true));
    assert!(plain > 30 && hystart == 0, "{plain} and {hystart} losses");
    assert!(goodput > 8e6, "{goodput}");
}

const PRAGUE: &str = "[[tcp]]\nname = 'prague'\ncc = 'prague'\nstart = '0s..1s'\n";

#[test]
fn prague_keeps_the_low_latency_queue_short_and_the_link_busy() {
    // RFC 9332's marks begin at a queueing delay of 0.8 ms and are certain at 1.2 ms.
    let outcome = link("duration = '20s'\nwarmup = '5s'", "40Mbit/s", "10ms", "1000p", "dualpi2", PRAGUE);
    let row = bottleneck(&outcome);
    assert!(row.utilization.unwrap() > 0.9, "{}", row.utilization.unwrap());
    let most = row.port.queue_delay.quantile(0.99).unwrap() / 1e6;
    assert!(most < 2.0, "{most} ms");
    assert_eq!(row.counts.dropped(), 0);
}

#[test]
fn the_coupled_queue_shares_between_prague_and_cubic() {
    // RFC 9332, section 2.1: about equal rates for flows with equal round-trip times, in either queue. The tolerance is a
    // factor of two, since the classic queue adds its 15 ms to CUBIC's round trip.
    let cubic = "[[tcp]]\nname = 'cubic'\ncc = 'cubic'\necn = true\nstart = '0s..1s'\n";
    let groups = format!("{PRAGUE}{cubic}");
    let outcome = link("duration = '40s'\nwarmup = '10s'", "40Mbit/s", "10ms", "1000p", "dualpi2", &groups);
    let share = share(&outcome);
    assert!((1.0 / 3.0..2.0 / 3.0).contains(&share), "{share:.3} is Prague's");
}

#[test]
fn ledbat_alone_holds_its_target() {
    // RFC 6817, section 2.4.2: the window settles at a queueing delay of 100 ms. A segment adds 1.2 ms, and each round
    // trip of 140 ms moves the window by 0.01 segments per ms of distance. The distance thus falls by a factor of e in
    // 12 s. With a target of 25 ms and twice the gain it falls by a tenth per round trip.
    for (keys, target) in [("", 100.0), ("target = '25ms'\ngain = 2\n", 25.0)] {
        let group = format!("[[tcp]]\ncc = 'ledbat'\n{keys}");
        let outcome = link("duration = '120s'\nwarmup = '80s'", "10Mbit/s", "18ms", "400p", "droptail", &group);
        let row = bottleneck(&outcome);
        let delay = row.port.queue_delay.mean().unwrap() / 1e6;
        assert!((0.95 * target..1.05 * target).contains(&delay), "{delay} of {target} ms");
        assert!(row.utilization.unwrap() > 0.99, "{}", row.utilization.unwrap());
        assert_eq!(row.counts.dropped(), 0);
    }
}

#[test]
fn ledbat_yields_to_reno() {
    // Path and buffer hold 33 + 300 packets, and Reno's window varies between half of them and all. The queue is therefore
    // never below 133 packets, 160 ms. LEDBAT keeps its smallest window, 2 of more than 166 segments.
    let groups = "[[tcp]]\nname = 'ledbat'\ncc = 'ledbat'\n[[tcp]]\nname = 'reno'\nstart = '1s'\n";
    let outcome = link("duration = '60s'\nwarmup = '20s'", "10Mbit/s", "18ms", "300p", "droptail", groups);
    let share = share(&outcome);
    assert!(share < 0.02, "{share:.3}");
    assert!(bottleneck(&outcome).utilization.unwrap() > 0.99);
}

#[test]
fn prague_with_a_window_of_two_keeps_its_share_beside_cubic() {
    // The BDP of 10 Mbit/s and 5 ms is four packets, and half of it is near the smallest window. DualPI2's coupling gives
    // equal rates (RFC 9332, section 2.1), as Prague acts for a round trip of 25 ms. The tolerance is a factor of two. A
    // flow that waits for its timer at each mark below two segments (RFC 3168, section 6.1.2) had a seventh.
    for qdisc in ["dualpi2", "dualpi2:preset=linux"] {
        let group = |cc: &str| format!("[[tcp]]\ncc = '{cc}'\ndelayed_ack = 'off'\naccess = {{ delay = '0s' }}\n");
        let groups = group("prague") + &group("cubic");
        let share = share(&link("duration = '40s'\nwarmup = '10s'", "10Mbit/s", "1ms", "250p", qdisc, &groups));
        assert!((1.0 / 3.0..2.0 / 3.0).contains(&share), "{qdisc}: {share} of the link");
    }
}
