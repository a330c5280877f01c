//! What a discipline is handed with every call: the time, chance, and a place for what it drops and marks.

use crate::packet::{Ecn, Packet};
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::Time;

/// Where packets go that will not be sent, and where marks are told. The host implements it; `()` looks away.
pub trait Sink<T> {
    /// `packet` was dropped and is handed back for good.
    fn dropped(&mut self, packet: Packet<T>, why: Why, now: Time);
    /// `packet` was marked and goes on.
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time);
}

impl<T> Sink<T> for () {
    fn dropped(&mut self, _: Packet<T>, _: Why, _: Time) {}
    fn marked(&mut self, _: &Packet<T>, _: Why, _: Time) {}
}

/// The context of one call: the time, the port's random stream, and the sink for drops and marks.
pub struct Cx<'a, T> {
    /// The present moment. It never goes back, but it may stand still or jump.
    pub now: Time,
    /// The port's own random stream.
    pub rng: &'a mut Rng,
    sink: &'a mut dyn Sink<T>,
}

impl<'a, T> Cx<'a, T> {
    /// A context for one call; made by [`Port`](crate::Port).
    pub fn new(now: Time, rng: &'a mut Rng, sink: &'a mut dyn Sink<T>) -> Cx<'a, T> {
        Cx { now, rng, sink }
    }

    /// Chance and sink apart, for a host's adaptor around a discipline: it hands the random stream on and looks at what
    /// is dropped and marked on its way to the sink.
    pub fn split(&mut self) -> (&mut Rng, &mut dyn Sink<T>) {
        (self.rng, self.sink)
    }

    /// Drops `packet`. It is consumed: what was condemned cannot be sent.
    pub fn drop(&mut self, packet: Packet<T>, why: Why) {
        self.sink.dropped(packet, why, self.now);
    }

    /// Tells the sender of congestion: marks the packet and returns it if `ecn` allows marks and the packet can carry
    /// one (RFC 3168, section 5), else drops it.
    pub fn signal(&mut self, mut packet: Packet<T>, why: Why, ecn: bool) -> Option<Packet<T>> {
        if ecn && packet.ecn.is_capable() {
            packet.ecn = Ecn::Ce;
            self.sink.marked(&packet, why, self.now);
            return Some(packet);
        }
        self.drop(packet, why);
        None
    }

    /// [`signal`](Cx::signal) if `hit`, else the packet as it came.
    #[inline]
    pub fn signal_if(&mut self, hit: bool, packet: Packet<T>, why: Why, ecn: bool) -> Option<Packet<T>> {
        if hit { self.signal(packet, why, ecn) } else { Some(packet) }
    }
}
