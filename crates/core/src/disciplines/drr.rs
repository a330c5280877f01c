//! Deficit Round Robin (DRR): one queue per flow, served round robin with byte deficits.
//!
//! Plain round robin gives flows with large packets more bytes. DRR counts bytes: each queue has a deficit counter, and
//! a turn adds `quantum` to it. The queue sends packets while the counter covers them. The remainder is kept for the
//! next turn.
//!
//! On arrival, the packet joins its flow's queue, and a queue that was empty joins the end of the round. If the limit
//! is exceeded, the longest queue drops a packet (buffer stealing, [`FlowQueues::drop_longest`]). On departure, the
//! current queue of the round sends ([`DeficitRing`]). A queue that becomes empty leaves the round and loses its
//! deficit.
//!
//! With `classes`, each class has a discipline of its own in place of flow queues, as tc's drr has ([`ClassQueues`]).
//!
//! Source: M. Shreedhar, G. Varghese, "Efficient fair queuing using deficit round robin", ACM SIGCOMM 1995 (IEEE/ACM
//! ToN 4(3), 1996), section 3 and figure 2. Deviations are listed in docs/disciplines/drr.md.

use alloc::vec::Vec;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{ClassQueues, DeficitRing, End, FlowQueues, bucket};
use crate::qdisc::Qdisc;
use crate::reason::Why;
use crate::time::Time;
use crate::units::Limit;

crate::params! {
    /// Settings of [`Drr`].
    pub struct DrrConfig {
        /// Buffer size, shared by all flows. When it is exceeded, the longest queue drops packets.
        limit: Limit = Limit::Packets(1000), also "blimit_";
        /// Bytes that each flow, or each class of weight 1, may send per turn. A larger packet waits for several turns.
        quantum: Bytes = Bytes(1500), in Bytes(1).., also "quantum_";
        /// Hashes flows to this many queues, as in the paper; flows in the same queue share its turns. `auto`: one
        /// queue per flow.
        buckets: Option<u32> = None, in 1..=65_536, also "buckets_";
        /// Drops the oldest packet of the longest queue instead of its newest.
        head_drop: bool = false;
        /// One discipline per class, instead of one queue per flow. Class 1 has the first, class 2 the second; all
        /// other packets go to the last. Turns are weighted by the classes' weights. `[]`: no classes.
        classes: Vec<Qdisc> = Vec::new();
    }
    presets {
        "paper" "the defaults: Shreedhar and Varghese 1995, with a queue for each flow and a quantum of Ethernet's MTU" {}
        "ns2" "ns-2.35, drr.cc and ns-default.tcl" {
            "limit" = "25KB", "quantum" = "250B", "buckets" = "10", "head_drop" = "on"
        }
    }
    reasons { Overflow }
    gauges {
        Gauge::new("flows", "flows", "Queues that hold packets; without classes.");
        Gauge::new("classes", "classes", "Classes in the round; with classes.");
        Gauge::new("longest", "packets", "Packets in the longest queue; with classes, in the class with the largest backlog for its weight.");
    }
}

/// Deficit round robin over flows or classes.
pub struct Drr<T>(Queues<T>);

#[expect(clippy::large_enum_variant, reason = "there is one for each port, and flows must not cost a pointer more")]
enum Queues<T> {
    Flows(PerFlow<T>),
    Classes(ClassQueues<T>),
}

struct PerFlow<T> {
    config: DrrConfig,
    flows: FlowQueues<T>,
    ring: DeficitRing,
    quantum: u32,
    key: u64,
}

impl<T: 'static> Drr<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// [`BuildError::Nested`] if a class's discipline cannot be built.
    pub fn new(config: DrrConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let quantum = u32::try_from(config.quantum.0).unwrap_or(u32::MAX);
        if !config.classes.is_empty() {
            return ClassQueues::new(&config.classes, config.limit, quantum, link).map(Queues::Classes).map(Drr);
        }
        let (flows, ring) = (FlowQueues::new(config.limit, link.key), DeficitRing::new());
        Ok(Drr(Queues::Flows(PerFlow { config, flows, ring, quantum, key: link.key })))
    }
}

impl<T> Drr<T> {
    /// Backlog and deficit counter of `flow`'s queue; `None` if it is empty, and with classes.
    pub fn flow(&self, flow: FlowId) -> Option<(Backlog, i64)> {
        let Queues::Flows(per_flow) = &self.0 else { return None };
        let queue = per_flow.flows.queue(per_flow.queue_key(flow))?;
        Some((per_flow.flows.queues().backlog_of(queue), per_flow.ring.credit(queue)?))
    }

    /// Number of queues, or classes, in the round.
    pub fn in_use(&self) -> usize {
        match &self.0 {
            Queues::Flows(per_flow) => per_flow.flows.flows(),
            Queues::Classes(classes) => classes.in_use(),
        }
    }
}

impl<T> PerFlow<T> {
    /// The key of `flow`'s queue: the flow itself, or its bucket.
    #[inline]
    fn queue_key(&self, flow: FlowId) -> FlowId {
        self.config.buckets.map_or(flow, |buckets| FlowId(bucket(self.key, flow, buckets as usize) as u64))
    }

    #[inline(never)]
    fn drop_longest(&mut self, why: Why, cx: &mut Cx<'_, T>) {
        let end = if self.config.head_drop { End::Head } else { End::Tail };
        if let Some(emptied) = self.flows.drop_longest(end, why, cx) {
            self.ring.leave(emptied);
        }
    }
}

impl<T> Discipline<T> for PerFlow<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let key = self.queue_key(packet.flow);
        if let Some(begun) = self.flows.push(key, packet, cx) {
            self.ring.join(begun, self.quantum);
        }
        while self.flows.is_over() {
            self.drop_longest(Why::Overflow, cx);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let queue = self.ring.next(|queue| self.flows.head_bytes(queue))?;
        let (packet, emptied) = self.flows.pop(queue)?;
        self.ring.charge(queue, packet.bytes);
        if emptied {
            self.ring.leave(queue);
        }
        Some(packet)
    }

    crate::discipline::backlog_of!(flows);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        self.drop_longest(Why::Overload, cx);
    }
}

macro_rules! each {
    ($drr:expr, $it:ident => $call:expr) => {
        match $drr {
            Queues::Flows($it) => $call,
            Queues::Classes($it) => $call,
        }
    };
}

impl<T> Discipline<T> for Drr<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        each!(&mut self.0, it => it.enqueue(packet, cx));
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        each!(&mut self.0, it => it.dequeue(cx))
    }

    #[inline(always)]
    fn backlog(&self) -> Backlog {
        each!(&self.0, it => it.backlog())
    }

    fn ready_at(&self, now: Time) -> Option<Time> {
        each!(&self.0, it => it.ready_at(now))
    }

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        each!(&mut self.0, it => it.shed(cx));
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let (name, longest) = match &self.0 {
            Queues::Flows(PerFlow { flows, .. }) => {
                ("flows", flows.queues().find_longest().map(|queue| flows.queues().backlog_of(queue)))
            }
            Queues::Classes(classes) => ("classes", Some(classes.backlog_of(classes.longest()))),
        };
        gauge(name, self.in_use() as f64);
        gauge("longest", longest.map_or(0.0, |held| f64::from(held.packets)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Class, ClassId, Port, Rate, Rng, Span};
    use alloc::vec::Vec;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn port(settings: &[(&str, &str)]) -> Port<usize, Drr<usize>> {
        Port::new(Drr::new(DrrConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    /// Offers packets of (flow, bytes) and returns the indices of the sent packets in the order of departure.
    fn order(settings: &[(&str, &str)], packets: &[(u64, u32)]) -> Vec<usize> {
        let mut port = port(settings);
        for (number, (flow, bytes)) in packets.iter().enumerate() {
            port.enqueue(Packet::new(FlowId(*flow), *bytes, number), Time::ZERO, &mut ());
        }
        core::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ()).map(|packet| packet.handle)).collect()
    }

    #[test]
    fn the_credit_left_by_a_turn_counts_in_the_next() {
        // Quantum 500. Flow 1 holds 20, 750 and 200: it sends 20, keeps 480, and in its next turn sends 750 and
        // 200 of 480 + 500.
        let packets = [(1, 20), (1, 750), (1, 200), (2, 500), (2, 500), (3, 200), (3, 600), (3, 100)];
        assert_eq!(order(&[("quantum", "500B")], &packets), [0, 3, 5, 1, 2, 4, 6, 7]);
        let mut port = port(&[("quantum", "500B")]);
        for (flow, bytes) in [(1, 20), (1, 750), (1, 200), (1, 40), (2, 500)] {
            port.enqueue(Packet::new(FlowId(flow), bytes, 0), Time::ZERO, &mut ());
        }
        let mut deficit = || {
            port.dequeue(Time::ZERO, &mut ());
            port.discipline().flow(FlowId(1)).unwrap().1
        };
        // After 20; after flow 2's only packet; after 750; after 200: 40 does not fit.
        assert_eq!(core::array::from_fn(|_| deficit()), [480, 480, 230, 30]);
    }

    #[test]
    fn a_small_quantum_gives_the_same_shares_in_smaller_steps() {
        let packets = [(1, 1000), (1, 1000), (2, 500), (2, 500), (2, 500), (2, 500)];
        // By hand, 1 byte a turn: flow 2 has 500 bytes twice before flow 1 has 1000; flow 1 comes first in a round.
        assert_eq!(order(&[("quantum", "1B")], &packets), [2, 0, 3, 4, 1, 5]);
    }

    #[test]
    fn a_full_buffer_drops_a_packet_of_the_longest_queue() {
        let packets = [(1, 1000), (1, 1000), (1, 1000), (2, 1000), (2, 1000)];
        for limit in ["3p", "3KB"] {
            assert_eq!(order(&[("limit", limit)], &packets), [0, 3, 1], "{limit}");
            assert_eq!(order(&[("limit", limit), ("head_drop", "on")], &packets), [1, 4, 2], "{limit}");
        }
        // A packet that can never fit drives out no other.
        assert_eq!(order(&[("limit", "3KB")], &[(1, 1000), (2, 1000), (3, 3001)]), [0, 1]);
    }

    #[test]
    fn with_buckets_flows_that_share_one_share_its_turns() {
        let packets: Vec<(u64, u32)> = (0..9).map(|number| (number % 3, 1000)).collect();
        let one = order(&[("buckets", "1"), ("quantum", "1KB")], &packets);
        assert_eq!(one, (0..9).collect::<Vec<_>>(), "one queue is first in, first out");
    }

    #[test]
    fn classes_share_by_weight_with_any_discipline_inside() {
        let class = |weight| Class { parent: None, weight };
        let classes = [1.0, 3.0, 1.0].map(class);
        let link = LinkInfo { classes: &classes, ..LINK };
        let settings = [("classes", "[sfq; droptail:limit=900p]"), ("quantum", "1000B")];
        let mut port: Port<usize, _> =
            Port::new(Drr::new(DrrConfig::from_settings(&settings).unwrap(), &link).unwrap(), Rng::new(1));
        for number in 0..400 {
            let class = ClassId(1 + (number % 2) as u16);
            port.enqueue(Packet { class, ..Packet::new(FlowId(number as u64), 500, number) }, Time::ZERO, &mut ());
        }
        let sent = core::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ())).take(80);
        assert_eq!(sent.filter(|packet| packet.class == ClassId(1)).count(), 60, "three to one");
        assert_eq!(core::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ())).count(), 320, "and then all the rest");
    }

    #[test]
    fn a_full_buffer_drops_from_the_class_with_the_largest_backlog_for_its_weight() {
        let mut port = port(&[("classes", "[droptail; droptail]"), ("limit", "10p")]);
        for number in 0..12 {
            let class = ClassId(if number < 9 { 1 } else { 2 });
            port.enqueue(Packet { class, ..Packet::new(FlowId(1), 1000, number) }, Time::ZERO, &mut ());
        }
        assert_eq!(port.totals().counts().drops(Why::Overload), 2);
        let sent: Vec<ClassId> = core::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ())).map(|p| p.class).collect();
        assert_eq!(sent.iter().filter(|class| **class == ClassId(2)).count(), 3);
    }

    #[test]
    fn a_class_that_is_not_ready_does_not_hold_up_the_others_and_sends_when_it_is() {
        let mut port = port(&[("classes", "[tbf:rate=8kbit/s,burst=1000B; droptail]")]);
        for (number, class) in [1, 1, 2].into_iter().enumerate() {
            port.enqueue(Packet { class: ClassId(class), ..Packet::new(FlowId(1), 1000, number) }, Time::ZERO, &mut ());
        }
        let mut sent = |now| core::iter::from_fn(|| port.dequeue(now, &mut ()).map(|packet| packet.handle)).collect();
        let first: Vec<usize> = sent(Time::ZERO);
        assert_eq!(first, [0, 2]);
        let later: Vec<usize> = sent(Time::ZERO + Span::from_secs(1));
        assert_eq!(later, [1]);
    }
}
