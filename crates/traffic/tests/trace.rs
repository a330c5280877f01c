//! Reading traces from captures and CSV files, and the errors of invalid files.

use std::sync::Arc;

use aqm::Span;
use etherparse::PacketBuilder;
use headgate_traffic::{TraceError, Traffic, TrafficTrace, WriteAmount, WriteStart};
use proptest::prelude::*;

use crate::support::{UDP, gap};

fn csv(text: &str) -> Result<TrafficTrace, TraceError> {
    TrafficTrace::read(text.as_bytes(), "trace.csv")
}

/// Each flow's writes: milliseconds and bytes.
fn flows(trace: &TrafficTrace) -> Vec<Vec<(u64, u32)>> {
    let writes = |flow| trace.writes_of(flow).map(|index| trace.write(index));
    let in_ms = |(at, bytes): (Span, u32)| (at.as_nanos() / 1_000_000, bytes);
    (0..trace.flows()).map(|flow| writes(flow).map(in_ms).collect()).collect()
}

/// A UDP frame with `bytes` of data from port `port`.
fn udp(port: u16, bytes: usize) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(port, 53);
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; bytes]).unwrap();
    frame
}

/// A TCP frame over IPv6 in a VLAN.
fn tcp(port: u16, bytes: usize) -> Vec<u8> {
    let vlan = etherparse::VlanId::try_new(7).unwrap();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).single_vlan(vlan).ipv6([1; 16], [2; 16], 64);
    let mut frame = Vec::new();
    builder.tcp(port, 80, 1, 100).write(&mut frame, &vec![0; bytes]).unwrap();
    frame
}

/// A pcap file of frames with their capture times in microseconds since the epoch, cut to `snap` bytes.
fn pcap(frames: &[(u32, Vec<u8>)], snap: usize, big: bool, link: u32) -> Vec<u8> {
    let word = |word: u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
    let half = |half: u16| if big { half.to_be_bytes() } else { half.to_le_bytes() };
    let mut file = [word(0xa1b2_c3d4).as_slice(), &half(2), &half(4)].concat();
    [0, 0, 65_535, link].into_iter().for_each(|field| file.extend(word(field)));
    for (micros, frame) in frames {
        let kept = &frame[..frame.len().min(snap)];
        let header = [micros / 1_000_000, micros % 1_000_000, kept.len() as u32, frame.len() as u32];
        header.into_iter().for_each(|field| file.extend(word(field)));
        file.extend(kept);
    }
    file
}

/// The same frames as pcapng, with times in nanoseconds.
fn pcapng(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        file.extend([&kind.to_le_bytes(), length.as_slice(), body, &length].concat());
    };
    block(0x0a0d_0d0a, &[&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat());
    // Ethernet; if_tsresol is 10^-9.
    block(1, &[&[1, 0, 0, 0, 0, 0, 0, 0][..], &[9, 0, 1, 0, 9, 0, 0, 0], &[0; 4]].concat());
    for (micros, frame) in frames {
        let nanos = u64::from(*micros) * 1000;
        let words = [0, (nanos >> 32) as u32, nanos as u32, frame.len() as u32, frame.len() as u32];
        let mut body: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        block(6, &body);
    }
    file
}

/// Two flows, and a reply, which is a third flow.
fn frames() -> Vec<(u32, Vec<u8>)> {
    vec![
        (5_000, udp(1000, 100)),
        (7_000, tcp(2000, 1400)),
        (7_000, tcp(2000, 0)),
        (9_000, udp(1000, 300)),
        (11_000, udp(1001, 50)),
    ]
}

/// The flows of [`frames`], with times since the first packet.
fn expected() -> Vec<Vec<(u64, u32)>> {
    vec![vec![(0, 100), (4, 300)], vec![(2, 1400)], vec![(6, 50)]]
}

#[test]
fn lines_of_time_flow_and_bytes_are_sorted_by_flow() {
    let text = "time, flow, bytes\n# a comment\n0.001,b,10\n\n0.002,a,20\n0.002,b,30\n3,\"a\",0\n3.5,a,40\n";
    let trace = csv(text).unwrap();
    assert_eq!(flows(&trace), [vec![(1, 10), (2, 30)], vec![(2, 20), (3500, 40)]]);
    assert_eq!((trace.bytes(), trace.writes_of(2)), (100, 0..0));
}

#[test]
fn a_bad_line_is_named_by_its_number() {
    let message = |text: &str| csv(text).unwrap_err().to_string();
    assert_eq!(message("0,a,1\n\n0.5,a\n"), "line 3: expected time,flow,bytes, found 2 fields");
    assert_eq!(
        message("time,flow,bytes\n1s,a,1\n"),
        "line 2: field 1: expected a time in seconds from 0 to 1000000000"
    );
    assert_eq!(message("0,a,1\n-1,a,1\n"), "line 2: field 1: expected a time in seconds from 0 to 1000000000");
    assert_eq!(message("0,a,1.5\n"), "line 1: field 3: expected bytes, a whole number below 2^32");
    assert_eq!(message("# x\n0.5,a,1\n0.25,b,1\n"), "line 3: times must not decrease");
    assert_eq!(message("0,a,1,2\n"), "line 1: expected time,flow,bytes, found 4 fields");
    assert_eq!(message("time,flow,bytes\n"), "it contains no writes");
    assert_eq!(message(""), "neither a capture (pcap, pcapng) nor a CSV file with lines of time,flow,bytes");
    let many: String = (0..1_000_001).map(|flow| format!("0,{flow},1\n")).collect();
    assert_eq!(message(&many), "more than 1000000 flows");
}

#[test]
fn captures_in_every_format_give_the_same_trace() {
    let frames = frames();
    let raw: Vec<(u32, Vec<u8>)> =
        frames.iter().filter(|(_, frame)| frame[12] == 8).map(|(at, frame)| (*at, frame[14..].to_vec())).collect();
    for (name, file) in [
        ("little.pcap", pcap(&frames, 9000, false, 1)),
        ("big.pcap", pcap(&frames, 9000, true, 1)),
        ("headers alone", pcap(&frames, 90, false, 1)),
        ("trace.pcapng", pcapng(&frames)),
    ] {
        assert_eq!(flows(&TrafficTrace::read(&file, name).unwrap()), expected(), "{name}");
    }
    let raw = TrafficTrace::read(&pcap(&raw, 9000, false, 101), "raw.pcap").unwrap();
    assert_eq!(flows(&raw), [vec![(0, 100), (4, 300)], vec![(6, 50)]]);
}

#[test]
fn padding_to_ethernets_minimum_length_is_no_data() {
    let mut frame = udp(9, 2);
    frame.resize(60, 0);
    assert_eq!(flows(&TrafficTrace::read(&pcap(&[(0, frame)], 9000, false, 1), "p").unwrap()), [[(0, 2)]]);
}

#[test]
fn errors_say_what_is_wrong_with_a_capture() {
    let read = |file: &[u8]| TrafficTrace::read(file, "trace.pcap");
    let whole = pcap(&frames(), 9000, false, 1);
    assert_eq!(read(&whole[..whole.len() - 1]), Err(TraceError::CutOff { packets: 4 }));
    assert_eq!(read(&whole[..20]), Err(TraceError::CutOff { packets: 0 }));
    assert_eq!(read(&whole[..24]), Err(TraceError::Empty));
    let next = pcapng(&frames());
    assert_eq!(read(&next[..next.len() - 1]), Err(TraceError::CutOff { packets: 4 }));
    assert_eq!(read(b"GIF89a"), Err(TraceError::NotATrace));
    assert_eq!(read(b"0,a,1\n"), Err(TraceError::NotATrace), "a .pcap is no CSV");
    assert_eq!(read(&[0xff, 0xfe, 0]), Err(TraceError::NotATrace));
    assert_eq!(read(&pcap(&frames(), 9000, false, 105)), Err(TraceError::Link { number: 105 }));
    let back = [(7_000, udp(1, 1)), (5_000, udp(1, 1))];
    assert_eq!(read(&pcap(&back, 9000, false, 1)), Err(TraceError::TimeGoesBack { packet: 2 }));
}

#[test]
fn a_group_replays_the_flows_of_a_file_one_by_one() {
    let traffic: Traffic = "replay:file=web.csv".parse().unwrap();
    let files = &mut |name: &str| {
        assert_eq!(name, "web.csv");
        Ok(Arc::from(&b"1,a,500\n1.5,b,700\n3,a,900\n"[..]))
    };
    let source = traffic.build(&UDP, files).unwrap();
    assert_eq!((source.flows(), source.mean_bytes()), (Some(2), Some(1050.0)));
    let mut rng = crate::support::rng("replay");
    let mut first = source.start(0);
    let writes = [first.next(&mut rng).unwrap(), first.next(&mut rng).unwrap()];
    assert_eq!(
        writes.map(|write| (gap(&write), write.data)),
        [(1.0, WriteAmount::Bytes(500)), (2.0, WriteAmount::Bytes(900))]
    );
    assert_eq!(first.next(&mut rng), None);
    assert_eq!(source.start(1).next(&mut rng).unwrap().after, WriteStart::AfterStart(Span::from_millis(1500)));
    assert_eq!(source.start(2).next(&mut rng), None, "no such flow");
    let bad = &mut |_: &str| Ok(Arc::from(&b"1,a,500\n1.5\n"[..]));
    let error = traffic.build(&UDP, bad).err().unwrap().to_string();
    assert_eq!(error, "web.csv: line 2: expected time,flow,bytes, found 1 fields");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..300), magic in 0_usize..7, name in "[a.]{0,2}(csv|pcap)?",
    ) {
        let magics = [0x0a0d_0d0a_u32, 0xa1b2_c3d4, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1];
        if let (Some(magic), Some(start)) = (magics.get(magic), bytes.first_chunk_mut::<4>()) {
            *start = magic.to_be_bytes();
        }
        let _ = TrafficTrace::read(&bytes, &name);
    }

    #[test]
    fn a_capture_with_bytes_changed_is_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        next: bool, cut in any::<prop::sample::Index>(),
    ) {
        let mut file = if next { pcapng(&frames()) } else { pcap(&frames(), 9000, false, 1) };
        for (index, byte) in changes {
            let at = index.index(file.len());
            file[at] = byte;
        }
        let _ = TrafficTrace::read(&file, "a.pcap");
        let _ = TrafficTrace::read(&file[..cut.index(file.len())], "a.pcap");
    }

    #[test]
    fn any_lines_are_read_or_refused(text in "([0-9.a\"#,-]{0,8},[ab\"]{0,2},[0-9]{0,11}\n?){0,20}") {
        let _ = csv(&text);
    }
}
