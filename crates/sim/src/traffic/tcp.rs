//! TCP flows: application, sender, receiver, and the four access wires between them and the routers.
//!
//! Each method handles one event of a flow: it calls the sender or receiver, puts the resulting packets on a wire, and
//! schedules the next timers.

use aqm::{Ecn, Rng, Span, Time};
use headgate_link::Wire;
use headgate_measure::SenderState;
use headgate_traffic::WriteAmount;

use super::app::{FlowApp, TransferRequest};
use super::tcp_settings::TcpFlowSettings;
use super::{Replies, packet};
use crate::event::{EventKind, SimEvent};
use crate::event_queue::EventQueue;
use crate::prefetch::prefetch;
use crate::segment::{Segment, SimPacket};
use crate::tcp::{Ack, OutgoingAck, OutgoingSegment, SendLimit, TcpReceiver, TcpSender};

/// One flow in five cache lines: three for the sender, one for the rest of its side, one for the receiver's side.
#[repr(C, align(64))]
pub struct TcpFlow {
    sender: TcpSender,
    /// The wires between the sender and its router.
    data_from_sender: Wire,
    ack_to_sender: Wire,
    /// The earliest scheduled timer event; later deadlines are scheduled when it fires.
    sender_timer: Time,
    rng: Rng,
    /// `None` for unlimited data.
    app: Option<Box<FlowApp>>,
    receiver: TcpReceiver,
    /// The wires between the receiver and its router.
    data_to_receiver: Wire,
    ack_from_receiver: Wire,
    receiver_timer: Time,
    /// The number after the last segment of the oldest open transfer; `u32::MAX` if there is none. It is here so that
    /// arriving data does not touch the sender's cache lines.
    open_transfer_end: u32,
    /// Index into the groups of its kind.
    pub group: u16,
    /// Whether the application has written a segment that is not full and has not arrived. It is here for the same
    /// reason.
    has_short_segments: bool,
}

/// Packets at an access link beyond which it counts as the flow's limit. Senders leave up to as many at once, by the
/// initial window of RFC 6928, on any link.
const ACCESS_QUEUE: u64 = 10;

/// Counts of a flow's sender at one moment.
#[derive(Clone, Copy, Default)]
pub struct TcpCounts {
    pub retransmits: u32,
    pub timeouts: u32,
    /// The integral of `cwnd` in segments x nanoseconds.
    pub cwnd_area: f64,
    /// Whether these counts were taken.
    pub taken: bool,
}

/// With jitter, the least time between two segments: a unit of the finest clock.
const SHORTEST_GAP: Span = Span::from_nanos(1 << 10);

impl TcpFlow {
    /// A new flow with the application `app`.
    pub fn new(settings: &TcpFlowSettings, group: u16, app: Option<FlowApp>, mut rng: Rng) -> TcpFlow {
        let mut sender = if app.is_some() { TcpSender::finite(&settings.tcp) } else { TcpSender::new(&settings.tcp) };
        sender.seed(&mut rng);
        TcpFlow {
            sender,
            data_from_sender: Wire::default(),
            ack_to_sender: Wire::default(),
            sender_timer: Time::NEVER,
            rng,
            app: app.map(Box::new),
            receiver: TcpReceiver::default(),
            data_to_receiver: Wire::default(),
            ack_from_receiver: Wire::default(),
            receiver_timer: Time::NEVER,
            open_transfer_end: u32::MAX,
            group,
            has_short_segments: false,
        }
    }

    pub fn start(&mut self, id: u32, settings: &TcpFlowSettings, now: Time, queue: &mut EventQueue<SimEvent>) {
        match &mut self.app {
            Some(app) => schedule_write(id, app.start(now), queue),
            None => self.send(id, settings, now, queue),
        }
    }

    /// Begins the application's next write.
    pub fn on_write(&mut self, id: u32, settings: &TcpFlowSettings, now: Time, queue: &mut EventQueue<SimEvent>) {
        if now >= settings.stop {
            return;
        }
        let Some(app) = &mut self.app else { return };
        let Some(write) = app.begin(now) else { return };
        if write.new_connection {
            self.sender.reset(&settings.tcp, now);
            self.sender.seed(&mut self.rng);
            self.receiver.begin_connection();
        }
        match write.data {
            WriteAmount::Bytes(bytes) => self.sender.offer(segments(bytes, settings.payload)),
            WriteAmount::Duration(lasting) => {
                self.sender.supply_endlessly();
                queue.push(now + lasting, SimEvent::of_flow(EventKind::AppClose, id));
            }
            WriteAmount::Endless => self.sender.supply_endlessly(),
        }
        let segments = (self.sender.supply_end(), settings.payload);
        schedule_write(id, app.written(&write, segments, now), queue);
        self.open_transfer_end = app.open_transfer_end();
        self.has_short_segments = app.has_short_segments();
        self.send(id, settings, now, queue);
    }

    /// Ends a write of limited duration: no data follows the segments already sent.
    pub fn on_close(&mut self, id: u32, now: Time, queue: &mut EventQueue<SimEvent>) {
        self.sender.end_supply();
        self.notify_if_acked(id, now, queue);
    }

    /// Tells the application when all its data is acknowledged.
    #[inline]
    fn notify_if_acked(&mut self, id: u32, now: Time, queue: &mut EventQueue<SimEvent>) {
        if let Some(app) = &mut self.app
            && self.sender.acked_all()
        {
            schedule_write(id, app.acknowledged(now), queue);
        }
    }

    /// Whether the application has finished and all its data is acknowledged; true only once.
    #[inline]
    pub fn take_end(&mut self) -> bool {
        self.app.as_mut().is_some_and(|app| self.sender.acked_all() && app.take_end())
    }

    /// The oldest open transfer, if it has arrived.
    pub fn take_arrived_transfer(&mut self) -> Option<TransferRequest> {
        if self.receiver.expected() < self.open_transfer_end {
            return None;
        }
        let app = self.app.as_mut()?;
        let transfer = app.take_arrived_transfer();
        self.open_transfer_end = app.open_transfer_end();
        transfer
    }

    /// Open transfers, oldest first.
    pub fn open_transfers(&self) -> impl Iterator<Item = TransferRequest> {
        self.app.iter().flat_map(|app| app.open_transfers())
    }

    /// Sends the segments that are allowed now.
    #[inline(always)]
    pub fn send(&mut self, id: u32, settings: &TcpFlowSettings, now: Time, queue: &mut EventQueue<SimEvent>) {
        if now >= settings.stop {
            return;
        }
        while let Some(data) = self.sender.poll(&settings.tcp, now) {
            self.transmit(id, data, settings, now, queue);
            if !data.more {
                break;
            }
        }
        if let Some(departure) = self.sender.schedule_departure(&settings.tcp, now) {
            queue.push(departure, SimEvent::of_flow(EventKind::PacedSend, id));
        }
        self.arm_sender(id, queue);
    }

    // Not inlined, as `poll`: settings that the loop above has read ahead would be in the way. Most often it sends one
    // segment.
    #[inline(never)]
    fn transmit(
        &mut self,
        id: u32,
        data: OutgoingSegment,
        settings: &TcpFlowSettings,
        now: Time,
        queue: &mut EventQueue<SimEvent>,
    ) {
        let [drawn_delay, _] = settings.drawn_delays.of_flow(id);
        let at = self.after_jitter(settings, now);
        // A path that clears ECT gets none; a retransmission has a codepoint of its own.
        let ecn = match data.retransmitted | self.sender.ecn_cleared() {
            true if data.retransmitted => settings.ecn_retransmitted,
            true => Ecn::NotEct,
            false => settings.ecn,
        };
        let sent = self.in_order(settings, at);
        let packet =
            packet(id, settings.packet, ecn, Segment::data(data.seq, data.cwr).with_send_time(sent, settings.clock));
        queue.push(
            self.data_from_sender.pass(at, &settings.data_from_sender) + drawn_delay,
            SimEvent::of_packet(EventKind::FromSender, settings.links[0], packet),
        );
    }

    /// Pacing releases the next segment.
    pub fn on_departure(&mut self, id: u32, settings: &TcpFlowSettings, now: Time, queue: &mut EventQueue<SimEvent>) {
        self.sender.on_departure();
        self.send(id, settings, now, queue);
    }

    #[inline(always)]
    pub fn on_ack(
        &mut self,
        id: u32,
        ack: Ack,
        settings: &TcpFlowSettings,
        now: Time,
        queue: &mut EventQueue<SimEvent>,
    ) {
        self.sender.on_ack(ack, &settings.tcp, now);
        self.notify_if_acked(id, now, queue);
        self.send(id, settings, now, queue);
    }

    /// [`on_ack`](TcpFlow::on_ack) for an acknowledgement with options.
    #[inline(never)]
    pub fn on_ack_with_options(
        &mut self,
        id: u32,
        ack: Ack,
        settings: &TcpFlowSettings,
        now: Time,
        queue: &mut EventQueue<SimEvent>,
    ) {
        self.on_ack(id, ack, settings, now, queue);
    }

    /// Handles an event of the sender's timer. The deadline may have moved since the event was scheduled.
    pub fn on_sender_timer(
        &mut self,
        id: u32,
        settings: &TcpFlowSettings,
        now: Time,
        queue: &mut EventQueue<SimEvent>,
    ) {
        if self.sender_timer != now {
            return;
        }
        self.sender_timer = Time::NEVER;
        self.sender.on_timer(&settings.tcp, now);
        self.send(id, settings, now, queue);
    }

    pub fn on_receiver_timer(
        &mut self,
        id: u32,
        settings: &TcpFlowSettings,
        now: Time,
        replies: &mut Replies,
        queue: &mut EventQueue<SimEvent>,
    ) {
        self.receiver_timer = Time::NEVER;
        self.reply_if_due(id, settings, now, replies, queue);
        self.arm_receiver(id, queue);
    }

    /// Sends the delayed acknowledgement if it is due at `now`.
    #[inline(never)]
    fn reply_if_due(
        &mut self,
        id: u32,
        settings: &TcpFlowSettings,
        now: Time,
        replies: &mut Replies,
        queue: &mut EventQueue<SimEvent>,
    ) {
        if let Some(reply) = self.receiver.on_timer(&settings.tcp, now) {
            self.reply(id, reply, settings, now, replies, queue);
        }
    }

    /// A segment leaves the last router for the receiver at `now`. Returns its bytes if it has not arrived before (else
    /// 0), and its arrival time.
    ///
    /// The last wire belongs to the flow, so the arrival time is known. Until then only the flow's earlier segments
    /// and a delayed ACK, which is checked first, can change the receiver. The receiver therefore acts at once, with
    /// the later time, and the last hop needs no event.
    #[inline]
    pub fn on_data(
        &mut self,
        id: u32,
        (seq, cwr, packet): (u32, bool, &SimPacket),
        settings: &TcpFlowSettings,
        now: Time,
        replies: &mut Replies,
        queue: &mut EventQueue<SimEvent>,
    ) -> (u32, Time) {
        let [_, drawn_delay] = settings.drawn_delays.of_flow(id);
        let arrives = self.data_to_receiver.pass(now, &settings.data_to_receiver) + drawn_delay;
        if let Some(due) = self.receiver.deadline()
            && due < arrives
        {
            self.reply_if_due(id, settings, due, replies, queue);
        }
        let (expected, beyond_gap) = (self.receiver.expected(), self.receiver.beyond_gap());
        self.receiver.on_delay(packet.handle.age(arrives, settings.clock));
        if settings.reads_headers {
            self.read_header(seq, packet, settings, arrives);
        }
        match self.receiver.on_data(seq, packet.ecn == Ecn::Ce, cwr, &settings.tcp, arrives) {
            Some(reply) => {
                self.reply(id, reply, settings, arrives, replies, queue);
                if self.receiver.deadline().is_some() {
                    self.reply_if_due(id, settings, arrives, replies, queue);
                }
            }
            None => self.arm_receiver(id, queue),
        }
        let is_new = self.receiver.expected() != expected || self.receiver.beyond_gap() != beyond_gap;
        let bytes = if is_new { self.bytes_of(seq, settings) } else { 0 };
        (bytes, arrives)
    }

    /// Hands the receiver what few options need of a segment that arrives.
    #[inline(never)]
    fn read_header(&mut self, seq: u32, packet: &SimPacket, settings: &TcpFlowSettings, arrives: Time) {
        if settings.tcp.timestamps {
            let sent = settings.clock.sent(self.last_age(), arrives);
            self.receiver.on_timestamp(seq, settings.clock.timestamp(sent));
        }
        if settings.tcp.counts_ecn() {
            self.receiver.on_ecn(packet.ecn);
        }
    }

    /// The age of the segment that arrived last.
    #[inline]
    pub fn last_age(&self) -> Span {
        self.receiver.delay()
    }

    /// The useful bytes of a segment that arrives for the first time.
    #[inline]
    fn bytes_of(&mut self, seq: u32, settings: &TcpFlowSettings) -> u32 {
        if self.has_short_segments { self.bytes_of_last(seq).unwrap_or(settings.payload) } else { settings.payload }
    }

    #[inline(never)]
    fn bytes_of_last(&mut self, seq: u32) -> Option<u32> {
        let app = self.app.as_mut()?;
        let bytes = app.take_short_segment(seq);
        self.has_short_segments = app.has_short_segments();
        bytes
    }

    /// When an acknowledgement that leaves the last router at `now` reaches the sender.
    #[inline]
    pub fn ack_arrives(&mut self, id: u32, settings: &TcpFlowSettings, now: Time) -> Time {
        let [drawn_delay, _] = settings.drawn_delays.of_flow(id);
        self.ack_to_sender.pass(now, &settings.ack_to_sender) + drawn_delay
    }

    /// Prefetches the cache lines that an acknowledgement needs.
    #[inline]
    pub fn prefetch_sender(&self) {
        self.sender.prefetch();
        prefetch(self.data_from_sender);
    }

    /// Prefetches the cache line that an acknowledgement on its last wire needs.
    #[inline]
    pub fn prefetch_ack_wire(&self) {
        prefetch(self.ack_to_sender);
    }

    pub fn state(&self, settings: &TcpFlowSettings) -> SenderState {
        self.sender.state(settings.payload)
    }

    /// Segments sent so far, including retransmissions.
    pub fn segments_sent(&self) -> u64 {
        self.sender.sent()
    }

    /// Counts of the sender up to `now`.
    pub fn counts(&self, now: Time) -> TcpCounts {
        TcpCounts {
            retransmits: self.sender.retransmits(),
            timeouts: self.sender.timeouts(),
            cwnd_area: self.sender.cwnd_area(now),
            taken: true,
        }
    }

    /// Whether its source may have no data to send.
    pub fn may_lack_data(&self) -> bool {
        self.app.is_some()
    }

    /// Whether an event at the sender is one of those after which its limit is looked at: see
    /// [`TcpSender::is_sample_point`].
    #[inline]
    pub fn looks_at_limit(&self) -> bool {
        self.sender.is_sample_point()
    }

    /// What limits the sender at `now`, and until when its access link has a queue, if it has one.
    #[inline]
    pub fn limit(&self, settings: &TcpFlowSettings, now: Time) -> (SendLimit, Option<Time>) {
        let queue_until = self.data_from_sender.queue_until(ACCESS_QUEUE, now, &settings.data_from_sender);
        (self.sender.limit(&settings.tcp), queue_until)
    }

    /// Until when the receiver's access link has a queue, if it has one as a packet leaves the last router at `now`.
    #[inline]
    pub fn receiver_queue_until(&self, settings: &TcpFlowSettings, now: Time) -> Option<Time> {
        self.data_to_receiver.queue_until(ACCESS_QUEUE, now, &settings.data_to_receiver)
    }

    /// Whether only acknowledgements and timers change the sender: no application, and no pacing.
    #[inline]
    pub fn acts_ahead(&self, settings: &TcpFlowSettings) -> bool {
        self.app.is_none() && !settings.tcp.pacing
    }

    /// When the sender's next timer event is due.
    #[inline]
    pub fn sender_timer(&self) -> Time {
        self.sender_timer
    }

    #[inline]
    fn after_jitter(&mut self, settings: &TcpFlowSettings, now: Time) -> Time {
        if settings.send_jitter == Span::ZERO {
            return now;
        }
        // While an earlier segment has not left, the next one leaves right after it.
        if settings.jitter_bursts && self.data_from_sender.is_busy(now) {
            return now;
        }
        // The wire preserves the order of segments despite the jitter.
        now + self.rng.span_below(settings.send_jitter)
    }

    /// The send time of a segment that is to leave at `at`: with jitter, later than that of the segment before it.
    #[inline]
    fn in_order(&self, settings: &TcpFlowSettings, at: Time) -> Time {
        if settings.send_jitter == Span::ZERO {
            return at;
        }
        at.max(self.data_from_sender.last_began(&settings.data_from_sender) + SHORTEST_GAP)
    }

    #[inline(always)]
    fn reply(
        &mut self,
        id: u32,
        reply: OutgoingAck,
        settings: &TcpFlowSettings,
        now: Time,
        replies: &mut Replies,
        queue: &mut EventQueue<SimEvent>,
    ) {
        replies.sent += 1;
        let options = reply.options.and_then(|options| replies.insert_options(options));
        // Pure ACKs are not ECN-capable (RFC 3168, section 6.1.4).
        let packet = packet(id, settings.ack, Ecn::NotEct, Segment::ack(reply.ack, reply.ece, reply.ace, options));
        let [_, drawn_delay] = settings.drawn_delays.of_flow(id);
        queue.push(
            self.ack_from_receiver.pass(now, &settings.ack_from_receiver) + drawn_delay,
            SimEvent::of_packet(EventKind::FromReceiver, settings.links[1], packet),
        );
    }

    #[inline]
    fn arm_sender(&mut self, id: u32, queue: &mut EventQueue<SimEvent>) {
        if let Some(deadline) = self.sender.deadline()
            && deadline < self.sender_timer
        {
            self.sender_timer = deadline;
            queue.push(deadline, SimEvent::of_flow(EventKind::SenderTimer, id));
        }
    }

    #[inline]
    fn arm_receiver(&mut self, id: u32, queue: &mut EventQueue<SimEvent>) {
        if let Some(deadline) = self.receiver.deadline()
            && self.receiver_timer == Time::NEVER
        {
            self.receiver_timer = deadline;
            queue.push(deadline, SimEvent::of_flow(EventKind::ReceiverTimer, id));
        }
    }
}

/// Schedules a write at `at`, if there is one.
fn schedule_write(id: u32, at: Option<Time>, queue: &mut EventQueue<SimEvent>) {
    if let Some(at) = at {
        queue.push(at, SimEvent::of_flow(EventKind::AppWrite, id));
    }
}

/// Segments needed for `bytes`. The last one of a transfer fills a whole packet too, but only its part of `bytes` counts
/// as delivered.
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
