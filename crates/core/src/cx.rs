//! The context of a call to a discipline: time, randomness, and a sink for drops and marks.

use crate::headers::{AckHeader, PacketHeaders};
use crate::packet::{Ecn, Packet};
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::Time;

/// What a host does for its discipline: it receives dropped and marked packets, and knows their headers. `()` ignores
/// packets and knows no more than their flows.
pub trait Sink<T> {
    /// Takes a dropped packet.
    fn dropped(&mut self, packet: Packet<T>, why: Why, now: Time);
    /// Reports a marked packet, which is not dropped.
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time);

    /// The headers of a packet that the host gave to the discipline. A host that knows no more than the flow need not
    /// answer.
    fn headers(&self, packet: &Packet<T>) -> PacketHeaders {
        PacketHeaders::of_flow(packet.flow)
    }

    /// The fields of a packet that is a TCP segment with the ACK flag; `None` for any other, and from a host that does not
    /// tell.
    fn ack(&self, _: &Packet<T>) -> Option<AckHeader> {
        None
    }
}

impl<T> Sink<T> for () {
    fn dropped(&mut self, _: Packet<T>, _: Why, _: Time) {}
    fn marked(&mut self, _: &Packet<T>, _: Why, _: Time) {}
}

/// The context of one call: the time, the port's random stream, and the sink for drops and marks.
pub struct Cx<'a, T> {
    /// The current time. It never goes back, but may stand still or jump.
    pub now: Time,
    /// The port's random stream.
    pub rng: &'a mut Rng,
    sink: &'a mut dyn Sink<T>,
}

impl<'a, T> Cx<'a, T> {
    /// A context for one call; [`Port`](crate::Port) makes it.
    pub fn new(now: Time, rng: &'a mut Rng, sink: &'a mut dyn Sink<T>) -> Cx<'a, T> {
        Cx { now, rng, sink }
    }

    /// Splits the context into random stream and sink, so that a host's adaptor can intercept drops and marks.
    pub fn split(&mut self) -> (&mut Rng, &mut dyn Sink<T>) {
        (self.rng, self.sink)
    }

    /// The headers of a packet, queued or arriving.
    pub fn headers(&self, packet: &Packet<T>) -> PacketHeaders {
        self.sink.headers(packet)
    }

    /// The fields of an acknowledgement, queued or arriving; see [`Sink::ack`].
    pub fn ack(&self, packet: &Packet<T>) -> Option<AckHeader> {
        self.sink.ack(packet)
    }

    /// Drops `packet`, consuming it: a dropped packet cannot be sent.
    pub fn drop(&mut self, packet: Packet<T>, why: Why) {
        self.sink.dropped(packet, why, self.now);
    }

    /// Marks `packet` and returns it if `ecn` is on and the packet is ECN-capable (RFC 3168, section 5); else drops it.
    pub fn signal(&mut self, mut packet: Packet<T>, why: Why, ecn: bool) -> Option<Packet<T>> {
        if ecn && packet.ecn.is_capable() {
            packet.ecn = Ecn::Ce;
            self.sink.marked(&packet, why, self.now);
            return Some(packet);
        }
        self.drop(packet, why);
        None
    }

    /// Drops or marks the packet if `hit`, as [`signal`](Cx::signal) does; otherwise returns it unchanged.
    #[inline]
    pub fn signal_if(&mut self, hit: bool, packet: Packet<T>, why: Why, ecn: bool) -> Option<Packet<T>> {
        if hit { self.signal(packet, why, ecn) } else { Some(packet) }
    }
}
