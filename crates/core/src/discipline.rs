//! The trait every queue discipline implements.

use alloc::boxed::Box;

use crate::cx::Cx;
use crate::packet::{Backlog, ClassId, FlowId, Packet};
use crate::reason::Why;
use crate::time::Time;
use crate::units::Rate;

/// What a discipline is told of the place it is put in.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The rate of the link it feeds.
    pub rate: Rate,
    /// The size of a typical packet in bytes, for averages kept in packets and idle times.
    pub mean_packet: u32,
    /// A secret drawn from the run's seed, for the keys of hash functions.
    pub key: u64,
    /// The host's classes, by [`ClassId`]; the first is what no rule matched. Empty where nothing is classified.
    pub classes: &'a [Class],
}

impl<'a> Place<'a> {
    /// A place where nothing is classified.
    pub const fn new(rate: Rate, mean_packet: u32, key: u64) -> Place<'a> {
        Place { rate, mean_packet, key, classes: &[] }
    }
}

/// An aggregate of flows, from the host's classifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// The aggregate it is a part of; always one of a smaller number.
    pub parent: Option<ClassId>,
    /// Its share of the link, or of its parent's part, beside its siblings' weights; above zero.
    pub weight: f64,
}

/// Decides what to keep, what to signal and what to send next. It has no clock, no randomness and no sockets of its
/// own: all of them arrive in [`Cx`].
///
/// Those around one FIFO say `inline(always)` on `enqueue` and `dequeue`: since any discipline can stand inside another,
/// behind a pointer, the compiler no longer sees one caller alone and would hand the packet over through memory, at two to
/// three times the price of BLUE, PIE or COBALT.
pub trait Discipline<T> {
    /// Takes one arriving packet: stores it, or gives it to `cx`. Never loses it silently.
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>);

    /// The next packet to send, after any head drops. `None`: nothing may leave now. A host calls this whenever the
    /// link falls free, so a call that finds the queue empty is the moment the link went idle.
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>>;

    /// What is held, sub-queues included.
    fn backlog(&self) -> Backlog;

    /// When [`dequeue`](Discipline::dequeue) is next worth calling. Only shapers override this.
    fn ready_at(&self, now: Time) -> Option<Time> {
        (self.backlog().packets > 0).then_some(now)
    }

    /// Drops one packet because a parent is overloaded, whatever this discipline would prefer.
    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.dequeue(cx) {
            cx.drop(packet, Why::Overload);
        }
    }

    /// Reports gauges (average queue, drop probability ...) when a sampler asks: the same ones every time.
    fn observe(&self, _gauge: &mut dyn FnMut(&'static str, f64)) {}

    /// Reports what it keeps for one flow (its part of the queue, its own probability, its tokens ...): the same gauges
    /// for every flow, NaN where there is nothing to tell of this one.
    fn observe_flow(&self, _flow: FlowId, _gauge: &mut dyn FnMut(&'static str, f64)) {}
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
}

/// In an implementation of [`Discipline`]: it holds what this field of it holds.
macro_rules! holds {
    ($field:ident) => {
        #[inline]
        fn backlog(&self) -> $crate::packet::Backlog {
            self.$field.backlog()
        }
    };
}

/// In an implementation of [`Discipline`]: packets leave from this field of it, a [`RedQueue`](crate::parts::RedQueue), which
/// holds them all.
macro_rules! serves {
    ($field:ident) => {
        #[inline(always)]
        fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
            self.$field.pop(cx)
        }

        $crate::discipline::holds!($field);
    };
}

pub(crate) use {holds, serves};
