//! Same seed, same bytes. An added group leaves the random streams of the others unchanged.

use std::fmt::Write;

use aqm::registry::ENTRIES;
use aqm::{Counts, Why};
use headgate_measure::{EventRow, LinkRow, Outcome, PacketEvent};
use headgate_sim::run;

use crate::network::{Witness, go, scenario, witness};

const FLOWS: &str = r#"
[[tcp]]
flows = 3
start = "0s..1s"
ecn = true
[[tcp]]
name = "old"
profile = "ns2"
cc = "reno"
flows = 2
window = 60
send_jitter = "200us"
start = "0s..2s"
[[udp]]
rate = "2Mbit/s"
jitter = 0.3
stop = "6s"
"#;

/// FNV-1a, 64 bits: short, and the same everywhere.
struct Digest(u64);

/// The reasons in the digests' order.
const REASONS: [Why; 11] = [
    Why::Overflow,
    Why::Early,
    Why::Forced,
    Why::FlowLimit,
    Why::Unresponsive,
    Why::Prefilter,
    Why::Match,
    Why::HeavyHitter,
    Why::Bucket,
    Why::Sojourn,
    Why::Overload,
];

impl Digest {
    fn number(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    fn real(&mut self, real: f64) {
        self.number(real.to_bits());
    }
    fn counts(&mut self, counts: &Counts) {
        [counts.arrived, counts.sent, counts.sent_bytes].into_iter().for_each(|n| self.number(n));
        let drops = REASONS.map(|why| counts.drops(why));
        drops.into_iter().chain(REASONS.map(|why| counts.marks(why))).for_each(|n| self.number(n));
    }
    fn link(&mut self, link: &LinkRow) {
        self.counts(&link.counts);
        [link.utilization.unwrap(), link.queue_packets_mean, link.queue_bytes_mean]
            .into_iter()
            .for_each(|x| self.real(x));
        link.port.queue_delay.iter().for_each(|(value, count)| {
            self.real(value);
            self.number(count);
        });
    }
}

/// A hash of the outcome, without the number of events, which depends on the implementation.
fn digest(outcome: &Outcome) -> u64 {
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    for flow in &outcome.flows {
        [flow.flow.into(), flow.group.into(), flow.retransmits, flow.timeouts]
            .into_iter()
            .for_each(|n| digest.number(n));
        digest.counts(&flow.counts);
        [flow.goodput_bps, flow.fair_share_bps.unwrap_or(-1.0)].into_iter().for_each(|x| digest.real(x));
        [flow.cwnd_mean, flow.queue_delay_ms_mean].into_iter().for_each(|x| digest.real(x.unwrap_or(-1.0)));
    }
    for row in &outcome.intervals {
        row.metric.name().bytes().for_each(|byte| digest.number(byte.into()));
        digest.number(row.group.map_or(u64::MAX, u64::from));
        [row.time_s, row.value].into_iter().for_each(|x| digest.real(x));
    }
    digest.link(&outcome.links[0]);
    digest.link(&outcome.links[1]);
    digest.0
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_the_recorded_one() {
    let mut table = String::new();
    for entry in ENTRIES {
        let scenario = scenario("8s", entry.name, FLOWS);
        let outcome = go(&scenario);
        let (again, _) = witness(&scenario);
        assert_eq!(outcome, again, "an observer changes nothing");
        let other = run(&scenario, &scenario.qdiscs[0], 2, &mut Witness::new()).unwrap();
        assert_ne!(outcome, other, "another seed is another run");
        let counts = &outcome.links[0].counts;
        let (sent, dropped, marked) = (counts.sent, counts.dropped(), counts.marked());
        let digest = digest(&outcome);
        writeln!(table, "{:8} sent {sent:5} dropped {dropped:4} marked {marked:4} {digest:016x}", entry.name).unwrap();
    }
    crate::support::golden("tests/golden/outcomes.txt", &table, "bless");
}

/// Arrival times at the bottleneck of the flows from `first` on, renumbered from 0.
fn arrivals(events: &[EventRow], first: u32) -> Vec<(u64, u32)> {
    let arrived = events.iter().filter(|event| event.kind == PacketEvent::Arrived && event.flow >= first);
    arrived.map(|event| (event.time.as_nanos(), event.flow - first)).collect()
}

#[test]
fn adding_a_group_does_not_change_the_random_streams_of_other_groups() {
    // Starts and gaps of the UDP flows are random; nothing in the network can delay their arrival at the bottleneck.
    let here = "[[udp]]\nname = \"here\"\nflows = 5\nrate = \"200kbit/s\"\njitter = 1.0\nstart = \"0s..2s\"\n";
    let alone = witness(&scenario("5s", "red", here)).1;
    let more = "[[tcp]]\nflows = 3\nstart = \"0s..1s\"\nsend_jitter = \"1ms\"\n";
    let beside = witness(&scenario("5s", "red", &format!("{more}{here}"))).1;
    assert!(alone.len() > 500);
    assert_eq!(arrivals(&alone, 0), arrivals(&beside, 3));
    let start = |flow| arrivals(&alone, 0).into_iter().find(|(_, of)| *of == flow).expect("it sent").0;
    let starts: std::collections::BTreeSet<u64> = (0..5).map(start).collect();
    assert_eq!(starts.len(), 5, "each flow has a stream of its own");
}
