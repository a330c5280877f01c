//! The access links of the flows, before and behind the network. The loop emulates them as delays. This module also
//! assigns each frame to its flow.

use aqm::parts::Histogram;
use aqm::{Packet, Span, Time};
use headgate_link::{DrawnDelays, Wire, WireProperties, drawn_delays};
use headgate_measure::{HasFlow, ReorderingMeter, SendingOrder, one_way_delays};
use headgate_scenario::{Direction, Hop, Scenario};

use super::slots::SlotBudget;
use crate::io::frame::ParsedFrame;
use crate::io::pool::FrameId;
use crate::load::flows;
use crate::load::ports::{self, PacketKind};

// A frame's tag is the number of its flow, with the bit `DATA` set for data. A frame that belongs to no flow has a tag
// above all flow numbers: the number of flows, plus its direction.
const DATA: u32 = 1 << 31;

#[inline]
pub(super) fn flow(frame: &FrameId) -> u32 {
    frame.tag() & !DATA
}

#[inline]
fn kind(frame: &FrameId) -> PacketKind {
    if frame.tag() & DATA != 0 { PacketKind::Data } else { PacketKind::Reply }
}

impl HasFlow for FrameId {
    #[inline]
    fn flow(packet: &Packet<FrameId>) -> u32 {
        flow(&packet.handle)
    }

    #[inline]
    fn is_data(packet: &Packet<FrameId>) -> bool {
        kind(&packet.handle) == PacketKind::Data
    }

    fn handle_bits(packet: &Packet<FrameId>) -> u64 {
        packet.handle.slot().into()
    }
}

/// A path from one host to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRoute {
    /// Direction numbers of the first and the last link on the path.
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) direction: Direction,
}

struct AccessGroup {
    /// By kind of packet (data, replies): the flow's own links before and behind the network.
    kinds: [[WireProperties; 2]; 2],
    /// By kind of packet (data, replies).
    routes: [HostRoute; 2],
    /// Frames on the flows' own links before their first queue, and their limit.
    before_queue: u32,
    most_before_queue: u32,
    drawn_delays: DrawnDelays,
    /// Least one-way delay of a full packet without queues.
    base: Span,
}

/// The flows' own links before the first queue of their route and behind its last link.
pub(super) struct AccessLinks {
    groups: Vec<AccessGroup>,
    /// By flow: its group, and its links for data and replies.
    flows: Vec<(u16, [[Wire; 2]; 2])>,
    /// By slot: when its frame arrived from the host, and its number among all frames that did. Frames that are read
    /// together have one time.
    entered: Vec<(Time, u32)>,
    latest_number: u32,
    /// By group: one-way delay of data between the hosts' devices, less the delay of a full packet without queues.
    pub(super) excess: Vec<Histogram>,
    /// Reordered data packets by flow, between the hosts' devices.
    pub(super) reordering: ReorderingMeter,
}

impl AccessLinks {
    pub(super) fn new(scenario: &Scenario, seed: u64, slots: &SlotBudget) -> AccessLinks {
        let tcp = scenario.tcp.iter().map(|group| (&group.sender, &group.receiver, [group.packet, group.ack]));
        let udp = scenario.udp.iter().map(|group| (&group.sender, &group.receiver, [group.packet, group.feedback]));
        let kinds = tcp.chain(udp).map(|(sender, receiver, [packet, reply])| {
            let [data, back] = [(packet, [sender, receiver]), (reply, [receiver, sender])];
            [data, back].map(|(bytes, ends)| ends.map(|end| WireProperties::new(end, bytes)))
        });
        let known = scenario.routes().map(routes).zip(&slots.group_limits).zip(one_way_delays(scenario));
        let known = known.zip(drawn_delays(scenario, seed));
        let groups =
            kinds.zip(known).map(|(kinds, (((routes, most_before_queue), one_way), drawn_delays))| AccessGroup {
                kinds,
                routes,
                drawn_delays,
                before_queue: 0,
                most_before_queue: *most_before_queue,
                base: one_way.base,
            });
        let groups: Vec<AccessGroup> = groups.collect();
        let flows = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index as u16));
        AccessLinks {
            flows: flows.map(|group| (group, Default::default())).collect(),
            entered: vec![(Time::ZERO, 0); slots.all as usize],
            latest_number: 0,
            reordering: ReorderingMeter::new(scenario.total_flows() as usize),
            excess: vec![Histogram::default(); groups.len()],
            groups,
        }
    }

    /// Tags a frame that enters in `direction`. Returns when it reaches its first queue; `None` if its group is full.
    pub(super) fn enter(
        &mut self,
        packet: &mut Packet<FrameId>,
        parsed: &ParsedFrame,
        (now, direction): (Time, Direction),
    ) -> Option<Time> {
        let frame = &mut packet.handle;
        self.latest_number = self.latest_number.wrapping_add(1);
        self.entered[frame.slot() as usize] = (now, self.latest_number);
        let ports = parsed.header.and_then(|header| ports::flow(header.source_port, header.destination_port));
        let flow_and_kind = ports.filter(|(flow, kind)| {
            let flow = self.flows.get(*flow as usize);
            flow.is_some_and(|(group, _)| {
                self.groups[usize::from(*group)].routes[*kind as usize].direction == direction
            })
        });
        let Some((flow, kind)) = flow_and_kind else {
            // A frame of no flow has no link of its own and reaches the queue at once.
            frame.set_tag((self.flows.len() + direction as usize) as u32);
            return Some(now);
        };
        let group = &mut self.groups[usize::from(self.flows[flow as usize].0)];
        group.before_queue =
            Some(group.before_queue + 1).filter(|before_queue| *before_queue <= group.most_before_queue)?;
        frame.set_tag(if kind == PacketKind::Data { flow | DATA } else { flow });
        Some(self.wire_exit(&packet.handle, packet.bytes, now, 0))
    }

    /// Records that a frame reached its first queue.
    #[inline]
    pub(super) fn reached_queue(&mut self, frame: &FrameId) {
        if let Some((group, _)) = self.flows.get(flow(frame) as usize) {
            self.groups[usize::from(*group)].before_queue -= 1;
        }
    }

    /// The route of a tagged frame. Frames of no flow cross the first link.
    #[inline]
    pub(super) fn route(&self, frame: &FrameId) -> HostRoute {
        let number = flow(frame) as usize;
        match self.flows.get(number) {
            Some((group, _)) => self.groups[usize::from(*group)].routes[kind(frame) as usize],
            None if number == self.flows.len() => HostRoute { first: 0, last: 0, direction: Direction::Forward },
            None => HostRoute { first: 1, last: 1, direction: Direction::Reverse },
        }
    }

    /// When a packet that leaves the last link at `due` reaches its host.
    #[inline]
    pub(super) fn host_arrival(&mut self, frame: &FrameId, bytes: u32, due: Time) -> Time {
        self.wire_exit(frame, bytes, due, 1)
    }

    /// When a packet leaves its flow's own link, before (0) or behind (1) the network.
    #[inline]
    fn wire_exit(&mut self, frame: &FrameId, bytes: u32, now: Time, end: usize) -> Time {
        let kind = kind(frame) as usize;
        let number = flow(frame);
        let Some((group, wires)) = self.flows.get_mut(number as usize) else { return now };
        let group = &self.groups[usize::from(*group)];
        let delays = group.drawn_delays.of_flow(number);
        // Replies begin at the receiver.
        let drawn_delay = if kind == PacketKind::Data as usize { delays[end] } else { delays[1 - end] };
        wires[kind][end].pass_sized(now, bytes, &group.kinds[kind][end]) + drawn_delay
    }

    /// Records the delay of a data packet, and whether it was reordered, when the loop delivers it to its host.
    #[inline]
    pub(super) fn record_delivery(&mut self, frame: &FrameId, now: Time) {
        if kind(frame) == PacketKind::Data {
            let flow = flow(frame) as usize;
            let group = usize::from(self.flows[flow].0);
            let (entered_at, number) = self.entered[frame.slot() as usize];
            self.excess[group].record((now - entered_at - self.groups[group].base).as_nanos());
            self.reordering.packet_arrives(flow, SendingOrder::new(entered_at, number), true);
        }
    }

    pub(super) fn restart(&mut self) {
        self.excess.fill(Histogram::default());
        self.reordering.restart();
    }
}

/// The routes of data over `hops`, and of its replies.
fn routes(hops: &[Hop]) -> [HostRoute; 2] {
    let direction = flows::direction(hops);
    let (first, last) = (hops[0], hops[hops.len() - 1]);
    [
        HostRoute { first: first.number(), last: last.number(), direction },
        HostRoute { first: last.back().number(), last: first.back().number(), direction: direction.back() },
    ]
}

#[cfg(test)]
mod tests {
    use headgate_scenario::Changes;

    use super::*;
    use crate::io::pool::Pool;

    #[test]
    fn a_flow_queues_behind_its_own_packets_only_and_every_group_has_its_own_delay() {
        let text = "name = 'a'\nduration = '1s'\nqdiscs = ['droptail']\n\
                    link = { rate = '10Mbit/s', delay = '10ms', limit = '9p' }\n\
                    [[tcp]]\nflows = 2\npacket = '1000B'\nack = '40B'\n\
                    sender = { rate = '8Mbit/s', delay = '3ms' }\nreceiver = { rate = '80Mbit/s', delay = '1ms' }\n";
        let scenario = Scenario::read(text, "a.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let micros = |micros| Time::ZERO + Span::from_micros(micros);
        let mut access = AccessLinks::new(&scenario, 1, &SlotBudget::of(&scenario));
        let mut frame = Pool::new(1, 64).take().unwrap();
        let [before, behind] = [0, 1];
        let mut pass = |tag, bytes, end| {
            frame.set_tag(tag);
            access.wire_exit(&frame, bytes, Time::ZERO, end)
        };
        // 1000 bytes take 1 ms at 8 Mbit/s and 0.1 ms at 80. Only packets of the same flow wait.
        assert_eq!(pass(DATA, 1000, before), micros(4000));
        assert_eq!(pass(DATA, 1000, before), micros(5000));
        assert_eq!(pass(1 | DATA, 1000, before), micros(4000));
        assert_eq!(pass(DATA, 1000, behind), micros(1100));
        // A reply uses the links of the other direction: its 40 bytes take 4 us and 40 us.
        assert_eq!(pass(0, 40, before), micros(1004));
        assert_eq!(pass(0, 40, behind), micros(3040));
    }

    #[test]
    fn data_that_leaves_after_data_that_entered_later_is_reordered() {
        let text = "name = 'a'\nduration = '1s'\nqdiscs = ['droptail']\n\
                    link = { rate = '10Mbit/s', delay = '10ms', limit = '9p' }\n[[udp]]\nflows = 2\nrate = '1Mbit/s'\n";
        let scenario = Scenario::read(text, "a.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let mut access = AccessLinks::new(&scenario, 1, &SlotBudget::of(&scenario));
        let mut pool = Pool::new(4, 64);
        let mut frames: Vec<FrameId> = (0..4).map(|_| pool.take().unwrap()).collect();
        // The first two are read together. The third is a reply, the last of another flow.
        let entered = [(1, DATA), (1, DATA), (2, 0), (0, 1 | DATA)];
        for ((frame, (millis, tag)), number) in frames.iter_mut().zip(entered).zip(1..) {
            frame.set_tag(tag);
            access.entered[frame.slot() as usize] = (Time::ZERO + Span::from_millis(millis), number);
        }
        let out = Time::ZERO + Span::from_millis(50);
        [2, 1, 0, 3].into_iter().for_each(|place| access.record_delivery(&frames[place], out));
        assert_eq!([0, 1].map(|flow| access.reordering.of_flow(flow)), [1, 0]);
    }

    #[test]
    fn a_flow_with_a_drawn_delay_has_it_at_its_end_in_both_directions() {
        let text = "name = 'a'\nduration = '1s'\nqdiscs = ['droptail']\n\
                    link = { rate = '10Mbit/s', delay = '10ms', limit = '9p' }\n[[tcp]]\n\
                    [[tcp]]\nname = 'far'\nflows = 2\npacket = '1000B'\nack = '1000B'\n\
                    sender = { rate = '8Mbit/s', delay = 'uniform(5ms,90ms)' }\n\
                    receiver = { rate = '8Mbit/s', delay = '3ms' }\n";
        let scenario = Scenario::read(text, "a.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let draws: Vec<[Span; 2]> = scenario.tcp[1].access_delays(7).collect();
        assert!(draws[0][0] != draws[1][0] && draws[0][1] == Span::from_millis(3), "{draws:?}");
        let mut access = AccessLinks::new(&scenario, 7, &SlotBudget::of(&scenario));
        let mut frame = Pool::new(1, 64).take().unwrap();
        // The first flow is of the other group. 1000 bytes take 1 ms at 8 Mbit/s.
        for (flow, [sender, receiver]) in (1..).zip(draws) {
            for (tag, ends) in [(flow | DATA, [sender, receiver]), (flow, [receiver, sender])] {
                frame.set_tag(tag);
                let exits = [0, 1].map(|end| access.wire_exit(&frame, 1000, Time::ZERO, end));
                assert_eq!(exits, ends.map(|delay| Time::ZERO + Span::from_millis(1) + delay));
            }
        }
        // Least delays and 1 ms on both ends, 10 ms and 0.8 ms on the link.
        let least = Span::from_millis(5 + 1 + 10 + 3 + 1) + Span::from_micros(800);
        assert_eq!(access.groups[1].base, least);
    }
}
