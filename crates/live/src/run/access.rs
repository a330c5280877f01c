//! The flows' own links between their hosts and the network, which live are a delay in the loop; and whose frame is which.

use headgate_core::parts::Histogram;
use headgate_core::{Packet, Span, Time};
use headgate_link::{Wire, WireKind};
use headgate_measure::{Counted, one_ways};
use headgate_scenario::{Direction, Hop, Scenario};

use super::slots::Slots;
use crate::io::frame::Parsed;
use crate::io::pool::FrameId;
use crate::load::flows;
use crate::load::ports::{self, PacketKind};

// A frame's tag: the number of its flow, and whether it is the flow's data. Behind the last flow's number are two for frames
// of no flow, forward and in reverse.
const DATA: u32 = 1 << 31;

/// The flow's number of a frame that was let in.
#[inline]
pub(super) fn flow(frame: &FrameId) -> u32 {
    frame.tag() & !DATA
}

#[inline]
fn kind(frame: &FrameId) -> PacketKind {
    if frame.tag() & DATA != 0 { PacketKind::Data } else { PacketKind::Reply }
}

impl Counted for FrameId {
    #[inline]
    fn flow(packet: &Packet<FrameId>) -> u32 {
        flow(&packet.handle)
    }

    #[inline]
    fn is_data(packet: &Packet<FrameId>) -> bool {
        kind(&packet.handle) == PacketKind::Data
    }
}

/// From one host to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// The numbers of its first and its last link's directions.
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) direction: Direction,
}

/// What is known of a group.
struct Group {
    /// For data and for replies: the link before the network, and the one behind.
    kinds: [[WireKind; 2]; 2],
    /// Of data and of replies.
    routes: [Route; 2],
    /// Frames that are before their first queue, and how many may be.
    coming: u32,
    room: u32,
    /// How long a full packet takes from sender to receiver without queues.
    base: Span,
}

/// The links of all flows before the first queue of their route, and behind its last link.
pub(super) struct Access {
    groups: Vec<Group>,
    /// By flow: its group, and its own links.
    flows: Vec<(u16, [[Wire; 2]; 2])>,
    /// By slot: when the frame in it came from its host.
    taken: Vec<Time>,
    /// By group, how long data took from its sender's device to its receiver's, less what a full packet takes without queues.
    pub(super) excess: Vec<Histogram>,
}

impl Access {
    /// Those of `scenario`, for frames in `slots`.
    pub(super) fn new(scenario: &Scenario, slots: &Slots) -> Access {
        let tcp = scenario.tcp.iter().map(|group| (&group.sender, &group.receiver, [group.packet, group.ack]));
        let udp = scenario.udp.iter().map(|group| (&group.sender, &group.receiver, [group.packet, group.feedback]));
        let kinds = tcp.chain(udp).map(|(sender, receiver, [packet, reply])| {
            let [data, back] = [(packet, [sender, receiver]), (reply, [receiver, sender])];
            [data, back].map(|(bytes, ends)| ends.map(|end| WireKind::new(end, bytes)))
        });
        let known = scenario.routes().map(routes).zip(&slots.rooms).zip(one_ways(scenario));
        let groups = kinds.zip(known).map(|(kinds, ((routes, room), one_way))| Group {
            kinds,
            routes,
            coming: 0,
            room: *room,
            base: one_way.base,
        });
        let groups: Vec<Group> = groups.collect();
        let flows = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index as u16));
        Access {
            flows: flows.map(|group| (group, Default::default())).collect(),
            taken: vec![Time::ZERO; slots.all as usize],
            excess: vec![Histogram::default(); groups.len()],
            groups,
        }
    }

    /// A packet that says this comes in, to go `direction`: it is known from now on. Gives the moment at which it is at the first
    /// queue of its route; `None` if its group has no room.
    pub(super) fn enter(
        &mut self,
        packet: &mut Packet<FrameId>,
        parsed: &Parsed,
        (now, direction): (Time, Direction),
    ) -> Option<Time> {
        let frame = &mut packet.handle;
        self.taken[frame.slot() as usize] = now;
        let ports = parsed.header.and_then(|header| ports::flow(header.source_port, header.destination_port));
        let known = ports.filter(|(flow, kind)| {
            let flow = self.flows.get(*flow as usize);
            flow.is_some_and(|(group, _)| {
                self.groups[usize::from(*group)].routes[*kind as usize].direction == direction
            })
        });
        let Some((flow, kind)) = known else {
            // Of no flow: straight to the queue.
            frame.set_tag((self.flows.len() + direction as usize) as u32);
            return Some(now);
        };
        let group = &mut self.groups[usize::from(self.flows[flow as usize].0)];
        group.coming = Some(group.coming + 1).filter(|coming| *coming <= group.room)?;
        frame.set_tag(if kind == PacketKind::Data { flow | DATA } else { flow });
        Some(self.pass(&packet.handle, packet.bytes, now, 0))
    }

    /// A frame that was let in is at its first queue.
    #[inline]
    pub(super) fn entered(&mut self, frame: &FrameId) {
        if let Some((group, _)) = self.flows.get(flow(frame) as usize) {
            self.groups[usize::from(*group)].coming -= 1;
        }
    }

    /// The route of a frame that was let in. A frame of no flow goes over the first link.
    #[inline]
    pub(super) fn route(&self, frame: &FrameId) -> Route {
        let number = flow(frame) as usize;
        match self.flows.get(number) {
            Some((group, _)) => self.groups[usize::from(*group)].routes[kind(frame) as usize],
            None if number == self.flows.len() => Route { first: 0, last: 0, direction: Direction::Forward },
            None => Route { first: 1, last: 1, direction: Direction::Reverse },
        }
    }

    /// When a packet reaches its host that comes out of the last link at `due`.
    #[inline]
    pub(super) fn behind(&mut self, frame: &FrameId, bytes: u32, due: Time) -> Time {
        self.pass(frame, bytes, due, 1)
    }

    /// When a packet comes out of its flow's own link, that before the network or the one behind.
    #[inline]
    fn pass(&mut self, frame: &FrameId, bytes: u32, now: Time, end: usize) -> Time {
        let kind = kind(frame) as usize;
        let Some((group, wires)) = self.flows.get_mut(flow(frame) as usize) else { return now };
        wires[kind][end].pass_sized(now, bytes, &self.groups[usize::from(*group)].kinds[kind][end])
    }

    /// A packet goes out to its host.
    #[inline]
    pub(super) fn left(&mut self, frame: &FrameId, now: Time) {
        if kind(frame) == PacketKind::Data {
            let group = usize::from(self.flows[flow(frame) as usize].0);
            let age = now - self.taken[frame.slot() as usize];
            self.excess[group].record((age - self.groups[group].base).as_nanos());
        }
    }

    /// One-way delays count from now on.
    pub(super) fn restart(&mut self) {
        self.excess.fill(Histogram::default());
    }
}

/// The routes of data that goes over `hops`, and of its replies.
fn routes(hops: &[Hop]) -> [Route; 2] {
    let direction = flows::direction(hops);
    let (first, last) = (hops[0], hops[hops.len() - 1]);
    [
        Route { first: first.number(), last: last.number(), direction },
        Route { first: last.back().number(), last: first.back().number(), direction: direction.back() },
    ]
}

#[cfg(test)]
mod tests {
    use headgate_scenario::Changes;

    use super::*;
    use crate::io::pool::Pool;

    #[test]
    fn a_flow_waits_for_itself_alone_and_every_group_has_its_own_delay() {
        let text = "name = 'a'\nduration = '1s'\nqdiscs = ['droptail']\n\
                    link = { rate = '10Mbit/s', delay = '10ms', limit = '9p' }\n\
                    [[tcp]]\nflows = 2\npacket = '1000B'\nack = '40B'\n\
                    sender = { rate = '8Mbit/s', delay = '3ms' }\nreceiver = { rate = '80Mbit/s', delay = '1ms' }\n";
        let scenario = Scenario::read(text, "a.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let micros = |micros| Time::ZERO + Span::from_micros(micros);
        let mut access = Access::new(&scenario, &Slots::of(&scenario));
        let mut frame = Pool::new(1, 64).take().unwrap();
        let [before, behind] = [0, 1];
        let mut pass = |tag, bytes, end| {
            frame.set_tag(tag);
            access.pass(&frame, bytes, Time::ZERO, end)
        };
        // 1000 bytes take 1 ms at 8 Mbit/s and 0.1 ms at 80: the second packet waits for the first, another flow's does not.
        assert_eq!(pass(DATA, 1000, before), micros(4000));
        assert_eq!(pass(DATA, 1000, before), micros(5000));
        assert_eq!(pass(1 | DATA, 1000, before), micros(4000));
        assert_eq!(pass(DATA, 1000, behind), micros(1100));
        // A reply goes the other way: 40 bytes take 4 us and 40 us.
        assert_eq!(pass(0, 40, before), micros(1004));
        assert_eq!(pass(0, 40, behind), micros(3040));
    }
}
