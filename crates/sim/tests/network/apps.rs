//! Applications: files, transfers in series and bursts; when they begin and complete, and what their connections keep.

use aqm::{Span, Time};
use headgate_measure::{Outcome, PacketEvent, TransferRow};

use crate::network::{go, scenario, witness};

/// The round-trip time of one packet, and its one-way delay. A packet of 1000 bytes takes 80 us on an access link and
/// 800 us on the link, an ACK of 40 bytes 3.2 and 32 us. Propagation takes 1 + 10 + 1 ms each way.
const ROUND: f64 = 0.024_998_4;
const ONE_WAY: f64 = 0.012_96;

/// A TCP group whose times are easy to compute.
fn tcp(rest: &str) -> String {
    format!("[[tcp]]\npacket = \"1000B\"\nheader = \"0B\"\ndelayed_ack = \"off\"\ninitial_window = 2\n{rest}\n")
}

fn took(transfer: &TransferRow) -> f64 {
    (transfer.end.expect("it was finished") - transfer.start).as_secs_f64()
}

#[test]
fn a_file_takes_the_round_trips_of_slow_start() {
    // Windows of 2, 4 and 8 segments carry 14: two round trips and a one-way delay. Segments that leave together also
    // queue on the link: fewer than eight, 800 us each.
    let outcome = go(&scenario("5s", "droptail", &tcp("traffic = \"ftp:size=14KB\"\nstart = \"1s\"")));
    let [transfer] = outcome.transfers[..] else { panic!("{:?}", outcome.transfers) };
    assert_eq!((transfer.flow, transfer.start, transfer.bytes), (0, Time::ZERO + Span::from_secs(1), 14_000));
    let least = 2.0 * ROUND + ONE_WAY;
    assert!((least..least + 8.0 * 0.0008).contains(&took(&transfer)), "{} beside {least}", took(&transfer));
    // Nothing else was sent.
    assert_eq!(outcome.flows[0].counts.arrived, 14);
    assert_eq!(outcome.flows[0].goodput_bps * 5.0 / 8.0, 14_000.0);
}

#[test]
fn a_file_of_one_byte_is_one_segment() {
    let outcome = go(&scenario("5s", "droptail", &tcp("traffic = \"ftp:size=1B\"")));
    assert_eq!(took(&outcome.transfers[0]), ONE_WAY);
    assert_eq!((outcome.transfers[0].bytes, outcome.flows[0].counts.arrived), (1, 1));
}

#[test]
fn files_in_series_begin_when_the_last_is_acknowledged() {
    // Two segments at a time: the second leaves 800 us behind the first, and its ACK ends the transfer.
    let group = tcp("traffic = \"ftp:size=2KB,count=5,wait=100ms\"");
    let outcome = go(&scenario("5s", "droptail", &group));
    assert_eq!(outcome.transfers.len(), 5);
    let transfers: Vec<(f64, f64)> = outcome.transfers.iter().map(|t| (t.start.as_secs_f64(), took(t))).collect();
    for pair in transfers.windows(2) {
        assert!((pair[0].1 - (ONE_WAY + 0.0008)).abs() < 1e-9, "{pair:?}");
        let between = pair[1].0 - pair[0].0;
        assert!((between - (ROUND + 0.0008 + 0.1)).abs() < 1e-9, "{pair:?}");
    }
}

#[test]
fn a_kept_connection_keeps_its_window_and_a_new_one_starts_from_the_initial_window() {
    // 30 segments take windows of 2, 4, 8 and 16. On a persistent connection the second file finds a window of at least
    // 16 and takes two windows. On a new connection it takes four again.
    let file = |persistent: bool| {
        let traffic = format!("traffic = \"http:transfer=30KB,count=2,persistent={persistent}\"");
        let outcome = go(&scenario("5s", "droptail", &tcp(&traffic)));
        [took(&outcome.transfers[0]), took(&outcome.transfers[1])]
    };
    let ([first, again], [same, kept]) = (file(false), file(true));
    assert_eq!(first, same);
    assert!((again - first).abs() < 1e-9, "{again} {first}");
    // The link needs at least the transmission time of 30 packets.
    assert!(kept < 30.0 * 0.0008 + ROUND && kept < first - ROUND, "{kept} {first}");
}

#[test]
fn writes_of_limited_duration_send_only_during_that_time() {
    // The source is on for exactly a second and off for a second. A window of 10 keeps the queue short, so TCP's last
    // data leaves within a round trip.
    let group = tcp("window = 10\ntraffic = \"http:transfer=1s,wait=1s\"");
    let (_, events) = witness(&scenario("6s", "droptail", &group));
    let sent: Vec<f64> = events
        .iter()
        .filter(|event| event.kind == PacketEvent::Arrived)
        .map(|event| event.time.as_secs_f64())
        .collect();
    for second in 0..6 {
        let inside = |time: &&f64| (f64::from(second)..f64::from(second) + 1.0).contains(*time);
        let of_it = sent.iter().filter(inside).count();
        // Ten packets a round trip at most, and they take 8 ms.
        let most = (10.0 / ROUND) as usize + 10;
        if second % 2 == 0 {
            assert!((most * 8 / 10..=most).contains(&of_it), "{of_it} in second {second}");
        } else {
            assert!(of_it <= 10, "{of_it} in second {second}");
        }
    }
}

#[test]
fn a_transfer_that_outlasts_the_run_has_no_end() {
    let outcome = go(&scenario("1s", "droptail", &tcp("traffic = \"ftp:size=100MB\"")));
    let [transfer] = outcome.transfers[..] else { panic!("{:?}", outcome.transfers) };
    assert_eq!((transfer.bytes, transfer.end), (100_000_000, None));
}

#[test]
fn each_flow_of_a_file_server_ends_every_transfer_however_much_is_lost() {
    // Twenty flows of short files on a link with many drops: every transfer completes.
    let group = tcp("flows = 20\nmin_rto = \"200ms\"\nstart = \"0s..1s\"\ntraffic = \"ftp:size=exp(30KB),count=20\"");
    let outcome = go(&scenario("60s", "droptail", &group));
    assert!(outcome.flows.iter().map(|flow| flow.counts.dropped()).sum::<u64>() > 100);
    assert_eq!(outcome.transfers.len(), 400);
    assert!(outcome.transfers.iter().all(|transfer| transfer.end.is_some()));
    let useful: f64 = outcome.flows.iter().map(|flow| flow.goodput_bps * 60.0 / 8.0).sum();
    let bytes: u64 = outcome.transfers.iter().map(|transfer| transfer.bytes).sum();
    assert_eq!(useful.round() as u64, bytes, "each byte was delivered once, and no padding");
}

/// The mean offered rate in bits per second.
fn offered(outcome: &Outcome, seconds: f64) -> f64 {
    outcome.transfers.iter().map(|transfer| transfer.bytes as f64 * 8.0).sum::<f64>() / seconds
}

#[test]
fn randomly_arriving_flows_offer_the_configured_load() {
    // Half of 10 Mbit/s in files of 25 KB: 25 a second, or 2500 in 100 s with a standard deviation of 50. Four of these
    // are 8 %.
    let group = "[[tcp]]\ntraffic = \"ftp:size=25KB\"\nstart = { load = 0.5 }\n";
    let outcome = go(&scenario("100s", "droptail", group));
    let offered = offered(&outcome, 100.0);
    assert!((offered / 5e6 - 1.0).abs() < 0.08, "{offered}");
    let mut starts: Vec<f64> = outcome.transfers.iter().map(|transfer| transfer.start.as_secs_f64()).collect();
    starts.sort_by(f64::total_cmp);
    // Exponential gaps: 1/e of them are longer than the mean.
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let long = gaps.iter().filter(|gap| **gap > 0.04).count() as f64 / gaps.len() as f64;
    assert!((long - (-1.0f64).exp()).abs() < 4.0 * (0.37f64 * 0.63 / gaps.len() as f64).sqrt(), "{long}");
}

#[test]
fn the_number_of_flows_grows_in_steps() {
    let group = tcp("flows = 6\nwindow = 2\nstart = { flows = 2, every = \"2s\", within = \"1s\" }");
    let (_, events) = witness(&scenario("6s", "droptail", &group));
    let first = |flow| events.iter().find(|event| event.flow == flow).map(|event| event.time.as_secs_f64());
    for flow in 0..6 {
        let step = f64::from(flow / 2) * 2.0;
        let first = first(flow).expect("it sent");
        assert!((step..step + 1.01).contains(&first), "flow {flow} at {first}");
    }
}

#[test]
fn datagrams_have_the_sizes_that_their_source_writes() {
    // 20 ms of G.711 are 160 bytes, with headers 200 bytes on the wire: 50 packets a second during speech.
    let group = "[[udp]]\nheader = \"40B\"\npacket = \"1000B\"\nrate = \"1Mbit/s\"\ntraffic = \"voip\"\n";
    let (outcome, events) = witness(&scenario("60s", "droptail", group));
    let sent: Vec<_> = events.iter().filter(|event| event.kind == PacketEvent::Sent).collect();
    assert!(sent.len() > 500 && sent.iter().all(|event| event.bytes == sent[0].bytes), "{:?}", sent[0]);
    let useful = u64::from(sent[0].bytes - 40) * sent.len() as u64;
    assert_eq!((outcome.flows[0].goodput_bps * 60.0 / 8.0).round() as u64, useful);
}

#[test]
fn a_rate_counts_packets_on_the_wire_or_their_payload() {
    // Packets of 1000 bytes, 200 of them headers: 1 Mbit/s is 125 a second on the wire, 156.25 of payload. Over TCP too,
    // as long as the link is faster.
    for (rate_of, packets) in [("wire", 1250), ("payload", 1563)] {
        let common = format!("packet = \"1000B\"\nheader = \"200B\"\nrate_of = \"{rate_of}\"");
        for group in [
            format!("[[udp]]\nrate = \"1Mbit/s\"\n{common}\n"),
            format!("[[udp]]\ntraffic = \"cbr:rate=1Mbit/s\"\n{common}\n"),
            format!("[[tcp]]\ntraffic = \"cbr:rate=1Mbit/s\"\n{common}\n"),
        ] {
            // The first packet leaves at 0 and needs 1.88 ms to the queue, so all but it arrive within 10 s.
            let outcome = go(&scenario("10s", "droptail", &group));
            assert_eq!(outcome.flows[0].counts.arrived, packets, "{group}");
        }
    }
}
