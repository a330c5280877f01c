//! UDP flows without congestion control: datagrams leave as the source writes them.

use aqm::{Ecn, Rng, Time};
use headgate_link::{DrawnDelays, Wire, WireProperties};
use headgate_scenario::UdpGroup;
use headgate_traffic::{FlowSource, WriteAmount, WriteStart};

use super::{ecn_codepoint, first_link, packet, stop_time};
use crate::segment::{Segment, SimPacket};
use crate::send_clock::SendClock;

/// Settings shared by the UDP flows of a group.
pub struct UdpFlowSettings {
    /// Payload of a full datagram, in bytes.
    pub payload: u32,
    /// Headers of any datagram on the wire, in bytes.
    pub header: u32,
    /// The number of the route's first link.
    pub link: u16,
    ecn: Ecn,
    stop: Time,
    clock: SendClock,
    from_sender: WireProperties,
    to_receiver: WireProperties,
    drawn_delays: DrawnDelays,
}

pub struct UdpFlow {
    from_sender: Wire,
    to_receiver: Wire,
    source: FlowSource,
    rng: Rng,
    /// When the last write began; before the first, the flow's start.
    write_began: Time,
    /// Unsent bytes of the last write.
    unsent_bytes: u64,
    /// Datagrams emitted; the last one's send time may lie ahead.
    pub sent: u64,
    /// Copies that links made, and datagrams and copies delivered, dropped or lost.
    copies: u64,
    gone: u64,
    /// The source has finished.
    finished: bool,
    /// Index into the groups of its kind.
    pub group: u16,
}

impl UdpFlowSettings {
    /// The settings of `group` with the delays that its flows drew.
    pub fn new(group: &UdpGroup, clock: SendClock, drawn_delays: DrawnDelays) -> UdpFlowSettings {
        UdpFlowSettings {
            payload: group.packet - group.header,
            header: group.header,
            link: first_link(&group.route),
            ecn: ecn_codepoint(group.ecn, false),
            stop: stop_time(group.stop),
            clock,
            from_sender: WireProperties::new(&group.sender, group.packet),
            to_receiver: WireProperties::new(&group.receiver, group.packet),
            drawn_delays,
        }
    }
}

impl UdpFlow {
    pub fn new(group: u16, start: Time, source: FlowSource, rng: Rng) -> UdpFlow {
        let (from_sender, to_receiver) = (Wire::default(), Wire::default());
        UdpFlow {
            from_sender,
            to_receiver,
            source,
            rng,
            write_began: start,
            unsent_bytes: 0,
            sent: 0,
            copies: 0,
            gone: 0,
            finished: false,
            group,
        }
    }

    /// Lets another source write after the present write.
    pub fn replace_source(&mut self, source: FlowSource) {
        self.source = source;
    }

    /// Emits the next datagram, with its arrival time at the first link. The network cannot change that time, so a
    /// datagram needs no other event.
    #[inline]
    pub fn emit(&mut self, id: u32, settings: &UdpFlowSettings) -> Option<(Time, SimPacket)> {
        if self.unsent_bytes == 0 && self.write().is_none() {
            self.finished = true;
            return None;
        }
        if self.write_began >= settings.stop {
            return None;
        }
        self.sent += 1;
        let data = self.unsent_bytes.min(settings.payload.into()) as u32;
        self.unsent_bytes -= u64::from(data);
        let bytes = data + settings.header;
        let segment = Segment::datagram(self.sent as u32).with_send_time(self.write_began, settings.clock);
        let [drawn_delay, _] = settings.drawn_delays.of_flow(id);
        let arrives = self.from_sender.pass_sized(self.write_began, bytes, &settings.from_sender) + drawn_delay;
        Some((arrives, packet(id, bytes, settings.ecn, segment)))
    }

    /// Counts a datagram that was delivered, dropped or lost; returns whether it was the flow's last.
    #[inline]
    pub fn count_gone(&mut self) -> bool {
        self.gone += 1;
        self.finished && self.gone == self.sent + self.copies
    }

    /// Counts a copy that a link made of a datagram.
    pub fn add_copy(&mut self) {
        self.copies += 1;
    }

    /// Whether the last emitted datagram is sent only at `now` or later.
    pub fn is_unsent(&self, now: Time) -> bool {
        self.write_began >= now
    }

    /// Begins the source's next write; `None` if it has finished.
    #[inline]
    fn write(&mut self) -> Option<()> {
        let write = self.source.next(&mut self.rng)?;
        // UDP has no replies, so scenarios exclude closed-loop sources.
        let (WriteStart::AfterStart(gap) | WriteStart::AfterDelivery(gap)) = write.after;
        let WriteAmount::Bytes(bytes) = write.data else { return None };
        self.write_began += gap;
        self.unsent_bytes = bytes;
        Some(())
    }

    /// A datagram leaves the last router at `now`: its arrival time, which is known, as in TCP.
    #[inline]
    pub fn receive(&mut self, id: u32, bytes: u32, settings: &UdpFlowSettings, now: Time) -> Time {
        let arrives = self.to_receiver.pass_sized(now, bytes, &settings.to_receiver);
        let [_, drawn_delay] = settings.drawn_delays.of_flow(id);
        arrives + drawn_delay
    }
}
