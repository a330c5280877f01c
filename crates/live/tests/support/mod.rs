//! Packets and links for tests.

use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use aqm::{Ecn, Framing, Limit, Qdisc, Rate, Span, Time};
use etherparse::{IpNumber, Ipv4Header};
use headgate_live::pacing::Clock;
use headgate_live::{Lane, LaneSettings, Lanes, Layer, Pool};
use headgate_scenario::{DirectionSettings, FlowKey, Impairments, RateVariation};

#[allow(dead_code, reason = "each test uses a part of the module")]
pub mod memory;
#[allow(dead_code, reason = "each test uses a part of the module")]
pub mod namespace;

/// A clock that advances only in `wait`, at most one step at a time. Copies share the time.
#[derive(Clone)]
pub struct SteppedClock {
    now: Rc<Cell<Time>>,
    step: Span,
}

#[allow(dead_code, reason = "each test uses a part of the module")]
impl SteppedClock {
    /// A clock at zero.
    pub fn of(step: Span) -> SteppedClock {
        SteppedClock { now: Rc::default(), step }
    }

    pub fn now(&self) -> Time {
        self.now.get()
    }
}

impl Clock for SteppedClock {
    fn now(&mut self) -> Time {
        self.now.get()
    }
    fn wait(&mut self, until: Time, _: [Option<BorrowedFd<'_>>; 3]) -> io::Result<[bool; 2]> {
        self.now.set(until.min(self.now.get() + self.step));
        Ok([true; 2])
    }
    fn cpu(&self) -> Span {
        Span::ZERO
    }
}

/// An IPv4 packet of `bytes` bytes, 28 at the least, from UDP port `port`. Its data begins with `number`.
#[allow(dead_code, reason = "each test uses a part of the module")]
pub fn packet(port: u16, bytes: usize, ecn: Ecn, number: u32) -> Vec<u8> {
    let payload = bytes - Ipv4Header::MIN_LEN;
    let mut header = Ipv4Header::new(payload as u16, 64, IpNumber::UDP, [10, 0, 0, 1], [172, 16, 0, 1]).unwrap();
    header.ecn = ecn.bits().try_into().unwrap();
    header.header_checksum = header.calc_header_checksum();
    let mut packet = header.to_bytes().to_vec();
    packet.extend_from_slice(&port.to_be_bytes());
    packet.extend_from_slice(&9_u16.to_be_bytes());
    packet.extend_from_slice(&(payload as u16).to_be_bytes());
    packet.extend_from_slice(&[0, 0]);
    packet.extend_from_slice(&number.to_be_bytes());
    packet.resize(bytes, 0);
    packet
}

/// One direction of a link, with a queue of `limit` packets.
#[derive(Clone, Debug)]
pub struct TestDirection {
    pub direction_settings: DirectionSettings,
    pub delay: Span,
    pub qdisc: Qdisc,
    pub slots: u32,
    pub slot_bytes: usize,
}

#[allow(dead_code, reason = "each test uses a part of the module")]
impl TestDirection {
    pub fn new(mbit: u64, delay_ms: u64, limit: u32, qdisc: &str) -> TestDirection {
        let direction_settings = DirectionSettings {
            rate: Rate::from_bits(mbit * 1_000_000),
            rate_variation: RateVariation::Constant,
            framing: Framing::RAW,
            impairments: Impairments::default(),
            limit: Limit::Packets(limit),
            qdisc: None,
        };
        let delay = Span::from_millis(delay_ms);
        let slots = LaneSettings::slots(&direction_settings, delay);
        TestDirection {
            direction_settings,
            delay,
            qdisc: qdisc.parse().unwrap(),
            slots,
            slot_bytes: Pool::DEFAULT_SLOT,
        }
    }

    pub fn lane(&self, layer: Layer, label: &str) -> Box<dyn Lane> {
        self.settings().build(layer, 1, label).unwrap_or_else(|error| panic!("{}: {error}", self.qdisc))
    }

    /// Both directions, with the same settings.
    pub fn lanes(&self, layer: Layer) -> Lanes {
        ["forward", "reverse"].map(|label| Some(self.lane(layer, label)))
    }

    pub fn settings(&self) -> LaneSettings {
        LaneSettings {
            direction_settings: self.direction_settings.clone(),
            qdisc: self.qdisc.clone(),
            delay: self.delay,
            mean_rate: self.direction_settings.rate,
            mean_packet: 1000,
            flow_key: FlowKey::FiveTuple,
            rules: Vec::new(),
            classes: Vec::new(),
            slots: self.slots,
            slot_bytes: self.slot_bytes,
        }
    }
}
