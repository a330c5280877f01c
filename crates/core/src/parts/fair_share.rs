use alloc::vec::Vec;

use super::flow_count::FlowCount;
use crate::packet::FlowId;
use crate::params::BuildError;
use crate::tables::Tables;
use crate::time::{Span, Time};
use crate::units::Rate;

/// Limits each unresponsive flow to the link's rate over the number of flows, without per-flow state.
///
/// Each accounting bin has a token bucket. The fullest bucket among a flow's bins limits the flow. A flow never gets
/// more than its share. It gets its whole share if one of its bins has no other limited flow. A bucket is stored as the
/// time at which it will be full, as in [`TokenBucket`](super::TokenBucket).
///
/// This is a counting filter with conservative update (C. Estan, G. Varghese, "New directions in traffic measurement
/// and accounting", ACM SIGCOMM 2002, section 3.2).
#[derive(Clone, Debug)]
pub struct FairShareLimiter {
    link: Rate,
    burst: u32,
    flows: FlowCount,
    full_at: Vec<Time>,
}

impl FairShareLimiter {
    /// Shares of `link` among the flows counted by `flows`, with bursts of `burst` bytes, in `bins` accounting bins.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(
        link: Rate,
        burst: u32,
        flows: FlowCount,
        bins: usize,
        tables: Tables<'_>,
    ) -> Result<FairShareLimiter, BuildError> {
        Ok(FairShareLimiter { link, burst, flows, full_at: tables.filled(bins, Time::ZERO)? })
    }

    /// Counts the flow of an arrival, limited or not.
    #[inline]
    pub fn count_arrival(&mut self, flow: FlowId, now: Time) {
        self.flows.count_arrival(flow, now);
    }

    /// The estimated number of flows.
    pub fn flows(&self) -> f64 {
        self.flows.estimate()
    }

    /// The rate per flow.
    pub fn share(&self) -> Rate {
        Rate::from_bits(((self.link.as_bits() as f64 / self.flows()) as u64).max(1))
    }

    /// Time until the fullest bucket among `bins` is full.
    pub fn time_to_full(&self, bins: &[u16], now: Time) -> Span {
        self.full_at(bins) - now
    }

    /// Whether a packet of `bytes` may be queued now, if its flow has these `bins`.
    pub fn admits(&self, bins: &[u16], bytes: u32, now: Time) -> bool {
        let (share, time_to_full) = (self.share(), self.time_to_full(bins, now));
        time_to_full == Span::ZERO || time_to_full + share.transmit(bytes) <= share.transmit(self.burst)
    }

    /// Charges a queued packet to its flow's buckets.
    pub fn charge(&mut self, bins: &[u16], bytes: u32, now: Time) {
        let full_at = self.full_at(bins).max(now) + self.share().transmit(bytes);
        for bin in bins {
            let bin = &mut self.full_at[usize::from(*bin)];
            *bin = full_at.max(*bin);
        }
    }

    fn full_at(&self, bins: &[u16]) -> Time {
        bins.iter().map(|bin| self.full_at[usize::from(*bin)]).min().unwrap_or(Time::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(bits: u64, burst: u32, bins: usize) -> FairShareLimiter {
        let flows = FlowCount::new(Span::ZERO, 7);
        FairShareLimiter::new(Rate::from_bits(bits), burst, flows, bins, Tables::ALLOCATE).unwrap()
    }

    /// Ten flows at 80 kbit/s: each may send 10 packets of 100 bytes a second.
    fn ten_flows() -> FairShareLimiter {
        let mut fair = limiter(80_000, 200, 8);
        (0..10).for_each(|flow| fair.count_arrival(FlowId(flow), Time::ZERO));
        fair
    }

    /// Packets passed in ten seconds, by flow, when each flow sends one packet a millisecond.
    fn passed(fair: &mut FairShareLimiter, flows: &[&[u16]]) -> Vec<u32> {
        let mut passed = alloc::vec![0; flows.len()];
        for ms in 0..10_000 {
            let now = Time::ZERO + Span::from_millis(ms);
            for (flow, bins) in flows.iter().enumerate() {
                if fair.admits(bins, 100, now) {
                    fair.charge(bins, 100, now);
                    passed[flow] += 1;
                }
            }
        }
        passed
    }

    #[test]
    fn a_flow_with_a_bin_of_its_own_gets_its_share_whatever_flows_share_its_other_bins() {
        // A burst of 2, and 10 a second; another hash in the bitmap of 4096 changes the estimate by 1 in 4096.
        let shares = passed(&mut ten_flows(), &[&[0, 4], &[0, 5], &[1, 5]]);
        assert!(shares.iter().all(|packets| packets.abs_diff(101) <= 1), "{shares:?}");
    }

    #[test]
    fn flows_that_share_all_bins_get_one_share_together() {
        let shares = passed(&mut ten_flows(), &[&[0, 4], &[1, 5], &[0, 4]]);
        assert!(shares[0] + shares[2] <= 102 && shares[1] >= 100, "{shares:?}");
    }

    #[test]
    fn no_flow_gets_more_than_its_share() {
        // Every pair of bins of 4 and 4.
        let bins: Vec<[u16; 2]> = (0..16).map(|i| [i % 4, 4 + i / 4]).collect();
        let flows: Vec<&[u16]> = bins.iter().map(|pair| &pair[..]).collect();
        assert!(passed(&mut ten_flows(), &flows).iter().all(|packets| *packets <= 102));
    }

    #[test]
    fn a_link_without_a_rate_passes_a_packet_and_does_not_panic() {
        let mut fair = limiter(0, u32::MAX, 2);
        fair.charge(&[0, 1], u32::MAX, Time::NEVER);
        assert!(fair.admits(&[0, 1], u32::MAX, Time::NEVER));
    }
}
