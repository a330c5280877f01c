//! A link's packets as a pcapng file: the packets that tcpdump would record on the sending interface, and the packets
//! that the discipline dropped.
//!
//! Each direction has two interfaces. The first has packets at the start of their transmission; the second has
//! dropped packets, with the reason in a comment. Only headers are kept.
//!
//! Simulated connections start established, but readers of captures need the handshake to scale windows and to know
//! the options. A synthetic handshake therefore precedes a connection's first packet, at the same time. Its comment
//! says that it was not simulated.

mod formats;
mod frame;
mod tcp_format;
#[cfg(test)]
mod tests;

use aqm::{Time, Why};
use headgate_measure::pcapng::{Blocks, Captured, LinkType};
use headgate_scenario::{Direction, Link, Scenario};

use self::formats::FrameFormats;
use self::frame::{Frame, MAX_HEADERS};
use crate::segment::{AckOptionSlab, SimPacket};

pub struct Captures {
    formats: FrameFormats,
    /// By link.
    links: Vec<Option<LinkCapture>>,
}

/// The capture of one link, both directions.
struct LinkCapture {
    blocks: Blocks,
    /// By flow: whether the handshake was written.
    handshake_written: Vec<bool>,
}

const NOT_SIMULATED: &str = "not simulated: connections are established when they start";

impl Captures {
    /// The captures that `scenario` requests, if any.
    pub fn new(scenario: &Scenario) -> Option<Captures> {
        let wanted = &scenario.record.capture;
        if wanted.is_empty() {
            return None;
        }
        let formats = FrameFormats::new(scenario);
        let flows = formats.flows();
        let capture = |(number, link)| wanted.contains(&number).then(|| LinkCapture::new(link, flows));
        let links = (0..).zip(&scenario.links).map(capture).collect();
        Some(Captures { formats, links })
    }

    /// Captures a packet whose transmission begins; `number` counts both directions of every link.
    pub fn sent(&mut self, number: u16, packet: &SimPacket, now: Time, ack_options: &AckOptionSlab) {
        self.write_packet((number, 0), packet, now, ack_options, &[]);
    }

    /// Captures a dropped packet.
    pub fn dropped(&mut self, number: u16, packet: &SimPacket, why: Why, now: Time, ack_options: &AckOptionSlab) {
        self.write_packet((number, 2), packet, now, ack_options, &["dropped: ", why.name()]);
    }

    /// Writes a packet to an interface of direction `number`; `first` is the forward direction's interface.
    fn write_packet(
        &mut self,
        (number, first): (u16, u32),
        packet: &SimPacket,
        now: Time,
        ack_options: &AckOptionSlab,
        comment: &[&str],
    ) {
        let (link, direction) = (usize::from(number / 2), Direction::BOTH[usize::from(number % 2)]);
        if let Some(capture) = &mut self.links[link] {
            capture.write_handshake((packet, number), direction, now, &self.formats);
            capture.write_frame(
                &self.formats.frame(packet, number, ack_options),
                first + direction as u32,
                now,
                comment,
            );
        }
    }

    /// Calls `write` with the number of each captured link and the bytes since the last call.
    pub fn take(&mut self, mut write: impl FnMut(u16, &[u8])) {
        for (number, capture) in self.links.iter_mut().enumerate() {
            if let Some(LinkCapture { blocks, .. }) = capture {
                write(number as u16, blocks.bytes());
                blocks.clear();
            }
        }
    }
}

impl LinkCapture {
    fn new(link: &Link, flows: usize) -> LinkCapture {
        let mut blocks = Blocks::default();
        blocks.section();
        for (suffix, what) in [("", "sent"), (" drops", "dropped")] {
            for (direction, from, to) in
                [(Direction::Forward, &link.from, &link.to), (Direction::Reverse, &link.to, &link.from)]
            {
                let name = format!("{} {direction}{suffix}", link.name);
                let description = format!("packets {what} from {from} to {to}");
                blocks.interface(&name, &description, LinkType::Raw, MAX_HEADERS as u32);
            }
        }
        LinkCapture { blocks, handshake_written: vec![false; flows] }
    }

    /// Writes the handshake before a connection's first packet.
    fn write_handshake(
        &mut self,
        (packet, link): (&SimPacket, u16),
        direction: Direction,
        now: Time,
        formats: &FrameFormats,
    ) {
        if std::mem::replace(&mut self.handshake_written[packet.flow.0 as usize], true) {
            return;
        }
        let data_direction = if packet.handle.is_reply() { direction.back() } else { direction };
        for (frame, is_forward) in formats.handshake(packet, link).into_iter().flatten() {
            let direction = if is_forward { data_direction } else { data_direction.back() };
            self.write_frame(&frame, direction as u32, now, &[NOT_SIMULATED]);
        }
    }

    fn write_frame(&mut self, frame: &Frame, interface: u32, now: Time, comment: &[&str]) {
        let (nanos, bytes) = (now.as_nanos(), frame.bytes());
        self.blocks.packet(&Captured { interface, nanos, length: frame.length, bytes, comment });
    }
}
