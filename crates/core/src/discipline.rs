//! The trait every queue discipline implements.

use alloc::boxed::Box;

use crate::cx::Cx;
use crate::packet::{Backlog, ClassId, FlowId, Packet};
use crate::parts::Fifo;
use crate::reason::Why;
use crate::tables::Tables;
use crate::time::Time;
use crate::units::Rate;

/// The link that a discipline serves, and its host's classes.
#[derive(Clone, Copy, Debug)]
pub struct LinkInfo<'a> {
    /// The link's rate.
    pub rate: Rate,
    /// The size of a typical packet in bytes. It converts between packets and bytes, and gives the number of packets
    /// that the link could have sent in an idle period.
    pub mean_packet: u32,
    /// A secret drawn from the run's seed, for the keys of hash functions.
    pub key: u64,
    /// The host's classes, by [`ClassId`]; the first holds unmatched packets. Empty if the host does not classify.
    pub classes: &'a [Class],
    /// Where the discipline gets the tables that its settings ask for. Their bytes are known before they are taken only
    /// if none is allocated in another way.
    pub tables: Tables<'a>,
}

impl<'a> LinkInfo<'a> {
    /// A link whose host does not classify packets.
    pub const fn new(rate: Rate, mean_packet: u32, key: u64) -> LinkInfo<'a> {
        LinkInfo { rate, mean_packet, key, classes: &[], tables: Tables::ALLOCATE }
    }
}

/// An aggregate of flows, from the host's classifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Its parent, always of a lower number.
    pub parent: Option<ClassId>,
    /// Its share of the parent's rate (or the link's), relative to its siblings; above zero.
    pub weight: f64,
}

/// Decides which packets to keep, which to drop or mark, and which to send next. It has no clock, randomness or sockets
/// of its own: all arrive in [`Cx`].
///
/// Disciplines put `inline(always)` on `enqueue` and `dequeue`, and on the functions that pass a packet on. A nested
/// discipline is called from a second place, and without the attribute the compiler no longer inlines the calls.
/// Packets then pass through memory, and BLUE, PIE and COBALT cost two to three times as much.
pub trait Discipline<T> {
    /// Stores an arriving packet, or gives it to `cx`. Never loses it silently.
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>);

    /// Returns the next packet to send, after any head drops; `None` if no packet may leave now. A host calls it
    /// whenever the link is free, so a call on an empty queue marks the start of an idle period.
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>>;

    /// The queue, if the discipline is no more than that. Its host may then put packets that fit and pop them without a
    /// call, and need not report idle periods.
    #[inline]
    fn fifo(&mut self) -> Option<&mut Fifo<T>> {
        None
    }

    /// Packets and bytes held, sub-queues included.
    fn backlog(&self) -> Backlog;

    /// When to call [`dequeue`](Discipline::dequeue) next; `None` if empty. Only shapers override this, and disciplines
    /// that can contain a shaper.
    fn ready_at(&self, now: Time) -> Option<Time> {
        (self.backlog().packets > 0).then_some(now)
    }

    /// Drops one packet because the parent discipline is overloaded.
    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.dequeue(cx) {
            cx.drop(packet, Why::Overload);
        }
    }

    /// Reports gauges (average queue, drop probability ...), the same set at every call.
    fn observe(&self, _gauge: &mut dyn FnMut(&'static str, f64)) {}

    /// Reports gauges of one flow (queue length, probability ...), the same set for every flow, NaN for no value.
    fn observe_flow(&self, _flow: FlowId, _gauge: &mut dyn FnMut(&'static str, f64)) {}

    /// Reports the bins in use: level and number in the level, both from 0, drop probability, queued packets. Only for
    /// disciplines that hash flows to bins.
    fn observe_bins(&self, _bin: &mut dyn FnMut(usize, usize, f64, u32)) {}
}

impl<T, D: Discipline<T> + ?Sized> Discipline<T> for Box<D> {
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        (**self).enqueue(packet, cx);
    }
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        (**self).dequeue(cx)
    }
    fn backlog(&self) -> Backlog {
        (**self).backlog()
    }
    fn ready_at(&self, now: Time) -> Option<Time> {
        (**self).ready_at(now)
    }
    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        (**self).shed(cx);
    }
    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        (**self).observe(gauge);
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        (**self).observe_flow(flow, gauge);
    }
    fn observe_bins(&self, bin: &mut dyn FnMut(usize, usize, f64, u32)) {
        (**self).observe_bins(bin);
    }
}

/// Implements [`Discipline::backlog`] by calling a field's `backlog`.
macro_rules! backlog_of {
    ($field:ident) => {
        #[inline]
        fn backlog(&self) -> $crate::packet::Backlog {
            self.$field.backlog()
        }
    };
}

/// Implements `dequeue` and `backlog` by calling those of a [`RedQueue`](crate::parts::RedQueue) field.
macro_rules! dequeue_from {
    ($field:ident) => {
        #[inline(always)]
        fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
            self.$field.pop(cx)
        }

        $crate::discipline::backlog_of!($field);
    };
}

pub(crate) use {backlog_of, dequeue_from};
