//! A discipline that sees flows and classes as the scenario's classifier makes them, at a port that counts the
//! simulator's own flows.
//!
//! What a flow's headers say never changes, so each is classified once, when the run begins. Scenarios that do not
//! classify do without this adaptor, and their packets without the tag.

use std::collections::BTreeMap;

use headgate_core::{Backlog, ClassId, Cx, Discipline, FlowId, Packet, Sink, Time, Why};
use headgate_scenario::{Hop, Scenario};

use crate::segment::{Segment, SimPacket};

/// What the discipline keeps with a packet: what it carries, and its flow in the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tagged {
    segment: Segment,
    flow: FlowId,
}

/// What a discipline is told of a flow's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    flow: FlowId,
    class: ClassId,
}

/// The adaptor around a discipline.
pub struct Classified<D> {
    inner: D,
    /// By the simulator's number of the flow.
    identities: Vec<Identity>,
}

impl<D> Classified<D> {
    /// Shows `inner` the packets of `scenario` that go over `hop`.
    pub fn new(inner: D, scenario: &Scenario, hop: Hop) -> Classified<D> {
        Classified { inner, identities: identities(scenario, hop) }
    }

    #[inline]
    fn tag(&self, packet: SimPacket) -> Packet<Tagged> {
        let Packet { arrived, flow, bytes, class: _, ecn, handle: segment } = packet;
        let seen = self.identities[flow.0 as usize];
        Packet { arrived, flow: seen.flow, bytes, class: seen.class, ecn, handle: Tagged { segment, flow } }
    }
}

#[inline]
fn untag(packet: Packet<Tagged>) -> SimPacket {
    let Packet { arrived, flow: _, bytes, class: _, ecn, handle: Tagged { segment, flow } } = packet;
    Packet { arrived, flow, bytes, class: ClassId(0), ecn, handle: segment }
}

/// A flow goes by the number of the first flow that the classifier does not tell it from. Where all are told apart, a
/// discipline sees the same numbers as without classes.
///
/// A direction of a link carries either the data of a flow, or what answers it, which has the header of a reply.
fn identities(scenario: &Scenario, hop: Hop) -> Vec<Identity> {
    // The numbers depend on which hashes are equal, not on the hashes: any key will do.
    let classifier = scenario.classifier(0);
    let mut first = BTreeMap::new();
    let carried = scenario.groups().zip(scenario.routes());
    let carried = carried.flat_map(|(group, route)| (0..group.flows).map(move |_| route.contains(&hop)));
    let numbered = (0..).zip(scenario.headers().zip(carried));
    numbered
        .map(|(number, (header, is_data))| {
            let header = if is_data { header } else { header.reply() };
            let class = classifier.class(&header);
            let flow = *first.entry(classifier.flow(&header, class)).or_insert(FlowId(number));
            Identity { flow, class }
        })
        .collect()
}

/// Takes the tags off what the discipline drops and marks.
struct Untag<'a>(&'a mut dyn Sink<Segment>);

impl Sink<Tagged> for Untag<'_> {
    fn dropped(&mut self, packet: Packet<Tagged>, why: Why, now: Time) {
        self.0.dropped(untag(packet), why, now);
    }
    fn marked(&mut self, packet: &Packet<Tagged>, why: Why, now: Time) {
        self.0.marked(&untag(*packet), why, now);
    }
}

/// Calls `job` with what the discipline may know of `cx`.
#[inline]
fn within<R>(cx: &mut Cx<'_, Segment>, job: impl FnOnce(&mut Cx<'_, Tagged>) -> R) -> R {
    let now = cx.now;
    let (rng, sink) = cx.split();
    job(&mut Cx::new(now, rng, &mut Untag(sink)))
}

impl<D: Discipline<Tagged>> Discipline<Segment> for Classified<D> {
    fn enqueue(&mut self, packet: SimPacket, cx: &mut Cx<'_, Segment>) {
        let packet = self.tag(packet);
        within(cx, |cx| self.inner.enqueue(packet, cx));
    }
    fn dequeue(&mut self, cx: &mut Cx<'_, Segment>) -> Option<SimPacket> {
        within(cx, |cx| self.inner.dequeue(cx)).map(untag)
    }
    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
    fn ready_at(&self, now: Time) -> Option<Time> {
        self.inner.ready_at(now)
    }
    fn shed(&mut self, cx: &mut Cx<'_, Segment>) {
        within(cx, |cx| self.inner.shed(cx));
    }
    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.inner.observe(gauge);
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.inner.observe_flow(self.identities[flow.0 as usize].flow, gauge);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use headgate_core::{Ecn, Rng};
    use headgate_scenario::{Changes, Direction};

    use super::*;

    const FLOWS: &str = "[[tcp]]\nname = 'web'\nflows = 2\nsource = '10.1.0.0/24'\n\
                         [[udp]]\nname = 'voice'\nflows = 2\nrate = '1Mbit/s'\ndscp = 'EF'\nsource = '10.2.0.1'\n\
                         [[class]]\nname = 'high'\ndscp = 'EF'\n[[class]]\nname = 'back'\nsource_port = 5001\n";

    fn scenario(flow: &str) -> Scenario {
        let text = format!(
            "name = 'c'\nduration = '1s'\nqdiscs = ['droptail']\nclassify.flow = '{flow}'\n\
             link = {{ rate = '10Mbit/s', delay = '10ms', limit = '9p' }}\n{FLOWS}"
        );
        Scenario::read(&text, "c.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Flow and class of each of the simulator's flows.
    fn seen(flow: &str, direction: Direction) -> Vec<(u64, u16)> {
        let identities = identities(&scenario(flow), Hop { link: 0, direction });
        identities.iter().map(|identity| (identity.flow.0, identity.class.0)).collect()
    }

    #[test]
    fn flows_that_the_key_does_not_tell_apart_go_by_the_first_of_them() {
        assert_eq!(seen("5-tuple", Direction::Forward), [(0, 0), (1, 0), (2, 1), (3, 1)]);
        assert_eq!(seen("source", Direction::Forward), [(0, 0), (1, 0), (2, 1), (2, 1)]);
        assert_eq!(seen("source/24", Direction::Forward), [(0, 0), (0, 0), (2, 1), (2, 1)]);
        assert_eq!(seen("class", Direction::Forward), [(0, 0), (0, 0), (2, 1), (2, 1)]);
    }

    #[test]
    fn what_comes_back_has_its_ends_exchanged() {
        assert_eq!(seen("source", Direction::Reverse), [(0, 2), (1, 2), (2, 1), (3, 1)]);
        assert_eq!(seen("destination", Direction::Reverse), [(0, 2), (1, 2), (2, 1), (2, 1)]);
    }

    /// Keeps two packets and notes what it sees; marks the first, drops what comes third or is shed.
    #[derive(Default)]
    struct Fake {
        held: VecDeque<Packet<Tagged>>,
        seen: Vec<(u64, u16)>,
    }

    impl Discipline<Tagged> for Fake {
        fn enqueue(&mut self, packet: Packet<Tagged>, cx: &mut Cx<'_, Tagged>) {
            self.seen.push((packet.flow.0, packet.class.0));
            match self.held.len() {
                0 => self.held.extend(cx.signal(packet, Why::Early, true)),
                1 => self.held.push_back(packet),
                _ => cx.drop(packet, Why::Overflow),
            }
        }
        fn dequeue(&mut self, _: &mut Cx<'_, Tagged>) -> Option<Packet<Tagged>> {
            self.held.pop_front()
        }
        fn backlog(&self) -> Backlog {
            Backlog { packets: self.held.len() as u32, bytes: self.held.iter().map(|p| u64::from(p.bytes)).sum() }
        }
    }

    /// What a port is told: flow, class, segment, reason, and whether it is a mark.
    #[derive(Default)]
    struct Told(Vec<(u64, u16, Segment, Why, bool)>);

    impl Sink<Segment> for Told {
        fn dropped(&mut self, packet: SimPacket, why: Why, _: Time) {
            self.0.push((packet.flow.0, packet.class.0, packet.handle, why, false));
        }
        fn marked(&mut self, packet: &SimPacket, why: Why, _: Time) {
            assert_eq!(packet.ecn, Ecn::Ce);
            self.0.push((packet.flow.0, packet.class.0, packet.handle, why, true));
        }
    }

    #[test]
    fn the_discipline_sees_flows_and_classes_and_the_port_its_own_packets() {
        let mut classified =
            Classified::new(Fake::default(), &scenario("source"), Hop { link: 0, direction: Direction::Forward });
        let (mut rng, mut told) = (Rng::new(1), Told::default());
        let packet =
            |flow| SimPacket { ecn: Ecn::Ect0, ..Packet::new(FlowId(flow), 100, Segment::data(flow as u32, true)) };
        let mut cx = Cx::new(Time::ZERO, &mut rng, &mut told);
        for flow in [3, 2, 1] {
            classified.enqueue(packet(flow), &mut cx);
        }
        assert_eq!(classified.backlog(), Backlog { packets: 2, bytes: 200 });
        assert_eq!(classified.dequeue(&mut cx), Some(SimPacket { ecn: Ecn::Ce, ..packet(3) }));
        classified.shed(&mut cx);
        assert_eq!(classified.dequeue(&mut cx), None);
        assert_eq!(classified.inner.seen, [(2, 1), (2, 1), (1, 0)]);
        let segment = |flow| Segment::data(flow, true);
        assert_eq!(
            told.0,
            [
                (3, 0, segment(3), Why::Early, true),
                (1, 0, segment(1), Why::Overflow, false),
                (2, 0, segment(2), Why::Overload, false),
            ]
        );
    }
}
