//! The queue of one direction of a link: a port with its discipline, and a medium that carries one packet at a time.
//!
//! Everything happens at its nominal time. A queued packet is dequeued at the moment at which the previous transmission
//! ended, however late the caller runs. The rate is exact, and disciplines see neither delays nor bursts of the calling
//! loop.
//!
//! While packets are queued, [`LinkQueue::wake_at`] gives the time at which the transmitter is free. An empty queue
//! needs no wake-up: the discipline learns of the idle period, and its start, just before the next event at the port.
//! For the discipline this makes no difference, and an idle link costs nothing.

use aqm::{Backlog, Discipline, FlowId, Ledger, Packet, Port, Sink, Span, Time};
use headgate_measure::{HasFlow, LinkLedger};

use crate::arrival::{Alteration, Arrival};
use crate::medium::{Carrier, Transit};

/// Receives the packets of a link, and the packets that its discipline drops.
pub trait NextHop<T>: Sink<T> {
    /// Transmission of `packet` begins.
    fn sending(&mut self, packet: &Packet<T>, now: Time);

    /// `times`: the transmission of `packet` begins, and it arrives at the end of the link. With
    /// `late_or_reordered`, the arrival may be far ahead, or earlier than that of a previous packet.
    fn receive(&mut self, packet: Packet<T>, times: [Time; 2], late_or_reordered: bool);

    /// `packet` began to be sent at `now` and is lost on the link; it would have arrived at `due`.
    fn lost(&mut self, packet: Packet<T>, now: Time, due: Time);

    /// The medium has set the ECN field of `packet`, and sets its DSCP to `dscp` unless that is `None`. Writes both into the
    /// packet's headers. Returns whether the DSCP was another.
    fn remark(&mut self, packet: &Packet<T>, dscp: Option<u8>) -> bool;

    /// A copy of `packet`, which the medium duplicates; `None` if there is no room for one.
    fn duplicate(&mut self, packet: &Packet<T>) -> Option<Packet<T>>;
}

/// A port's ledger that also measures the link. Calls are dispatched statically, so empty methods cost nothing.
pub trait Meter<T>: Ledger<T> {
    /// The discipline was called, and may have dropped or marked packets.
    #[inline]
    fn discipline_called<D: Discipline<T>>(&mut self, _discipline: &D) {}

    /// The queue holds `backlog` from `now` on.
    fn set_backlog(&mut self, backlog: Backlog, now: Time);

    /// The link is busy with a packet from `now` until `sent`.
    fn sending(&mut self, now: Time, sent: Time);

    /// `packet` began to be sent at `now` and is lost on the link.
    #[inline]
    fn lost(&mut self, _packet: &Packet<T>, _now: Time) {}

    /// The medium changed header fields of `packet`.
    #[inline]
    fn remarked(&mut self, _packet: &Packet<T>) {}

    /// The medium duplicates a packet: `copy` follows it.
    #[inline]
    fn duplicated(&mut self, _copy: &Packet<T>) {}
}

/// The queue and the transmitter of one direction of a link.
pub struct LinkQueue<T, D, L, M> {
    port: Port<T, D, L>,
    medium: M,
    free_at: Time,
    /// When to call [`LinkQueue::on_wake`]: the transmitter is then free, or the discipline has a packet ready.
    wake_at: Time,
    /// Whether the discipline was asked for a packet since the transmitter became free, and had none.
    idle: bool,
    altered: AlteredPackets,
}

/// Packets that the medium altered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlteredPackets {
    /// Packets lost.
    pub lost: u64,
    /// Copies of packets that arrived twice.
    pub duplicates: u64,
    /// Packets that arrived with other header fields.
    pub remarked: u64,
}

/// State that a queue leaves to its replacement.
#[derive(Debug)]
pub struct QueueHandover<T> {
    /// The queued packets in sending order.
    pub packets: Vec<Packet<T>>,
    free_at: Time,
    altered: AlteredPackets,
}

impl<T, D: Discipline<T>, L: Meter<T>, M: Carrier> LinkQueue<T, D, L, M> {
    /// An idle link behind `port`.
    pub fn new(port: Port<T, D, L>, medium: M) -> LinkQueue<T, D, L, M> {
        LinkQueue {
            port,
            medium,
            free_at: Time::ZERO,
            wake_at: Time::NEVER,
            idle: true,
            altered: AlteredPackets::default(),
        }
    }

    /// A packet arrives.
    #[inline(always)]
    pub fn arrive(&mut self, packet: Packet<T>, now: Time, next: &mut impl NextHop<T>) {
        if self.wake_at == Time::NEVER {
            return self.arrive_at_empty(packet, now, next);
        }
        self.port.enqueue(packet, now, next);
        self.report_call();
        self.record_backlog(now);
    }

    /// A packet arrives, and no other is queued.
    #[inline(always)]
    fn arrive_at_empty(&mut self, mut packet: Packet<T>, now: Time, next: &mut impl NextHop<T>) {
        if self.free_at > now {
            self.port.enqueue(packet, now, next);
            self.report_call();
            self.record_backlog(now);
            self.wake_at = self.free_at;
        } else if self.port.pass(&mut packet, now) {
            self.port.ledger_mut().set_backlog(Backlog::default(), now);
            self.idle = false;
            self.send(packet, now, next);
        } else {
            self.report_idle(now, next);
            self.port.enqueue(packet, now, next);
            self.report_call();
            self.dequeue(now, next);
        }
    }

    #[inline(always)]
    fn record_backlog(&mut self, now: Time) {
        let backlog = self.port.backlog();
        self.port.ledger_mut().set_backlog(backlog, now);
    }

    /// Call this at [`wake_at`](LinkQueue::wake_at).
    #[inline(always)]
    pub fn on_wake(&mut self, now: Time, next: &mut impl NextHop<T>) {
        self.wake_at = Time::NEVER;
        self.dequeue(now, next);
    }

    /// When to call [`on_wake`](LinkQueue::on_wake); [`Time::NEVER`] while no packet is queued.
    #[inline]
    pub fn wake_at(&self) -> Time {
        self.wake_at
    }

    /// Reports a pending idle period to the discipline. Call this before reading gauges.
    #[inline(always)]
    pub fn report_idle(&mut self, now: Time, next: &mut impl NextHop<T>) {
        if self.wake_at == Time::NEVER && !self.idle && self.free_at <= now {
            self.idle = true;
            let none = self.port.dequeue(self.free_at, next);
            debug_assert!(none.is_none(), "a packet was queued while the link was idle");
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, next: &mut impl NextHop<T>) {
        let Some(packet) = self.port.dequeue(now, next) else { return self.send_nothing(now) };
        self.report_call();
        self.record_backlog(now);
        self.idle = false;
        self.send(packet, now, next);
        if self.port.backlog().packets > 0 {
            self.wake_at = self.free_at;
        }
    }

    /// The discipline has no packet to send.
    fn send_nothing(&mut self, now: Time) {
        self.report_call();
        self.record_backlog(now);
        self.idle = true;
        let backlog = self.port.backlog();
        if let Some(ready) = self.port.ready_at(now)
            && backlog.packets > 0
        {
            // A shaper holds packets that may not leave yet. At least a nanosecond, so that time advances.
            self.wake_at = ready.max(now + Span::from_nanos(1));
        }
    }

    #[inline(always)]
    fn send(&mut self, packet: Packet<T>, now: Time, next: &mut impl NextHop<T>) {
        let LinkQueue { port, medium, .. } = self;
        let Transit { sent, due, arrival, late_or_reordered } = medium.carry(packet.bytes, || port.backlog(), now);
        self.free_at = sent;
        self.port.ledger_mut().sending(now, sent);
        next.sending(&packet, now);
        match arrival {
            Arrival::At(arrival) => next.receive(packet, [now, arrival], late_or_reordered),
            Arrival::Lost => {
                self.altered.lost += 1;
                self.port.ledger_mut().lost(&packet, now);
                next.lost(packet, now, due);
            }
            Arrival::Altered(arrival, alteration) => {
                self.alter(packet, alteration, ([now, arrival], late_or_reordered), next);
            }
        }
    }

    /// Changes a packet's header fields, or passes it on twice.
    #[cold]
    fn alter(
        &mut self,
        mut packet: Packet<T>,
        Alteration { remarks, duplicate }: Alteration,
        (times, late_or_reordered): ([Time; 2], bool),
        next: &mut impl NextHop<T>,
    ) {
        let ecn = remarks.ecn.of(packet.ecn);
        let ecn_changed = ecn != packet.ecn;
        packet.ecn = ecn;
        let dscp_changed = (ecn_changed || remarks.dscp.is_some()) && next.remark(&packet, remarks.dscp);
        if ecn_changed || dscp_changed {
            self.altered.remarked += 1;
            self.port.ledger_mut().remarked(&packet);
        }
        let copy = if duplicate { next.duplicate(&packet) } else { None };
        next.receive(packet, times, late_or_reordered);
        if let Some(copy) = copy {
            self.altered.duplicates += 1;
            self.port.ledger_mut().duplicated(&copy);
            next.receive(copy, times, late_or_reordered);
        }
    }

    #[inline(always)]
    fn report_call(&mut self) {
        let (discipline, ledger) = self.port.parts();
        ledger.discipline_called(discipline);
    }

    /// Shifts the schedule by `by`, after a stall too long to catch up with.
    pub fn stall(&mut self, by: Span) {
        self.free_at += by;
        self.wake_at += by;
    }

    /// Removes all queued packets at `now` for a replacement queue. Packets that the discipline drops meanwhile are
    /// handed over too ([`Port::drain`]). Packets that it marks are passed to `marked`.
    pub fn hand_over(&mut self, now: Time, marked: &mut dyn FnMut(&Packet<T>)) -> QueueHandover<T> {
        QueueHandover { packets: self.port.drain(now, marked), free_at: self.free_at, altered: self.altered }
    }

    /// Replaces another queue at `now`. Its packets already count as arrived.
    pub fn take_over(&mut self, from: QueueHandover<T>, now: Time, next: &mut impl NextHop<T>) {
        (self.free_at, self.altered) = (from.free_at, from.altered);
        self.idle = from.free_at <= now;
        from.packets.into_iter().for_each(|packet| self.port.readmit(packet, now, next));
        let backlog = self.port.backlog();
        self.port.ledger_mut().set_backlog(backlog, now);
        if backlog.packets > 0 {
            self.wake_at = now.max(self.free_at);
        }
    }

    /// Puts `discipline` in place of the present one at `now` and hands it the queued packets. Counts go on.
    pub fn replace_discipline(&mut self, discipline: D, now: Time, next: &mut impl NextHop<T>) {
        let queued = self.hand_over(now, &mut |_| {});
        self.port.replace_discipline(discipline);
        self.wake_at = Time::NEVER;
        self.take_over(queued, now, next);
    }

    /// Remaining transmission time of the current packet at `now`.
    #[inline]
    pub fn remaining(&self, now: Time) -> Span {
        self.free_at - now
    }

    /// Packets that the medium lost, duplicated and remarked so far.
    pub fn altered(&self) -> AlteredPackets {
        self.altered
    }

    /// The port, with its discipline and its ledger.
    #[inline]
    pub fn port(&self) -> &Port<T, D, L> {
        &self.port
    }

    /// The port, mutable.
    #[inline]
    pub fn port_mut(&mut self) -> &mut Port<T, D, L> {
        &mut self.port
    }

    /// The medium.
    #[inline]
    pub fn medium(&self) -> &M {
        &self.medium
    }

    /// The medium, mutable.
    pub fn medium_mut(&mut self) -> &mut M {
        &mut self.medium
    }
}

/// For runs that number flows as the scenario does, in simulated time.
impl<T: HasFlow> Meter<T> for LinkLedger {
    #[inline(always)]
    fn discipline_called<D: Discipline<T>>(&mut self, discipline: &D) {
        self.record_gauges(discipline, |flow| FlowId(flow.into()));
    }

    #[inline(always)]
    fn set_backlog(&mut self, backlog: Backlog, now: Time) {
        LinkLedger::set_backlog(self, backlog, now);
    }

    #[inline(always)]
    fn sending(&mut self, now: Time, sent: Time) {
        self.add_busy(sent - now);
    }

    fn lost(&mut self, packet: &Packet<T>, now: Time) {
        self.record_link_loss(packet, now);
    }

    fn remarked(&mut self, _: &Packet<T>) {
        self.record_link_remark();
    }

    fn duplicated(&mut self, _: &Packet<T>) {
        self.record_link_duplicate();
    }
}

#[cfg(test)]
mod tests {
    use aqm::{Ecn, LinkInfo, Rate, Rng, Totals, Why, registry};
    use headgate_scenario::{EcnTreatment, Remarks};

    use super::*;

    impl Meter<()> for Totals {
        fn set_backlog(&mut self, _: Backlog, _: Time) {}
        fn sending(&mut self, _: Time, _: Time) {}
    }

    /// A link of a byte per microsecond with a propagation delay of 5 ms. It loses packets of 13 bytes, bleaches packets of 20,
    /// duplicates packets of 22 and sets the DSCP of packets of 46.
    struct ByteByByte;

    impl Carrier for ByteByByte {
        fn carry(&mut self, bytes: u32, _: impl FnOnce() -> Backlog, now: Time) -> Transit {
            let sent = now + Span::from_micros(bytes.into());
            let due = sent + Span::from_millis(5);
            let remarks = |ecn, dscp| Alteration { remarks: Remarks { ecn, dscp }, duplicate: bytes == 22 };
            let arrival = match bytes {
                13 => Arrival::Lost,
                20 => Arrival::Altered(due, remarks(EcnTreatment::Bleach, None)),
                22 => Arrival::Altered(due, remarks(EcnTreatment::Keep, None)),
                46 => Arrival::Altered(due, remarks(EcnTreatment::Keep, Some(46))),
                _ => Arrival::At(due),
            };
            Transit { sent, due, arrival, late_or_reordered: false }
        }
    }

    /// Flows and arrival times of delivered packets, and the number of drops. The DSCP of odd flows is 46 already.
    #[derive(Default)]
    struct QueueHost(Vec<(u64, Time)>, u32);

    impl NextHop<()> for QueueHost {
        fn sending(&mut self, _: &Packet<()>, _: Time) {}
        fn receive(&mut self, packet: Packet<()>, [_, out]: [Time; 2], _: bool) {
            self.0.push((packet.flow.0, out));
        }
        fn lost(&mut self, _: Packet<()>, _: Time, _: Time) {}
        fn remark(&mut self, packet: &Packet<()>, dscp: Option<u8>) -> bool {
            dscp.is_some() && packet.flow.0.is_multiple_of(2)
        }
        fn duplicate(&mut self, packet: &Packet<()>) -> Option<Packet<()>> {
            (packet.flow.0 != 9).then_some(*packet)
        }
    }

    impl Sink<()> for QueueHost {
        fn dropped(&mut self, _: Packet<()>, _: Why, _: Time) {
            self.1 += 1;
        }
        fn marked(&mut self, _: &Packet<()>, _: Why, _: Time) {}
    }

    type Droptail = LinkQueue<(), Box<dyn Discipline<()>>, Totals, ByteByByte>;

    fn droptail(limit: &str) -> Droptail {
        let place = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 1);
        let discipline = registry::boxed("droptail", &[("limit", limit)], &place).unwrap();
        LinkQueue::new(Port::new(discipline, Rng::named(1, "port")), ByteByByte)
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn packet(flow: u64, bytes: u32) -> Packet<()> {
        Packet::new(FlowId(flow), bytes, ())
    }

    /// Wakes the queue at each of its wake-up times up to `end`.
    fn run(queue: &mut Droptail, end: Time, host: &mut QueueHost) {
        while queue.wake_at() <= end && queue.wake_at() < Time::NEVER {
            queue.on_wake(queue.wake_at(), host);
        }
    }

    #[test]
    fn packets_are_sent_one_after_another_and_the_first_at_once() {
        let (mut queue, mut host) = (droptail("9p"), QueueHost::default());
        for flow in 1..=3 {
            queue.arrive(packet(flow, 1000), at(10), &mut host);
        }
        assert_eq!((host.0.len(), queue.wake_at()), (1, at(1010)));
        run(&mut queue, at(9000), &mut host);
        assert_eq!(host.0, [(1, at(6010)), (2, at(7010)), (3, at(8010))]);
        assert_eq!(queue.wake_at(), Time::NEVER, "no packet is queued");
        queue.arrive(packet(4, 500), at(5000), &mut host);
        assert_eq!(host.0[3], (4, at(10_500)));
    }

    #[test]
    fn a_lost_packet_occupies_the_link_and_never_arrives() {
        let (mut queue, mut host) = (droptail("9p"), QueueHost::default());
        queue.arrive(packet(1, 13), at(0), &mut host);
        queue.arrive(packet(2, 1000), at(0), &mut host);
        run(&mut queue, at(9000), &mut host);
        assert_eq!((queue.altered().lost, host.0), (1, vec![(2, at(13 + 1000 + 5000))]));
    }

    #[test]
    fn altered_packets_are_counted_if_a_field_changes_or_a_copy_is_made() {
        let (mut queue, mut host) = (droptail("99p"), QueueHost::default());
        let mut arrive = |flow, bytes, ecn| queue.arrive(Packet { ecn, ..packet(flow, bytes) }, at(0), &mut host);
        // Only the marked packet and that of flow 2 change; there is no room for a copy of flow 9.
        [
            (1, 20, Ecn::NotEct),
            (1, 20, Ecn::Ce),
            (1, 46, Ecn::NotEct),
            (2, 46, Ecn::Ect0),
            (4, 22, Ecn::Ce),
            (9, 22, Ecn::Ce),
        ]
        .into_iter()
        .for_each(|(flow, bytes, ecn)| arrive(flow, bytes, ecn));
        run(&mut queue, at(9000), &mut host);
        assert_eq!(queue.altered(), AlteredPackets { lost: 0, duplicates: 1, remarked: 2 });
        let arrived: Vec<u64> = host.0.iter().map(|(flow, _)| *flow).collect();
        assert_eq!(arrived, [1, 1, 1, 2, 4, 4, 9]);
        assert_eq!(host.0[4], host.0[5], "a copy follows at once");
    }

    #[test]
    fn a_replacement_queue_sends_the_queued_packets_at_the_same_times() {
        let (mut old, mut new, mut host) = (droptail("9p"), droptail("2p"), QueueHost::default());
        for flow in 1..=5 {
            old.arrive(packet(flow, 1000), at(0), &mut host);
        }
        let left = old.hand_over(at(300), &mut |_| {});
        assert_eq!(left.packets.len(), 4);
        new.take_over(left, at(300), &mut host);
        run(&mut new, at(9000), &mut host);
        // Two packets do not fit into the new queue.
        assert_eq!((host.0, host.1), (vec![(1, at(6000)), (2, at(7000)), (3, at(8000))], 2));
    }

    #[test]
    fn a_stall_delays_every_departure_by_its_length() {
        let (mut queue, mut host) = (droptail("9p"), QueueHost::default());
        queue.arrive(packet(1, 1000), at(0), &mut host);
        queue.arrive(packet(2, 1000), at(0), &mut host);
        queue.stall(Span::from_micros(700));
        run(&mut queue, at(9000), &mut host);
        assert_eq!(host.0[1], (2, at(1700 + 1000 + 5000)));
    }
}
