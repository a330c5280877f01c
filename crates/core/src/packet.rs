//! Packets and flows as disciplines see them.

use core::fmt;

use crate::time::Time;

/// A flow's identifier, chosen by the host: a dense number in the simulator, a keyed hash of the 5-tuple on real
/// packets. Disciplines hash it again under their own key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u64);

/// A class of flows, from the host's classifier; 0 if unclassified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u16);

/// The ECN field of the IP header (RFC 3168, section 5; RFC 8311 for ECT(1)).
///
/// Not an enum. The compiler would encode a missing packet in an unused value of this byte, and would copy packets at
/// half the speed.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Ecn(u8);

#[expect(non_upper_case_globals, reason = "they are used as an enum's variants are")]
impl Ecn {
    /// Not ECN-capable: the packet can only be dropped.
    pub const NotEct: Ecn = Ecn(0b00);
    /// ECN-capable transport, codepoint 10.
    pub const Ect0: Ecn = Ecn(0b10);
    /// ECN-capable transport, codepoint 01.
    pub const Ect1: Ecn = Ecn(0b01);
    /// Congestion experienced: the packet is marked.
    pub const Ce: Ecn = Ecn(0b11);

    /// Whether the packet can carry a mark; an already marked packet can.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }

    /// The codepoint in the last two bits of IPv4's TOS or IPv6's traffic class.
    pub const fn from_bits(bits: u8) -> Ecn {
        Ecn(bits & 0b11)
    }

    /// The codepoint's two bits.
    pub fn bits(self) -> u8 {
        self.0
    }
}

impl fmt::Debug for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["NotEct", "Ect1", "Ect0", "Ce"][usize::from(self.0)])
    }
}

/// A packet's descriptor, with the host's `handle` to the rest (a simulated segment, a frame index, `()`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Packet<T> {
    /// When the port received it. The port sets this.
    pub arrived: Time,
    /// Its flow.
    pub flow: FlowId,
    /// Its size in bytes, headers included.
    pub bytes: u32,
    /// Its class.
    pub class: ClassId,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The host's reference.
    pub handle: T,
}

impl<T> Packet<T> {
    /// A packet of `flow` and `bytes`, not ECN-capable, in class 0.
    pub const fn new(flow: FlowId, bytes: u32, handle: T) -> Packet<T> {
        Packet { arrived: Time::ZERO, flow, bytes, class: ClassId(0), ecn: Ecn::NotEct, handle }
    }
}

impl<T> fmt::Debug for Packet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet(flow {}, {} B, {:?}, arrived {})", self.flow.0, self.bytes, self.ecn, self.arrived)
    }
}

/// Packets and bytes held by a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Queued packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
}
