//! Adapts a discipline to a scenario's classifier. The discipline sees the classifier's flows and classes; the port
//! counts the simulator's flows.
//!
//! A flow's headers never change, so each flow is classified once, when the run begins. Scenarios without a
//! classifier need neither this adapter nor the tag on packets.

use aqm::{AckHeader, Backlog, ClassId, Cx, Discipline, FlowId, Packet, PacketHeaders, Sink, Time, Why};
use headgate_scenario::{Hop, Identity, Scenario};

use crate::segment::{Segment, SimPacket};

/// A packet's contents and its flow number in the simulator, as the discipline stores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedSegment {
    segment: Segment,
    flow: FlowId,
}

pub struct Classified<D> {
    inner: D,
    /// Indexed by the simulator's flow number.
    identities: Vec<Identity>,
}

impl<D> Classified<D> {
    /// Wraps `inner` for the packets of `scenario` at `hop`.
    pub fn new(inner: D, scenario: &Scenario, hop: Hop) -> Classified<D> {
        Classified { inner, identities: scenario.identities(hop) }
    }

    #[inline]
    fn tag(&self, packet: SimPacket) -> Packet<TaggedSegment> {
        let Packet { arrived, flow, bytes, class: _, ecn, handle: segment } = packet;
        let seen = self.identities[flow.0 as usize];
        Packet { arrived, flow: seen.flow, bytes, class: seen.class, ecn, handle: TaggedSegment { segment, flow } }
    }
}

#[inline]
fn untag(packet: Packet<TaggedSegment>) -> SimPacket {
    let Packet { arrived, flow: _, bytes, class: _, ecn, handle: TaggedSegment { segment, flow } } = packet;
    Packet { arrived, flow, bytes, class: ClassId(0), ecn, handle: segment }
}

/// Removes the tags from dropped and marked packets.
struct Untag<'a>(&'a mut dyn Sink<Segment>);

impl Sink<TaggedSegment> for Untag<'_> {
    fn dropped(&mut self, packet: Packet<TaggedSegment>, why: Why, now: Time) {
        self.0.dropped(untag(packet), why, now);
    }
    fn marked(&mut self, packet: &Packet<TaggedSegment>, why: Why, now: Time) {
        self.0.marked(&untag(*packet), why, now);
    }
    fn headers(&self, packet: &Packet<TaggedSegment>) -> PacketHeaders {
        self.0.headers(&untag(*packet))
    }
    fn ack(&self, packet: &Packet<TaggedSegment>) -> Option<AckHeader> {
        self.0.ack(&untag(*packet))
    }
}

/// Calls `job` with the discipline's view of `cx`.
#[inline]
fn with_inner_cx<R>(cx: &mut Cx<'_, Segment>, job: impl FnOnce(&mut Cx<'_, TaggedSegment>) -> R) -> R {
    let now = cx.now;
    let (rng, sink) = cx.split();
    job(&mut Cx::new(now, rng, &mut Untag(sink)))
}

impl<D: Discipline<TaggedSegment>> Discipline<Segment> for Classified<D> {
    fn enqueue(&mut self, packet: SimPacket, cx: &mut Cx<'_, Segment>) {
        let packet = self.tag(packet);
        with_inner_cx(cx, |cx| self.inner.enqueue(packet, cx));
    }
    fn dequeue(&mut self, cx: &mut Cx<'_, Segment>) -> Option<SimPacket> {
        with_inner_cx(cx, |cx| self.inner.dequeue(cx)).map(untag)
    }
    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
    fn ready_at(&self, now: Time) -> Option<Time> {
        self.inner.ready_at(now)
    }
    fn shed(&mut self, cx: &mut Cx<'_, Segment>) {
        with_inner_cx(cx, |cx| self.inner.shed(cx));
    }
    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.inner.observe(gauge);
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.inner.observe_flow(self.identities[flow.0 as usize].flow, gauge);
    }
    fn observe_bins(&self, bin: &mut dyn FnMut(usize, usize, f64, u32)) {
        self.inner.observe_bins(bin);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use aqm::{Ecn, Rng};
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

    /// Holds two packets and records its input; marks the first, drops the third and shed packets.
    #[derive(Default)]
    struct Fake {
        held: VecDeque<Packet<TaggedSegment>>,
        seen: Vec<(u64, u16)>,
    }

    impl Discipline<TaggedSegment> for Fake {
        fn enqueue(&mut self, packet: Packet<TaggedSegment>, cx: &mut Cx<'_, TaggedSegment>) {
            self.seen.push((packet.flow.0, packet.class.0));
            match self.held.len() {
                0 => self.held.extend(cx.signal(packet, Why::Early, true)),
                1 => self.held.push_back(packet),
                _ => cx.drop(packet, Why::Overflow),
            }
        }
        fn dequeue(&mut self, _: &mut Cx<'_, TaggedSegment>) -> Option<Packet<TaggedSegment>> {
            self.held.pop_front()
        }
        fn backlog(&self) -> Backlog {
            Backlog { packets: self.held.len() as u32, bytes: self.held.iter().map(|p| u64::from(p.bytes)).sum() }
        }
    }

    /// Port events: flow, class, segment, reason, and whether it was a mark.
    #[derive(Default)]
    struct TestSink(Vec<(u64, u16, Segment, Why, bool)>);

    impl Sink<Segment> for TestSink {
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
        let (mut rng, mut sink) = (Rng::new(1), TestSink::default());
        let packet =
            |flow| SimPacket { ecn: Ecn::Ect0, ..Packet::new(FlowId(flow), 100, Segment::data(flow as u32, true)) };
        let mut cx = Cx::new(Time::ZERO, &mut rng, &mut sink);
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
            sink.0,
            [
                (3, 0, segment(3), Why::Early, true),
                (1, 0, segment(1), Why::Overflow, false),
                (2, 0, segment(2), Why::Overload, false),
            ]
        );
    }
}
