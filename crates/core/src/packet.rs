//! What a discipline may know of a packet, and of a queue of packets.

use core::fmt;

use crate::time::Time;

/// Names a flow. The host chooses it: a dense number in the simulator, a keyed hash of the 5-tuple on real packets.
/// Disciplines hash it again with a key of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u64);

/// The aggregate a flow belongs to, from the host's classifier; 0 where nothing was classified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u16);

/// The ECN field of the IP header (RFC 3168, section 5; RFC 8311 for ECT(1)).
///
/// A number behind names rather than an enum: the compiler would use an enum's unused values to say that there is no
/// packet, and then copy every packet around that one byte in overlapping pieces, at half the speed.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Ecn(u8);

#[expect(non_upper_case_globals, reason = "they are used as an enum's variants are")]
impl Ecn {
    /// The sender does not understand marks: it must be told by a drop.
    pub const NotEct: Ecn = Ecn(0b00);
    /// ECN-capable transport, codepoint 10.
    pub const Ect0: Ecn = Ecn(0b10);
    /// ECN-capable transport, codepoint 01.
    pub const Ect1: Ecn = Ecn(0b01);
    /// Congestion experienced: already marked.
    pub const Ce: Ecn = Ecn(0b11);

    /// Whether the packet can carry a mark (one that is marked already can carry another).
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }

    /// The codepoint that an IP header's byte has in its last two bits: IPv4's TOS, IPv6's traffic class.
    pub const fn from_bits(bits: u8) -> Ecn {
        Ecn(bits & 0b11)
    }

    /// The two bits as they stand in the IP header.
    pub fn bits(self) -> u8 {
        self.0
    }
}

impl fmt::Debug for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["NotEct", "Ect1", "Ect0", "Ce"][usize::from(self.0)])
    }
}

/// One packet as a discipline sees it: a small descriptor, and the host's `handle` to the rest (a simulated segment,
/// a frame index, `()`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Packet<T> {
    /// When the packet was given to the port; the port writes it.
    pub arrived: Time,
    /// Its flow.
    pub flow: FlowId,
    /// Its size in bytes, headers included.
    pub bytes: u32,
    /// Its aggregate.
    pub class: ClassId,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The host's own.
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

/// What a queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
}
