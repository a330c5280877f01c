//! Metrics measured during a run agree with closed forms and with the event log.

use std::collections::{BTreeMap, BTreeSet};

use aqm::parts::Histogram;
use aqm::{Span, Why};
use headgate_measure::{EventRow, Outcome, PacketEvent};

use crate::network::{go, scenario, witness};

/// Two TCP flows and a UDP flow that together drop often.
const BUSY: &str = "[[tcp]]\nflows = 3\nstart = \"0s..1s\"\nsend_jitter = \"500us\"\n\
                    [[udp]]\nrate = \"4Mbit/s\"\njitter = 0.5\n";

fn list(histogram: &Histogram) -> Vec<(f64, u64)> {
    histogram.iter().collect()
}

#[test]
fn without_a_queue_one_way_delay_and_startup_are_the_paths_delay() {
    // 1000 bytes: 80 us on each access link, 800 us on the link, propagation 1 + 10 + 1 ms: 12.96 ms.
    let flows = "[[tcp]]\nwindow = 1\npacket = \"1000B\"\nstart = \"5s\"\n\
                 [[udp]]\nrate = \"1Mbit/s\"\nstop = \"4s\"\nstart = \"1s\"\n";
    let outcome = go(&scenario("10s", "droptail", flows));
    let base = Span::from_micros(12_960);
    for (group, delays) in outcome.one_way.iter().enumerate() {
        assert_eq!(delays.base, base);
        assert_eq!(delays.excess.count(), outcome.flows[group].counts.sent);
        assert!(delays.excess.quantile(1.0).unwrap() <= 1024.0, "at most a unit of the send time: {:?}", delays.excess);
        assert_eq!(outcome.flows[group].milestones.startup, Some(base));
    }
}

#[test]
fn one_way_delay_is_path_delay_plus_queueing_delay() {
    // One flow of 12 Mbit/s on 10 Mbit/s. Its access link of 100 Mbit/s has no queue, so the delay above the base is the
    // bottleneck's queueing delay. It stops early: packets in flight at the end would count at the link alone.
    let (outcome, _) = witness(&scenario("10s", "droptail", "[[udp]]\nrate = \"12Mbit/s\"\nstop = \"9s\"\n"));
    let (link, way) = (&outcome.links[0].port.queue_delay, &outcome.one_way[0].excess);
    assert_eq!(link.count(), way.count());
    // Send times are rounded to 1024 ns, histogram bins to 0.8 %.
    assert!((link.mean().unwrap() - way.mean().unwrap()).abs() < 1100.0);
    assert!((way.quantile(0.99).unwrap() / link.quantile(0.99).unwrap() - 1.0).abs() < 0.017);
    // A full queue of 50 packets of 800 us, the one that just arrived among them.
    assert!((link.quantile(0.99).unwrap() / 40e6 - 1.0).abs() < 0.03, "{:?}", link.quantile(0.99));
}

#[test]
fn throughput_counts_all_bytes_and_goodput_the_useful_ones() {
    // Datagrams of 1000 bytes, of which 28 are headers, at 1 Mbit/s of 10. Of 1250 datagrams one may be in flight.
    let outcome = go(&scenario("10s", "droptail", "[[udp]]\nrate = \"1Mbit/s\"\n"));
    let flow = &outcome.flows[0];
    assert!((flow.throughput_bps / 1e6 - 1.0).abs() < 0.001, "{}", flow.throughput_bps);
    assert!((flow.goodput_bps / flow.throughput_bps - 0.972).abs() < 0.001, "{}", flow.goodput_bps);
}

#[test]
fn delays_of_the_groups_add_up_to_the_links() {
    let outcome = go(&scenario("10s", "red", BUSY));
    for link in &outcome.links {
        let mut sum = Histogram::default();
        link.port.delays.iter().for_each(|of_group| sum.merge(of_group));
        assert_eq!(sum, link.port.queue_delay);
    }
    let [tcp, udp, replies] = &outcome.links[0].port.delays[..] else { panic!("two groups and replies") };
    let sent = |flows: &[headgate_measure::FlowRow]| flows.iter().map(|flow| flow.counts.sent).sum::<u64>();
    assert_eq!((tcp.count(), udp.count()), (sent(&outcome.flows[..3]), sent(&outcome.flows[3..])));
    assert_eq!(replies.count(), 0);
    assert_eq!(
        outcome.links[1].port.delays[2].count(),
        outcome.links[1].counts.sent,
        "the reverse direction carries only replies"
    );
}

#[test]
fn packets_are_reordered_by_a_new_hash_function_of_sfq_that_leaves_queued_packets_in_place() {
    // Three constant flows of 6 Mbit/s on 10 Mbit/s keep 16 buckets' queues nonempty. Each change moves a flow to another
    // bucket, except for one in 16. Packets of a flow left in its old bucket are then overtaken.
    let flows = "[[udp]]\nflows = 3\nrate = \"6Mbit/s\"\njitter = 0.5\n";
    let reordered = |qdisc: &str| {
        let outcome = go(&scenario("10s", qdisc, flows));
        outcome.flows.iter().map(|flow| (flow.reordered, flow.counts.sent)).collect::<Vec<_>>()
    };
    for in_order in ["droptail", "sfq:sharing=shared", "sfq:sharing=shared,perturb=1s", "sfb:rehash=1s"] {
        assert!(reordered(in_order).iter().all(|(reordered, _)| *reordered == 0), "{in_order}");
    }
    // Nine changes. At each, at most the 50 queued packets are overtaken.
    let overtaken = reordered("sfq:sharing=shared,perturb=1s,move_queued=off");
    assert!(overtaken.iter().all(|(reordered, sent)| *reordered > 0 && reordered < sent), "{overtaken:?}");
    assert!(overtaken.iter().map(|(reordered, _)| reordered).sum::<u64>() <= 9 * 50, "{overtaken:?}");
}

#[test]
fn packets_that_the_medium_reorders_count_as_reordered() {
    // The medium of the link delivers a tenth of the packets 5 ms late. A packet is sent each 2 ms, so the two after it
    // overtake a late one, unless both are late too: 99 of 100 late packets. Binomial: 4 sigma of 2500 at a tenth are 60.
    let flow = "reorder = 0.1\nreorder_by = \"5ms\"\n[[udp]]\nrate = \"4Mbit/s\"\nheader = \"0B\"\n";
    let outcome = go(&scenario("5s", "droptail", flow));
    assert!(outcome.flows[0].reordered.abs_diff(247) < 60, "{}", outcome.flows[0].reordered);
}

#[test]
fn retransmissions_are_in_order_and_packets_of_one_burst_can_be_reordered() {
    // RFC 4737, section 3.3: the order is that of sending, in which a retransmission has a place of its own.
    let dropped = go(&scenario("10s", "droptail", "[[tcp]]\nflows = 3\n"));
    assert!(dropped.flows.iter().all(|flow| flow.retransmits > 0 && flow.reordered == 0), "{:?}", dropped.flows);
    // The ten packets of the initial window are sent at one time, and nothing follows them. Each packet takes 1.2 ms.
    let burst =
        "reorder = 0.3\nreorder_by = '4ms'\n[[tcp]]\ntraffic = 'ftp:size=14600B'\nflows = 200\nstart = '0s..90s'\n";
    let bursts = go(&scenario("100s", "droptail", burst));
    let reordered = bursts.flows.iter().filter(|flow| flow.reordered > 0).count();
    // All ten packets are in time with probability 0.03, and a late one is seldom not overtaken.
    assert!(reordered > 150, "{reordered} of 200 flows");
}

/// Runs of drops of `flows` and distances between drops, in packets, from the events.
fn patterns(events: &[EventRow], flows: std::ops::Range<u32>) -> (BTreeMap<u64, u64>, BTreeMap<u64, u64>) {
    let (mut runs, mut distances) = (BTreeMap::new(), BTreeMap::new());
    for flow in flows {
        let of_flow = events.iter().filter(|event| event.flow == flow);
        let dropped: BTreeSet<u64> = of_flow
            .clone()
            .filter(|event| matches!(event.kind, PacketEvent::Dropped(_)))
            .map(|event| event.packet)
            .collect();
        let arrivals = of_flow.filter(|event| event.kind == PacketEvent::Arrived);
        let accepted: Vec<bool> = arrivals.map(|event| !dropped.contains(&event.packet)).collect();
        for run in accepted.split(|accepted| *accepted).filter(|run| !run.is_empty()) {
            *runs.entry(run.len() as u64).or_insert(0) += 1;
        }
        let lost: Vec<usize> = (0..accepted.len()).filter(|index| !accepted[*index]).collect();
        for pair in lost.windows(2) {
            *distances.entry((pair[1] - pair[0]) as u64).or_insert(0) += 1;
        }
    }
    (runs, distances)
}

#[test]
fn loss_patterns_agree_with_the_events() {
    let (outcome, events) = witness(&scenario("20s", "droptail", BUSY));
    for (group, flows) in [0..3, 3..4].into_iter().enumerate() {
        let (runs, distances) = patterns(&events, flows);
        let measured = &outcome.links[0].port.losses[group];
        // Histogram bins are exact below 128.
        let exact =
            |counts: BTreeMap<u64, u64>| counts.into_iter().map(|(n, count)| (n as f64, count)).collect::<Vec<_>>();
        assert!(runs.len() > 1 && runs.keys().all(|run| *run < 128), "{runs:?}");
        assert_eq!(list(&measured.runs), exact(runs));
        let short = |(distance, _): &(f64, u64)| *distance < 128.0;
        let [measured, shown] = [list(&measured.distances), exact(distances)];
        assert_eq!(
            measured.iter().filter(|one| short(one)).collect::<Vec<_>>(),
            shown.iter().filter(|one| short(one)).collect::<Vec<_>>()
        );
    }
}

/// Jain's index of the UDP flows by time slot, from departures at the bottleneck.
fn indices(events: &[EventRow], flows: u32, slot: f64, slots: usize) -> Vec<f64> {
    let mut amounts = vec![vec![0.0; flows as usize]; slots];
    for event in events.iter().filter(|event| event.kind == PacketEvent::Sent) {
        let index = (event.time.as_secs_f64() / slot) as usize;
        if let Some(amounts) = amounts.get_mut(index) {
            amounts[event.flow as usize] += 1.0;
        }
    }
    let index = |amounts: &Vec<f64>| {
        let squares: f64 = amounts.iter().map(|x| x * x).sum();
        amounts.iter().sum::<f64>().powi(2) / (f64::from(flows) * squares)
    };
    amounts.iter().map(index).filter(|index| index.is_finite()).collect()
}

#[test]
fn jains_index_on_each_scale_agrees_with_the_events() {
    let flows = "[[udp]]\nflows = 4\nrate = \"6Mbit/s\"\njitter = 1.0\n";
    let (outcome, events) = witness(&scenario("20s", "droptail", flows));
    for (row, slot, slots) in [(0, 0.1, 200), (1, 1.0, 20), (2, 10.0, 2)] {
        let (measured, mut shown) = (&outcome.fairness[row], indices(&events, 4, slot, slots));
        shown.sort_by(f64::total_cmp);
        assert_eq!((measured.scale_s, measured.indices.len()), (slot, slots));
        let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
        assert!(measured.indices.iter().zip(&shown).all(near), "{measured:?}, expected {shown:?}");
    }
    let mean = |row: usize| mean(&outcome.fairness[row].indices);
    assert!(mean(0) < mean(1) && mean(1) < mean(2), "chance evens out over time");
}

#[test]
fn a_finished_flow_does_not_count_as_one_without_goodput() {
    // One of three flows of 8 Mbit/s ends at 5 s, and the two others then get equal goodput. If the ended flow still
    // counted, the index would be at most two thirds. It counts in the slot in which its last packets leave the queue.
    let one = |traffic: &str| format!("[[udp]]\n{traffic}\njitter = 1.0\n");
    let flows = one("traffic = 'cbr:schedule=[0s 8Mbit/s; 5s 0bit/s]'") + &one("rate = '8Mbit/s'\nflows = 2");
    let outcome = go(&scenario("20s", "droptail", &flows));
    let index = &outcome.fairness[1].indices;
    assert_eq!(index.len(), 20);
    assert!(index[2] > 0.9, "all but one slot: {index:?}");
    // A transfer of 7 MB uses the link alone for six seconds. Then two other flows start.
    let flows = "[[tcp]]\ntraffic = 'ftp:size=7MB'\n[[tcp]]\nflows = 2\nstart = '7s'\nsend_jitter = '1ms'\n";
    let outcome = go(&scenario("10s", "droptail", flows));
    assert!(outcome.transfers[0].end.is_some_and(|end| end.as_secs_f64() < 7.0));
    let index = &outcome.fairness[1].indices;
    assert_eq!(index.len(), 3, "slots with two flows or more");
    assert!(mean(index) > 0.7, "{index:?}");
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn red_desynchronizes_losses_that_droptail_synchronizes() {
    // Floyd and Jacobson, "Random Early Detection gateways for congestion avoidance", ToN 1993, section 1: RED avoids
    // global synchronization, which a full queue causes.
    let flows = "[[tcp]]\nflows = 8\nstart = \"0s..1s\"\nsend_jitter = \"500us\"\n";
    let found = |qdisc: &str| go(&scenario("60s", qdisc, flows)).links[0].port.synchronization;
    let [tail, red] = ["droptail", "red:minth=10p,maxth=40p"].map(found);
    assert!(tail.events > 20 && red.events > 20, "{tail:?} {red:?}");
    assert!(red.global < tail.global && red.pairwise < tail.pairwise, "{tail:?} {red:?}");
    for each in [tail, red] {
        let (global, pairwise) = (each.global.unwrap(), each.pairwise.unwrap());
        assert!((0.125..=1.0).contains(&global) && (0.0..=1.0).contains(&pairwise), "{each:?}");
    }
}

/// Nine TCP flows and one unresponsive flow of `rate`, on 10 Mbit/s.
fn bully(rate: &str, qdisc: &str) -> Outcome {
    let flows = format!(
        "[[tcp]]\nflows = 9\nstart = \"0s..1s\"\nsend_jitter = \"500us\"\n\
         [[udp]]\nrate = \"{rate}\"\njitter = 0.1\nstart = \"2s\"\n"
    );
    go(&scenario("30s", qdisc, &flows))
}

#[test]
fn only_disciplines_that_identify_flows_have_identification_times() {
    // SFB calls a flow unresponsive when its bins' probability reaches 1. With a short queue this takes a high rate.
    for (rate, qdisc) in [("8Mbit/s", "red_pd"), ("60Mbit/s", "sfb"), ("8Mbit/s", "breathe")] {
        let outcome = bully(rate, qdisc);
        let found =
            outcome.flows[9].milestones.response_times.identified.unwrap_or_else(|| panic!("{qdisc} finds the flow"));
        assert!(found < Span::from_secs(28), "{qdisc}: {found:?}");
    }
    for qdisc in ["droptail", "red", "codel"] {
        assert!(
            bully("8Mbit/s", qdisc).flows.iter().all(|flow| flow.milestones.response_times.identified.is_none()),
            "{qdisc} knows no flows"
        );
    }
}

#[test]
fn a_flow_held_to_its_fair_share_has_a_response_time_and_others_have_none() {
    let outcome = bully("8Mbit/s", "drr");
    let response =
        outcome.flows[9].milestones.response_times.response.expect("DRR gives it a tenth from the beginning");
    assert!(response <= Span::from_secs(2), "{response:?}");
    assert_eq!(response.as_nanos() % 1_000_000_000, 0, "whole seconds");
    assert!(
        outcome.flows[..9].iter().all(|flow| flow.milestones.response_times.response.is_none()),
        "TCP never exceeds its share for long"
    );
    assert_eq!(bully("8Mbit/s", "droptail").flows[9].milestones.response_times.response, None);
}

#[test]
fn the_ambient_drop_rate_over_time_adds_up_to_the_whole() {
    let outcome = bully("8Mbit/s", "red_pd");
    let counts = &outcome.links[0].counts;
    // RED-PD drops packets of monitored and of unresponsive flows before the queue.
    let [monitored, unresponsive] = [Why::Prefilter, Why::Unresponsive].map(|why| counts.drops(why));
    assert!(monitored > 0 && unresponsive > 0, "{monitored} {unresponsive}");
    let before = monitored + unresponsive;
    let rates = outcome.intervals.iter().filter(|row| row.metric.name() == "ambient_drop_rate");
    let mean = rates.map(|row| row.value).sum::<f64>() / 30.0;
    let whole = (counts.dropped() - before) as f64 / (counts.arrived - before) as f64;
    // Arrivals vary by second, so the mean over seconds only approximates the whole.
    assert!((mean - whole).abs() < 0.3 * whole, "{mean} and {whole}");
}

#[test]
fn a_flow_that_rises_above_its_share_late_is_measured_from_there() {
    // RED-PD's figure 12, shorter: 0.25 Mb/s, 4 Mb/s from 20 s to 50 s, 0.25 Mb/s again; nine TCP flows beside it. Counted
    // from the flow's start, identification would take more than 20 s.
    let flows = "[[tcp]]\nflows = 9\npacket = '1000B'\nwindow = 50\nstart = '0s..5s'\nsend_jitter = '500us'\n\
                 [[udp]]\njitter = 0.1\nheader = '0B'\n\
                 traffic = 'cbr:schedule=[0s 250kbit/s; 20s 4Mbit/s; 50s 250kbit/s]'\n";
    let outcome = go(&scenario("120s", "red_pd", flows));
    let response_times = outcome.flows[9].milestones.response_times;
    assert!(response_times.identified.is_some_and(|found| found < Span::from_secs(20)), "{response_times:?}");
    // The rate falls at 50 s, so a release within the run takes at most 70 s.
    assert!(response_times.released.is_some_and(|release| release <= Span::from_secs(70)), "{response_times:?}");
}
