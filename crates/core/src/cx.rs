//! What a discipline is handed with every call: the time, chance, and a place for what it drops and marks.

use core::fmt;

use crate::packet::{Ecn, Packet};
use crate::rng::Rng;
use crate::time::Time;

/// Why a packet was dropped or marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// There was no room.
    Overflow,
    /// By chance, as early notice of congestion.
    Early,
    /// Above a threshold, with certainty.
    Forced,
    /// This flow holds too much of the queue.
    FlowLimit,
    /// This flow does not slow down: rate limit, penalty box, strike.
    Unresponsive,
    /// Before the queue, because the flow is monitored (RED-PD).
    Prefilter,
    /// It met a packet of its own flow (CHOKe).
    Match,
    /// Its flow is in the heavy-hitter set (BREATHe).
    HeavyHitter,
    /// Its flow's token bucket is low (SFED, FABA).
    Bucket,
    /// It, or those before it, waited too long (CoDel, PIE).
    Sojourn,
    /// A parent discipline was overloaded and asked for a drop.
    Overload,
}

impl Why {
    /// Every reason, in the order in which counts are kept.
    pub const ALL: [Why; 11] = [
        Why::Overflow,
        Why::Early,
        Why::Forced,
        Why::FlowLimit,
        Why::Unresponsive,
        Why::Prefilter,
        Why::Match,
        Why::HeavyHitter,
        Why::Bucket,
        Why::Sojourn,
        Why::Overload,
    ];

    /// Whether it is given only to flows that a discipline has singled out.
    pub const fn singles_out(self) -> bool {
        matches!(self, Why::Unresponsive | Why::Prefilter | Why::HeavyHitter)
    }

    /// The reason in words, as it follows "because".
    pub const fn about(self) -> &'static str {
        match self {
            Why::Overflow => "there was no room in the queue",
            Why::Early => "chance chose it, as early notice of congestion",
            Why::Forced => "the queue stood above a threshold, where every packet is signalled",
            Why::FlowLimit => "its flow held too much of the queue",
            Why::Unresponsive => "its flow counted as one that does not slow down",
            Why::Prefilter => "its flow was monitored, and chance chose it before the queue",
            Why::Match => "it met a packet of its own flow in the queue",
            Why::HeavyHitter => "its flow was among the heaviest",
            Why::Bucket => "its flow's token bucket was low",
            Why::Sojourn => "packets had waited too long",
            Why::Overload => "the discipline around this one had no room",
        }
    }

    /// The reason's name in tables and results.
    pub const fn name(self) -> &'static str {
        match self {
            Why::Overflow => "overflow",
            Why::Early => "early",
            Why::Forced => "forced",
            Why::FlowLimit => "flow_limit",
            Why::Unresponsive => "unresponsive",
            Why::Prefilter => "prefilter",
            Why::Match => "match",
            Why::HeavyHitter => "heavy_hitter",
            Why::Bucket => "bucket",
            Why::Sojourn => "sojourn",
            Why::Overload => "overload",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
