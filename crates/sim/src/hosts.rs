//! The hosts at both ends: senders, receivers and the wires between them and the routers.

use std::hint::black_box;

use headgate_core::{ClassId, Ecn, FlowId, Packet, Rng, Sink, Span, Time, Why};
use headgate_scenario::{Scenario, Start, TcpGroup, UdpGroup};

use crate::queue::Queue;
use crate::segment::{Carried, Sacks, Segment, SimPacket};
use crate::tcp::{Ack, Config, Receiver, Reply, Sender};
use crate::wire::{Wire, WireKind};
use crate::world::Event;

/// Every flow, TCP before UDP, and what their packets carry besides themselves.
pub struct Hosts {
    tcp: Vec<TcpFlow>,
    udp: Vec<UdpFlow>,
    /// Each TCP flow's counts at the end of the warm-up.
    before: Vec<Before>,
    tcp_kinds: Vec<TcpKind>,
    udp_kinds: Vec<UdpKind>,
    sacks: Sacks,
    /// Useful bytes delivered since the last sample, by group.
    delivered: Vec<u64>,
}

/// What the TCP flows of a group have in common.
struct TcpKind {
    config: Config,
    packet: u32,
    ack: u32,
    payload: u32,
    ecn: Ecn,
    overhead: Span,
    stop: Time,
    data_up: WireKind,
    data_down: WireKind,
    ack_up: WireKind,
    ack_down: WireKind,
}

/// Four cache lines: two of the sender, one for what else its side needs, one for the receiver's side.
#[repr(C, align(64))]
struct TcpFlow {
    sender: Sender,
    /// Sender to router, and router to sender.
    up: Wire,
    back: Wire,
    /// The earliest timer event in the queue; later ones are set when it fires.
    sender_timer: Time,
    /// Random transmission overhead keeps the order: no segment leaves before the one sent before it.
    last_sent: Time,
    rng: Rng,
    receiver: Receiver,
    /// Router to receiver, and receiver to router.
    down: Wire,
    ack_up: Wire,
    receiver_timer: Time,
    group: u16,
}

/// Counts at the end of the warm-up.
#[derive(Clone, Copy, Default)]
struct Before {
    delivered: u32,
    retransmits: u32,
    timeouts: u32,
    cwnd_area: f64,
}

/// What the UDP flows of a group have in common.
struct UdpKind {
    packet: u32,
    payload: u32,
    ecn: Ecn,
    /// Between two datagrams: the least time, and what may come to it by chance.
    least_gap: Span,
    random_gap: Span,
    stop: Time,
    up: WireKind,
}

struct UdpFlow {
    wire: Wire,
    group: u16,
    next: Time,
    delivered: u64,
    rng: Rng,
}

/// What a flow did after the warm-up.
pub struct Deeds {
    /// The flow's group, TCP before UDP.
    pub group: u32,
    /// Useful bytes delivered.
    pub bytes: u64,
    /// Packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The integral of `cwnd` in packets x nanoseconds; `None` for UDP.
    pub cwnd_area: Option<f64>,
}

impl Hosts {
    /// All flows of `scenario`; their first events go into `queue`.
    pub fn new(scenario: &Scenario, seed: u64, queue: &mut Queue<Event>) -> Hosts {
        let mut hosts = Hosts {
            tcp: Vec::new(),
            udp: Vec::new(),
            before: Vec::new(),
            tcp_kinds: scenario.tcp.iter().map(TcpKind::new).collect(),
            udp_kinds: scenario.udp.iter().map(UdpKind::new).collect(),
            sacks: Sacks::default(),
            delivered: vec![0; scenario.tcp.len() + scenario.udp.len()],
        };
        for (g, group) in scenario.tcp.iter().enumerate() {
            (0..group.flows).for_each(|i| hosts.add_tcp(g, stream(seed, &group.name, i), group.start, queue));
        }
        for (g, group) in scenario.udp.iter().enumerate() {
            (0..group.flows).for_each(|i| hosts.add_udp(g, stream(seed, &group.name, i), group.start, queue));
        }
        hosts
    }

    fn add_tcp(&mut self, group: usize, mut rng: Rng, start: Start, queue: &mut Queue<Event>) {
        let id = self.tcp.len() as u32;
        queue.push(draw(start, &mut rng), Event::start(id));
        self.tcp.push(TcpFlow {
            sender: Sender::new(&self.tcp_kinds[group].config),
            receiver: Receiver::default(),
            up: Wire::default(),
            back: Wire::default(),
            sender_timer: Time::NEVER,
            last_sent: Time::ZERO,
            rng,
            down: Wire::default(),
            ack_up: Wire::default(),
            receiver_timer: Time::NEVER,
            group: group as u16,
        });
        self.before.push(Before::default());
    }

    fn add_udp(&mut self, group: usize, mut rng: Rng, start: Start, queue: &mut Queue<Event>) {
        let next = draw(start, &mut rng);
        self.udp.push(UdpFlow { wire: Wire::default(), group: group as u16, next, delivered: 0, rng });
        self.emit(self.udp.len() - 1, queue);
    }

    /// Reads a word of each cache line that an acknowledgement will need.
    #[inline]
    pub fn approach_sender(&self, flow: usize) {
        let flow = &self.tcp[flow];
        flow.sender.approach();
        black_box(flow.up);
    }

    /// Reads a word of the cache line that a packet on its way back to the sender will need.
    #[inline]
    pub fn approach_wire(&self, flow: usize) {
        black_box(self.tcp[flow].back);
    }

    /// The size of each flow's packets in bytes.
    pub fn packet_sizes(&self) -> Vec<u32> {
        let tcp = self.tcp.iter().map(|flow| self.tcp_kinds[flow.group as usize].packet);
        tcp.chain(self.udp.iter().map(|flow| self.udp_kinds[flow.group as usize].packet)).collect()
    }

    /// A TCP flow starts, or may send on.
    #[inline]
    pub fn send(&mut self, id: u32, now: Time, queue: &mut Queue<Event>) {
        let flow = &mut self.tcp[id as usize];
        let kind = &self.tcp_kinds[flow.group as usize];
        if now >= kind.stop {
            return;
        }
        while let Some(data) = flow.sender.poll(&kind.config, now) {
            let at = flow.after_overhead(kind, now);
            // What is sent again is not ECN-capable (RFC 3168, section 6.1.5): its loss must show.
            let ecn = if data.again { Ecn::NotEct } else { kind.ecn };
            let packet = packet(id, kind.packet, ecn, Segment::data(data.seq, data.cwr));
            queue.push(flow.up.pass(at, &kind.data_up), Event::to_forward(packet));
        }
        flow.arm_sender(id, queue);
    }

    /// The retransmission timer of a flow, perhaps one that was set for an earlier deadline than it has now.
    pub fn sender_timer(&mut self, id: u32, now: Time, queue: &mut Queue<Event>) {
        let flow = &mut self.tcp[id as usize];
        if flow.sender_timer != now {
            return;
        }
        flow.sender_timer = Time::NEVER;
        flow.sender.on_timer(&self.tcp_kinds[flow.group as usize].config, now);
        self.send(id, now, queue);
    }

    /// The delayed-ACK timer of a flow.
    pub fn receiver_timer(&mut self, id: u32, now: Time, queue: &mut Queue<Event>) {
        let flow = &mut self.tcp[id as usize];
        flow.receiver_timer = Time::NEVER;
        let kind = &self.tcp_kinds[flow.group as usize];
        if let Some(reply) = flow.receiver.on_timer(&kind.config, now) {
            flow.reply(id, reply, kind, now, &mut self.sacks, queue);
        }
        flow.arm_receiver(id, queue);
    }

    /// When an acknowledgement that leaves the reverse bottleneck reaches its sender.
    #[inline]
    pub fn down_reverse(&mut self, packet: &SimPacket, now: Time) -> Time {
        let flow = &mut self.tcp[packet.flow.0 as usize];
        flow.back.pass(now, &self.tcp_kinds[flow.group as usize].ack_down)
    }

    /// A packet leaves the far router for its receiver at `now`.
    ///
    /// Its wire is its own, so when it arrives is known, and nothing but this flow's packets, which come in order, and
    /// a delayed ACK, which is looked at first, can touch the receiver before: it acts at once, with the time at which
    /// the packet will be there, and the packet needs no event for its last hop. What is delivered is so counted when
    /// it leaves the bottleneck.
    #[inline]
    pub fn receive(&mut self, packet: &SimPacket, now: Time, queue: &mut Queue<Event>) {
        let id = packet.flow.0 as u32;
        let Carried::Data { seq, cwr } = packet.handle.carried() else {
            return self.receive_datagram(id as usize);
        };
        let flow = &mut self.tcp[id as usize];
        let kind = &self.tcp_kinds[flow.group as usize];
        let arrives = flow.down.pass(now, &kind.data_down);
        if let Some(due) = flow.receiver.deadline()
            && due < arrives
            && let Some(reply) = flow.receiver.on_timer(&kind.config, due)
        {
            flow.reply(id, reply, kind, due, &mut self.sacks, queue);
        }
        let before = flow.receiver.expected();
        let reply = flow.receiver.on_data(seq, packet.ecn == Ecn::Ce, cwr, &kind.config, arrives);
        self.delivered[flow.group as usize] += u64::from(flow.receiver.expected() - before) * u64::from(kind.payload);
        match reply {
            Some(reply) => flow.reply(id, reply, kind, arrives, &mut self.sacks, queue),
            None => flow.arm_receiver(id, queue),
        }
    }

    fn receive_datagram(&mut self, id: usize) {
        let flow = &mut self.udp[id - self.tcp.len()];
        let payload = u64::from(self.udp_kinds[flow.group as usize].payload);
        flow.delivered += payload;
        self.delivered[self.tcp_kinds.len() + flow.group as usize] += payload;
    }

    /// An acknowledgement reaches its sender.
    #[inline]
    pub fn acknowledge(&mut self, packet: &SimPacket, now: Time, queue: &mut Queue<Event>) {
        let Carried::Ack { ack, ece, sack } = packet.handle.carried() else { return };
        let id = packet.flow.0 as u32;
        let blocks = sack.map(|id| self.sacks.take(id));
        let flow = &mut self.tcp[id as usize];
        flow.sender.on_ack(Ack { ack, ece, blocks }, &self.tcp_kinds[flow.group as usize].config, now);
        self.send(id, now, queue);
    }

    /// A datagram reached the bottleneck: its source sends the next.
    #[inline]
    pub fn next_datagram(&mut self, packet: &SimPacket, queue: &mut Queue<Event>) {
        if packet.handle == Segment::DATAGRAM {
            self.emit(packet.flow.0 as usize - self.tcp.len(), queue);
        }
    }

    /// Sends a source's next datagram on its way. Nothing that happens in the network changes when that is, so its
    /// arrival at the bottleneck is the only event it needs.
    #[inline]
    fn emit(&mut self, id: usize, queue: &mut Queue<Event>) {
        let flow = &mut self.udp[id];
        let kind = &self.udp_kinds[flow.group as usize];
        if flow.next >= kind.stop {
            return;
        }
        let packet = packet((self.tcp.len() + id) as u32, kind.packet, kind.ecn, Segment::DATAGRAM);
        queue.push(flow.wire.pass(flow.next, &kind.up), Event::to_forward(packet));
        flow.next += kind.least_gap + flow.rng.span_below(kind.random_gap);
    }

    /// The warm-up ends: what was done before does not count.
    pub fn restart(&mut self, now: Time) {
        self.before = self.tcp.iter().map(|flow| flow.counts(now)).collect();
        self.udp.iter_mut().for_each(|flow| flow.delivered = 0);
    }

    /// Useful bytes delivered since the last call, by group.
    pub fn take_delivered(&mut self) -> Vec<u64> {
        let groups = self.delivered.len();
        std::mem::replace(&mut self.delivered, vec![0; groups])
    }

    /// The group of a flow, TCP before UDP.
    pub fn group_of(&self, flow: usize) -> usize {
        match self.tcp.get(flow) {
            Some(tcp) => tcp.group as usize,
            None => self.tcp_kinds.len() + self.udp[flow - self.tcp.len()].group as usize,
        }
    }

    /// What each flow did since the warm-up.
    pub fn deeds(&self, now: Time) -> impl Iterator<Item = Deeds> {
        let flows = self.tcp.iter().zip(&self.before);
        let tcp = flows.map(move |(flow, before)| flow.deeds(before, self.tcp_kinds[flow.group as usize].payload, now));
        let udp = self.udp.iter().map(|flow| Deeds {
            group: (self.tcp_kinds.len() + flow.group as usize) as u32,
            bytes: flow.delivered,
            retransmits: 0,
            timeouts: 0,
            cwnd_area: None,
        });
        tcp.chain(udp)
    }
}

/// An acknowledgement that is dropped gives its blocks' place back.
impl Sink<Segment> for Hosts {
    fn dropped(&mut self, packet: SimPacket, _: Why, _: Time) {
        if let Carried::Ack { sack: Some(id), .. } = packet.handle.carried() {
            self.sacks.take(id);
        }
    }
    fn marked(&mut self, _: &SimPacket, _: Why, _: Time) {}
}

impl TcpFlow {
    #[inline]
    fn after_overhead(&mut self, kind: &TcpKind, now: Time) -> Time {
        if kind.overhead == Span::ZERO {
            return now;
        }
        self.last_sent = self.last_sent.max(now + self.rng.span_below(kind.overhead));
        self.last_sent
    }

    #[inline]
    fn reply(&mut self, id: u32, reply: Reply, kind: &TcpKind, now: Time, sacks: &mut Sacks, queue: &mut Queue<Event>) {
        let sack = reply.blocks.map(|blocks| sacks.keep(blocks));
        // Pure ACKs are not ECN-capable (RFC 3168, section 6.1.4).
        let packet = packet(id, kind.ack, Ecn::NotEct, Segment::ack(reply.ack, reply.ece, sack));
        queue.push(self.ack_up.pass(now, &kind.ack_up), Event::to_reverse(packet));
    }

    #[inline]
    fn arm_sender(&mut self, id: u32, queue: &mut Queue<Event>) {
        if let Some(deadline) = self.sender.deadline()
            && deadline < self.sender_timer
        {
            self.sender_timer = deadline;
            queue.push(deadline, Event::sender_timer(id));
        }
    }

    #[inline]
    fn arm_receiver(&mut self, id: u32, queue: &mut Queue<Event>) {
        if let Some(deadline) = self.receiver.deadline()
            && self.receiver_timer == Time::NEVER
        {
            self.receiver_timer = deadline;
            queue.push(deadline, Event::receiver_timer(id));
        }
    }

    fn counts(&self, now: Time) -> Before {
        Before {
            delivered: self.receiver.expected(),
            retransmits: self.sender.retransmits(),
            timeouts: self.sender.timeouts(),
            cwnd_area: self.sender.cwnd_area(now),
        }
    }

    fn deeds(&self, before: &Before, payload: u32, now: Time) -> Deeds {
        let after = self.counts(now);
        Deeds {
            group: u32::from(self.group),
            bytes: u64::from(after.delivered - before.delivered) * u64::from(payload),
            retransmits: u64::from(after.retransmits - before.retransmits),
            timeouts: u64::from(after.timeouts - before.timeouts),
            cwnd_area: Some(after.cwnd_area - before.cwnd_area),
        }
    }
}

impl TcpKind {
    fn new(group: &TcpGroup) -> TcpKind {
        TcpKind {
            config: Config::from(group),
            packet: group.packet,
            ack: group.ack,
            payload: group.packet - group.header,
            ecn: capable(group.ecn),
            overhead: group.overhead,
            stop: group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
            data_up: WireKind::new(&group.sender, group.packet),
            data_down: WireKind::new(&group.receiver, group.packet),
            ack_up: WireKind::new(&group.receiver, group.ack),
            ack_down: WireKind::new(&group.sender, group.ack),
        }
    }
}

impl UdpKind {
    fn new(group: &UdpGroup) -> UdpKind {
        let gap = group.rate.transmit(group.packet);
        let jitter = Span::from_secs_f64(gap.as_secs_f64() * group.jitter);
        UdpKind {
            packet: group.packet,
            payload: group.packet - group.header,
            ecn: capable(group.ecn),
            least_gap: gap - jitter,
            random_gap: jitter * 2,
            stop: group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
            up: WireKind::new(&group.sender, group.packet),
        }
    }
}

fn capable(ecn: bool) -> Ecn {
    if ecn { Ecn::Ect0 } else { Ecn::NotEct }
}

#[inline]
fn packet(flow: u32, bytes: u32, ecn: Ecn, handle: Segment) -> SimPacket {
    Packet { arrived: Time::ZERO, flow: FlowId(u64::from(flow)), bytes, class: ClassId(0), ecn, handle }
}

/// A flow's own random stream: adding a flow or a group leaves the others' as they are.
fn stream(seed: u64, group: &str, flow: u32) -> Rng {
    Rng::named(seed, &format!("flow {group}/{flow}"))
}

fn draw(start: Start, rng: &mut Rng) -> Time {
    Time::ZERO + Span::from_secs_f64(rng.between(start.from.as_secs_f64(), start.to.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_fills_four_cache_lines_and_its_receiver_the_last() {
        assert_eq!(size_of::<TcpFlow>(), 256);
        assert_eq!(std::mem::offset_of!(TcpFlow, receiver), 192);
    }
}
