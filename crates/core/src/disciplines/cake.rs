//! CAKE (Common Applications Kept Enhanced): a shaper, tins by codepoint, fair turns for hosts and for flows within each
//! host, COBALT in each queue, and a filter of acknowledgements.
//!
//! On arrival, the packet's codepoint gives its tin, and its flow a queue of the tin. If eight flows of a set have all
//! its queues, they share. With an acknowledgement filter, an acknowledgement that makes a
//! queued one unnecessary takes that one's place. If the limit is exceeded, the longest queue drops its oldest packet,
//! and its BLUE probability rises.
//!
//! On departure, a tin below its threshold rate precedes the others; among these the last. Its queues are served in
//! turn, new flows first, as in FQ-CoDel. A turn is a quantum divided by the number of bulk flows of the flow's busier
//! host. COBALT drops, marks or sends. The shaper is a virtual clock: after each packet, it closes for the time that the
//! packet takes at `bandwidth`, with its overhead.
//!
//! Sources and destinations, codepoints and acknowledgements come from the host ([`Sink::headers`](crate::Sink::headers)).
//!
//! Source: T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE: a comprehensive queue management solution for home
//! gateways", IEEE LANMAN 2018; Linux 5.5's `sch_cake.c`. Deviations are listed in docs/disciplines/cake.md.

mod ack_filter;
mod diffserv;
mod hosts;
mod rotations;
mod settings;
mod tin;

use alloc::vec::Vec;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::framing::Framing;
use crate::headers::{AckHeader, HostId, PacketHeaders};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::ways::SLOTS;
use crate::parts::{SubQueues, keyed};
use crate::reason::Why;
use crate::time::Time;
use crate::units::{Limit, Rate};

pub use diffserv::Diffserv;
pub use rotations::Rotation;
pub use settings::{AckFilter, CakeConfig, Isolation};
pub use tin::{FlowSet, Tin};

/// Tins with their flow queues, and the shaper's clock.
pub struct Cake<T> {
    limit: Limit,
    bandwidth: Option<Rate>,
    framing: Framing,
    diffserv: Diffserv,
    isolation: Isolation,
    filter: AckFilter,
    key: u64,
    /// The packets of all tins' queues: of each tin 1024, one tin after the other.
    queues: SubQueues<T>,
    tins: Vec<Tin>,
    /// The tin whose turn it is. Only without a shaper.
    turn: usize,
    /// When the shaper opens.
    opens: Time,
}

impl<T> Cake<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: CakeConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let shares = config.diffserv.shares(config.bandwidth);
        let mut tins: Vec<Tin> = link.tables.reserved(shares.len())?;
        for share in shares {
            tins.push(Tin::new(&config, share, link.tables)?);
        }
        Ok(Cake {
            limit: config.limit,
            bandwidth: config.bandwidth,
            framing: config.framing(),
            diffserv: config.diffserv,
            isolation: config.isolation,
            filter: config.ack_filter,
            key: link.key,
            // The limit only gives the unit: lengths are compared in bytes.
            queues: SubQueues::with_queues(tins.len() * SLOTS, Limit::Bytes(1), link.tables)?,
            tins,
            turn: 0,
            opens: Time::ZERO,
        })
    }

    /// The tins.
    pub fn tins(&self) -> &[Tin] {
        &self.tins
    }

    /// When the shaper opens.
    pub fn opens(&self) -> Time {
        self.opens
    }

    /// The hash of what `flow` shares a queue with.
    fn flow_hash(&self, flow: FlowId, [source, destination]: [u64; 2]) -> u64 {
        match self.isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => source,
            Isolation::Dsthost => destination,
            Isolation::Hosts => source ^ destination,
            _ => keyed(self.key, flow),
        }
    }

    /// A hash for the end of a flow. Source and destination have different keys, so that equal numbers give two hashes.
    fn host_hash(&self, end: usize, HostId(host): HostId) -> u64 {
        keyed(self.key.rotate_left(21 * (end as u32 + 1)), FlowId(host))
    }

    /// Queue and tin of an arriving packet.
    fn place(&mut self, packet: &Packet<T>, headers: &PacketHeaders) -> (usize, usize) {
        let ends = [self.host_hash(0, headers.source), self.host_hash(1, headers.destination)];
        let tin = self.diffserv.tin(headers.dscp);
        let flow = self.flow_hash(packet.flow, ends);
        (tin, self.tins[tin].queue_of(flow, ends))
    }

    /// Clocks that lag behind while there is nothing to send are set.
    fn set_clocks(&mut self, tin: usize, now: Time) {
        if self.tins[tin].packets == 0 {
            self.tins[tin].next = self.tins[tin].next.max(now);
        }
        if self.queues.backlog().packets == 0 {
            self.opens = self.opens.max(now);
        }
    }

    /// Drops the packet of `queue` that its newest packet, with the header `newest`, makes unnecessary.
    fn filter_acks(&mut self, queue: usize, newest: &AckHeader, cx: &mut Cx<'_, T>) {
        let older = self.queues.backlog_of(queue).packets as usize - 1;
        let queued = self.queues.packets(queue).take(older).map(|packet| cx.ack(packet));
        let place = ack_filter::unnecessary(queued, newest, self.filter == AckFilter::Aggressive);
        if let Some(packet) = place.and_then(|place| self.queues.take_at(queue, place)) {
            self.tins[queue / SLOTS].packets -= 1;
            cx.drop(packet, Why::AckFilter);
        }
    }

    /// Drops the oldest packet of the longest queue.
    #[cold]
    fn drop_from_longest(&mut self, why: Why, cx: &mut Cx<'_, T>) {
        let Some(queue) = self.queues.longest() else { return };
        let tin = &mut self.tins[queue / SLOTS];
        tin.loops[queue % SLOTS].overflowed(&tin.rules, cx.now);
        if let Some(packet) = self.queues.pop(queue) {
            tin.packets -= 1;
            cx.drop(packet, why);
        }
    }

    /// The tin to serve; `None` if no tin has packets.
    fn choose_tin(&mut self, now: Time) -> Option<usize> {
        if self.bandwidth.is_none() {
            return self.tins.iter().any(Tin::is_active).then(|| self.tin_in_turn());
        }
        let active = self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active());
        // The last that is below its threshold, else the one that will be so first.
        active.min_by_key(|(number, tin)| (tin.next.max(now), core::cmp::Reverse(*number))).map(|(number, _)| number)
    }

    /// The tin whose turn it is by their weights. One must be active.
    fn tin_in_turn(&mut self) -> usize {
        loop {
            let tin = &mut self.tins[self.turn];
            if tin.deficit >= 0 && tin.is_active() {
                return self.turn;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.share.quantum;
            }
            self.turn = (self.turn + 1) % self.tins.len();
        }
    }

    /// Sends a packet of the tin, unless the queue in turn is empty. `poll` lets one decaying queue go first, once.
    #[inline]
    fn serve(&mut self, number: usize, poll: &mut bool, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let (tin, queues) = (&mut self.tins[number], &mut self.queues);
        let first = number * SLOTS;
        let queue = tin.next_queue(poll, |queue| queues.backlog_of(first + queue).packets > 0)?;
        let packets = &mut tin.packets;
        let pop = || {
            let packet = queues.pop(first + queue)?;
            *packets -= 1;
            Some((packet, queues.backlog_of(first + queue).packets == 0))
        };
        let Some(packet) = tin.loops[queue].dequeue(&tin.rules, cx, pop) else {
            tin.found_empty(queue, cx.now);
            return None;
        };
        let bytes = self.framing.wire_bytes(packet.bytes);
        tin.charge(queue, bytes);
        if let Some(rate) = self.bandwidth {
            self.opens += rate.transmit(bytes);
            tin.advance(bytes, cx.now);
        }
        Some(packet)
    }
}

impl<T> Discipline<T> for Cake<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let headers = cx.headers(&packet);
        let ack = if self.filter == AckFilter::Off { None } else { cx.ack(&packet) };
        let (number, queue) = self.place(&packet, &headers);
        self.set_clocks(number, cx.now);
        let tin = &mut self.tins[number];
        tin.loops[queue].arrives(&tin.rules, cx.now);
        tin.loops[queue].queued();
        tin.packets += 1;
        self.queues.push(number * SLOTS + queue, packet);
        if let Some(ack) = ack {
            self.filter_acks(number * SLOTS + queue, &ack, cx);
        }
        self.tins[number].joined(queue);
        while !self.limit.holds(self.queues.backlog()) {
            self.drop_from_longest(Why::FlowLimit, cx);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let mut poll = true;
        while self.queues.backlog().packets > 0 && self.opens <= cx.now {
            let tin = self.choose_tin(cx.now)?;
            if let Some(packet) = self.serve(tin, &mut poll, cx) {
                return Some(packet);
            }
        }
        None
    }

    fn ready_at(&self, now: Time) -> Option<Time> {
        (self.queues.backlog().packets > 0).then(|| self.opens.max(now))
    }

    crate::discipline::backlog_of!(queues);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        self.drop_from_longest(Why::Overload, cx);
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let sum = |count: fn(&Tin) -> u32| f64::from(self.tins.iter().map(count).sum::<u32>());
        gauge("sparse_flows", sum(|tin| tin.sparse));
        gauge("bulk_flows", sum(|tin| tin.bulk));
        gauge("decaying_flows", sum(|tin| tin.decaying));
        let longest = self.queues.find_longest();
        gauge("fattest_bytes", longest.map_or(0.0, |queue| self.queues.backlog_of(queue).bytes as f64));
    }

    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        // Without its headers, the flow's tin is not known.
        let hash = keyed(self.key, flow);
        let queues = self.tins.iter().enumerate().filter_map(|(number, tin)| Some((number, tin.find(hash)?)));
        let queued = |(number, queue): &(usize, usize)| self.queues.backlog_of(number * SLOTS + queue).packets;
        let Some(place) = queues.max_by_key(queued) else {
            gauge("queued", 0.0);
            gauge("probability", 0.0);
            return;
        };
        gauge("queued", queued(&place).into());
        gauge("probability", self.tins[place.0].loops[place.1].probability);
    }
}
