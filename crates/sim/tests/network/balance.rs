//! Conservation of packets: counts, bytes and times agree.

use std::collections::BTreeSet;

use aqm::registry::ENTRIES;
use aqm::{Counts, Span, Why};
use headgate_measure::{Balance, EventRow, Outcome, PacketEvent};
use headgate_scenario::Scenario;
use proptest::prelude::*;

use crate::network::{go, scenario, witness};

const MIXED: &str = r#"
[[tcp]]
flows = 4
ecn = true
start = "0s..1s"
[[tcp]]
name = "old"
profile = "ns2"
flows = 2
window = 100
send_jitter = "500us"
[[tcp]]
name = "new"
cc = "cubic"
flows = 2
[[udp]]
rate = "3Mbit/s"
jitter = 0.5
[[udp]]
name = "smooth"
cc = "tfrc"
ecn = true
"#;

/// The counts that the events add up to, and the packets still queued.
fn recount(events: &[EventRow]) -> (Counts, u64) {
    let mut counts = Counts::default();
    let mut held = 0;
    for event in events {
        match event.kind {
            PacketEvent::Arrived => (counts.arrived, held) = (counts.arrived + 1, held + 1),
            PacketEvent::Sent => {
                (counts.sent, held) = (counts.sent + 1, held - 1);
                counts.sent_bytes += u64::from(event.bytes);
            }
            PacketEvent::Dropped(why) => {
                held -= 1;
                counts.signals.entry(why).drops += 1;
            }
            PacketEvent::Marked(why) => counts.signals.entry(why).marks += 1,
            PacketEvent::Lost => {}
        }
        assert_eq!(u64::from(event.queue.packets), held);
    }
    (counts, held)
}

/// Checks the history of each packet: it arrives once and first, under the next number, and leaves at most once. It is
/// marked before it leaves, and lost by the medium only after it was sent. The delays of the sent packets are the ledger's.
fn check_packets(outcome: &Outcome, events: &[EventRow]) {
    let mut histories: Vec<Vec<&EventRow>> = Vec::new();
    for event in events {
        let number = event.packet as usize;
        if event.kind == PacketEvent::Arrived {
            assert_eq!(number, histories.len(), "the arrivals are numbered one by one");
            histories.push(Vec::new());
        }
        histories.get_mut(number).expect("a packet arrives before it leaves").push(event);
    }
    let mut delays = vec![(0, 0); outcome.flows.len()];
    for history in &histories {
        let (arrival, last) = (history[0], history[history.len() - 1]);
        assert!(history.iter().all(|event| (event.flow, event.bytes) == (arrival.flow, arrival.bytes)), "{history:?}");
        assert!(history.iter().all(|event| event.arrived == arrival.time && event.time >= arrival.time), "{history:?}");
        let is_end = |event: &&&EventRow| matches!(event.kind, PacketEvent::Sent | PacketEvent::Dropped(_));
        let is_mark = |event: &&&EventRow| matches!(event.kind, PacketEvent::Marked(_));
        let lost = usize::from(last.kind == PacketEvent::Lost);
        let (ends, marks) = (history.iter().filter(is_end).count(), history.iter().filter(is_mark).count());
        assert!(ends <= 1 && marks <= 1 && history.len() == 1 + ends + marks + lost, "{history:?}");
        let end = history[history.len() - 1 - lost];
        assert!(ends == 0 || is_end(&&end), "no mark after the end: {history:?}");
        assert!(lost == 0 || (end.kind, end.time) == (PacketEvent::Sent, last.time), "{history:?}");
        if end.kind == PacketEvent::Sent {
            let (nanos, sent) = &mut delays[end.flow as usize];
            (*nanos, *sent) = (*nanos + (end.time - arrival.time).as_nanos(), *sent + 1);
        }
    }
    for (flow, (nanos, sent)) in outcome.flows.iter().zip(delays) {
        assert_eq!(flow.queue_delay_ms_mean, (sent > 0).then(|| nanos as f64 / sent as f64 / 1e6));
    }
}

/// Checks the ambient drop rate of the whole run and of each second, recounted without the packets that were dropped for a
/// reason that targets identified flows: they are neither drops nor arrivals.
fn check_ambient_rates(outcome: &Outcome, events: &[EventRow]) {
    let targeted = |event: &&EventRow| matches!(event.kind, PacketEvent::Dropped(why) if why.targets_identified_flow());
    let left_out: BTreeSet<u64> = events.iter().filter(targeted).map(|event| event.packet).collect();
    let counted = || events.iter().filter(|event| !left_out.contains(&event.packet));
    let rate = |from: f64, until: f64| {
        let within = |event: &&EventRow| (from..until).contains(&event.time.as_secs_f64());
        let arrived = counted().filter(within).filter(|event| event.kind == PacketEvent::Arrived).count();
        let dropped = counted().filter(within).filter(|event| matches!(event.kind, PacketEvent::Dropped(_))).count();
        (arrived > 0).then(|| dropped as f64 / arrived as f64)
    };
    let (arrived, dropped) = outcome.links[0].counts.ambient();
    assert_eq!(rate(0.0, f64::INFINITY), Some(dropped as f64 / arrived as f64));
    for row in outcome.intervals.iter().filter(|row| row.metric.name() == "ambient_drop_rate") {
        assert_eq!(rate(row.time_s - 1.0, row.time_s), Some(row.value), "until {} s", row.time_s);
    }
}

/// Checks the conservation laws on a run without a warm-up.
fn check(scenario: &Scenario, outcome: &Outcome, events: &[EventRow]) {
    assert!(events.is_sorted_by_key(|event| event.time), "in order");
    check_packets(outcome, events);
    check_ambient_rates(outcome, events);
    let (counts, held) = recount(events);
    assert_eq!(outcome.links[0].counts, counts, "events and counts agree");
    assert_eq!(counts.arrived, counts.sent + counts.dropped() + held);
    let mut sum = Counts::default();
    outcome.flows.iter().for_each(|flow| sum.add(&flow.counts));
    assert_eq!(sum, counts, "the flows' counts add up to the link's");
    assert_eq!(outcome.packets, counts.sent);
    assert_eq!(outcome.links[0].port.queue_delay.count(), counts.sent);

    // A packet of at most 1500 bytes may be in transmission when the run ends.
    let seconds = scenario.duration.as_secs_f64();
    let offered = counts.sent_bytes as f64 * 8.0 / scenario.links[0].forward.rate.as_bits() as f64 / seconds;
    let last = 1500.0 * 8.0 / scenario.links[0].forward.rate.as_bits() as f64 / seconds;
    let busy = outcome.links[0].utilization.unwrap();
    assert!(busy <= 1.0 + 1e-12 && busy <= offered + 1e-12 && busy >= offered - last, "{busy} of {offered}");
    let delivered: f64 = outcome.flows.iter().map(|flow| flow.goodput_bps).sum();
    assert!(delivered <= scenario.links[0].forward.rate.as_bits() as f64, "not more than the link carries");
    assert!(outcome.links[1].utilization.unwrap() <= 1.0 + 1e-12);
}

#[test]
fn events_counts_flows_and_time_agree_for_every_discipline() {
    for entry in ENTRIES {
        let scenario = scenario("8s", entry.name, &format!("loss = 0.001\n{MIXED}"));
        let (outcome, events) = witness(&scenario);
        assert!(outcome.links[0].counts.dropped() > 0, "{}: the queue must overflow", entry.name);
        check(&scenario, &outcome, &events);
    }
}

#[test]
fn events_before_the_end_of_the_warm_up_do_not_count() {
    let whole = scenario("8s", "droptail", MIXED);
    let (_, events) = witness(&whole);
    let warm = Scenario { warmup: Span::from_secs(3), ..whole };
    let (outcome, same_events) = witness(&warm);
    assert_eq!(events, same_events, "measuring does not disturb");
    let after = |kind| {
        let after = events.iter().filter(|event| event.time.as_secs_f64() > 3.0);
        after.filter(|event| event.kind == kind).count() as u64
    };
    assert_eq!(outcome.links[0].counts.sent, after(PacketEvent::Sent));
    assert_eq!(outcome.links[0].counts.dropped(), after(PacketEvent::Dropped(Why::Overflow)));
}

#[test]
fn an_ecn_senders_only_early_drops_are_retransmissions() {
    // RFC 3168, section 6.1.5: retransmissions are not ECN-capable. RED marks all other packets while its average is
    // between the thresholds.
    let (early, again) = early_drops("");
    assert!(early > 0 && early <= again, "{early} early drops, {again} sent again");
}

#[test]
fn with_ecn_retransmits_retransmissions_can_be_marked_as_in_ns_2() {
    let (early, again) = early_drops("ecn_retransmits = true\n");
    assert!(early == 0 && again > 0, "{early} early drops, {again} sent again");
}

/// RED's early drops of eight ECN flows, and the flows' retransmissions.
fn early_drops(more: &str) -> (u64, u64) {
    let flows = format!("[[tcp]]\nflows = 8\necn = true\nstart = \"0s..1s\"\n{more}");
    let (outcome, _) = witness(&scenario("20s", "red:limit=20p,minth=3p,maxth=18p,maxp=0.2,wq=0.02", &flows));
    let counts = &outcome.links[0].counts;
    assert!(counts.marks(Why::Early) > 0, "{counts:?}");
    (counts.drops(Why::Early), outcome.flows.iter().map(|flow| flow.retransmits).sum())
}

#[test]
fn packets_are_counted_from_the_moment_their_host_sends_them() {
    // A datagram of 1000 bytes every 10 ms: 100 in 995 ms. A datagram reaches the link after 80 us and 5.5 ms, so that of
    // 990 ms is still on its access link. It crosses the link in 10.8 ms, so that of 980 ms is still on the link.
    let flow = "[[udp]]\nrate = '800kbit/s'\nheader = '0B'\naccess.delay = '5500us'\n";
    let balance = |rest: &str| {
        let scenario = Scenario { duration: Span::from_millis(995), ..scenario("2s", "droptail", rest) };
        go(&scenario).balance
    };
    let late = balance(&format!("reorder = 1e-12\nreorder_by = '1ms'\n{flow}"));
    assert_eq!(late, Balance { sent: 100, delivered: 98, between: 1, on_access: 1, ..Balance::default() });
    // Without reordering, a datagram counts as delivered when it leaves the queue.
    assert_eq!(balance(flow), Balance { sent: 100, delivered: 99, on_access: 1, ..Balance::default() });
    // The next datagram, due at 1.5 s, is already scheduled but not sent.
    let rare = flow.replace("800kbit/s", "5333bit/s");
    assert_eq!(balance(&rare).sent, 1);
}

#[test]
fn data_and_acknowledgements_of_a_connection_count_at_every_link() {
    // A window of one over access links of 300 ms. The segment sent at 0 counts as delivered when it leaves the queue.
    // Its acknowledgement reaches the link at 0.9 s and the sender at 1.2 s.
    let flow =
        "[[tcp]]\nwindow = 1\ninitial_window = 1\ninitial_rto = '3s'\ndelayed_ack = 'off'\naccess.delay = '300ms'\n";
    for (millis, delivered, on_access) in [(200, 0, 1), (800, 1, 1), (1100, 1, 1), (1300, 2, 1)] {
        let sent = delivered + on_access;
        let expected = Balance { sent, delivered, on_access, ..Balance::default() };
        let scenario = Scenario { duration: Span::from_millis(millis), ..scenario("2s", "droptail", flow) };
        assert_eq!(go(&scenario).balance, expected, "{millis} ms");
    }
}

#[test]
fn packets_are_conserved_on_a_path_of_several_lossy_links() {
    let links = [("A", "B", "10Mbit/s"), ("B", "C", "4Mbit/s")].map(|(from, to, rate)| {
        format!(
            "[[link]]\nfrom = '{from}'\nto = '{to}'\nrate = '{rate}'\ndelay = '20ms'\nlimit = '30p'\nloss = 0.01\n\
             jitter = '2ms'\nreorder = 0.02\nreorder_by = '5ms'\nreverse = {{ loss = 0.01, rate = '300kbit/s' }}\n"
        )
    });
    let text = format!(
        "name = 't'\nduration = '4s'\nwarmup = '1s'\nqdiscs = ['red']\n{}{}",
        links.concat(),
        MIXED
            .replace("flows =", "from = 'A'\nto = 'C'\nflows =")
            .replace("rate =", "from = 'A'\nto = 'C'\nrate =")
            .replace("cc = \"tfrc\"", "from = 'A'\nto = 'C'\ncc = \"tfrc\"")
    );
    let scenario = Scenario::read(&text, "t", &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let balance = go(&scenario).balance;
    let Balance { sent, duplicated, delivered, dropped, lost, queued, between, on_access } = balance;
    let parts = [delivered, dropped, lost, queued, between, on_access];
    assert!(parts.iter().all(|part| *part > 0), "every part must be above zero: {balance:?}");
    assert_eq!(sent + duplicated, parts.iter().sum::<u64>());
}

fn groups() -> impl Strategy<Value = String> {
    let recovery = prop::sample::select(&["reno", "newreno", "sack"][..]);
    let tcp = (1u32..4, recovery, any::<bool>(), 100u32..1500, 1u32..40, any::<bool>());
    let tcp = tcp.prop_map(|(flows, recovery, ecn, packet, window, delayed)| {
        let delayed = if delayed { "40ms" } else { "off" };
        format!(
            "[[tcp]]\nflows = {flows}\nrecovery = \"{recovery}\"\necn = {ecn}\npacket = \"{packet}B\"\nwindow = {window}\n\
             delayed_ack = \"{delayed}\"\nmin_rto = \"200ms\"\nstart = \"0s..500ms\"\n"
        )
    });
    let cc = prop::sample::select(&["off", "tfrc"][..]);
    let udp = (1u32..3, cc, 10u32..8000, 0.0f64..1.0, 50u32..1500, any::<bool>());
    let udp = udp.prop_map(|(flows, cc, kbits, jitter, packet, ecn)| {
        format!(
            "[[udp]]\nflows = {flows}\ncc = \"{cc}\"\nrate = \"{kbits}kbit/s\"\njitter = {jitter:.2}\n\
             packet = \"{packet}B\"\necn = {ecn}\nstop = \"2s\"\n"
        )
    });
    (tcp, udp).prop_map(|(tcp, udp)| tcp + &udp)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn packets_are_conserved_in_any_small_network(groups in groups(), back in 20u32..2000) {
        for entry in ENTRIES {
            let rest = format!("reverse = {{ rate = \"{back}kbit/s\", limit = \"10p\" }}\n{groups}");
            let scenario = scenario("3s", entry.name, &rest);
            let (outcome, events) = witness(&scenario);
            check(&scenario, &outcome, &events);
        }
    }
}
