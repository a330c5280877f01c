//! Captures, decisions and traces agree with the outcome's counts.

use std::collections::BTreeMap;

use aqm::{Span, Time, Why};
use headgate_measure::SenderState;
use headgate_measure::{EventBatch, EventRow, Outcome, PacketEvent, RunObserver, TraceRow};
use headgate_scenario::{Changes, Scenario};
use headgate_sim::run;
use pcap_parser::pcapng::{Block, EnhancedPacketBlock, parse_block_le};

const FLOWS: &str = r#"
[[tcp]]
name = "web"
flows = 3
start = "0s..100ms"
[[tcp]]
name = "marked"
ecn = true
[[udp]]
rate = "6Mbit/s"
jitter = 0.5
"#;

/// 10 Mbit/s, 10 ms, 30 packets, without a warm-up; `record` is the section of that name.
fn scenario(qdisc: &str, record: &str) -> Scenario {
    losing(qdisc, record, 0.0)
}

/// The same with a link loss rate of `loss`.
fn losing(qdisc: &str, record: &str, loss: f64) -> Scenario {
    let text = format!(
        "name = 'evidence'\nduration = '4s'\nqdiscs = ['{qdisc}']\nrecord = {{ {record} }}\n\
         link = {{ rate = '10Mbit/s', delay = '10ms', limit = '30p', loss = {loss:?} }}\n{FLOWS}"
    );
    Scenario::read(&text, "evidence", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Stores all records of a run.
#[derive(Default)]
struct Keeper {
    events: EventBatch,
    traces: Vec<TraceRow>,
    captured: BTreeMap<u16, Vec<u8>>,
}

impl RunObserver for Keeper {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }
    fn events(&mut self, batch: &EventBatch) {
        self.events.gauges.clone_from(&batch.gauges);
        self.events.rows.extend_from_slice(&batch.rows);
        self.events.values.extend_from_slice(&batch.values);
    }
    fn traces(&mut self, batch: &[TraceRow]) {
        self.traces.extend_from_slice(batch);
    }
    fn captured(&mut self, link: u16, bytes: &[u8]) {
        self.captured.entry(link).or_default().extend_from_slice(bytes);
    }
}

fn keep(scenario: &Scenario) -> (Outcome, Keeper) {
    let mut keeper = Keeper::default();
    let outcome = run(scenario, &scenario.qdiscs[0], 1, &mut keeper).unwrap_or_else(|error| panic!("{error}"));
    (outcome, keeper)
}

/// The packets of a capture, without synthetic handshakes.
fn packets(mut bytes: &[u8]) -> Vec<EnhancedPacketBlock<'_>> {
    let mut packets = Vec::new();
    while !bytes.is_empty() {
        let (rest, block) = parse_block_le(bytes).expect("a whole block");
        bytes = rest;
        match block {
            Block::EnhancedPacket(packet) if !comment(&packet).starts_with("not simulated") => packets.push(packet),
            _ => {}
        }
    }
    packets
}

fn comment<'a>(packet: &'a EnhancedPacketBlock<'_>) -> &'a str {
    packet.options.iter().find(|option| option.code.0 == 1).map_or("", |option| option.as_str().unwrap())
}

#[test]
fn a_capture_holds_every_packet_that_was_sent_or_dropped() {
    let (outcome, keeper) = keep(&scenario("red:ecn=on", "capture = ['bottleneck']"));
    assert_eq!(keeper.captured.keys().collect::<Vec<_>>(), [&0]);
    let packets = packets(&keeper.captured[&0]);
    let on = |interface| packets.iter().filter(move |packet| packet.if_id == interface);
    for (direction, link) in outcome.links.iter().enumerate() {
        assert_eq!(on(direction as u32).count() as u64, link.counts.sent);
        assert_eq!(on(direction as u32 + 2).count() as u64, link.counts.dropped());
    }
    // Data packets have the scenario's length: options do not lengthen them.
    assert_eq!(on(0).map(|packet| u64::from(packet.origlen)).sum::<u64>(), outcome.links[0].counts.sent_bytes);
    let counts = &outcome.links[0].counts;
    let why = |why: &str| on(2).filter(|packet| comment(packet) == format!("dropped: {why}")).count() as u64;
    let drops = [Why::Overflow, Why::Early, Why::Forced].map(|why| counts.drops(why));
    assert!(drops[1] > 0 && drops[2] > 0, "{counts:?}");
    assert_eq!(["overflow", "early", "forced"].map(why), drops);
    // The two lowest bits of the second byte are the ECN field, 11 for a mark (RFC 3168, section 5). A packet marked on
    // arrival leaves later or is still queued.
    let marked = on(0).filter(|packet| packet.data[1] & 3 == 3).count() as u64;
    assert!(counts.marked() > 0 && marked <= counts.marked() && marked + 30 >= counts.marked());
    let times: Vec<u64> = packets.iter().map(|p| u64::from(p.ts_high) << 32 | u64::from(p.ts_low)).collect();
    assert!(times.is_sorted());
}

#[test]
fn a_capture_changes_nothing() {
    let (plain, nothing) = keep(&scenario("fq_codel", "interval = '1s'"));
    let all = "interval = '1s', capture = ['bottleneck'], events = 'decisions', flows = ['web', 'marked']";
    let (watched, keeper) = keep(&scenario("fq_codel", all));
    assert_eq!(plain, watched);
    assert!(nothing.captured.is_empty() && nothing.events.rows.is_empty() && nothing.traces.is_empty());
    assert!(!keeper.captured.is_empty() && !keeper.events.rows.is_empty() && !keeper.traces.is_empty());
}

/// A column of gauges.
fn column(batch: &EventBatch, name: &str) -> Vec<f64> {
    let at = batch.gauges.iter().position(|gauge| gauge.name == name).unwrap_or_else(|| panic!("no gauge {name}"));
    batch.values.chunks(batch.gauges.len()).map(|row| row[at]).collect()
}

#[test]
fn every_drop_and_mark_has_the_gauges_at_its_time() {
    let (outcome, keeper) = keep(&scenario("red:minth=5p,maxth=15p,maxp=0.1", "events = 'decisions'"));
    let EventBatch { rows, gauges, values } = &keeper.events;
    assert_eq!(values.len(), rows.len() * gauges.len());
    let counts = &outcome.links[0].counts;
    assert_eq!(rows.len() as u64, counts.dropped() + counts.marked());
    let average = column(&keeper.events, "average");
    let why = |row: &EventRow| match row.kind {
        PacketEvent::Dropped(why) | PacketEvent::Marked(why) => why,
        other => panic!("{other:?} is no decision"),
    };
    // RED signals early between its thresholds and with certainty above (Floyd and Jacobson 1993, section 4).
    for (row, average) in rows.iter().zip(average) {
        match why(row).name() {
            "early" => assert!((5.0..15.0).contains(&average), "early at {average}"),
            "forced" => assert!(average >= 15.0, "forced at {average}"),
            _ => assert_eq!(row.queue.packets, 30, "a full queue"),
        }
        assert!(row.queue.bytes >= u64::from(row.queue.packets) * 40);
    }
}

#[test]
fn link_losses_are_captured_as_sent_and_logged_without_gauges() {
    let (outcome, keeper) = keep(&losing("red", "events = 'decisions', capture = ['bottleneck']", 0.02));
    let EventBatch { rows, gauges, values } = &keeper.events;
    assert_eq!(values.len(), rows.len() * gauges.len());
    let lacks_gauges_if_lost = |row: &EventRow, gauges: &[f64]| (row.kind == PacketEvent::Lost) == gauges[0].is_nan();
    assert!(rows.iter().zip(values.chunks(gauges.len())).all(|(row, gauges)| lacks_gauges_if_lost(row, gauges)));
    let counts = &outcome.links[0].counts;
    let lost = rows.iter().filter(|row| row.kind == PacketEvent::Lost).count() as u64;
    assert!(lost > 0 && lost == outcome.links[0].link_losses);
    assert_eq!(rows.len() as u64, counts.dropped() + counts.marked() + lost);
    let packets = packets(&keeper.captured[&0]);
    assert_eq!(packets.iter().filter(|packet| packet.if_id == 0).count() as u64, counts.sent);
}

#[test]
fn gauges_of_a_decision_are_those_of_the_packets_flow() {
    let (_, keeper) = keep(&scenario("faba:lambda1=0.5", "events = 'decisions'"));
    let (tokens, height) = (column(&keeper.events, "tokens"), column(&keeper.events, "bucket_height"));
    let bucket = |row: &EventRow| match row.kind {
        PacketEvent::Dropped(why) | PacketEvent::Marked(why) => why == Why::Bucket,
        _ => false,
    };
    let decided = keeper.events.rows.iter().zip(tokens.into_iter().zip(height)).filter(|(row, _)| bucket(row));
    let fills: Vec<f64> = decided.map(|(_, (tokens, height))| tokens / height).collect();
    // A flow whose bucket is at least half full has no bucket drops (FABA, section 3: lambda1).
    assert!(fills.len() > 100 && fills.iter().all(|fill| *fill <= 0.5), "{} decisions", fills.len());
}

#[test]
fn a_trace_follows_the_window_and_ends_with_the_totals() {
    let (outcome, keeper) = keep(&scenario("droptail", "flows = ['web/1', 'marked']"));
    let of = |flow: u32| keeper.traces.iter().filter(move |row| row.flow == flow);
    assert!(of(0).chain(of(2)).chain(of(4)).next().is_none(), "the scenario requests no trace of these flows");
    for flow in [1, 3] {
        let rows: Vec<&TraceRow> = of(flow).collect();
        let states: Vec<&SenderState> = rows.iter().map(|row| &row.state).collect();
        let (first, last) = (states[0], states[states.len() - 1]);
        // RFC 6928: ten segments at first, all in flight. RFC 6298: a timeout of one second before the first sample.
        assert_eq!((first.cwnd, first.flight, first.phase), (Some(10.0), Some(10), "slow_start"));
        assert_eq!((first.srtt, first.rto), (None, Some(Span::from_secs(1))));
        let outcome = &outcome.flows[flow as usize];
        assert_eq!(u64::from(last.retransmits), outcome.retransmits);
        assert_eq!(u64::from(last.timeouts), outcome.timeouts);
        assert!(rows.is_sorted_by_key(|row| row.time));
        assert!(rows.windows(2).all(|pair| pair[1].state.differs(&pair[0].state)));
        assert!(states.iter().any(|state| state.phase == "recovery"));
    }
}

#[test]
fn a_trace_has_no_more_rows_than_its_interval_allows() {
    let (_, every) = keep(&scenario("droptail", "flows = ['web/0']"));
    let (_, some) = keep(&scenario("droptail", "flows = ['web/0'], flow_interval = '50ms'"));
    let gaps: Vec<Span> = some.traces.windows(2).map(|pair| pair[1].time - pair[0].time).collect();
    assert!(gaps.iter().all(|gap| *gap >= Span::from_millis(50)));
    // Four seconds hold 80 such intervals.
    assert!((40..=81).contains(&some.traces.len()), "{} rows", some.traces.len());
    assert!(every.traces.len() > 2 * some.traces.len());
    for row in &some.traces {
        let latest = every.traces.iter().rfind(|all| all.time <= row.time).expect("the first row is in both");
        assert!(!row.state.differs(&latest.state), "a row includes every change since the last one");
    }
}
