//! Treatment of frames: a corpus, and mutated valid frames.

use std::fs;

use crate::support::TestDirection;
use crate::support::memory::{Conserved, FakeClock};
use aqm::{ClassId, Ecn, Span, Time};
use etherparse::{Ipv4HeaderSlice, PacketBuilder};
use headgate_live::{Forwarder, FrameAnomaly, Layer, ParsedFrame, Parser, ecn};
use headgate_scenario::{Changes, Classifier, Conditions, FlowKey, Scenario, TrafficClass};
use proptest::prelude::*;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
const KEY: u64 = 0x1234_5678_9abc_def0;

fn corpus(name: &str) -> Vec<u8> {
    fs::read(format!("{CORPUS}/{name}.bin")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn layer(name: &str) -> Layer {
    if name == "ethernet" { Layer::Ethernet } else { Layer::Ip }
}

fn parsed(name: &str) -> ParsedFrame {
    let first = if corpus(name)[0] == 2 { Layer::Ethernet } else { Layer::Ip };
    Parser::new(first, KEY).parse(&corpus(name)).unwrap_or_else(|anomaly| panic!("{name}: {anomaly:?}"))
}

#[test]
fn every_frame_of_the_corpus_is_forwarded_or_dropped_as_expected_and_counted() {
    let expected = fs::read_to_string(format!("{CORPUS}/expected.txt")).unwrap();
    let mut rows = 0;
    for line in expected.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut parser = Parser::new(layer(words[1]), KEY);
        let result = parser.parse(&corpus(words[0]));
        assert_eq!(result.is_ok(), words[2] == "forward", "{}: {result:?}", words[0]);
        let counted: Vec<&str> = parser.anomalies.iter().map(|(anomaly, _)| anomaly.name()).collect();
        let known = |word: &&&str| FrameAnomaly::ALL.iter().any(|anomaly| anomaly.name() == **word);
        let mut named: Vec<&str> = words[3..].iter().take_while(known).copied().collect();
        named.sort_by_key(|name| FrameAnomaly::ALL.iter().position(|anomaly| anomaly.name() == *name));
        assert_eq!(counted, named, "{}", words[0]);
        rows += 1;
    }
    let files = fs::read_dir(CORPUS).unwrap().count();
    assert_eq!(files, rows + 1, "a row for every frame");
}

#[test]
fn headers_are_found_behind_tags_extensions_and_fragments() {
    let header = |name: &str| parsed(name).header.unwrap();
    for (name, ports, protocol) in [
        ("v4_udp", (5000, 53), 17),
        ("v4_tcp_ect0", (40000, 80), 6),
        ("qinq", (5000, 53), 17),
        ("v6_auth", (5000, 53), 17),
        ("v6_atomic", (5000, 53), 17),
        ("v6_chain_8", (5000, 53), 17),
        ("v4_first_fragment", (0, 0), 17),
        ("icmp", (0, 0), 1),
    ] {
        let header = header(name);
        assert_eq!(((header.source_port, header.destination_port), header.protocol), (ports, protocol), "{name}");
    }
    assert_eq!(header("v4_udp").source.to_string(), "10.0.0.1");
    assert_eq!(header("v6_udp").destination.to_string(), "2001:db8:2::1");
    assert_eq!((parsed("v4_tcp_ect0").ecn, header("v4_tcp_ect0").dscp), (Ecn::Ect0, 46));
    assert_eq!((parsed("v6_udp").ecn, parsed("v4_udp").ecn, parsed("arp").ecn), (Ecn::Ect1, Ecn::NotEct, Ecn::NotEct));
}

#[test]
fn a_five_tuple_is_one_flow_on_every_link_layer_and_fragments_are_one_flow() {
    let flow = |name: &str| parsed(name).flow;
    assert_eq!(flow("v4_udp"), flow("vlan"));
    assert_eq!(flow("v4_udp"), flow("tun_v4"));
    assert_eq!(flow("v6_udp"), flow("qinq"));
    assert_eq!(flow("v4_first_fragment"), flow("v4_last_fragment"));
    for (one, other) in
        [("v4_udp", "v4_tcp_ect0"), ("v4_udp", "v6_udp"), ("arp", "pppoe"), ("v4_udp", "v4_first_fragment")]
    {
        assert_ne!(flow(one), flow(other), "{one}, {other}");
    }
    let other_key = Parser::new(Layer::Ip, KEY + 1).parse(&corpus("tun_v4")).unwrap().flow;
    assert_ne!(other_key, flow("tun_v4"));
}

#[test]
fn the_live_link_uses_the_scenarios_classes_and_flows() {
    let text = r#"
        name = "classes"
        duration = "1s"
        qdiscs = ["droptail"]
        classify = { flow = "source/24" }
        link = { rate = "10Mbit/s", delay = "1ms", limit = "10p" }
        class = [{ name = "dns", destination_port = [53] }, { name = "rest" }]
        [[tcp]]
        flows = 1
    "#;
    let scenario = Scenario::read(text, "classes", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut parser = Parser::with_classifier(Layer::Ethernet, scenario.classifier(KEY), KEY);
    let [dns, web, arp] = ["v4_udp", "v4_tcp_ect0", "arp"].map(|name| parser.parse(&corpus(name)).unwrap());
    assert_eq!([dns.class, web.class, arp.class], [1, 2, 0].map(ClassId));
    assert_eq!(dns.flow, web.flow, "one sender's /24");
    assert_ne!(dns.flow, arp.flow);
}

/// Frames with few distinct headers, so that many differ in a single field that distinguishes flows or classes.
fn similar_frames() -> impl Strategy<Value = Vec<u8>> {
    (any::<[bool; 3]>(), any::<[bool; 4]>()).prop_map(|([v6, tcp, dscp], [source, destination, from, to])| {
        let end = |other| if other { [10, 0, 0, 1] } else { [10, 0, 0, 2] };
        let end6 = |other: bool| [if other { 1 } else { 2 }; 16];
        let mac = PacketBuilder::ethernet2([2; 6], [4; 6]);
        let ip = match v6 {
            true => mac.ipv6(end6(source), end6(destination), 64),
            false => mac.ipv4(end(source), end(destination), 64),
        };
        let mut frame = Vec::new();
        match tcp {
            true => ip.tcp(from.into(), to.into(), 1, 1).write(&mut frame, &[]),
            false => ip.udp(from.into(), to.into()).write(&mut frame, &[]),
        }
        .unwrap();
        match (dscp, v6) {
            (true, true) => frame[14] |= 0xb,
            (true, false) => {
                frame[15] = 46 << 2;
                let header = Ipv4HeaderSlice::from_slice(&frame[14..]).unwrap().to_header();
                frame[24..26].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
            }
            _ => {}
        }
        frame
    })
}

proptest! {
    #[test]
    fn a_parsers_cache_of_headers_changes_no_answer(frames in prop::collection::vec(similar_frames(), 1..300)) {
        let rule = |dscp| TrafficClass {
            name: "class".to_owned(),
            parent: None,
            weight: 1.0,
            conditions: Conditions { dscp, ..Conditions::default() },
        };
        let rules = [rule(vec![0]), rule(vec![])];
        let new = || Parser::with_classifier(Layer::Ethernet, Classifier::new(&rules, FlowKey::FiveTuple, KEY), KEY);
        let mut old = new();
        for frame in frames {
            let parsed = old.parse(&frame);
            prop_assert!(parsed.is_ok(), "{:?}", parsed);
            prop_assert_eq!(parsed, new().parse(&frame));
        }
    }
}

/// A valid frame of each shape that the builder can make.
fn valid() -> impl Strategy<Value = Vec<u8>> {
    let ports = any::<(u16, u16)>();
    (0..6_u8, ports, prop::collection::vec(any::<u8>(), 0..64), any::<[u8; 16]>()).prop_map(
        |(shape, (from, to), payload, address)| {
            let mac = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
            let [a, b, c, d, ..] = address;
            let mut frame = Vec::new();
            match shape {
                0 => mac.ipv4([a, b, c, d], [10, 0, 0, 1], 64).udp(from, to).write(&mut frame, &payload),
                1 => mac.ipv4([a, b, c, d], [10, 0, 0, 1], 64).tcp(from, to, 1, 1).write(&mut frame, &payload),
                2 => mac.ipv6(address, [9; 16], 64).udp(from, to).write(&mut frame, &payload),
                3 => mac.ipv6(address, [9; 16], 64).tcp(from, to, 1, 1).write(&mut frame, &payload),
                4 => {
                    let tag = 7.try_into().unwrap();
                    mac.single_vlan(tag).ipv4([a, b, c, d], [10, 0, 0, 1], 64).udp(from, to).write(&mut frame, &payload)
                }
                _ => {
                    let tags = (7.try_into().unwrap(), 8.try_into().unwrap());
                    mac.double_vlan(tags.0, tags.1).ipv6(address, [9; 16], 64).udp(from, to).write(&mut frame, &payload)
                }
            }
            .unwrap();
            frame
        },
    )
}

/// Laws for arbitrary bytes: the parser does not panic, counts each refused frame once, and a mark changes only the ECN
/// field and the checksum.
fn check_laws(layer: Layer, frame: &[u8]) -> Result<(), TestCaseError> {
    let mut parser = Parser::new(layer, KEY);
    let result = parser.parse(frame);
    prop_assert_eq!(parser.anomalies.dropped(), u64::from(result.is_err()));
    let Ok(ParsedFrame { ip: Some(at), flow, .. }) = result else { return Ok(()) };
    let mut marked = frame.to_vec();
    ecn::mark(&mut marked, at);
    let again = parser.parse(&marked).map_err(|anomaly| TestCaseError::fail(format!("the mark causes {anomaly:?}")))?;
    prop_assert_eq!((again.ecn, again.flow, again.ip), (Ecn::Ce, flow, Some(at)));
    let differ = frame.iter().zip(&marked).filter(|(before, after)| before != after).count();
    prop_assert!(differ <= 3, "{} bytes differ", differ);
    Ok(())
}

/// An arbitrary frame: valid, mutated, or random bytes. Some frames are longer than a slot.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let mutated =
        (valid(), any::<prop::sample::Index>(), any::<u8>(), any::<bool>()).prop_map(|(frame, at, byte, whole)| {
            let mut frame = frame;
            let at = at.index(frame.len());
            if whole {
                frame[at] = byte;
            } else {
                frame.truncate(at);
            }
            frame
        });
    prop_oneof![4 => mutated, 1 => prop::collection::vec(any::<u8>(), 0..100), 1 => (2040..2060_usize).prop_map(|n| vec![2; n])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_arriving_frame_is_sent_or_counted(
        frames in prop::collection::vec((0..40_u64, hostile()), 1..400),
        qdisc in prop::sample::select(vec!["droptail", "sfb", "faba", "fq_codel"]),
    ) {
        let mut direction = TestDirection::new(10, 1, 20, qdisc);
        direction.slots = 60;
        let mut clock = FakeClock::new();
        let mut at = Time::ZERO;
        let count = frames.len() as u64;
        let frames = frames.into_iter().map(|(gap, frame)| {
            at += Span::from_micros(gap);
            (at, frame)
        });
        let a = clock.end(Layer::Ethernet, frames.collect::<Vec<_>>());
        let b = clock.end(Layer::Ethernet, []);
        let lanes = direction.lanes(Layer::Ethernet);
        let mut forwarder = Forwarder::new(a, b, lanes, clock);
        let end = Time::ZERO + Span::from_secs(2);
        while forwarder.view().at < end {
            forwarder.turn(end).unwrap();
        }
        let lane = &forwarder.view().lanes[0];
        prop_assert!(lane.adds_up(), "{:#?}", lane);
        prop_assert_eq!(lane.counts.offered, count);
        prop_assert_eq!((lane.counts.delivered, lane.propagating, lane.free_slots), (forwarder.b.sent().len() as u64, 0, 60));
        let gone = lane.counts.no_slot + lane.anomalies.dropped() + lane.totals.dropped();
        prop_assert_eq!(lane.counts.delivered + gone, count);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_frames_are_read_or_refused(
        frame in valid(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        length in any::<prop::sample::Index>(),
        cut: bool,
    ) {
        let mut frame = frame;
        for (place, byte) in edits {
            let place = place.index(frame.len());
            frame[place] = byte;
        }
        if cut {
            frame.truncate(length.index(frame.len() + 1));
        }
        check_laws(Layer::Ethernet, &frame)?;
        check_laws(Layer::Ip, frame.get(14..).unwrap_or(&[]))?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(frame in prop::collection::vec(any::<u8>(), 0..200), version in 4..7_u8) {
        let mut frame = frame;
        check_laws(Layer::Ethernet, &frame)?;
        if let Some(first) = frame.first_mut() {
            *first = version << 4 | 5;
        }
        check_laws(Layer::Ip, &frame)?;
    }

    #[test]
    fn a_valid_frame_has_no_anomaly(frame in valid()) {
        let mut parser = Parser::new(Layer::Ethernet, KEY);
        let parsed = parser.parse(&frame);
        prop_assert!(parsed.is_ok_and(|parsed| parsed.header.is_some()));
        prop_assert_eq!(parser.anomalies.iter().count(), 0);
    }
}
