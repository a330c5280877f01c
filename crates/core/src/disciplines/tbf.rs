//! Token Bucket Filter (TBF): shape to a rate with a token bucket; any discipline inside.
//!
//! Tokens arrive at `rate`, up to `burst`. On arrival, the packet passes to the child discipline. If the limit is
//! exceeded, the child drops a packet by its own rules. On departure, the child's next packet is taken and held until
//! the bucket has tokens for it, as in tc's tbf. A second bucket can limit the peak rate.
//!
//! A bucket is stored as the time at which it will be full ([`TokenBucket`], ITU-T I.371's virtual schedule), so no
//! timer runs.

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{Children, TokenBucket};
use crate::qdisc::Qdisc;
use crate::reason::Why;
use crate::time::Time;
use crate::units::{Limit, Rate};

crate::params! {
    /// Settings of [`Tbf`].
    pub struct TbfConfig {
        /// Buffer size, including the child's packets.
        limit: Limit = Limit::Packets(1000);
        /// Long-term rate. `auto`: the link's rate, so that only bursts are shaped.
        rate: Option<Rate> = None, in Rate::from_bits(1)..;
        /// Bucket size: bytes that may leave at once after a pause. A larger packet leaves when the bucket is full.
        burst: Bytes = Bytes(10_000), in Bytes(1)..=Bytes(1_000_000_000), also "buffer" "maxburst";
        /// Maximum rate of a burst. `auto`: the link's rate.
        peakrate: Option<Rate> = None, in Rate::from_bits(1)..;
        /// Bytes that may leave at once at the peak rate: one packet.
        mtu: Bytes = Bytes(1514), in Bytes(1)..=Bytes(1_000_000_000), also "minburst";
        /// Discipline whose packets are shaped, such as `[sfb:bins=46]`. Without a limit of its own it may fill
        /// `limit`.
        child: Qdisc = Qdisc::named("droptail");
    }
    presets {
        "linux" "a byte FIFO behind the bucket; tc has no defaults for rate, burst and limit (the defaults here)" {}
    }
    reasons { Overflow }
}

/// A child, and its next packet, held until the bucket has tokens for it.
pub struct Tbf<T> {
    limit: Limit,
    child: Children<T>,
    next: Option<Packet<T>>,
    rate: TokenBucket,
    peak: Option<TokenBucket>,
}

impl<T: 'static> Tbf<T> {
    /// A full bucket and an empty child.
    ///
    /// # Errors
    /// [`BuildError::Nested`] if the child cannot be built.
    pub fn new(config: TbfConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let rate = config.rate.unwrap_or(link.rate);
        // For the child, the link's rate is that of the shaper.
        let inside = LinkInfo { rate, ..*link };
        // Lossless: the ranges end at 10^9.
        let bucket = |rate, Bytes(burst)| TokenBucket::new(rate, burst as u32);
        Ok(Tbf {
            limit: config.limit,
            child: Children::new("child", core::slice::from_ref(&config.child), config.limit, &inside)?,
            next: None,
            rate: bucket(rate, config.burst),
            peak: config.peakrate.map(|peak| bucket(peak, config.mtu)),
        })
    }
}

impl<T> Tbf<T> {
    fn buckets(&mut self) -> impl Iterator<Item = &mut TokenBucket> {
        core::iter::once(&mut self.rate).chain(&mut self.peak)
    }
}

impl<T> Discipline<T> for Tbf<T> {
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        if !self.limit.admits(Backlog::default(), packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        self.child.enqueue(0, packet, cx);
        while !self.limit.holds(self.backlog()) {
            self.shed(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        if self.next.is_none() {
            self.next = self.child.dequeue(0, cx);
        }
        let bytes = self.next.as_ref()?.bytes;
        if self.buckets().any(|bucket| !bucket.admits(bytes, cx.now)) {
            return None;
        }
        self.buckets().for_each(|bucket| bucket.take(bytes, cx.now));
        self.next.take()
    }

    fn backlog(&self) -> Backlog {
        let Backlog { mut packets, mut bytes } = self.child.backlog();
        if let Some(next) = &self.next {
            packets += 1;
            bytes += u64::from(next.bytes);
        }
        Backlog { packets, bytes }
    }

    fn ready_at(&self, now: Time) -> Option<Time> {
        let Some(next) = &self.next else { return self.child.ready_at(now) };
        let ready = self.rate.ready_at(next.bytes, now);
        Some(self.peak.map_or(ready, |peak| ready.max(peak.ready_at(next.bytes, now))))
    }

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if self.child.backlog().packets > 0 {
            self.child.shed(0, cx);
        } else if let Some(next) = self.next.take() {
            cx.drop(next, Why::Overload);
        }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.child.child(0).observe(gauge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{FlowId, Port, Rng, Span};
    use alloc::vec::Vec;

    fn port(settings: &[(&str, &str)]) -> Port<(), Tbf<()>> {
        let link = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
        Port::new(Tbf::new(TbfConfig::from_settings(settings).unwrap(), &link).unwrap(), Rng::new(1))
    }

    /// Offers `packets` of 1000 bytes at once and dequeues at `ready_at`. Returns the departure times in milliseconds.
    fn departures(port: &mut Port<(), Tbf<()>>, packets: u32) -> Vec<u64> {
        (0..packets).for_each(|_| port.enqueue(Packet::new(FlowId(1), 1000, ()), Time::ZERO, &mut ()));
        let (mut now, mut left) = (Time::ZERO, Vec::new());
        while let Some(ready) = port.ready_at(now) {
            now = ready;
            if port.dequeue(now, &mut ()).is_some() {
                left.push((now - Time::ZERO).as_nanos() / 1_000_000);
            }
        }
        left
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        let mut port = port(&[("rate", "80kbit/s"), ("burst", "3KB")]);
        assert_eq!(departures(&mut port, 6), [0, 0, 0, 100, 200, 300]);
    }

    #[test]
    fn a_burst_leaves_at_most_at_the_peak_rate() {
        let mut port = port(&[("rate", "80kbit/s"), ("burst", "3KB"), ("peakrate", "800kbit/s"), ("mtu", "1KB")]);
        // The bucket fills while the burst departs at 10 ms a packet. At 20 ms it holds 200 of the fourth packet's 1000
        // bytes.
        assert_eq!(departures(&mut port, 5), [0, 10, 20, 100, 200]);
    }

    #[test]
    fn a_packet_larger_than_the_burst_leaves_when_the_bucket_is_full() {
        let mut port = port(&[("rate", "80kbit/s"), ("burst", "100B")]);
        assert_eq!(departures(&mut port, 3), [0, 100, 200]);
    }

    #[test]
    fn the_limit_counts_the_held_packet() {
        let mut port = port(&[("rate", "8kbit/s"), ("burst", "1KB"), ("limit", "2p")]);
        for offered in 0..5 {
            port.enqueue(Packet::new(FlowId(1), 1000, ()), Time::ZERO, &mut ());
            port.dequeue(Time::ZERO, &mut ());
            assert_eq!(port.backlog().packets, [0, 1, 2, 2, 2][offered]);
        }
        assert_eq!(port.totals().dropped(), 2);
        assert_eq!(port.ready_at(Time::ZERO), Some(Time::ZERO + Span::from_secs(1)));
    }

    #[test]
    fn a_child_that_cannot_be_built_is_named() {
        let config = TbfConfig::from_settings(&[("child", "[red:minth=9p,maxth=3p]")]).unwrap();
        let error = Tbf::<()>::new(config, &LinkInfo::new(Rate::from_bits(1), 1, 1)).err().unwrap();
        assert!(matches!(error, BuildError::Nested { parameter: "child", .. }), "{error}");
    }
}
