//! SFQ-RED: SFQ with RED in each queue.
//!
//! Flows are hashed to buckets. Each bucket is a RED queue with an equal part of the buffer. Drops and marks
//! therefore follow the average of the flow's own bucket. On departure, buckets send in turn, one packet or `quantum`
//! bytes each.
//!
//! avg, count, pb and pa are those of each bucket's [`RedQueue`]. See `sfq` and `red` for the sources of both.
//!
//! Source: W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE active queue management algorithms", IEEE/ACM ToN 10(4),
//! 2002, section IV-B and table III, which compares SFB with it: 46 buckets of 9 KB, minth 2 KB and maxth 8 KB.
//! Deviations are listed in docs/disciplines/sfq_red.md.

use alloc::vec::Vec;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{DeficitRing, RedQueue, RedSettings, bucket};
use crate::reason::Why;
use crate::units::{Level, Limit};

crate::params! {
    /// Settings of [`SfqRed`].
    pub struct SfqRedConfig with red: RedSettings {
        red {
            /// Buffer size of all buckets together; each has an equal part. Queues are measured in its unit.
            limit = Limit::Bytes(414_000)
        }
        /// Number of buckets that flows are hashed to.
        buckets: u32 = 46, in 1..=65_536, also "divisor";
        red {
            /// Average queue length of a bucket below which no packet is dropped or marked. A share refers to the
            /// bucket's part of the limit.
            minth = Some(Level::Share(0.22)),
            /// Average queue length of a bucket from which every packet is dropped or marked.
            maxth = Some(Level::Share(0.89)),
            maxp, wq, gentle
        }
        /// Bytes that a bucket may send per turn. `auto`: one packet.
        quantum: Option<Bytes> = None, in Bytes(1)..;
        red { mark_above_maxth, ecn }
    }
    presets {
        "paper" "the defaults: the BLUE paper's 46 buckets of 9 KB, with wq and maxp of Floyd and Jacobson 1993" {}
        "blue" "the BLUE paper, section IV-B: 2 KB and 8 KB, with maxp and marks as in its other REDs (table I)" {
            "minth" = "2KB", "maxth" = "8KB", "maxp" = "1", "mark_above_maxth" = "on"
        }
    }
    reasons { Overflow, Early, Forced }
    gauges {
        Gauge::new("buckets_in_use", "buckets", "Buckets that hold packets.");
        Gauge::new("greatest_average", "packets", "Largest average queue length of a bucket, in the unit of the limit.");
    }
}

/// Hashed REDs, served round robin.
pub struct SfqRed<T> {
    config: SfqRedConfig,
    buckets: Vec<RedQueue<T>>,
    ring: DeficitRing,
    /// Bytes a turn; `None`: one packet.
    quantum: Option<u32>,
    held: Backlog,
    key: u64,
}

impl<T> SfqRed<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, or maxth is above a bucket's part of the limit.
    pub fn new(config: SfqRedConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        // A bucket whose part is less than a packet would admit no packet.
        let part = match config.red.limit {
            Limit::Packets(n) => Limit::Packets((n / config.buckets).max(1)),
            Limit::Bytes(n) => Limit::Bytes((n / u64::from(config.buckets)).max(u64::from(link.mean_packet))),
        };
        let settings = RedSettings {
            limit: part,
            byte_mode: matches!(part, Limit::Bytes(_)),
            // As in Linux's sfq: thresholds in bytes, a probability independent of packet size.
            ignore_size: true,
            ..config.red.clone()
        };
        let bucket = |_| RedQueue::new(settings.clone(), link);
        let buckets = link.tables.filled_with(config.buckets as usize, bucket)?;
        let quantum = config.quantum.map(|bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX));
        Ok(SfqRed { config, buckets, ring: DeficitRing::new(), quantum, held: Backlog::default(), key: link.key })
    }

    /// The bucket of `flow`.
    #[inline]
    pub fn bucket(&self, flow: FlowId) -> usize {
        bucket(self.key, flow, self.buckets.len())
    }

    /// The REDs, by bucket.
    pub fn buckets(&self) -> &[RedQueue<T>] {
        &self.buckets
    }

    /// Credit of `bucket` in bytes (packets without a quantum), negative if it owes; `None` if it is empty.
    pub fn credit(&self, bucket: usize) -> Option<i64> {
        self.ring.credit(bucket)
    }

    #[inline]
    fn take(&mut self, bucket: usize, cx: &Cx<'_, T>) -> Option<Packet<T>> {
        let packet = self.buckets[bucket].pop(cx)?;
        self.held.packets -= 1;
        self.held.bytes -= u64::from(packet.bytes);
        if self.buckets[bucket].backlog().packets == 0 {
            self.ring.leave(bucket);
            // RED's idle time starts when its queue empties (Floyd, Jacobson 1993, figure 2). An empty bucket has no
            // turn, so the departure that empties it reports the idle time.
            self.buckets[bucket].pop(cx);
        }
        Some(packet)
    }
}

impl<T> Discipline<T> for SfqRed<T> {
    #[inline]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let bucket = self.bucket(packet.flow);
        let red = &mut self.buckets[bucket];
        let (zone, before) = (red.update(cx), red.backlog());
        // Parts are rounded up and may sum to more than the limit.
        if !self.config.red.limit.admits(self.held, packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        red.offer(zone, packet, cx);
        let after = red.backlog();
        self.held.packets += after.packets - before.packets;
        self.held.bytes += after.bytes - before.bytes;
        if before.packets == 0 && after.packets > 0 {
            self.ring.join(bucket, self.quantum.unwrap_or(1));
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let bucket = self.ring.next(|_| 1)?;
        let packet = self.take(bucket, cx)?;
        if self.ring.credit(bucket).is_some() {
            self.ring.charge(bucket, if self.quantum.is_some() { packet.bytes } else { 1 });
        }
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.held
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let averages = self.buckets.iter().map(|red| red.detector().average());
        gauge("buckets_in_use", f64::from(self.ring.len()));
        gauge("greatest_average", averages.fold(0.0, f64::max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Counts, Port, Rate, Rng, Time};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn port(settings: &[(&str, &str)]) -> Port<u64, SfqRed<u64>> {
        let config = SfqRedConfig::from_settings(settings).unwrap();
        Port::new(SfqRed::new(config, &LINK).unwrap(), Rng::new(3))
    }

    /// Three flows in buckets of their own.
    fn apart(port: &Port<u64, SfqRed<u64>>) -> [u64; 3] {
        let bucket = |flow: u64| port.discipline().bucket(FlowId(flow));
        let second = (1..).find(|flow| bucket(*flow) != bucket(0)).unwrap();
        let third = (1..).find(|flow| ![bucket(0), bucket(second)].contains(&bucket(*flow))).unwrap();
        [0, second, third]
    }

    fn offer(port: &mut Port<u64, SfqRed<u64>>, flow: u64, packets: usize, ms: u64) -> Counts {
        let now = Time::from_nanos(ms * 1_000_000);
        (0..packets).for_each(|_| port.enqueue(Packet::new(FlowId(flow), 1000, flow), now, &mut ()));
        port.totals().counts().clone()
    }

    #[test]
    fn a_bucket_is_a_red_queue_with_its_part_of_the_limit() {
        // 40 packets in 4 parts: minth 2, maxth 6. The average is the queue length, and no packet is dropped at random.
        let settings =
            [("limit", "40p"), ("buckets", "4"), ("minth", "20%"), ("maxth", "60%"), ("wq", "1"), ("maxp", "0")];
        for limit in ["40p", "40KB"] {
            let mut port = port(&[&settings[..], &[("limit", limit)]].concat());
            let [one, two, _] = apart(&port);
            assert_eq!(offer(&mut port, one, 9, 0).drops(Why::Forced), 3, "{limit}");
            assert_eq!(offer(&mut port, two, 6, 0).dropped(), 3, "{limit}: another bucket has its own queue");
            let bursts = [("wq", "0.0001"), ("limit", limit)];
            let mut port = self::port(&[&settings[..], &bursts].concat());
            assert_eq!(offer(&mut port, one, 12, 0).drops(Why::Overflow), 2, "{limit}");
        }
    }

    #[test]
    fn buckets_take_turns() {
        let mut port = port(&[("limit", "400p"), ("buckets", "40")]);
        let [one, two, three] = apart(&port);
        for (flow, packets) in [(one, 3), (two, 1), (three, 2)] {
            offer(&mut port, flow, packets, 0);
        }
        let order = core::array::from_fn(|_| port.dequeue(Time::ZERO, &mut ()).map(|packet| packet.handle));
        assert_eq!(order, [one, two, three, one, three, one].map(Some));
    }

    #[test]
    fn a_bucket_is_idle_from_its_last_packet_even_if_other_buckets_are_busy() {
        let mut port = port(&[("limit", "400p"), ("buckets", "4"), ("wq", "0.5"), ("maxp", "0")]);
        let [one, two, _] = apart(&port);
        offer(&mut port, one, 4, 0);
        offer(&mut port, two, 9, 0);
        let average = |port: &Port<u64, SfqRed<u64>>| {
            let sfq_red = port.discipline();
            sfq_red.buckets()[sfq_red.bucket(FlowId(one))].detector().average()
        };
        // The arrivals met 0, 1, 2, 3 packets: by hand (((0 + 1)/2 + 2)/2 + 3)/2 = 2.125.
        assert_eq!(average(&port), 2.125);
        // Its four packets leave at 0, 2, 4 and 6 ms, between the packets of the other bucket.
        for ms in 0..8 {
            port.dequeue(Time::from_nanos(ms * 1_000_000), &mut ());
        }
        // 2 ms idle at 1 ms a packet.
        offer(&mut port, one, 1, 8);
        assert_eq!(average(&port), 2.125 / 4.0);
    }

    #[test]
    fn buckets_with_parts_below_a_packet_share_the_limit() {
        for limit in ["2p", "2KB"] {
            let mut port = port(&[("limit", limit), ("buckets", "16")]);
            let flows = apart(&port);
            let dropped = flows.map(|flow| offer(&mut port, flow, 1, 0).dropped());
            assert_eq!(dropped, [0, 0, 1], "{limit}");
        }
    }

    #[test]
    fn thresholds_are_those_of_a_part() {
        let build = |settings: &[(&str, &str)]| {
            SfqRed::<()>::new(SfqRedConfig::from_settings(settings).unwrap(), &LINK).map(|red| {
                let thresholds = red.buckets()[45].detector().thresholds();
                (thresholds.min, thresholds.max)
            })
        };
        assert_eq!(build(&[]), Ok((1980.0, 8010.0)));
        assert_eq!(build(&[("preset", "blue")]), Ok((2000.0, 8000.0)));
        assert!(matches!(build(&[("maxth", "9.1KB")]), Err(BuildError::Conflict(_))));
    }
}
