//! A [`Port`] owns a discipline, is its only caller, and keeps the counts.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::counts::Counts;
use crate::cx::{Cx, Sink};
use crate::discipline::Discipline;
use crate::headers::{AckHeader, PacketHeaders};
use crate::packet::{Backlog, Packet};
use crate::parts::Histogram;
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::Time;

/// Records the events of a port. [`Totals`] counts all packets together; a host can count by flow or interval instead.
pub trait Ledger<T> {
    /// A packet arrived at the port.
    fn arrived(&mut self, packet: &Packet<T>, now: Time);
    /// A packet left to be sent.
    fn sent(&mut self, packet: &Packet<T>, now: Time);
    /// A packet was dropped.
    fn dropped(&mut self, packet: &Packet<T>, why: Why, now: Time);
    /// A packet was marked.
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time);
}

/// Counts over all packets, and the queueing delay of sent packets.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    counts: Counts,
    queue_delay: Histogram,
}

impl Totals {
    /// The counts.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Packets dropped for any reason.
    pub fn dropped(&self) -> u64 {
        self.counts.dropped()
    }

    /// Queueing delays of sent packets, in nanoseconds.
    pub fn queue_delay(&self) -> &Histogram {
        &self.queue_delay
    }
}

impl<T> Ledger<T> for Totals {
    fn arrived(&mut self, _: &Packet<T>, _: Time) {
        self.counts.arrived += 1;
    }
    fn sent(&mut self, packet: &Packet<T>, now: Time) {
        self.counts.sent += 1;
        self.counts.sent_bytes += u64::from(packet.bytes);
        self.queue_delay.record((now - packet.arrived).as_nanos());
    }
    fn dropped(&mut self, _: &Packet<T>, why: Why, _: Time) {
        self.counts.signals.entry(why).drops += 1;
    }
    fn marked(&mut self, _: &Packet<T>, why: Why, _: Time) {
        self.counts.signals.entry(why).marks += 1;
    }
}

/// Owns a discipline, gives it time and randomness, and counts its packets. In debug builds it asserts after every call
/// that no packet was lost or made: arrived = sent + dropped + backlog.
pub struct Port<T, D = Box<dyn Discipline<T>>, L = Totals> {
    discipline: D,
    rng: Rng,
    ledger: L,
    /// Packets held: arrivals less departures less drops.
    held: Backlog,
    host: core::marker::PhantomData<fn(T) -> T>,
}

/// Records drops and marks in the ledger, then reports them to the host.
struct CountingSink<'a, T, L> {
    ledger: &'a mut L,
    held: &'a mut Backlog,
    host: &'a mut dyn Sink<T>,
}

impl<T, L: Ledger<T>> Sink<T> for CountingSink<'_, T, L> {
    fn dropped(&mut self, packet: Packet<T>, why: Why, now: Time) {
        self.ledger.dropped(&packet, why, now);
        self.held.packets = self.held.packets.wrapping_sub(1);
        self.held.bytes = self.held.bytes.wrapping_sub(u64::from(packet.bytes));
        self.host.dropped(packet, why, now);
    }
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.ledger.marked(packet, why, now);
        self.host.marked(packet, why, now);
    }
    fn headers(&self, packet: &Packet<T>) -> PacketHeaders {
        self.host.headers(packet)
    }
    fn ack(&self, packet: &Packet<T>) -> Option<AckHeader> {
        self.host.ack(packet)
    }
}

/// Collects the packets that a discipline drops while it is drained.
struct DrainSink<'a, T> {
    packets: Vec<Packet<T>>,
    marked: &'a mut dyn FnMut(&Packet<T>),
}

impl<T> Sink<T> for DrainSink<'_, T> {
    fn dropped(&mut self, packet: Packet<T>, _: Why, _: Time) {
        self.packets.push(packet);
    }
    fn marked(&mut self, packet: &Packet<T>, _: Why, _: Time) {
        (self.marked)(packet);
    }
}

impl<T, D: Discipline<T>> Port<T, D, Totals> {
    /// A port that counts all packets together.
    pub fn new(discipline: D, rng: Rng) -> Self {
        Port::with_ledger(discipline, rng, Totals::default())
    }

    /// The counts over all packets.
    pub fn totals(&self) -> &Totals {
        &self.ledger
    }
}

impl<T, D: Discipline<T>, L: Ledger<T>> Port<T, D, L> {
    /// A port that records in `ledger`.
    pub fn with_ledger(discipline: D, rng: Rng, ledger: L) -> Self {
        Port { discipline, rng, ledger, held: Backlog::default(), host: core::marker::PhantomData }
    }

    /// Gives an arriving packet to the discipline. `host` receives drops and marks.
    #[inline(always)]
    pub fn enqueue(&mut self, mut packet: Packet<T>, now: Time, host: &mut dyn Sink<T>) {
        packet.arrived = now;
        self.ledger.arrived(&packet, now);
        self.readmit(packet, now, host);
    }

    /// Gives the discipline a packet drained from the discipline that it replaced. The packet keeps its arrival time
    /// and is not counted as arriving again. `host` receives drops and marks.
    #[inline(always)]
    pub fn readmit(&mut self, packet: Packet<T>, now: Time, host: &mut dyn Sink<T>) {
        self.held.packets += 1;
        self.held.bytes += u64::from(packet.bytes);
        match self.discipline.fifo() {
            Some(fifo) if fifo.admits(packet.bytes) => fifo.put(packet),
            _ => {
                let mut sink = CountingSink { ledger: &mut self.ledger, held: &mut self.held, host };
                self.discipline.enqueue(packet, &mut Cx::new(now, &mut self.rng, &mut sink));
            }
        }
        self.check();
    }

    /// Removes all packets in order of departure, before another discipline replaces this one. Packets that the
    /// discipline drops meanwhile are returned too. Nothing is counted. Marks made meanwhile are reported to `marked`,
    /// so that the host can undo them. For a shaper, time advances until each packet is ready.
    pub fn drain(&mut self, now: Time, marked: &mut dyn FnMut(&Packet<T>)) -> Vec<Packet<T>> {
        let mut taken = DrainSink { packets: Vec::with_capacity(self.held.packets as usize), marked };
        let (mut at, mut waited) = (now, false);
        while self.discipline.backlog().packets > 0 {
            let left = self.discipline.backlog().packets;
            let packet = self.discipline.dequeue(&mut Cx::new(at, &mut self.rng, &mut taken));
            taken.packets.extend(packet);
            match self.discipline.ready_at(at) {
                _ if self.discipline.backlog().packets < left => waited = false,
                Some(ready) if ready != Time::NEVER && !waited => (at, waited) = (ready.max(at), true),
                _ => self.discipline.shed(&mut Cx::new(at, &mut self.rng, &mut taken)),
            }
        }
        self.held = Backlog::default();
        taken.packets
    }

    /// Puts `discipline` in place of the present one, which must hold no packets: see [`drain`](Port::drain).
    pub fn replace_discipline(&mut self, discipline: D) {
        self.discipline = discipline;
        self.check();
    }

    /// Asks for the next packet to send. Call it whenever the link is free, even with an empty queue: a discipline
    /// detects idle periods by it.
    #[inline(always)]
    pub fn dequeue(&mut self, now: Time, host: &mut dyn Sink<T>) -> Option<Packet<T>> {
        let packet = if let Some(fifo) = self.discipline.fifo() {
            fifo.pop()
        } else {
            let mut sink = CountingSink { ledger: &mut self.ledger, held: &mut self.held, host };
            self.discipline.dequeue(&mut Cx::new(now, &mut self.rng, &mut sink))
        };
        let Some(packet) = packet else {
            self.check();
            return None;
        };
        self.ledger.sent(&packet, now);
        self.held.packets = self.held.packets.wrapping_sub(1);
        self.held.bytes = self.held.bytes.wrapping_sub(u64::from(packet.bytes));
        self.check();
        Some(packet)
    }

    /// Counts `packet` as arriving and sent at `now`, if the discipline is an empty [`fifo`](Discipline::fifo) that it
    /// fits in. Returns whether it was.
    #[inline(always)]
    pub fn pass(&mut self, packet: &mut Packet<T>, now: Time) -> bool {
        let passes = self.held.packets == 0 && self.discipline.fifo().is_some_and(|fifo| fifo.admits(packet.bytes));
        if passes {
            packet.arrived = now;
            self.ledger.arrived(packet, now);
            self.ledger.sent(packet, now);
        }
        passes
    }

    /// Packets and bytes held, by the port's own count.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.held
    }

    /// When to call [`dequeue`](Port::dequeue) next.
    pub fn ready_at(&self, now: Time) -> Option<Time> {
        self.discipline.ready_at(now)
    }

    /// The discipline's gauges, by name.
    pub fn gauges(&self) -> Vec<(&'static str, f64)> {
        let mut gauges = Vec::new();
        self.discipline.observe(&mut |name, value| gauges.push((name, value)));
        gauges
    }

    /// The discipline.
    pub fn discipline(&self) -> &D {
        &self.discipline
    }

    /// The discipline and the ledger, for a host that records the discipline's gauges.
    pub fn parts(&mut self) -> (&D, &mut L) {
        (&self.discipline, &mut self.ledger)
    }

    /// The ledger.
    pub fn ledger(&self) -> &L {
        &self.ledger
    }

    /// The ledger, for a host that adds its own measurements or resets it after a warm-up.
    pub fn ledger_mut(&mut self) -> &mut L {
        &mut self.ledger
    }

    #[inline]
    fn check(&self) {
        debug_assert_eq!(self.held, self.discipline.backlog(), "a packet was lost or made: arrived - sent - dropped");
    }
}
