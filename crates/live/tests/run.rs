//! Scenarios on real packets. The tests need root or `CAP_SYS_ADMIN` for namespaces and are skipped otherwise, with the
//! reason printed.

use std::collections::BTreeSet;

use aqm::{Span, Time};
use headgate_live::netns;
use headgate_live::run::{HostLosses, LiveRun, LiveRunError, run};
use headgate_measure::{EventBatch, PacketEvent, RunObserver, TraceRow};
use headgate_scenario::{Changes, Scenario};

/// Whether namespaces can be created; prints the reason if not.
fn possible() -> bool {
    let prepared = netns::prepare();
    if prepared.is_err() {
        headgate_needs::skip("namespaces");
    }
    prepared.is_ok()
}

fn scenario(keys: &str) -> Scenario {
    let text = format!("name = 'live'\nqdiscs = ['red:minth=10p,maxth=30p']\n{keys}");
    Scenario::read(&text, "live.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Two TCP flows, and a constant rate of a quarter of the link.
const THREE: &str = "duration = '2s'\nwarmup = '500ms'\n\
    link = { rate = '10Mbit/s', delay = '5ms', limit = '60p' }\nrecord = { interval = '100ms', events = 'all' }\n\
    [[tcp]]\nflows = 2\nrecovery = 'newreno'\naccess = { rate = '100Mbit/s', delay = '1ms' }\n\
    [[udp]]\nrate = '2.5Mbit/s'\npacket = '1000B'\naccess = { rate = '100Mbit/s', delay = '2ms' }\n";

#[derive(Default)]
struct SeenRecords {
    events: EventBatch,
    traces: Vec<TraceRow>,
    latest: Time,
}

impl RunObserver for SeenRecords {
    fn should_continue(&mut self, now: Time) -> bool {
        self.latest = self.latest.max(now);
        true
    }
    fn events(&mut self, batch: &EventBatch) {
        self.events.rows.extend_from_slice(&batch.rows);
    }
    fn traces(&mut self, batch: &[TraceRow]) {
        self.traces.extend_from_slice(batch);
    }
}

fn three() -> Option<(Scenario, LiveRun, SeenRecords)> {
    if !possible() {
        return None;
    }
    let (scenario, mut seen) = (scenario(THREE), SeenRecords::default());
    let ran = run(&scenario, &scenario.qdiscs[0], 1, &mut seen, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    Some((scenario, ran, seen))
}

#[test]
fn a_run_agrees_with_the_simulators_model_and_conserves_packets() {
    let Some((scenario, ran, seen)) = three() else { return };
    let LiveRun { outcome, fidelity, .. } = ran;
    assert!(outcome.balance.holds(), "{:?} {fidelity:?}", outcome.balance);
    assert!(outcome.links.iter().all(|link| link.conserves()));
    assert_eq!((fidelity.host_losses, fidelity.oversize), (HostLosses::default(), 0), "{fidelity:?}");

    // The flows' sent packets add up to those of the link, except for packets that belong to no flow.
    let forward = &outcome.links[0];
    let sent: u64 = outcome.flows.iter().map(|flow| flow.counts.sent).sum();
    assert!(sent <= forward.counts.sent && forward.counts.sent <= sent + 10, "{sent} of {}", forward.counts.sent);

    // The flows always have data. Without a queue, Reno fills three quarters of the rate that the constant flow leaves:
    // 0.25 + 0.75 * 0.75. Bursts after a stall of the machine count when they arrive, so stalls add to this.
    let stalled = fidelity.stalls.1.as_secs_f64() / 1.5;
    assert!(forward.utilization.unwrap() > 0.81 - stalled, "{} with {stalled} stalled", forward.utilization.unwrap());
    let bits = forward.counts.sent_bytes as f64 * 8.0 / 1.5;
    assert!(
        (bits / (10e6 * forward.utilization.unwrap()) - 1.0).abs() < 0.01,
        "{bits} at {}",
        forward.utilization.unwrap()
    );

    // Goodput is the delivered data: the intervals after the warm-up add up to the flows' rows.
    let goodput: f64 = outcome.flows.iter().map(|flow| flow.goodput_bps).sum();
    let rows = outcome.intervals.iter().filter(|row| row.metric.name() == "goodput_bps" && row.time_s > 0.55);
    let in_rows: f64 = rows.map(|row| row.value * 0.1).sum::<f64>() / 1.5;
    assert!((in_rows / goodput - 1.0).abs() < 1e-9, "{in_rows} in intervals, {goodput} in flows");
    // Headers are 52 bytes of 1500, and 28 of 1000.
    let carried = 10e6 * forward.utilization.unwrap();
    assert!(goodput < carried && goodput > (0.9 - stalled) * carried, "{goodput} of {carried}");

    // 1000 bytes on two links of 100 Mbit/s and one of 10 Mbit/s, and 9 ms of propagation: no packet arrives earlier.
    let way = &outcome.one_way[1];
    assert_eq!(way.base, Span::from_micros(9_000 + 2 * 80 + 800));
    assert!(way.excess.count() > 100);
    assert_eq!(seen.latest, Time::ZERO + scenario.duration);
}

/// A parking lot: one group crosses two links, and others share one link with it. The last group goes in the opposite
/// direction.
const LOT: &str = "duration = '2s'\nrecord = { interval = '100ms', events = 'drops' }\n\
    [[link]]\nname = 'first'\nfrom = 'A'\nto = 'B'\nrate = '10Mbit/s'\ndelay = '4ms'\nlimit = '60p'\n\
    [[link]]\nname = 'second'\nfrom = 'B'\nto = 'C'\nrate = '4Mbit/s'\ndelay = '3ms'\nlimit = '30p'\n\
    [[tcp]]\nname = 'long'\nfrom = 'A'\nto = 'C'\nflows = 2\nrecovery = 'newreno'\n\
    [[tcp]]\nname = 'cross'\nfrom = 'A'\nto = 'B'\nflows = 2\nrecovery = 'newreno'\n\
    [[udp]]\nname = 'stream'\nfrom = 'A'\nto = 'C'\nrate = '1Mbit/s'\npacket = '1000B'\n\
    [[udp]]\nname = 'back'\nfrom = 'C'\nto = 'B'\nrate = '1Mbit/s'\npacket = '1000B'\n\
    [[udp]]\nname = 'flood'\nfrom = 'B'\nto = 'C'\nrate = '3.5Mbit/s'\npacket = '1000B'\n";

#[test]
fn a_network_agrees_with_the_simulators_model_and_conserves_packets() {
    if !possible() {
        return;
    }
    let (scenario, mut seen) = (scenario(LOT), SeenRecords::default());
    let ran = run(&scenario, &scenario.qdiscs[0], 1, &mut seen, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let LiveRun { outcome, fidelity, .. } = ran;
    assert!(outcome.balance.holds(), "{:?} {fidelity:?}", outcome.balance);
    assert!(outcome.links.iter().all(|link| link.conserves()));
    assert_eq!((fidelity.host_losses, fidelity.oversize), (HostLosses::default(), 0), "{fidelity:?}");

    // The flows always have data. Without a queue, Reno fills three quarters of the first link; two groups alone offer
    // the second link 4.5 Mbit/s.
    let stalled = fidelity.stalls.1.as_secs_f64() / 2.0;
    let [first, _, second, back] = &outcome.links[..] else { panic!("{} directions", outcome.links.len()) };
    for (link, rate) in [(first, 10e6), (second, 4e6)] {
        assert!(
            link.utilization.unwrap() > 0.75 - stalled,
            "{}: {} with {stalled} stalled",
            link.link,
            link.utilization.unwrap()
        );
        let bits = link.counts.sent_bytes as f64 * 8.0 / 2.0;
        assert!((bits / (rate * link.utilization.unwrap()) - 1.0).abs() < 0.01, "{}: {bits}", link.link);
        assert!(link.counts.dropped() > 0, "{}: the load exceeds the rate", link.link);
    }
    // The second link gets the packets that the first sent for the flows crossing both, except those between the links:
    // 4 ms of 10 Mbit/s, in packets of at least 1000 bytes.
    let sent = |group: u32| -> u64 {
        outcome.flows.iter().filter(|flow| flow.group == group).map(|flow| flow.counts.sent).sum()
    };
    let passed: u64 = first.counts.sent - sent(1);
    let arrived = second.counts.arrived - outcome.flows[6].counts.arrived;
    assert!(arrived.abs_diff(passed) <= 5 + 10, "{arrived} of {passed}");
    assert!(second.counts.sent.abs_diff(sent(0) + sent(2) + sent(4)) <= 10);
    // Datagrams in the opposite direction meet only ACKs: 1000 bytes every 8 ms, except for late ones at the end.
    let late = Span::from_nanos(fidelity.send_lateness.quantile(1.0).unwrap_or(0.0) as u64) + fidelity.stalls.1;
    assert!(sent(3).abs_diff(250) <= 1 + late.as_nanos() / 8_000_000, "{} with {late} late", sent(3));
    assert!(back.counts.sent > sent(3));

    // A datagram crosses both links and its two access links, of 100 Mbit/s and 1 ms each.
    let base = |group: usize| outcome.one_way[group].base;
    assert_eq!(base(2), Span::from_micros(4_000 + 3_000 + 800 + 2_000 + 2 * (1_000 + 80)));
    assert!(outcome.one_way.iter().all(|way| way.excess.count() > 10));
    let events = &seen.events.rows;
    assert!(events.is_sorted_by_key(|row| row.time));
    assert!([0, 2].iter().all(|link| events.iter().any(|row| row.link == *link)), "both links record events");
}

#[test]
fn events_agree_with_the_counts() {
    let Some((scenario, LiveRun { outcome, .. }, seen)) = three() else { return };
    let warm = Time::ZERO + scenario.warmup;
    let events: Vec<_> = seen.events.rows.iter().filter(|row| row.time >= warm).collect();
    let count = |what: fn(&PacketEvent) -> bool| events.iter().filter(|row| what(&row.kind)).count() as u64;
    let counts = &outcome.links[0].counts;
    assert_eq!(count(|what| *what == PacketEvent::Arrived), counts.arrived);
    assert_eq!(count(|what| *what == PacketEvent::Sent), counts.sent);
    assert_eq!(count(|what| matches!(what, PacketEvent::Dropped(_))), counts.dropped());
    assert!(seen.events.rows.is_sorted_by_key(|row| row.time));
    // Arrivals are numbered at each link, and a packet leaves once.
    for link in [0, 2] {
        let (mut next, mut queued) = (0, BTreeSet::new());
        for row in seen.events.rows.iter().filter(|row| row.link == link) {
            match row.kind {
                PacketEvent::Arrived => {
                    assert!(row.packet == next && queued.insert(next), "{row:?}");
                    next += 1;
                }
                PacketEvent::Sent | PacketEvent::Dropped(_) => assert!(queued.remove(&row.packet), "{row:?}"),
                PacketEvent::Marked(_) => assert!(queued.contains(&row.packet), "{row:?}"),
                PacketEvent::Lost => assert!(row.packet < next && !queued.contains(&row.packet), "{row:?}"),
            }
        }
    }
}

#[test]
fn traces_cover_the_requested_senders_and_agree_with_the_flows() {
    let has_bbr = |known: String| known.split_whitespace().any(|name| name == "bbr");
    if !possible() || !std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").is_ok_and(has_bbr)
    {
        return;
    }
    let keys = "duration = '1s'\nlink = { rate = '10Mbit/s', delay = '10ms', limit = '40p' }\n\
                record = { flows = ['reno/1', 'bbr'] }\n\
                [[tcp]]\nname = 'reno'\nflows = 2\nrecovery = 'newreno'\n\
                [[tcp]]\nname = 'bbr'\ncc = 'bbr'\nfrom = 'right'\nto = 'left'\n";
    let (scenario, mut seen) = (scenario(keys), SeenRecords::default());
    let ran = run(&scenario, &scenario.qdiscs[0], 1, &mut seen, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(seen.traces.is_sorted_by_key(|row| row.time), "of both hosts together");
    for (number, phases) in [(1, &["slow_start", "avoidance", "recovery"][..]), (2, &["startup", "drain", "probe_bw"])]
    {
        let of_flow = seen.traces.iter().filter(|row| row.flow == number);
        let rows: Vec<_> = of_flow.map(|row| (row.time, row.state)).collect();
        // At most one row per sample, every 10 ms.
        assert!((5..=100).contains(&rows.len()), "{} rows of flow {number}", rows.len());
        assert!(rows.iter().all(|(_, state)| phases.contains(&state.phase)), "{rows:?}");
        // No data is acknowledged within the first round trip.
        let (first, state) = rows[0];
        assert!(first > Time::ZERO + Span::from_millis(20) || state.phase == phases[0], "{:?}", rows[0]);
        // Acknowledged data has arrived and was read within 100 ms, in which the link carries 125 kB.
        let flow = &ran.outcome.flows[number as usize];
        let last = rows[rows.len() - 1].1;
        let (acked, read) = (last.acked_bytes.unwrap(), flow.goodput_bps / 8.0);
        assert!(acked > 0 && acked as f64 <= read + 125e3, "{acked} acknowledged, {read} read");
        assert!(u64::from(last.retransmits) <= flow.retransmits && u64::from(last.timeouts) <= flow.timeouts);
        // At least a round trip over the link.
        let srtts = rows.iter().filter_map(|(_, state)| state.srtt);
        assert!(srtts.min() >= Some(Span::from_millis(20)), "{rows:?}");
    }
    assert!(seen.traces.iter().all(|row| row.flow != 0 && row.state.cwnd.is_some()));
    assert!(ran.notes.iter().any(|note| note.contains("`record.flows` samples the kernel")), "{:?}", ran.notes);
}

#[test]
fn a_scenario_that_cannot_run_on_real_packets_is_refused_before_the_start() {
    let refusal = |keys: &str| match run(&scenario(keys), &scenario(keys).qdiscs[0], 1, &mut (), &mut |_| {}) {
        Err(LiveRunError::Refused(why)) => why,
        other => panic!("{other:?}"),
    };
    let captured = refusal(&LOT.replace("record = {", "record = { capture = ['first'],"));
    assert!(captured.starts_with("`record.capture` works on real packets only with one link"), "{captured}");
    let one = "duration = '1s'\nlink = { rate = '1Mbit/s', delay = '1ms', limit = '60p' }\n";
    assert!(refusal(&format!("{one}[[tcp]]\ncc = 'prague'\n")).contains("prague"));
    assert!(refusal(&format!("{one}[[udp]]\ncc = 'tfrc'\n")).contains("tfrc"));
}

#[test]
fn a_run_stops_early_when_its_observer_asks() {
    struct StopAt200Ms;
    impl RunObserver for StopAt200Ms {
        fn should_continue(&mut self, now: Time) -> bool {
            now < Time::ZERO + Span::from_millis(200)
        }
        fn events(&mut self, _: &EventBatch) {}
    }
    if !possible() {
        return;
    }
    let hour = THREE.replace("'2s'", "'1h'").replace("'all'", "'off'");
    let scenario = scenario(&hour);
    assert!(matches!(
        run(&scenario, &scenario.qdiscs[0], 1, &mut StopAt200Ms, &mut |_| {}),
        Err(LiveRunError::Stopped)
    ));
}
