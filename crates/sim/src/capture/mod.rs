//! A link's packets as a pcapng file: what tcpdump would see at its exit, and what was dropped before it.
//!
//! Packets are captured as they begin to be sent, on one interface a direction; packets that were dropped, as they
//! were, on a second one, with the reason in a comment. Only headers are kept.
//!
//! The simulator's connections are established when they start. A reader of captures must see how, or it could neither
//! scale windows nor know what was agreed: before a connection's first packet comes the handshake that would have
//! opened it, at the same moment, its comment saying that it was not simulated.

mod formats;
mod frame;
mod segments;
#[cfg(test)]
mod tests;

use headgate_core::{Time, Why};
use headgate_measure::pcapng::{Blocks, Captured, LinkType};
use headgate_scenario::{Direction, Link, Scenario};

use self::formats::Formats;
use self::frame::{Frame, MOST_HEADERS};
use crate::segment::{Sacks, SimPacket};

/// The captures of a run.
pub struct Captures {
    formats: Formats,
    /// By link.
    links: Vec<Option<Capture>>,
}

/// The capture of one link, both directions.
struct Capture {
    blocks: Blocks,
    /// By flow: the handshake was written.
    greeted: Vec<bool>,
}

const NOT_SIMULATED: &str = "not simulated: connections are established when they start";

impl Captures {
    /// Those that `scenario` asks for, if it asks for any.
    pub fn new(scenario: &Scenario) -> Option<Captures> {
        let wanted = &scenario.record.capture;
        if wanted.is_empty() {
            return None;
        }
        let formats = Formats::new(scenario);
        let flows = formats.flows();
        let capture = |(number, link)| wanted.contains(&number).then(|| Capture::new(link, flows));
        let links = (0..).zip(&scenario.links).map(capture).collect();
        Some(Captures { formats, links })
    }

    /// A packet begins to be sent at direction `number` of all.
    pub fn sent(&mut self, number: u16, packet: &SimPacket, now: Time, sacks: &Sacks) {
        self.note((number, 0), packet, now, sacks, &[]);
    }

    /// A packet is dropped at direction `number` of all.
    pub fn dropped(&mut self, number: u16, packet: &SimPacket, why: Why, now: Time, sacks: &Sacks) {
        self.note((number, 2), packet, now, sacks, &["dropped: ", why.name()]);
    }

    /// Writes a packet on the interface of a direction: `first` is that of forward.
    fn note(&mut self, (number, first): (u16, u32), packet: &SimPacket, now: Time, sacks: &Sacks, comment: &[&str]) {
        let (link, direction) = (usize::from(number / 2), Direction::BOTH[usize::from(number % 2)]);
        if let Some(capture) = &mut self.links[link] {
            capture.greet(packet, direction, now, &self.formats);
            capture.write(&self.formats.frame(packet, sacks), first + direction as u32, now, comment);
        }
    }

    /// Hands over what was written since the last call: the number of each captured link, and bytes to be appended.
    pub fn take(&mut self, mut hand: impl FnMut(u16, &[u8])) {
        for (number, capture) in self.links.iter_mut().enumerate() {
            if let Some(Capture { blocks, .. }) = capture {
                hand(number as u16, blocks.bytes());
                blocks.clear();
            }
        }
    }
}

impl Capture {
    /// Nothing captured yet of `link`.
    fn new(link: &Link, flows: usize) -> Capture {
        let mut blocks = Blocks::default();
        blocks.section();
        for (suffix, what) in [("", "sent"), (" drops", "dropped")] {
            for (direction, from, to) in
                [(Direction::Forward, &link.from, &link.to), (Direction::Reverse, &link.to, &link.from)]
            {
                let name = format!("{} {direction}{suffix}", link.name);
                let description = format!("packets {what} from {from} to {to}");
                blocks.interface(&name, &description, LinkType::Raw, MOST_HEADERS as u32);
            }
        }
        Capture { blocks, greeted: vec![false; flows] }
    }

    /// The handshake, before the first packet of a connection.
    fn greet(&mut self, packet: &SimPacket, direction: Direction, now: Time, formats: &Formats) {
        if std::mem::replace(&mut self.greeted[packet.flow.0 as usize], true) {
            return;
        }
        let forth = if packet.handle.is_reply() { direction.back() } else { direction };
        for (frame, with_the_data) in formats.handshake(packet).into_iter().flatten() {
            let way = if with_the_data { forth } else { forth.back() };
            self.write(&frame, way as u32, now, &[NOT_SIMULATED]);
        }
    }

    fn write(&mut self, frame: &Frame, interface: u32, now: Time, comment: &[&str]) {
        let (nanos, bytes) = (now.as_nanos(), frame.bytes());
        self.blocks.packet(&Captured { interface, nanos, length: frame.length, bytes, comment });
    }
}
