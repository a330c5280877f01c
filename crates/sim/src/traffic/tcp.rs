//! TCP flows: application, sender, receiver, and the wires between them and the routers.

use headgate_core::{Ecn, Rng, Span, Time};
use headgate_link::{Wire, WireProperties};
use headgate_measure::SenderState;
use headgate_scenario::TcpGroup;
use headgate_traffic::WriteAmount;

use super::app::{App, Transfer};
use super::{Replies, capable, first, first_back, packet, stops};
use crate::event::{Event, What};
use crate::queue::Queue;
use crate::segment::{Options, Segment, SimPacket};
use crate::tcp::{Ack, Config, Receiver, Reply, Sender};
use crate::touch::touch;

/// Settings shared by the TCP flows of a group.
pub struct TcpKind {
    /// A full data packet on the wire, in bytes.
    pub packet: u32,
    /// Its payload, in bytes.
    pub payload: u32,
    config: Config,
    ack: u32,
    /// The first links of the forward and the reverse route.
    links: [u16; 2],
    ecn: Ecn,
    /// ECN codepoint of retransmissions: Not-ECT unless configured, so that their loss is detected (RFC 3168, section
    /// 6.1.5).
    ecn_again: Ecn,
    overhead: Span,
    stop: Time,
    data_up: WireProperties,
    data_down: WireProperties,
    ack_up: WireProperties,
    ack_down: WireProperties,
}

/// One flow in five cache lines: three for the sender, one for the rest of its side, one for the receiver's side.
#[repr(C, align(64))]
pub struct TcpFlow {
    sender: Sender,
    /// Sender to router, and router to sender.
    up: Wire,
    back: Wire,
    /// The earliest scheduled timer event; later deadlines are scheduled when it fires.
    sender_timer: Time,
    rng: Rng,
    /// `None` for unlimited data.
    app: Option<Box<App>>,
    receiver: Receiver,
    /// Router to receiver, and receiver to router.
    down: Wire,
    ack_up: Wire,
    receiver_timer: Time,
    /// The number after the last segment of the oldest open transfer; `u32::MAX` if there is none. It is here so that
    /// arriving data does not touch the sender's cache lines.
    milestone: u32,
    /// Index into the groups of its kind.
    pub group: u16,
}

/// Counts of a flow at one moment.
#[derive(Clone, Copy, Default)]
pub struct Before {
    /// Segments delivered in order.
    pub delivered: u32,
    pub retransmits: u32,
    pub timeouts: u32,
    /// The integral of `cwnd` in segments x nanoseconds.
    pub cwnd_area: f64,
}

impl TcpKind {
    pub fn new(group: &TcpGroup) -> TcpKind {
        TcpKind {
            packet: group.packet,
            payload: group.packet - group.header,
            config: group.settings.clone(),
            ack: group.ack,
            links: [first(&group.route), first_back(&group.route)],
            ecn: codepoint(group),
            ecn_again: if group.ecn_retransmits { codepoint(group) } else { Ecn::NotEct },
            overhead: group.overhead,
            stop: stops(group.stop),
            data_up: WireProperties::new(&group.sender, group.packet),
            data_down: WireProperties::new(&group.receiver, group.packet),
            ack_up: WireProperties::new(&group.receiver, group.ack),
            ack_down: WireProperties::new(&group.sender, group.ack),
        }
    }
}

/// ECN codepoint of new data: ECT(1) is reserved for scalable controls (RFC 9331, section 4.1); DCTCP is older.
fn codepoint(group: &TcpGroup) -> Ecn {
    if group.ecn && group.cc.needs().ect1 { Ecn::Ect1 } else { capable(group.ecn) }
}

impl TcpFlow {
    /// A new flow with the application `app`.
    pub fn new(kind: &TcpKind, group: u16, app: Option<App>, mut rng: Rng) -> TcpFlow {
        let mut sender = if app.is_some() { Sender::finite(&kind.config) } else { Sender::new(&kind.config) };
        sender.seed(&mut rng);
        TcpFlow {
            sender,
            up: Wire::default(),
            back: Wire::default(),
            sender_timer: Time::NEVER,
            rng,
            app: app.map(Box::new),
            receiver: Receiver::default(),
            down: Wire::default(),
            ack_up: Wire::default(),
            receiver_timer: Time::NEVER,
            milestone: u32::MAX,
            group,
        }
    }

    pub fn start(&mut self, id: u32, kind: &TcpKind, now: Time, queue: &mut Queue<Event>) {
        match &mut self.app {
            Some(app) => writes(id, app.start(now), queue),
            None => self.send(id, kind, now, queue),
        }
    }

    /// Begins the application's next write.
    pub fn on_write(&mut self, id: u32, kind: &TcpKind, now: Time, queue: &mut Queue<Event>) {
        if now >= kind.stop {
            return;
        }
        let Some(app) = &mut self.app else { return };
        let Some(write) = app.begin(now) else { return };
        if write.new_connection {
            self.sender.reset(&kind.config, now);
            self.sender.seed(&mut self.rng);
            self.receiver.renew();
        }
        match write.data {
            WriteAmount::Bytes(bytes) => self.sender.offer(segments(bytes, kind.payload)),
            WriteAmount::Duration(lasting) => {
                self.sender.open();
                queue.push(now + lasting, Event::flow(What::Close, id));
            }
            WriteAmount::Endless => self.sender.open(),
        }
        writes(id, app.written(&write, self.sender.end(), now), queue);
        self.milestone = app.milestone();
        self.send(id, kind, now, queue);
    }

    /// Ends a write of limited duration: no data follows the segments already sent.
    pub fn on_close(&mut self, id: u32, now: Time, queue: &mut Queue<Event>) {
        self.sender.close();
        self.settle(id, now, queue);
    }

    /// Tells the application when all its data is acknowledged.
    #[inline]
    fn settle(&mut self, id: u32, now: Time, queue: &mut Queue<Event>) {
        if let Some(app) = &mut self.app
            && self.sender.acked_all()
        {
            writes(id, app.acknowledged(now), queue);
        }
    }

    /// Whether the application has finished and all its data is acknowledged; true only once.
    #[inline]
    pub fn ends(&mut self) -> bool {
        self.app.as_mut().is_some_and(|app| self.sender.acked_all() && app.ends())
    }

    /// The oldest open transfer, if it has arrived.
    pub fn arrived(&mut self) -> Option<Transfer> {
        if self.receiver.expected() < self.milestone {
            return None;
        }
        let app = self.app.as_mut()?;
        let transfer = app.arrived();
        self.milestone = app.milestone();
        transfer
    }

    /// Open transfers, oldest first.
    pub fn unfinished(&self) -> impl Iterator<Item = Transfer> {
        self.app.iter().flat_map(|app| app.unfinished())
    }

    /// Sends the segments that are allowed now.
    #[inline]
    pub fn send(&mut self, id: u32, kind: &TcpKind, now: Time, queue: &mut Queue<Event>) {
        if now >= kind.stop {
            return;
        }
        while let Some(data) = self.sender.poll(&kind.config, now) {
            let at = self.after_overhead(kind, now);
            let ecn = if data.again { kind.ecn_again } else { kind.ecn };
            let packet = packet(id, kind.packet, ecn, Segment::data(data.seq, data.cwr).sent_at(at));
            queue.push(self.up.pass(at, &kind.data_up), Event::packet(What::FromSender, kind.links[0], packet));
        }
        if let Some(departure) = self.sender.departure(&kind.config, now) {
            queue.push(departure, Event::flow(What::Departure, id));
        }
        self.arm_sender(id, queue);
    }

    /// Pacing releases the next segment.
    pub fn on_departure(&mut self, id: u32, kind: &TcpKind, now: Time, queue: &mut Queue<Event>) {
        self.sender.on_departure();
        self.send(id, kind, now, queue);
    }

    #[inline]
    pub fn on_ack(&mut self, id: u32, ack: Ack, kind: &TcpKind, now: Time, queue: &mut Queue<Event>) {
        self.sender.on_ack(ack, &kind.config, now);
        self.settle(id, now, queue);
        self.send(id, kind, now, queue);
    }

    /// Handles a retransmission timer event, which may precede the current deadline.
    pub fn on_sender_timer(&mut self, id: u32, kind: &TcpKind, now: Time, queue: &mut Queue<Event>) {
        if self.sender_timer != now {
            return;
        }
        self.sender_timer = Time::NEVER;
        self.sender.on_timer(&kind.config, now);
        self.send(id, kind, now, queue);
    }

    pub fn on_receiver_timer(
        &mut self,
        id: u32,
        kind: &TcpKind,
        now: Time,
        replies: &mut Replies,
        queue: &mut Queue<Event>,
    ) {
        self.receiver_timer = Time::NEVER;
        if let Some(reply) = self.receiver.on_timer(&kind.config, now) {
            self.reply(id, reply, kind, now, replies, queue);
        }
        self.arm_receiver(id, queue);
    }

    /// A segment leaves the last router for the receiver at `now`. Returns the number of segments it delivers, and
    /// its arrival time.
    ///
    /// The last wire belongs to the flow, so the arrival time is known. Until then only the flow's earlier segments
    /// and a delayed ACK, which is checked first, can change the receiver. The receiver therefore acts at once, with
    /// the later time, and the last hop needs no event. Data thus counts as delivered when it leaves its last queue.
    #[inline]
    pub fn on_data(
        &mut self,
        id: u32,
        (seq, cwr, packet): (u32, bool, &SimPacket),
        kind: &TcpKind,
        now: Time,
        replies: &mut Replies,
        queue: &mut Queue<Event>,
    ) -> (u32, Time) {
        let arrives = self.down.pass(now, &kind.data_down);
        if let Some(due) = self.receiver.deadline()
            && due < arrives
            && let Some(reply) = self.receiver.on_timer(&kind.config, due)
        {
            self.reply(id, reply, kind, due, replies, queue);
        }
        let before = self.receiver.expected();
        self.receiver.on_delay(packet.handle.age(arrives));
        match self.receiver.on_data(seq, packet.ecn == Ecn::Ce, cwr, &kind.config, arrives) {
            Some(reply) => {
                self.reply(id, reply, kind, arrives, replies, queue);
                if let Some(second) = self.receiver.on_timer(&kind.config, arrives) {
                    self.reply(id, second, kind, arrives, replies, queue);
                }
            }
            None => self.arm_receiver(id, queue),
        }
        (self.receiver.expected() - before, arrives)
    }

    /// When an acknowledgement that leaves the last router at `now` reaches the sender.
    #[inline]
    pub fn ack_arrives(&mut self, kind: &TcpKind, now: Time) -> Time {
        self.back.pass(now, &kind.ack_down)
    }

    /// Prefetches the cache lines that an acknowledgement needs.
    #[inline]
    pub fn approach_sender(&self) {
        self.sender.approach();
        touch(self.up);
    }

    /// Prefetches the cache line that an acknowledgement on its last wire needs.
    #[inline]
    pub fn approach_wire(&self) {
        touch(self.back);
    }

    pub fn state(&self, kind: &TcpKind) -> SenderState {
        self.sender.state(kind.payload)
    }

    /// Segments sent so far, including retransmissions.
    pub fn segments_sent(&self) -> u64 {
        self.sender.sent()
    }

    /// Its counts up to `now`.
    pub fn counts(&self, now: Time) -> Before {
        Before {
            delivered: self.receiver.expected(),
            retransmits: self.sender.retransmits(),
            timeouts: self.sender.timeouts(),
            cwnd_area: self.sender.cwnd_area(now),
        }
    }

    #[inline]
    fn after_overhead(&mut self, kind: &TcpKind, now: Time) -> Time {
        if kind.overhead == Span::ZERO {
            return now;
        }
        // The wire preserves the order of segments despite the jitter.
        now + self.rng.span_below(kind.overhead)
    }

    #[inline]
    fn reply(
        &mut self,
        id: u32,
        reply: Reply,
        kind: &TcpKind,
        now: Time,
        replies: &mut Replies,
        queue: &mut Queue<Event>,
    ) {
        let Reply { blocks, delay, .. } = reply;
        replies.sent += 1;
        let sack = (blocks.is_some() || delay.is_some()).then(|| replies.sacks.keep(Options { blocks, delay }));
        // Pure ACKs are not ECN-capable (RFC 3168, section 6.1.4).
        let packet = packet(id, kind.ack, Ecn::NotEct, Segment::ack(reply.ack, reply.ece, reply.ace, sack));
        queue.push(self.ack_up.pass(now, &kind.ack_up), Event::packet(What::FromReceiver, kind.links[1], packet));
    }

    #[inline]
    fn arm_sender(&mut self, id: u32, queue: &mut Queue<Event>) {
        if let Some(deadline) = self.sender.deadline()
            && deadline < self.sender_timer
        {
            self.sender_timer = deadline;
            queue.push(deadline, Event::flow(What::SenderTimer, id));
        }
    }

    #[inline]
    fn arm_receiver(&mut self, id: u32, queue: &mut Queue<Event>) {
        if let Some(deadline) = self.receiver.deadline()
            && self.receiver_timer == Time::NEVER
        {
            self.receiver_timer = deadline;
            queue.push(deadline, Event::flow(What::ReceiverTimer, id));
        }
    }
}

/// Schedules a write at `at`, if there is one.
fn writes(id: u32, at: Option<Time>, queue: &mut Queue<Event>) {
    if let Some(at) = at {
        queue.push(at, Event::flow(What::Write, id));
    }
}

/// Segments needed for `bytes`. All segments are full, even the last of a transfer.
fn segments(bytes: u64, payload: u32) -> u32 {
    u32::try_from(bytes.div_ceil(u64::from(payload))).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_fills_five_cache_lines_and_its_receiver_the_last() {
        assert_eq!(size_of::<TcpFlow>(), 320);
        assert_eq!(std::mem::offset_of!(TcpFlow, receiver), 256);
    }
}
