//! Flows of datagrams: what a source writes goes out at once, whatever happens to it.

use headgate_core::{Ecn, Rng, Time};
use headgate_link::{Wire, WireKind};
use headgate_scenario::UdpGroup;
use headgate_traffic::{After, Data, Source};

use super::{capable, first, packet, stops};
use crate::segment::{Segment, SimPacket};

/// What the UDP flows of a group have in common.
pub struct UdpKind {
    /// Data in a full datagram, in bytes.
    pub payload: u32,
    /// The rest of any datagram on the wire, in bytes.
    pub header: u32,
    /// The number of the first link on their way.
    pub link: u16,
    ecn: Ecn,
    stop: Time,
    up: WireKind,
    down: WireKind,
}

/// One flow.
pub struct UdpFlow {
    up: Wire,
    down: Wire,
    source: Source,
    rng: Rng,
    /// When the last write began; before the first, when the flow starts.
    began: Time,
    /// What is left of it, in bytes.
    left: u64,
    /// Datagrams sent, and the one whose time is known.
    pub sent: u64,
    /// Datagrams that are under way no more.
    gone: u64,
    /// The source has no more.
    over: bool,
    /// Useful bytes delivered since they were last reset.
    pub delivered: u64,
    /// The flow's group: an index into the groups of its kind.
    pub group: u16,
}

impl UdpKind {
    /// What the scenario says of `group`.
    pub fn new(group: &UdpGroup) -> UdpKind {
        UdpKind {
            payload: group.packet - group.header,
            header: group.header,
            link: first(&group.route),
            ecn: capable(group.ecn),
            stop: stops(group.stop),
            up: WireKind::new(&group.sender, group.packet),
            down: WireKind::new(&group.receiver, group.packet),
        }
    }
}

impl UdpFlow {
    /// A flow that starts at `start` to send what `source` writes.
    pub fn new(group: u16, start: Time, source: Source, rng: Rng) -> UdpFlow {
        let (up, down) = (Wire::default(), Wire::default());
        UdpFlow { up, down, source, rng, began: start, left: 0, sent: 0, gone: 0, over: false, delivered: 0, group }
    }

    /// The flow's next datagram, and when it reaches its first link. Nothing that happens in the network changes when
    /// that is, so this arrival is the only event a datagram needs.
    #[inline]
    pub fn emit(&mut self, id: u32, kind: &UdpKind) -> Option<(Time, SimPacket)> {
        if self.left == 0 && self.write().is_none() {
            self.over = true;
            return None;
        }
        if self.began >= kind.stop {
            return None;
        }
        self.sent += 1;
        let data = self.left.min(kind.payload.into()) as u32;
        self.left -= u64::from(data);
        let bytes = data + kind.header;
        let segment = Segment::DATAGRAM.sent_at(self.began);
        let arrives = self.up.pass_sized(self.began, bytes, &kind.up);
        Some((arrives, packet(id, bytes, kind.ecn, segment)))
    }

    /// A datagram was delivered, dropped or lost; says whether it was the last that there is.
    #[inline]
    pub fn is_gone(&mut self) -> bool {
        self.gone += 1;
        self.over && self.gone == self.sent
    }

    /// Whether the datagram emitted last is sent only at `now` or later.
    pub fn is_ahead(&self, now: Time) -> bool {
        self.began >= now
    }

    /// The source's next write; `None` if there is no more.
    #[inline]
    fn write(&mut self) -> Option<()> {
        let write = self.source.next(&mut self.rng)?;
        // Datagrams hear no answer: to sources of a closed loop, which the scenario keeps from them, all is done at once.
        let (After::Start(gap) | After::Done(gap)) = write.after;
        let Data::Bytes(bytes) = write.data else { return None };
        self.began += gap;
        self.left = bytes;
        Some(())
    }

    /// A datagram leaves the last router for the receiver at `now`: when it arrives, and whether it must wait for others
    /// on the wire before it. If not, it counts as delivered at once, as TCP's segments do.
    #[inline]
    pub fn receive(&mut self, bytes: u32, kind: &UdpKind, now: Time) -> (Time, bool) {
        let arrives = self.down.pass_sized(now, bytes, &kind.down);
        (arrives, arrives > kind.down.alone(now, bytes))
    }
}
