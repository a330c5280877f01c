//! Stochastic Fairness Queueing (SFQ): hash flows into queues served round robin; change the hash from time to time.
//!
//! A queue per flow is exact but expensive. SFQ uses a fixed number of buckets, so flows that hash to the same bucket
//! share its turn. The hash function changes every `perturb`, so that no two flows share a bucket for long.
//!
//! On arrival, the packet joins its flow's bucket. In a `partitioned` buffer, each bucket drops what exceeds its own
//! part. A full `shared` buffer drops from the longest bucket. On departure, the next bucket in turn sends one packet
//! or `quantum` bytes ([`HashedQueues`]).
//!
//! Source: P. McKenney, "Stochastic fairness queueing", IEEE INFOCOM 1990. BREATHe's paper uses 16 buckets, each with
//! its part of the buffer; the BLUE paper (section IV) uses 46. `shared` follows Linux's sch_sfq, `ns2` the sfq.cc of
//! ns-2.35 (C. Villamizar, 1997). Deviations are listed in docs/disciplines/sfq.md.
//!
//! | source | here |
//! | --- | --- |
//! | McKenney's perturbation, sch_sfq's perturb | `perturb`, [`HashedQueues::perturb`] |
//! | sch_sfq's allot | [`HashedQueues::credit`] |
//! | ns-2's hash | [`ns2_bucket`](crate::parts::ns2_bucket) |
//! | ns-2's used, left, fairshare | `used`, `left`, `fair` in [`Sfq::refuses`] |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{End, FlowHash, HashedQueues};
use crate::reason::Why;
use crate::time::Span;
use crate::units::Limit;

crate::choice! {
    /// How buckets share the buffer.
    pub enum Sharing {
        /// Each bucket has an equal part.
        Partitioned = "partitioned",
        /// A common buffer: when it is full, the longest bucket drops a packet.
        Shared = "shared",
        /// A bucket may grow to half the free space.
        Ns2 = "ns2",
    }
}

crate::params! {
    /// Settings of [`Sfq`].
    pub struct SfqConfig {
        /// Buffer size of all buckets together.
        limit: Limit = Limit::Packets(1000), also "maxqueue_";
        /// Number of buckets that flows are hashed to.
        buckets: u32 = 16, in 1..=65_536, also "divisor" "buckets_";
        /// How buckets share the buffer. `partitioned`: each has an equal part, at least one packet if the buffer has
        /// room. `shared`: a full buffer drops from the longest bucket. `ns2`: a bucket may grow to half the free
        /// space, and only to its part when little is free; a bucket that has sent its packet joins the end of the
        /// round at once.
        sharing: Sharing = Sharing::Partitioned;
        /// Hash function. `keyed`: by a secret key. `ns2`: ns-2's formula of k, the identifier of the packet's flow, which
        /// is source + destination with the scenario's `classify.flow = "address_sum"`.
        hash: FlowHash = FlowHash::Keyed;
        /// Bytes that a bucket may send per turn. `auto`: one packet.
        quantum: Option<Bytes> = None, in Bytes(1)..;
        /// Time between changes of the hash function, so that flows share a bucket only for a while. 0: never.
        perturb: Span = Span::ZERO;
        /// Moves queued packets to their flow's new bucket when the hash function changes. Off: they stay, and later
        /// packets of the flow may overtake them.
        move_queued: bool = true;
        /// Maximum packets per bucket. `auto`: limited by the buffer only.
        depth: Option<u32> = None, in 1..;
        /// Maximum number of buckets in use at a time. `auto`: all.
        flows: Option<u32> = None, in 1..;
        /// Drops the oldest packet of an overfull bucket instead of its newest.
        head_drop: bool = false, also "headdrop";
    }
    presets {
        "paper" "the defaults: 16 buckets with a part of the buffer each, one packet a turn, as the papers describe it" {}
        "breathe" "the BREATHe paper: 300 packets in 16 buckets" { "limit" = "300p" }
        "blue" "the BLUE paper, section IV-B: 46 buckets of 9 KB (there with RED in each: sfq_red)" {
            "limit" = "414KB", "buckets" = "46"
        }
        "linux" "Linux 4.14, sch_sfq, with the defaults of tc (iproute2 6.1) on Ethernet" {
            "limit" = "127p", "buckets" = "1024", "sharing" = "shared", "quantum" = "1514B", "depth" = "127",
            "flows" = "127"
        }
        "ns2" "ns-2.35, sfq.cc and ns-default.tcl" { "limit" = "40p", "sharing" = "ns2", "hash" = "ns2" }
    }
    reasons { Overflow, FlowLimit }
    gauges {
        Gauge::new("buckets_in_use", "buckets", "Buckets that hold packets.");
        Gauge::new("longest", "packets", "Packets in the longest bucket.");
        Gauge::of_flow("queued", "packets", "Packets in the flow's bucket.");
    }
}

/// Hashed queues, served round robin.
pub struct Sfq<T> {
    config: SfqConfig,
    buckets: HashedQueues<T>,
    /// A bucket's part of the limit.
    part: Limit,
    /// The limit in packets.
    room: u32,
}

impl<T> Sfq<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if `perturb` is to change a hash function without a key.
    pub fn new(config: SfqConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        if config.hash == FlowHash::Ns2 && config.perturb > Span::ZERO {
            return Err(BuildError::Conflict("`hash=ns2` has no key that `perturb` could change".into()));
        }
        let quantum = config.quantum.map(|bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX));
        let buckets = HashedQueues::new(config.buckets, config.limit, quantum, config.perturb, link.key, link.tables)?
            .hashed(config.hash)
            .moves(config.move_queued)
            .ends_turns(config.sharing == Sharing::Ns2);
        let part = match config.limit {
            Limit::Packets(n) => Limit::Packets(n / config.buckets),
            Limit::Bytes(n) => Limit::Bytes(n / u64::from(config.buckets)),
        };
        let room = config.limit.packets(link.mean_packet) as u32;
        Ok(Sfq { config, buckets, part, room })
    }

    /// The buckets, for tools.
    pub fn buckets(&self) -> &HashedQueues<T> {
        &self.buckets
    }

    /// The reason to drop a packet that arrives for `bucket`, if any.
    #[inline]
    fn refuses(&self, bucket: usize) -> Option<Why> {
        let used = self.buckets.backlog_of(bucket).packets;
        if used == 0 && self.config.flows.is_some_and(|most| self.buckets.in_use() >= most) {
            return Some(Why::Overflow);
        }
        if self.config.sharing != Sharing::Ns2 {
            return None;
        }
        let left = self.room.saturating_sub(self.buckets.queues().backlog().packets);
        let (buckets, fair) = (self.config.buckets, self.room / self.config.buckets);
        match left {
            0 => Some(Why::Overflow),
            left => (used >= left / 2 || (left < buckets && used > fair)).then_some(Why::FlowLimit),
        }
    }

    /// Room of a bucket that held `before` and gets a packet of `bytes`: its part, and at least that packet. Packets
    /// brought together by a new hash function may stay.
    #[inline]
    fn allowed(&self, before: Backlog, bytes: u32) -> Limit {
        match self.part {
            Limit::Packets(part) => Limit::Packets(part.max(before.packets).max(1)),
            Limit::Bytes(part) => Limit::Bytes(part.max(before.bytes).max(u64::from(bytes))),
        }
    }

    /// Drops the excess after an arrival at `bucket`, which may hold `allowed`.
    #[inline]
    fn trim(&mut self, bucket: usize, allowed: Limit, cx: &mut Cx<'_, T>) {
        if self.config.depth.is_some_and(|most| self.buckets.backlog_of(bucket).packets > most) {
            self.cut(bucket, Why::FlowLimit, cx);
        }
        while self.config.sharing == Sharing::Partitioned && !allowed.holds(self.buckets.backlog_of(bucket)) {
            self.cut(bucket, Why::Overflow, cx);
        }
        while !self.config.limit.holds(self.buckets.queues().backlog()) {
            // Without a shared buffer, drop from the arrival's own bucket, which is not empty.
            let shared = self.config.sharing == Sharing::Shared;
            let longest = if shared { self.buckets.longest() } else { None };
            self.cut(longest.unwrap_or(bucket), Why::Overflow, cx);
        }
    }

    #[inline(never)]
    fn cut(&mut self, bucket: usize, why: Why, cx: &mut Cx<'_, T>) {
        let end = if self.config.head_drop { End::Head } else { End::Tail };
        if let Some(packet) = self.buckets.take(bucket, end) {
            cx.drop(packet, why);
        }
    }
}

impl<T> Discipline<T> for Sfq<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.buckets.perturb(cx);
        let bucket = self.buckets.bucket(packet.flow);
        if let Some(why) = self.refuses(bucket) {
            return cx.drop(packet, why);
        }
        let allowed = self.allowed(self.buckets.backlog_of(bucket), packet.bytes);
        self.buckets.push(bucket, packet);
        self.trim(bucket, allowed, cx);
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.buckets.perturb(cx);
        self.buckets.pop().map(|(_, packet)| packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.buckets.queues().backlog()
    }

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(longest) = self.buckets.longest() {
            self.cut(longest, Why::Overload, cx);
        }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let queues = self.buckets.queues();
        gauge("buckets_in_use", f64::from(self.buckets.in_use()));
        gauge("longest", queues.find_longest().map_or(0.0, |bucket| f64::from(queues.backlog_of(bucket).packets)));
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("queued", self.buckets.backlog_of(self.buckets.bucket(flow)).packets.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Port, Rate, Rng, Sink, Time};
    use alloc::vec::Vec;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    #[derive(Default)]
    struct DroppedHandles(Vec<(u64, usize, Why)>);

    impl Sink<usize> for DroppedHandles {
        fn dropped(&mut self, packet: Packet<usize>, why: Why, _: Time) {
            self.0.push((packet.flow.0, packet.handle, why));
        }
        fn marked(&mut self, _: &Packet<usize>, _: Why, _: Time) {}
    }

    /// Flows in buckets of their own.
    fn apart(sfq: &Sfq<usize>) -> [u64; 3] {
        let mut found = Vec::new();
        let mut buckets = Vec::new();
        for flow in 0..1000 {
            let bucket = sfq.buckets.bucket(FlowId(flow));
            if !buckets.contains(&bucket) {
                buckets.push(bucket);
                found.push(flow);
            }
        }
        [found[0], found[1], found[2]]
    }

    /// Drops among arrivals of 1000 bytes, as (flow, arrival, reason). Flows are indices into [`apart`].
    fn offer(settings: &[(&str, &str)], flows: &[usize]) -> Vec<(usize, usize, Why)> {
        let sfq = Sfq::new(SfqConfig::from_settings(settings).unwrap(), &LINK).unwrap();
        let names = apart(&sfq);
        let (mut port, mut dropped) = (Port::new(sfq, Rng::new(1)), DroppedHandles::default());
        for (number, flow) in flows.iter().enumerate() {
            port.enqueue(Packet::new(FlowId(names[*flow]), 1000, number), Time::ZERO, &mut dropped);
        }
        let number = |flow: u64| names.iter().position(|name| *name == flow).unwrap();
        dropped.0.into_iter().map(|(flow, handle, why)| (number(flow), handle, why)).collect()
    }

    #[test]
    fn a_partitioned_bucket_holds_its_part_of_the_limit() {
        for limit in ["8p", "8KB", "8999B"] {
            let settings = [("limit", limit), ("buckets", "4")];
            let dropped = offer(&settings, &[0, 0, 0, 0, 1, 2, 1, 2, 2]);
            assert_eq!(dropped, [(0, 2, Why::Overflow), (0, 3, Why::Overflow), (2, 8, Why::Overflow)], "{limit}");
            let oldest = offer(&[&settings[..], &[("head_drop", "on")]].concat(), &[0, 0, 0, 1]);
            assert_eq!(oldest, [(0, 0, Why::Overflow)], "{limit}");
        }
    }

    #[test]
    fn a_part_of_less_than_a_packet_is_a_packet_while_there_is_room() {
        for limit in ["2p", "2KB"] {
            let dropped = offer(&[("limit", limit), ("buckets", "4")], &[0, 0, 1, 2]);
            assert_eq!(dropped, [(0, 1, Why::Overflow), (2, 3, Why::Overflow)], "{limit}");
        }
    }

    #[test]
    fn a_full_shared_buffer_drops_a_packet_of_the_longest_bucket() {
        for limit in ["4p", "4KB"] {
            let settings = [("limit", limit), ("buckets", "64"), ("sharing", "shared")];
            let dropped = offer(&settings, &[0, 0, 0, 0, 1, 1, 2]);
            // Flows 0 and 1 hold two packets each when flow 2 arrives; flow 0 reached that length last, by its drop.
            assert_eq!(dropped, [(0, 3, Why::Overflow), (0, 2, Why::Overflow), (0, 1, Why::Overflow)], "{limit}");
            let oldest = offer(&[&settings[..], &[("headdrop", "on")]].concat(), &[0, 0, 0, 0, 1, 1, 2]);
            assert_eq!(oldest, [(0, 0, Why::Overflow), (0, 1, Why::Overflow), (0, 2, Why::Overflow)], "{limit}");
        }
    }

    #[test]
    fn ns2_lets_a_bucket_grow_to_half_the_free_room() {
        // By hand, room for 8 in 2 buckets. Flow 0 meets (used, left/2) = (0, 4), (1, 3), (2, 3), (3, 2): dropped. Flow 1
        // then meets (0, 2), (1, 2), (2, 1): dropped.
        let settings = [("limit", "8p"), ("buckets", "2048"), ("preset", "ns2")];
        let none_fair = offer(&settings, &[0, 0, 0, 0, 1, 1, 1]);
        // With more buckets than packets of room, a bucket's part is 0, and it holds one packet above it.
        assert_eq!(
            none_fair,
            [
                (0, 1, Why::FlowLimit),
                (0, 2, Why::FlowLimit),
                (0, 3, Why::FlowLimit),
                (1, 5, Why::FlowLimit),
                (1, 6, Why::FlowLimit)
            ]
        );
        let two = [("preset", "ns2"), ("limit", "8KB"), ("buckets", "3")];
        assert_eq!(offer(&two, &[0, 0, 0, 0, 1, 1, 1]), [(0, 3, Why::FlowLimit), (1, 6, Why::FlowLimit)]);
        // The room for the last packet is never used: half of it is less than a packet.
        let last = offer(&[("preset", "ns2"), ("limit", "1p")], &[0]);
        assert_eq!(last, [(0, 0, Why::FlowLimit)]);
        // As in ns-2, a limit below a mean packet leaves no room.
        assert_eq!(offer(&[("preset", "ns2"), ("limit", "999B")], &[0]), [(0, 0, Why::Overflow)]);
    }

    #[test]
    fn depth_bounds_a_bucket_and_flows_the_buckets_in_use() {
        let shared = [("limit", "9p"), ("buckets", "64"), ("sharing", "shared")];
        let depth = offer(&[&shared[..], &[("depth", "2")]].concat(), &[0, 0, 0, 1]);
        assert_eq!(depth, [(0, 2, Why::FlowLimit)]);
        let flows = offer(&[&shared[..], &[("flows", "2")]].concat(), &[0, 1, 2, 0]);
        assert_eq!(flows, [(2, 2, Why::Overflow)]);
    }

    #[test]
    fn packets_that_a_new_hash_function_puts_into_one_bucket_stay_until_sent() {
        // Two flows with their part of three packets each, then in one bucket that refuses more until within its part.
        let settings = [("limit", "6p"), ("buckets", "2"), ("perturb", "1s")];
        let mut sfq = Sfq::new(SfqConfig::from_settings(&settings).unwrap(), &LINK).unwrap();
        let mut names = (0..).map(FlowId);
        let first = names.next().unwrap();
        let second = names.find(|flow| sfq.buckets.bucket(*flow) != sfq.buckets.bucket(first)).unwrap();
        let (mut rng, mut dropped) = (Rng::new(1), DroppedHandles::default());
        for (number, flow) in [first, second].repeat(3).into_iter().enumerate() {
            sfq.enqueue(Packet::new(flow, 1000, number), &mut Cx::new(Time::ZERO, &mut rng, &mut dropped));
        }
        let mut now = Time::ZERO;
        while sfq.buckets.in_use() > 1 {
            now += Span::from_secs(1);
            sfq.buckets.perturb(&mut Cx::new(now, &mut rng, &mut dropped));
        }
        let mut cx = Cx::new(now, &mut rng, &mut dropped);
        sfq.dequeue(&mut cx);
        sfq.enqueue(Packet::new(first, 1000, 6), &mut cx);
        assert_eq!((sfq.backlog().packets, dropped.0), (5, alloc::vec![(first.0, 6, Why::Overflow)]));
    }

    #[test]
    fn an_overloaded_parent_drops_from_the_longest_bucket() {
        let mut sfq = Sfq::new(SfqConfig::default(), &LINK).unwrap();
        let names = apart(&sfq);
        let (mut rng, mut dropped) = (Rng::new(1), DroppedHandles::default());
        for (number, flow) in [0, 1, 1, 2].into_iter().enumerate() {
            let packet = Packet::new(FlowId(names[flow]), 1000, number);
            sfq.enqueue(packet, &mut Cx::new(Time::ZERO, &mut rng, &mut dropped));
        }
        sfq.shed(&mut Cx::new(Time::ZERO, &mut rng, &mut dropped));
        assert_eq!(dropped.0, [(names[1], 2, Why::Overload)]);
    }
}
