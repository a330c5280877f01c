//! Links that lose, delay and reorder packets, and links with variable rates.

use std::collections::BTreeSet;

use headgate_measure::{FlowRow, LinkRow, Outcome, PacketEvent};
use headgate_scenario::{Changes, Files, Scenario};

use crate::network::{go, scenario, witness};

/// A burst of 20 packets of 1000 bytes within a millisecond, at a link with additional `keys`.
fn burst(keys: &str, duration: &str) -> Scenario {
    let flows =
        "[[udp]]\nrate = '160Mbit/s'\nheader = '0B'\nstop = '1ms'\naccess = { rate = '100Gbit/s', delay = '1ms' }\n";
    scenario(duration, "droptail", &format!("{keys}\n{flows}"))
}

/// When packets left the queue, in microseconds.
fn sent(scenario: &Scenario) -> Vec<u64> {
    let (_, events) = witness(scenario);
    let sent = events.iter().filter(|event| event.kind == PacketEvent::Sent);
    sent.map(|event| event.time.as_nanos() / 1000).collect()
}

fn close(found: &[u64], expected: &[u64]) {
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| a.abs_diff(*b) <= 1);
    assert!(same, "{found:?} is not {expected:?}");
}

#[test]
fn departures_follow_a_schedule_of_rates() {
    // A packet takes 800 us. The transmission of the sixth begins at 5 ms, 1 us before the rate falls to a tenth.
    let keys = "schedule = [{ at = '5001us', rate = '1Mbit/s' }, { at = '30ms', rate = '10Mbit/s' }]";
    let times = sent(&burst(keys, "2s"));
    assert_eq!(times.len(), 20);
    close(&times[..6], &[1000, 1800, 2600, 3400, 4200, 5000]);
    // 7990 bits are left at 5.001 ms: 7.99 ms at 1 Mbit/s. Then each takes 8 ms; of the ninth, 1009 bits are sent by 30 ms.
    close(&times[6..9], &[12_991, 20_991, 28_991]);
    // 6991 bits are left at 10 Mbit/s. Then each takes 800 us again.
    close(&times[9..11], &[30_699, 31_499]);
}

#[test]
fn fair_shares_divide_the_mean_rate_of_a_link() {
    // 10 Mbit/s for a quarter of the run, 2 Mbit/s for the rest: 4 Mbit/s, of which 1460 bytes in 1500 are data.
    let outcome = go(&scenario("4s", "droptail", "schedule = [{ at = '1s', rate = '2Mbit/s' }]\n[[tcp]]\n"));
    assert!((outcome.flows[0].fair_share_bps.unwrap() / (4e6 * 1460.0 / 1500.0) - 1.0).abs() < 1e-9);
}

struct Trace;

impl Files for Trace {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(b"3\n3\n9\n".to_vec())
    }
}

#[test]
fn a_trace_says_when_packets_leave() {
    let text = "name = 't'\nduration = '40ms'\nqdiscs = ['droptail']\nrecord = { interval = '40ms', events = 'all' }\n\
                link = { trace = 'lte', delay = '10ms', limit = '50p', reverse.rate = '10Mbit/s' }\n\
                [[udp]]\nrate = '160Mbit/s'\npacket = '1500B'\nheader = '0B'\nstop = '1ms'\n\
                access = { rate = '100Gbit/s', delay = '1ms' }\n";
    let scenario = Scenario::read_with(text, "t.toml", &Changes::default(), &Trace).unwrap();
    // The first transmission begins at 1 ms. Opportunities at 3, 3, 9, then 12, 12, 18 ... ms each begin the next one.
    let times = sent(&scenario);
    close(&times[..7], &[1000, 3000, 3000, 9000, 12_000, 12_000, 18_000]);
    // 14 transmissions begin by 39 ms. Nine end at least 10 ms before the run does, so these packets arrive in time.
    let outcome = go(&scenario);
    assert_eq!(outcome.links[0].counts.sent, 14);
    assert!((outcome.flows[0].goodput_bps * 0.04 / 12_000.0 - 9.0).abs() < 1e-9);
}

fn losing(keys: &str, flows: &str) -> (f64, LinkRow) {
    let outcome = go(&scenario("40s", "droptail", &format!("{keys}\n{flows}")));
    let goodput = outcome.flows.iter().map(|flow| flow.goodput_bps).sum();
    (goodput, outcome.links[0].clone())
}

#[test]
fn a_link_loss_is_no_drop_and_does_not_arrive() {
    let (goodput, row) = losing("loss = 0.1", "[[udp]]\nrate = '8Mbit/s'\nheader = '0B'\nstop = '39s'\n");
    // Binomial: 4 sigma of 39 000 packets at a tenth are 237.
    assert_eq!(row.counts.dropped(), 0);
    assert!(row.link_losses.abs_diff(row.counts.sent / 10) < 240, "{} of {}", row.link_losses, row.counts.sent);
    assert_eq!((goodput * 40.0 / 8000.0).round() as u64, row.counts.sent - row.link_losses);
}

#[test]
fn link_losses_count_as_losses_of_their_flows() {
    let flows = "[[udp]]\nflows = 3\nrate = '2Mbit/s'\njitter = 1.0\n[[tcp]]\nwindow = 20\n";
    let (outcome, events) = witness(&scenario("40s", "droptail", &format!("loss = 0.02\nloss_burst = 3\n{flows}")));
    assert_eq!(outcome.links[0].counts.dropped(), 0);
    // By flow: for each departure, whether the packet was delivered.
    let of_kind = |kind| events.iter().filter(move |event| event.kind == kind);
    let lost: BTreeSet<u64> = of_kind(PacketEvent::Lost).map(|event| event.packet).collect();
    let mut deliveries = vec![Vec::new(); 4];
    for event in of_kind(PacketEvent::Sent) {
        deliveries[event.flow as usize].push(!lost.contains(&event.packet));
    }
    let lost = |deliveries: &[bool]| deliveries.iter().filter(|delivered| !**delivered).count() as u64;
    let agrees = |flow: &FlowRow| flow.link_losses > 0 && flow.link_losses == lost(&deliveries[flow.flow as usize]);
    assert!(outcome.flows.iter().all(agrees));
    assert_eq!(outcome.links[0].link_losses, outcome.flows.iter().map(|flow| flow.link_losses).sum::<u64>());
    for (group, flows) in [&deliveries[..1], &deliveries[1..]].into_iter().enumerate() {
        let runs: Vec<f64> = flows
            .iter()
            .flat_map(|flow| flow.split(|delivered| *delivered).filter(|run| !run.is_empty()))
            .map(|run| run.len() as f64)
            .collect();
        let mean = runs.iter().sum::<f64>() / runs.len() as f64;
        let pattern = &outcome.links[0].port.losses[group];
        assert_eq!((pattern.runs.count(), pattern.runs.mean()), (runs.len() as u64, Some(mean)));
    }
    // Synchronization counts the queue's drops, not link losses.
    assert_eq!(outcome.links[0].port.synchronization.events, 0);
}

#[test]
fn tcp_recovers_from_losses_of_data_and_of_acknowledgements() {
    let flows = "[[tcp]]\nflows = 2\n";
    let (clean, _) = losing("", flows);
    let (lossy, row) = losing("loss = 0.01\nreverse = { loss = 0.05 }", flows);
    assert!(row.link_losses > 0 && lossy > 1e6 && lossy < clean, "{lossy} against {clean}");
}

#[test]
fn reordered_packets_are_overtaken_and_tcp_retransmits_some() {
    let flows = "[[tcp]]\nwindow = 40\n";
    let outcome = |keys: &str| go(&scenario("20s", "droptail", &format!("{keys}\n{flows}")));
    // Nothing is dropped or lost: only reordering causes retransmissions (RFC 5681, section 3.2: three duplicate ACKs).
    let reordered = outcome("reorder = 0.01\nreorder_by = '20ms'");
    assert_eq!((reordered.links[0].counts.dropped(), reordered.links[0].link_losses), (0, 0));
    assert!(reordered.flows[0].retransmits > 0);
    // Jitter preserves the order.
    let jittery = outcome("jitter = '20ms'");
    assert_eq!((jittery.links[0].counts.dropped(), jittery.flows[0].retransmits), (0, 0));
}

#[test]
fn a_medium_has_its_own_random_stream() {
    // The arrival times of UDP at the queue do not depend on the medium's random numbers.
    let arrivals = |keys: &str| {
        let (_, events) =
            witness(&scenario("5s", "red", &format!("{keys}\n[[udp]]\nrate = '5Mbit/s'\njitter = 1.0\n")));
        let arrived = events.iter().filter(|event| event.kind == PacketEvent::Arrived);
        arrived.map(|event| event.time).collect::<Vec<_>>()
    };
    assert_eq!(arrivals(""), arrivals("loss = 0.3\njitter = '5ms'"));
}

/// The utilization of each second.
fn utilization_over_time(outcome: &Outcome) -> Vec<(f64, f64)> {
    let rows = outcome.intervals.iter().filter(|row| row.metric.name() == "utilization" && row.link == Some(0));
    rows.map(|row| (row.time_s, row.value)).collect()
}

#[test]
fn a_link_of_rate_0_is_not_used_and_has_no_utilization() {
    // 10 Mbit/s except from 1 to 3 s. A packet is in transmission when the rate falls, and the queue is full from then on.
    let keys = "schedule = [{ at = '1s', rate = '0bit/s' }, { at = '3s', rate = '10Mbit/s' }]";
    let flow = "[[udp]]\nrate = '5Mbit/s'\nheader = '0B'\n";
    let outcome = go(&scenario("5s", "droptail", &format!("{keys}\n{flow}")));
    let seconds = utilization_over_time(&outcome);
    assert_eq!(seconds.iter().map(|(until, _)| *until).collect::<Vec<_>>(), [1.0, 4.0, 5.0], "no row without capacity");
    // A packet has 8000 bits. The 50 queued packets leave after the pause.
    for ((_, found), expected) in seconds.iter().zip([0.5, 0.54, 0.5]) {
        assert!((found - expected).abs() < 0.002, "{seconds:?}");
    }
    let whole = outcome.links[0].utilization.expect("it carried packets for 3 s");
    assert!((whole - 8.0 * outcome.links[0].counts.sent_bytes as f64 / 30e6).abs() < 0.001, "{whole}");
}

#[test]
fn utilization_weighs_time_with_capacity() {
    // 10 Mbit/s for a second, then 2 Mbit/s for three: 16 Mbit, of which 1 + 3 are sent.
    let keys = "schedule = [{ at = '1s', rate = '2Mbit/s' }]\n[[udp]]\nrate = '1Mbit/s'\nheader = '0B'\n";
    let outcome = go(&scenario("4s", "droptail", keys));
    let whole = outcome.links[0].utilization.unwrap();
    assert!((whole - 4.0 / 16.0).abs() < 0.001, "{whole}");
    for ((_, found), expected) in utilization_over_time(&outcome).iter().zip([0.1, 0.5, 0.5, 0.5]) {
        assert!((found - expected).abs() < 0.005, "{found} for {expected}");
    }
}

#[test]
fn the_utilization_of_a_trace_is_what_was_sent_of_its_opportunities() {
    // Three opportunities of 1500 bytes in each 9 ms: 4 Mbit/s. The flow needs 2 Mbit/s, in packets of 500 bytes.
    let text = "name = 't'\nduration = '9s'\nqdiscs = ['droptail']\nrecord = { interval = '1s', events = 'all' }\n\
                link = { trace = 'lte', delay = '10ms', limit = '50p', reverse.rate = '10Mbit/s' }\n\
                [[udp]]\nrate = '2Mbit/s'\npacket = '500B'\nheader = '0B'\n";
    let scenario = Scenario::read_with(text, "t.toml", &Changes::default(), &Trace).unwrap();
    let (outcome, _) = witness(&scenario);
    let whole = outcome.links[0].utilization.unwrap();
    let possible = 3000.0 * 1500.0;
    assert!((whole - outcome.links[0].counts.sent_bytes as f64 / possible).abs() < 1500.0 / possible, "{whole}");
    assert!((whole - 2e6 * 9.0 / 8.0 / possible).abs() < 0.02, "{whole}");
}

/// Two links, of which the first has additional `keys`; `[record]` and flows follow.
fn two_links(keys: &str, qdisc: &str, rest: &str) -> Scenario {
    let text = format!(
        "name = 't'\nduration = '10s'\nqdiscs = ['{qdisc}']\nrecord = {{ interval = '10s', events = 'all' }}\n\
         [[link]]\nfrom = 'A'\nto = 'B'\nrate = '20Mbit/s'\ndelay = '5ms'\nlimit = '200p'\nqdisc = 'droptail'\n{keys}\n\
         [[link]]\nfrom = 'B'\nto = 'C'\nrate = '10Mbit/s'\ndelay = '5ms'\nlimit = '100p'\n{rest}"
    );
    Scenario::read(&text, "t", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn link<'a>(outcome: &'a Outcome, name: &str) -> &'a LinkRow {
    outcome.links.iter().find(|row| row.link == name).expect("a link of this name")
}

#[test]
fn the_overhead_of_a_link_takes_its_time_and_lowers_fair_shares() {
    // 1000 bytes in ATM cells: (1000 + 40) / 48 are 22 cells, 1166 bytes of 53. The source asks for more than fits.
    let flows = "[[udp]]\nrate = '20Mbit/s'\nheader = '0B'\npacket = '1000B'\n";
    for (framing, wire) in [("raw", 1000.0), ("38B", 1038.0), ("ethernet", 1038.0), ("pppoe-llcsnap", 1166.0)] {
        let outcome = go(&scenario("20s", "droptail", &format!("overhead = '{framing}'\n{flows}")));
        let (row, flow) = (&outcome.links[0], &outcome.flows[0]);
        let expected = 10e6 * 1000.0 / wire;
        // 20 s are 25 000 packets of 1000 bytes; the first needs a few milliseconds to arrive.
        assert!((flow.goodput_bps / expected - 1.0).abs() < 2e-3, "{framing}: {} of {expected}", flow.goodput_bps);
        assert!((flow.fair_share_bps.unwrap() / expected - 1.0).abs() < 1e-6, "{framing}");
        assert!(row.utilization.unwrap() > 0.999, "{framing}: {:?}", row.utilization);
    }
}

#[test]
fn a_bleached_mark_reaches_no_receiver_and_is_counted() {
    // The second link marks. Behind the first, packets are no longer ECN-capable, so it drops.
    let flows = "[[tcp]]\nfrom = 'A'\nto = 'C'\necn = true\nflows = 2\n";
    let qdisc = "red:minth=5p,maxth=50p";
    let marked = |outcome: &Outcome| link(outcome, "B-C").counts.marked();
    let plain = go(&two_links("", qdisc, flows));
    assert!(marked(&plain) > 0 && link(&plain, "A-B").link_remarks == 0);
    let bleached = go(&two_links("ecn = 'bleach'", qdisc, flows));
    assert_eq!(marked(&bleached), 0);
    assert!(link(&bleached, "B-C").counts.dropped() > 0);
    // All data is ECT(0) but for retransmissions (RFC 3168, section 6.1.5).
    let (row, retransmits) = (link(&bleached, "A-B"), bleached.flows.iter().map(|flow| flow.retransmits).sum::<u64>());
    assert_eq!(row.link_remarks + retransmits, row.counts.sent);
}

#[test]
fn a_remarked_packet_enters_the_queue_of_l4s() {
    // ECT(1) and CE go to the low-latency queue of DualPI2. Only after the remark does CUBIC send ECT(1).
    let flows = "[[tcp]]\nfrom = 'A'\nto = 'C'\necn = true\ncc = 'cubic'\n";
    let delay = |keys| {
        let outcome = go(&two_links(keys, "dualpi2", flows));
        link(&outcome, "B-C").port.queue_delay.quantile(0.99).unwrap() / 1e6
    };
    // The low-latency queue marks above 1 ms; the classic one aims at 15 ms.
    let (classic, remarked) = (delay(""), delay("ecn = 'remark'"));
    assert!(remarked < 5.0 && classic > 2.0 * remarked, "{classic} ms, remarked {remarked} ms");
}

#[test]
fn later_links_classify_by_the_dscp_that_a_link_writes() {
    let rest = "[[class]]\nname = 'low'\ndscp = 'LE'\n[[class]]\nname = 'other'\n\
                [[udp]]\nname = 'one'\nfrom = 'A'\nto = 'C'\nrate = '8Mbit/s'\ndscp = 'EF'\n\
                [[udp]]\nname = 'two'\nfrom = 'B'\nto = 'C'\nrate = '8Mbit/s'\ndscp = 'EF'\n";
    let qdisc = "prio:children=[droptail; droptail]";
    let goodputs = |keys| {
        let outcome = go(&two_links(keys, qdisc, rest));
        (outcome.flows.iter().map(|flow| flow.goodput_bps / 1e6).collect::<Vec<_>>(), link(&outcome, "A-B").clone())
    };
    let (plain, row) = goodputs("");
    assert!(plain[0] < 6.0 && row.link_remarks == 0, "{plain:?}");
    // `low` is the first class of PRIO, which serves it first.
    let (remarked, row) = goodputs("dscp = 'LE'");
    assert!(remarked[0] > 7.7 && remarked[1] < 2.5, "{remarked:?}");
    assert_eq!(row.link_remarks, row.counts.sent);
    let (same, row) = goodputs("dscp = 'EF'");
    assert_eq!((row.link_remarks, same), (0, plain), "the DSCP is the same");
}

#[test]
fn copies_arrive_at_the_next_link_and_are_no_goodput() {
    let flows = "[[udp]]\nname = 'one'\nfrom = 'A'\nto = 'C'\nrate = '2Mbit/s'\nheader = '0B'\n\
                 [[udp]]\nname = 'two'\nfrom = 'A'\nto = 'C'\nrate = '1Mbit/s'\ncc = 'tfrc'\n\
                 [[tcp]]\nfrom = 'A'\nto = 'C'\nflows = 2\n";
    let outcome = go(&two_links("duplicate = 0.3\nreverse.duplicate = 0.2", "droptail", flows));
    let rows: Vec<&LinkRow> =
        outcome.links.iter().filter(|row| row.direction == headgate_scenario::Direction::Forward).collect();
    let (first, second) = (rows[0], rows[1]);
    assert!(first.link_duplicates > 1000 && second.link_duplicates == 0);
    // Packets in propagation at the end have not arrived: 5 ms of 20 Mbit/s are 9 of 1500 bytes.
    let arrived = first.counts.sent + first.link_duplicates - second.counts.arrived;
    assert!(arrived < 40, "{arrived}");
    // At most 2 Mbit/s, of which TCP's packets displace a few percent; with its copies it would be 2.5.
    let udp = outcome.flows.iter().find(|flow| flow.group == 1).unwrap();
    assert!((1.9e6..=2e6).contains(&udp.goodput_bps), "{}", udp.goodput_bps);
    // TCP gets what is left of the second link: data once, although copies take their share.
    let tcp: f64 = outcome.flows.iter().filter(|flow| flow.group == 0).map(|flow| flow.goodput_bps).sum();
    assert!(tcp > 1e6 && tcp < 7e6, "{tcp}");
    assert!(outcome.balance.holds() && outcome.balance.duplicated > 0, "{:?}", outcome.balance);
}

/// Two datagrams of 1000 bytes, at 0 and 100 ms.
struct TwoDatagrams;

impl Files for TwoDatagrams {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(b"time,flow,bytes\n0,a,1000\n0.1,a,1000\n".to_vec())
    }
}

#[test]
fn a_flow_of_datagrams_ends_although_copies_of_them_arrive() {
    let outcome = |keys: &str| {
        let text = format!(
            "name = 't'\nduration = '5s'\nwarmup = '0s'\nqdiscs = ['droptail']\n[link]\nrate = '10Mbit/s'\ndelay = '10ms'\n\
             limit = '50p'\n{keys}\n[[udp]]\ntraffic = 'replay:file=two.csv'\n"
        );
        go(&Scenario::read_with(&text, "t.toml", &Changes::default(), &TwoDatagrams)
            .unwrap_or_else(|error| panic!("{error}")))
    };
    let (plain, twice) = (outcome(""), outcome("duplicate = 1.0"));
    assert_eq!(
        (twice.links[0].link_duplicates, twice.links[0].counts.sent),
        (4, 4),
        "data of 1000 bytes takes two packets"
    );
    // The fair share is averaged over the run, and is 0 once the flow has ended.
    let shown = |outcome: &Outcome| (outcome.flows[0].goodput_bps, outcome.flows[0].fair_share_bps);
    assert!(shown(&plain).1.unwrap() < 1e6, "it ends early: {:?}", shown(&plain));
    assert_eq!(shown(&twice), shown(&plain));
}

#[test]
fn packets_listed_by_number_are_lost() {
    let flows = "[[udp]]\nrate = '1Mbit/s'\nheader = '0B'\nstop = '1s'\n";
    let (_, events) = witness(&scenario("2s", "droptail", &format!("loss_at = [1, 3, 4]\n{flows}")));
    let sent: Vec<u64> =
        events.iter().filter(|event| event.kind == PacketEvent::Sent).map(|event| event.packet).collect();
    let lost: Vec<u64> =
        events.iter().filter(|event| event.kind == PacketEvent::Lost).map(|event| event.packet).collect();
    assert_eq!(lost, [sent[0], sent[2], sent[3]]);
}

#[test]
fn packets_of_a_slot_arrive_together() {
    // Slots of 2 ms at 10 Mbit/s carry 2500 bytes. A burst of 20 packets of 1000 bytes arrives within a millisecond, from
    // 1 ms on. The slot at 2 ms sends two and a half, the one at 4 ms the rest of the third, and two.
    let times = sent(&burst("slot = '2ms'", "2s"));
    assert_eq!(times.len(), 20);
    // The events of departure: a packet is taken when its predecessor has left.
    close(&times[..8], &[1000, 2000, 2000, 4000, 4000, 4000, 6000, 6000]);
    let outcome = go(&burst("slot = '2ms'", "2s"));
    assert!((outcome.flows[0].goodput_bps * 2.0 / 8000.0 - 20.0).abs() < 1e-9);
}

#[test]
fn an_aggregate_takes_the_packets_that_are_queued() {
    // The first packet is alone: 0.2 + 0.8 ms. By then all 20 have arrived: 5 packets in 4 ms, after 0.2 ms each time.
    let times = sent(&burst("aggregate = '4ms'\naggregate_gap = '200us'", "2s"));
    close(&times[..12], &[1000, 2000, 6200, 6200, 6200, 6200, 6200, 10_400, 10_400, 10_400, 10_400, 10_400]);
    // In the long run 4 of 4.2 ms.
    let flows = "aggregate = '4ms'\naggregate_gap = '200us'\n[[udp]]\nrate = '20Mbit/s'\nheader = '0B'\n";
    let outcome = go(&scenario("20s", "droptail", flows));
    let expected = 10e6 * 4.0 / 4.2;
    assert!((outcome.flows[0].goodput_bps / expected - 1.0).abs() < 2e-3, "{}", outcome.flows[0].goodput_bps);
    assert!((outcome.flows[0].fair_share_bps.unwrap() / expected - 1.0).abs() < 1e-6);
}

#[test]
fn every_discipline_runs_on_a_link_with_every_impairment_and_loses_no_packet() {
    let keys = "overhead = 'ethernet'\necn = 'bleach'\ndscp = 'CS0'\nduplicate = 0.05\nloss = 0.01\nloss_burst_max = 2\n\
                loss_at = [3, 10]\njitter = '1ms'\nreorder = 0.01\nreorder_by = '3ms'\n\
                reverse = { overhead = 'pppoe-ptm', duplicate = 0.05, loss = 0.01 }\n";
    let flows = "[[tcp]]\nflows = 3\necn = true\ndscp = 'EF'\n[[udp]]\nrate = '4Mbit/s'\npacket = '300B'\n\
                 [[udp]]\nrate = '1Mbit/s'\ncc = 'tfrc'\n";
    for shape in ["slot = '1ms'", "aggregate = '4ms'\naggregate_gap = '200us'"] {
        for entry in aqm::registry::ENTRIES {
            // Debug builds compare each packet's delay with the least of its path.
            let outcome = go(&scenario("1s", entry.name, &format!("{shape}\n{keys}{flows}")));
            assert!(outcome.balance.holds() && outcome.balance.duplicated > 0, "{}: {:?}", entry.name, outcome.balance);
            assert!(outcome.links.iter().all(LinkRow::conserves), "{}", entry.name);
        }
    }
}
