//! The doors of the network: whose frame it is that comes in, which way it goes, and how long data took to the other door.

use headgate_core::parts::Histogram;
use headgate_core::{Packet, Span, Time};
use headgate_measure::{Counted, one_ways};
use headgate_scenario::{Direction, Hop, Scenario};

use super::access::Access;
use super::slots::Slots;
use crate::frame::Parsed;
use crate::load::flows::way;
use crate::load::ports::{self, Way};
use crate::pool::FrameId;

// A frame's tag: the number of its flow, and whether it is the flow's data. Behind the last flow's number are two for what is
// nobody's, forward and in reverse.
const DATA: u32 = 1 << 31;

/// The flow's number of a frame that was let in.
#[inline]
pub(super) fn flow(frame: &FrameId) -> u32 {
    frame.tag() & !DATA
}

#[inline]
fn is_data(frame: &FrameId) -> bool {
    frame.tag() & DATA != 0
}

impl Counted for FrameId {
    #[inline]
    fn flow(packet: &Packet<FrameId>) -> u32 {
        flow(&packet.handle)
    }

    #[inline]
    fn is_data(packet: &Packet<FrameId>) -> bool {
        is_data(&packet.handle)
    }
}

/// A way through the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// The numbers of its first and its last link's directions.
    pub(super) first: u16,
    pub(super) last: u16,
    /// From which host to which.
    pub(super) way: Direction,
}

/// Both doors.
pub(super) struct Doors {
    access: Access,
    /// By group, of data and of what answers it.
    courses: Vec<[Course; 2]>,
    /// By group: frames that are on links of their own before their first queue, and how many may be.
    coming: Vec<u32>,
    rooms: Vec<u32>,
    /// By slot: when the frame in it came from its host.
    taken: Vec<Time>,
    /// By group: what a full packet takes without queues, and what came to it.
    bases: Vec<Span>,
    excess: Vec<Histogram>,
}

impl Doors {
    /// Those of `scenario`, for frames in `slots`.
    pub(super) fn new(scenario: &Scenario, slots: &Slots) -> Doors {
        let course = |route: &[Hop]| {
            let way = way(route);
            let (first, last) = (route[0], route[route.len() - 1]);
            [
                Course { first: first.number(), last: last.number(), way },
                Course { first: last.back().number(), last: first.back().number(), way: way.back() },
            ]
        };
        let bases: Vec<Span> = one_ways(scenario).iter().map(|way| way.base).collect();
        Doors {
            access: Access::new(scenario),
            courses: scenario.routes().map(course).collect(),
            coming: vec![0; slots.rooms.len()],
            rooms: slots.rooms.clone(),
            taken: vec![Time::ZERO; slots.all as usize],
            excess: vec![Histogram::default(); bases.len()],
            bases,
        }
    }

    /// A frame of `bytes` that says this comes in, to go `way`: it is known from now on. Gives the moment at which it is at the
    /// queue of the first link of its course; `None` if its group has no room.
    pub(super) fn enter(
        &mut self,
        frame: &mut FrameId,
        parsed: &Parsed,
        bytes: u32,
        (now, way): (Time, Direction),
    ) -> Option<Time> {
        self.taken[frame.slot() as usize] = now;
        let ports = parsed.header.and_then(|header| ports::flow(header.source_port, header.destination_port));
        let known = ports.filter(|(flow, _)| (*flow as usize) < self.access.flows());
        let Some((flow, kind)) = known.filter(|known| self.of_flow(known.0 as usize, known.1).way == way) else {
            // Nobody's: straight to the queue.
            frame.set_tag((self.access.flows() + way as usize) as u32);
            return Some(now);
        };
        let group = self.access.group(flow as usize);
        self.coming[group] = Some(self.coming[group] + 1).filter(|coming| *coming <= self.rooms[group])?;
        frame.set_tag(if kind == Way::Data { flow | DATA } else { flow });
        Some(self.access.before((flow as usize, kind), bytes, now))
    }

    /// A frame that was let in is at its first queue.
    #[inline]
    pub(super) fn entered(&mut self, frame: &FrameId) {
        let number = flow(frame) as usize;
        if number < self.access.flows() {
            self.coming[self.access.group(number)] -= 1;
        }
    }

    fn of_flow(&self, flow: usize, kind: Way) -> Course {
        self.courses[self.access.group(flow)][kind as usize]
    }

    /// The way of a frame that was let in. What is nobody's goes over the first link.
    #[inline]
    pub(super) fn course(&self, frame: &FrameId) -> Course {
        let number = flow(frame) as usize;
        match number.checked_sub(self.access.flows()) {
            None => self.of_flow(number, kind(frame)),
            Some(0) => Course { first: 0, last: 0, way: Direction::Forward },
            Some(_) => Course { first: 1, last: 1, way: Direction::Reverse },
        }
    }

    /// When a packet reaches its host that comes out of the last link at `due`.
    #[inline]
    pub(super) fn behind(&mut self, frame: &FrameId, bytes: u32, due: Time) -> Time {
        let number = flow(frame) as usize;
        if number < self.access.flows() { self.access.behind((number, kind(frame)), bytes, due) } else { due }
    }

    /// A packet goes out to its host.
    #[inline]
    pub(super) fn left(&mut self, frame: &FrameId, now: Time) {
        if is_data(frame) {
            let group = self.access.group(flow(frame) as usize);
            let age = now - self.taken[frame.slot() as usize];
            self.excess[group].record((age - self.bases[group]).as_nanos());
        }
    }

    /// One-way delays count from now on.
    pub(super) fn restart(&mut self) {
        self.excess.fill(Histogram::default());
    }

    /// By group, how long data took from its sender's device to its receiver's, less what a full packet takes without queues.
    pub(super) fn excess(&self) -> &[Histogram] {
        &self.excess
    }
}

#[inline]
fn kind(frame: &FrameId) -> Way {
    if is_data(frame) { Way::Data } else { Way::Reply }
}
