//! Kernel traffic over a link between two hosts. The tests need root or `CAP_SYS_ADMIN` for namespaces and are skipped
//! otherwise, with the reason printed.

use std::io;

use aqm::{Span, Time};
use headgate_live::clock::Monotonic;
use headgate_live::load::{self, FlowReport, LoadReport, TrafficLoad};
use headgate_live::pacing::{Clock, PacedClock};
use headgate_live::{EmulatedLink, LaneSettings, LinkSettings, View};
use headgate_scenario::{Changes, Scenario};

/// A scenario of `duration` with `groups` over a link of 10 Mbit/s and 10 ms in each direction.
fn scenario(duration: &str, qdisc: &str, groups: &str) -> Scenario {
    let text = format!(
        "name = \"load\"\nduration = \"{duration}\"\nqdiscs = [{qdisc:?}]\n\
         link = {{ rate = \"10Mbit/s\", delay = \"10ms\", limit = \"50p\" }}\n{groups}"
    );
    Scenario::read(&text, "load.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `scenario`; `None`, with the reason printed, if no namespace can be created.
fn run(scenario: &Scenario) -> Option<(LoadReport, View)> {
    let forward = LaneSettings::of_bottleneck(scenario);
    let reverse = LaneSettings { qdisc: "droptail".parse().unwrap(), ..forward.clone() };
    let settings = LinkSettings {
        lanes: [forward, reverse],
        seed: 1,
        sysctls: load::sysctls(scenario),
        outside: false,
        log: None,
    };
    if headgate_live::netns::prepare().is_err() {
        headgate_needs::skip("namespaces");
        return None;
    }
    let mut link = EmulatedLink::open(settings).unwrap();
    let clock = Monotonic::new();
    let load = TrafficLoad::prepare(scenario, 1, link.near(), link.far(), clock).unwrap();
    let begin = clock.now() + Span::from_millis(5);
    load.begin(begin);
    PacedClock::new(clock, Span::ZERO).wait(begin + scenario.duration, [None; 3]).unwrap();
    let report = load.stop().unwrap();
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    Some((report, link.stop().unwrap()))
}

/// Useful bytes delivered to a flow in `from..to`, in seconds.
fn bytes(report: &LoadReport, flow: u32, from: f64, to: f64) -> f64 {
    let in_range = |at: Time| (from..to).contains(&at.as_secs_f64());
    let rows = report.deliveries.iter().filter(|row| row.flow == flow && in_range(row.at));
    rows.map(|row| row.bytes as f64).sum()
}

#[test]
fn a_bulk_flow_fills_the_link_and_delivered_data_is_counted_once() {
    let scenario =
        scenario("2s", "droptail", "[[tcp]]\n[[tcp]]\ncc = \"cubic\"\nstart = \"500ms\"\nstop = \"1500ms\"\n");
    let Some((report, view)) = run(&scenario) else { return };
    let delivered: f64 = [0, 1].map(|flow| bytes(&report, flow, 0.0, 9.0)).iter().sum();
    let sent = view.lanes[0].totals.counts().sent_bytes as f64;
    // 1460 of 1500 bytes on the wire are data. Retransmissions, handshakes and packets in transit at the end do not
    // count; the link holds 50 packets and 10 ms.
    let retransmits: u64 = report.flows.iter().map(|flow| flow.counts.retransmits).sum();
    assert!(delivered <= sent * 1460.0 / 1500.0, "{delivered} of {sent}");
    assert!(
        delivered >= (sent - (retransmits + 50 + 9 + 9) as f64 * 1500.0) * 1460.0 / 1500.0,
        "{delivered} of {sent}, {retransmits} retransmitted"
    );
    // The second second is after slow start: 1.25 MB cross the link. Deliveries may be reported 50 ms late, and a loss
    // leaves a gap of at most a window.
    let busy: f64 = [0, 1].map(|flow| bytes(&report, flow, 1.0, 2.0)).iter().sum();
    assert!((1.0e6..=1.25e6 * 1460.0 / 1500.0 * 1.05).contains(&busy), "{busy}");
    assert_eq!(bytes(&report, 1, 0.0, 0.5), 0.0, "it starts later");
    // After the stop, the queue (60 ms) and the link (10 ms) still deliver; a thread may be late by as much.
    assert_eq!(bytes(&report, 1, 1.7, 2.0), 0.0, "it has stopped");
    let FlowReport { cwnd_area, srtt, min_rtt, .. } = &report.flows[0];
    // At least 20 ms and 1.2 ms for a packet; at most also the queue's 60 ms, doubled for a busy machine.
    assert!(
        min_rtt.unwrap() >= Span::from_millis(20) && srtt.unwrap() < Span::from_millis(160),
        "{min_rtt:?} {srtt:?}"
    );
    // The path holds 17 packets and the queue 50, so the mean lies between the initial window and twice their sum.
    assert!((10.0..134.0).contains(&(cwnd_area.unwrap() / 2e9)), "{cwnd_area:?}");
}

#[test]
fn datagrams_keep_their_rate_and_measure_their_delay() {
    let groups = "[[udp]]\nrate = \"2Mbit/s\"\n[[udp]]\nrate = \"400kbit/s\"\npacket = \"200B\"\n";
    let Some((report, _)) = run(&scenario("2s", "droptail", groups)) else { return };
    // 250 packets a second, of 1000 bytes and of 200. The thread may be late at the end.
    let (sent, small) = (report.flows[0].datagrams[0], report.flows[1].datagrams[0]);
    assert!((495..=500).contains(&sent) && (495..=500).contains(&small), "{sent} and {small}");
    let (received, flow) = (bytes(&report, 0, 0.0, 9.0) / 972.0, &report.flows[0]);
    // 12 ms of packets are in transit at the end; four times that on a busy machine.
    assert!(received <= sent as f64 && received >= sent as f64 - 12.0, "{received} of {sent}");
    // 10 ms of propagation, 0.8 ms of transmission.
    assert!(flow.delay.quantile(0.0).unwrap() >= 10.8e6 * 0.99, "{:?}", flow.delay.quantile(0.0));
}

#[test]
fn receivers_count_the_links_marks() {
    let groups = "[[tcp]]\necn = true\nflows = 2\n[[tcp]]\n[[udp]]\nrate = \"1Mbit/s\"\necn = true\n";
    let Some((report, view)) = run(&scenario("2s", "codel:ecn=on,target=2ms,interval=20ms", groups)) else { return };
    let marked: u64 = report.flows.iter().map(|flow| flow.counts.marked).sum();
    let by_link: u64 = view.lanes[0].totals.counts().marked();
    assert!(by_link > 0 && marked > 0, "{marked} of {by_link}");
    // Receivers get all marked packets, except those in the queue (50) and on the link (9) at the end.
    assert!(report.marked <= by_link && report.marked + 59 >= by_link, "{} of {by_link}", report.marked);
    assert_eq!(report.flows[2].counts.marked, 0, "it did not ask for ECN");
    // TCP's sender counts more marks than there were; UDP's receiver counts its own exactly.
    assert!(marked >= report.marked && report.flows[3].counts.marked <= report.marked, "{marked}, {}", report.marked);
}

#[test]
fn transfers_arrive_complete_and_each_waits_for_the_one_before() {
    let web = "[[tcp]]\nflows = 2\ntraffic = \"http:transfer=20KB,wait=30ms\"\n[[tcp]]\ntraffic = \"ftp:size=50KB\"\n";
    let Some((report, _)) = run(&scenario("2s", "droptail", web)) else { return };
    let of = |flow| report.transfers.iter().filter(move |transfer| transfer.flow == flow);
    for flow in 0..2 {
        let done: Vec<_> = of(flow).filter_map(|transfer| Some((transfer.start, transfer.end?))).collect();
        // Each transfer takes a handshake, two round trips of slow start and the pause: 20 ms x 3 + 30 ms, and the
        // transmission of the data.
        assert!((8..=22).contains(&done.len()), "{}", done.len());
        let mut pauses: Vec<Span> = done.windows(2).map(|pair| pair[1].0 - pair[0].1).collect();
        pauses.sort();
        // The last ACK needs 10 ms, and a receiver reads the data within 5 ms in the median.
        assert!(pauses[pauses.len() / 2] >= Span::from_millis(35), "{pauses:?}");
        let whole = done.len() as f64 * 20_000.0;
        assert!(bytes(&report, flow, 0.0, 9.0) >= whole, "{whole}");
    }
    let file: Vec<_> = of(2).collect();
    assert_eq!(file.len(), 1);
    assert!(file[0].end.is_some() && report.flows[2].ended > file[0].end, "{file:?} {:?}", report.flows[2].ended);
    assert_eq!(bytes(&report, 2, 0.0, 9.0), 50_000.0);
}

#[test]
fn a_receivers_window_bounds_its_flow() {
    let Some((report, _)) = run(&scenario("2s", "droptail", "[[tcp]]\nwindow = 5\n")) else { return };
    // Five packets per round trip of at least 21.2 ms. A window of six would send 8.2 packets more per second.
    let most = 5.0 * 1460.0 * 2.0 / 0.0212;
    assert!((most * 0.5..=most).contains(&bytes(&report, 0, 0.0, 9.0)), "{} of {most}", bytes(&report, 0, 0.0, 9.0));
}

#[test]
fn a_scenario_that_the_kernel_cannot_run_is_refused_before_the_start() {
    let error = load::check_supported(&scenario("1s", "droptail", "[[tcp]]\nrecovery = \"tahoe\"\n")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("`recovery = \"tahoe\"`"), "{error}");
}
