//! Fuzz targets: functions that accept any bytes and panic if a law of the parser is broken.
//!
//! | target | input | laws |
//! | --- | --- | --- |
//! | `frame` | a frame of an interface | it is parsed or counted as an anomaly; a mark changes ECN and checksum alone |
//! | `super_packet` | an offload header and a frame | the segments are those of the plain reference in `reference.rs` |
//! | `gateway` | options of a direction, then tables of classes | they are refused with their place, or a lane is built of them |
//! | `scenario` | the text of a scenario file | it is read or refused; a refusal names a place and fits a terminal |
//! | `qdisc` | a discipline as text | its printed form is read as the same discipline |
//! | `trace` | a capture or CSV file | writes are in order of time, and their sum is the trace's |
//!
//! `make fuzz` searches with libFuzzer. The test `corpus` runs each target over its corpus and over mutations of it. The folder
//! `fuzz/found` has inputs of libFuzzer that reach further code, for the targets where they are few.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod reference;

use aqm::{Qdisc, Span};
use headgate_live::io::offload::{OFFLOAD_HEADER, Offload, Segmentation};
use headgate_live::{LaneSettings, Layer, ParsedFrame, Parser, ecn};
use headgate_scenario::{Changes, Scenario};
use headgate_traffic::TrafficTrace;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name, which is also that of its program in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Folder with valid and invalid inputs, from the repository's root.
    pub corpus: &'static str,
    /// Runs the target on one input. Panics if a law is broken.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 6] = [
    Target { name: "frame", corpus: "crates/live/tests/corpus", run: frame },
    Target { name: "gateway", corpus: "fuzz/inputs/gateway", run: gateway },
    Target { name: "qdisc", corpus: "fuzz/inputs/qdisc", run: qdisc },
    Target { name: "scenario", corpus: "python/headgate/scenarios", run: scenario },
    Target { name: "super_packet", corpus: "fuzz/inputs/super_packet", run: super_packet },
    Target { name: "trace", corpus: "fuzz/inputs/trace", run: trace },
];

/// Most characters of a line in an error: a quoted excerpt of the input, and the sentence around it.
const LONGEST_LINE: usize = 2000;

/// The scenario that the options of a gateway change.
const LINK: &str = "name = 'link'\nduration = '1h'\nqdiscs = ['droptail']\n[link]\n[[tcp]]\n";

/// Slots of the largest lane that is built.
const MOST_SLOTS: u32 = 1024;

/// Parses `bytes` as a frame of either layer.
pub fn frame(bytes: &[u8]) {
    for layer in [Layer::Ethernet, Layer::Ip] {
        let mut parser = Parser::new(layer, 7);
        let result = parser.parse(bytes);
        assert_eq!(parser.anomalies.dropped(), u64::from(result.is_err()));
        if let Ok(ParsedFrame { ip: Some(at), flow, .. }) = result {
            let mut marked = bytes.to_vec();
            ecn::mark(&mut marked, at);
            let again = parser.parse(&marked).expect("a marked packet is as valid as before");
            assert_eq!((again.flow, again.ip, again.ecn.bits()), (flow, Some(at), 3));
            assert!(bytes.iter().zip(&marked).filter(|(before, after)| before != after).count() <= 3);
        }
    }
}

/// Segments a super-packet: an offload header, then a frame.
pub fn super_packet(bytes: &[u8]) {
    if let Some((frame, segments)) = segmented(bytes) {
        reference::check(frame, &segments);
    }
}

/// The frame behind an offload header, and its segments. `None` if it cannot be segmented.
fn segmented(bytes: &[u8]) -> Option<(&[u8], Vec<Vec<u8>>)> {
    let (header, frame) = bytes.split_first_chunk::<OFFLOAD_HEADER>()?;
    let segmentation = Segmentation::find(frame, Offload::read(*header))?;
    let mut room = vec![0xa5; segmentation.longest()];
    let segments = (0..segmentation.count()).map(|number| {
        let length = segmentation.write(frame, number, &mut room);
        room[..length].to_vec()
    });
    Some((frame, segments.collect()))
}

/// Reads `bytes` as a scenario file.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = Scenario::read(text, "fuzz.toml", &Changes::default()) {
        assert!(error.line.is_some(), "an error of a file has a line: {error}");
        is_printable(&error.to_string());
    }
}

/// Reads `bytes` as the scenario of a gateway's direction: lines `KEY=VALUE` of its link, an empty line, and the tables
/// of its classes. Python makes these from the gateway's options or its file (`python/headgate/live/options.py`).
pub fn gateway(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (options, classes) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut changes = Changes::default();
    for option in options.lines() {
        match option.strip_prefix("qdisc=") {
            Some(qdisc) => changes.qdiscs.push(qdisc.to_owned()),
            None => changes.set.push(format!("link.{option}")),
        }
    }
    match Scenario::read(&format!("{LINK}{classes}"), "link", &changes) {
        Ok(scenario) => is_buildable(&scenario),
        Err(error) => {
            assert!(error.line.is_some() || error.change.is_some(), "an error has a line or an option: {error}");
            is_printable(&error.to_string());
        }
    }
}

/// Asserts that a lane can be built. Large buffers are left out and slots are short: memory would take most of the time.
fn is_buildable(scenario: &Scenario) {
    let settings = LaneSettings { slot_bytes: 64, ..LaneSettings::of_bottleneck(scenario) };
    assert!(settings.slots > 0);
    if settings.slots <= MOST_SLOTS {
        settings.build(Layer::Ethernet, 1, "forward").expect("a lane of a scenario can be built");
    }
}

/// Reads `bytes` as a discipline.
pub fn qdisc(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(qdisc) = text.parse::<Qdisc>() {
        let again: Qdisc = qdisc.to_string().parse().expect("a printed discipline can be read");
        assert_eq!(again, qdisc);
        let current = qdisc.with_current_names(&mut |_, _| ());
        assert_eq!(current.with_current_names(&mut |old, _| panic!("{old} is a current name")), current);
    }
}

/// Reads `bytes` as a capture or as a CSV file, by their first bytes and as either kind.
pub fn trace(bytes: &[u8]) {
    for name in ["fuzz", "fuzz.csv", "fuzz.pcap"] {
        match TrafficTrace::read(bytes, name) {
            Ok(trace) => is_in_order(&trace),
            Err(error) => is_printable(&error.to_string()),
        }
    }
}

fn is_in_order(trace: &TrafficTrace) {
    let mut sum = 0;
    for flow in 0..trace.flows() {
        let mut latest = Span::ZERO;
        for index in trace.writes_of(flow) {
            let (at, bytes) = trace.write(index);
            assert!(at >= latest && bytes > 0, "write {index} of flow {flow}");
            latest = at;
            sum += u64::from(bytes);
        }
    }
    assert_eq!(sum, trace.bytes());
}

/// Asserts that a message neither floods nor controls a terminal.
fn is_printable(message: &str) {
    for line in message.lines() {
        assert!(line.chars().count() <= LONGEST_LINE, "a line of {} characters", line.chars().count());
        assert!(!line.chars().any(|character| character.is_control()), "{line:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    const SUPER_PACKETS: [&[u8]; 4] = [
        include_bytes!("../../inputs/super_packet/v4_tcp_options.bin"),
        include_bytes!("../../inputs/super_packet/v4_udp.bin"),
        include_bytes!("../../inputs/super_packet/v6_options.bin"),
        include_bytes!("../../inputs/super_packet/vlan.bin"),
    ];

    #[test]
    fn the_reference_notices_every_changed_byte_and_every_missing_segment() {
        for bytes in SUPER_PACKETS {
            let (frame, segments) = segmented(bytes).unwrap();
            assert!(segments.len() > 2);
            reference::check(frame, &segments);
            for number in 0..segments.len() {
                let mut fewer = segments.clone();
                fewer.remove(number);
                assert!(catch_unwind(|| reference::check(frame, &fewer)).is_err(), "without segment {number}");
            }
            for at in 0..segments[1].len() {
                let mut changed = segments.clone();
                changed[1][at] ^= 0x10;
                assert!(catch_unwind(|| reference::check(frame, &changed)).is_err(), "byte {at} of {}", frame.len());
            }
        }
    }
}
