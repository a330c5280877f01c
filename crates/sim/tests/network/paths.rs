//! Rates, delays, start and stop times along the path of a packet.

use aqm::{Span, Time};
use headgate_measure::PacketEvent;
use headgate_sim::{RunError, run};

use crate::network::{Witness, go, scenario, witness};

#[test]
fn one_packet_a_round_trip_takes_the_sum_of_all_delays() {
    // 1000 bytes: 80 us on each access link, 800 us on the link; 40 bytes back: 3.2, 32 and 3.2 us; propagation
    // 2 x (1 + 10 + 1) ms. Together 24.9984 ms, no queue.
    let flows = "[[tcp]]\nwindow = 1\npacket = \"1000B\"\nheader = \"0B\"\ndelayed_ack = \"off\"\n";
    let outcome = go(&scenario("50s", "droptail", flows));
    let expected = (50.0f64 / 0.024_998_4).floor();
    let packets = outcome.flows[0].goodput_bps * 50.0 / 8000.0;
    assert!((packets - expected).abs() <= 1.0, "{packets} of {expected}");
    assert_eq!(outcome.links[0].port.queue_delay.quantile(1.0), Some(0.0));
    // The goodput equals the max-min fair share.
    assert!((outcome.flows[0].fair_share_bps.unwrap() / (8000.0 / 0.024_998_4) - 1.0).abs() < 1e-9);
}

#[test]
fn constant_flows_below_the_links_rate_are_delivered_whole() {
    let flows = "[[udp]]\nflows = 4\nrate = \"2Mbit/s\"\npacket = \"500B\"\nheader = \"0B\"\n\
                 start = \"0s..1s\"\nstop = \"9s\"\n";
    let outcome = go(&scenario("10s", "droptail", flows));
    assert_eq!(outcome.links[0].counts.dropped(), 0);
    for flow in &outcome.flows {
        // 8 to 9 seconds of 500 packets each, all of them.
        assert_eq!(flow.counts.arrived, flow.counts.sent);
        assert_eq!(flow.goodput_bps * 10.0 / 4000.0, flow.counts.sent as f64);
        assert!((4000..=4501).contains(&flow.counts.sent), "{}", flow.counts.sent);
    }
}

#[test]
fn constant_flows_above_the_links_rate_fill_it() {
    let outcome = go(&scenario("10s", "droptail", "[[udp]]\nflows = 2\nrate = \"8Mbit/s\"\nheader = \"0B\"\n"));
    // 1 ms and 80 us pass before the first packet of 1000 bytes arrives.
    assert!(outcome.links[0].utilization.unwrap() > 0.9998, "{}", outcome.links[0].utilization.unwrap());
    // In 10 s the link sends 12 500 packets and 20 000 arrive. 50 are queued, or 49 just after a departure.
    let counts = &outcome.links[0].counts;
    assert!((12_498..=12_500).contains(&counts.sent));
    assert!((19_990..=20_000).contains(&counts.arrived));
    assert!((49..=50).contains(&(counts.arrived - counts.sent - counts.dropped())));
}

#[test]
fn jitter_spreads_the_gaps_and_keeps_the_mean_rate() {
    // 1000 packets a second; gaps even in 0 to 2 ms have a standard deviation of 1/sqrt(3) ms, so 60 s count
    // 60 000 +- sqrt(60 000 / 3) = 141. Five of these are 707.
    let flows = "[[udp]]\nrate = \"8Mbit/s\"\njitter = 1.0\n";
    let (outcome, events) = witness(&scenario("60s", "droptail", flows));
    let arrived = outcome.links[0].counts.arrived as i64;
    assert!((arrived - 60_000).abs() < 707, "{arrived}");
    let times: Vec<Time> = events.iter().filter(|e| e.kind == PacketEvent::Arrived).map(|e| e.time).collect();
    let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3).collect();
    assert!(gaps.iter().all(|gap| (0.08 - 1e-9..=2.0).contains(gap)), "the access link keeps 80 us between them");
    let short = gaps.iter().filter(|gap| **gap < 0.5).count() as f64 / gaps.len() as f64;
    assert!((short - 0.25).abs() < 0.02, "a quarter of the gaps is below a quarter of the range: {short}");
}

#[test]
fn flows_start_and_stop_at_the_times_of_the_scenario() {
    let rest = "[[tcp]]\nstart = \"1s\"\nstop = \"3s\"\nwindow = 20\n\
                [[udp]]\nrate = \"1Mbit/s\"\nstart = \"2s\"\nstop = \"4s\"\n";
    let (outcome, events) = witness(&scenario("6s", "droptail", rest));
    let window = |flow| {
        let mut times = events.iter().filter(|e| e.kind == PacketEvent::Arrived && e.flow == flow).map(|e| e.time);
        let first = times.next().expect("it sent");
        (first, times.next_back().expect("more than once"))
    };
    let at = |micros| Time::ZERO + Span::from_micros(micros);
    // Access: 120 us to send 1500 bytes, 80 us to send 1000, 1 ms of delay. TCP may have a window of 20 in its
    // access link when it stops.
    let (first, last) = window(0);
    assert_eq!(first, at(1_001_120));
    assert!(last > at(2_950_000) && last < at(3_001_120 + 20 * 120), "{last:?}");
    // 8 ms between datagrams: the last leaves 8 ms before the stop.
    assert_eq!(window(1), (at(2_001_080), at(3_993_080)));
    assert_eq!(outcome.flows[1].counts.arrived, 250);
}

#[test]
fn nothing_happens_after_the_end_and_the_last_interval_is_cut_short() {
    // The flow stops long before the end. The next event would be the end of an interval at 4 s.
    let outcome = go(&scenario("3500ms", "droptail", "[[udp]]\nrate = \"1Mbit/s\"\nstop = \"1s\""));
    let mut times: Vec<f64> = outcome.intervals.iter().map(|row| row.time_s).collect();
    times.dedup();
    assert_eq!(times, [1.0, 2.0, 3.0, 3.5]);
}

#[test]
fn acknowledgements_queue_and_are_dropped_on_a_slow_reverse_link() {
    // 833 data packets a second cause 833 ACKs of 320 bits: 267 kbit/s. A link of 100 kbit/s carries 312 of them. Most
    // are dropped, and the others queue behind 20 packets: 64 ms.
    let flows = "[[tcp]]\nflows = 4\ndelayed_ack = \"off\"\nstart = \"0s..100ms\"\n";
    let wide = go(&scenario("30s", "droptail", flows));
    let slow = format!("reverse = {{ rate = \"100kbit/s\", limit = \"20p\" }}\n{flows}");
    let narrow = go(&scenario("30s", "droptail", &slow));
    let goodput = |outcome: &headgate_measure::Outcome| outcome.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>();
    assert_eq!(wide.links[1].counts.dropped(), 0);
    assert!(narrow.links[1].counts.dropped() > 1000, "{:?}", narrow.links[1].counts);
    assert!(narrow.links[1].utilization.unwrap() > 0.9 && narrow.links[1].port.queue_delay.mean().unwrap() > 30e6);
    assert!(goodput(&narrow) < goodput(&wide), "{} {}", goodput(&narrow), goodput(&wide));
}

#[test]
fn fair_shares_are_max_min_and_without_headers() {
    // 10 Mbit/s for demands of 1, of 8 and of two greedy flows: 1, then 3 each. TCP's payload is 1460 of 1500 bytes.
    let flows = "[[tcp]]\nflows = 2\n[[udp]]\nrate = \"1Mbit/s\"\nheader = \"100B\"\n\
                 [[udp]]\nname = \"big\"\nrate = \"8Mbit/s\"\nheader = \"0B\"\n";
    let outcome = go(&scenario("1s", "droptail", flows));
    let shares: Vec<f64> = outcome.flows.iter().filter_map(|flow| flow.fair_share_bps).collect();
    let expected = [3e6 * 1460.0 / 1500.0, 3e6 * 1460.0 / 1500.0, 0.9e6, 3e6];
    assert!(shares.iter().zip(expected).all(|(share, fair)| (share / fair - 1.0).abs() < 1e-12), "{shares:?}");
}

#[test]
fn the_observer_sees_time_pass_and_can_stop_the_run() {
    let scenario = scenario("100s", "droptail", "[[udp]]\nrate = \"9Mbit/s\"\n");
    let mut patient = Witness::new();
    run(&scenario, &scenario.qdiscs[0], 1, &mut patient).unwrap();
    assert!(patient.calls.is_sorted() && patient.calls.len() > 3);
    assert_eq!(patient.calls.last(), Some(&100.0));
    let mut brief = Witness { stop_at: 5.0, ..Witness::new() };
    assert_eq!(run(&scenario, &scenario.qdiscs[0], 1, &mut brief), Err(RunError::Stopped));
    let stopped = *brief.calls.last().unwrap();
    assert!((5.0..50.0).contains(&stopped), "{stopped}");
    assert!(brief.events.len() < patient.events.len());
}
