//! A fair share of the link for each unresponsive flow, without state for each.

use alloc::vec::Vec;

use super::flow_count::FlowCount;
use crate::packet::FlowId;
use crate::time::{Span, Time};
use crate::units::Rate;

/// Limits each flow to the link's rate over the number of flows.
///
/// What a flow has sent is counted in its accounting bins, one a level, and the least of them bounds it from above, as
/// in a counting filter with conservative update (C. Estan, G. Varghese, "New directions in traffic measurement and
/// accounting", SIGCOMM 2002, section 3.2). A flow therefore never gets more than its share, and gets all of it while
/// one of its bins is no other limited flow's. Each count is a token bucket in the form of
/// [`TokenBucket`](super::TokenBucket): the moment it will be full.
#[derive(Clone, Debug)]
pub struct FairShare {
    link: Rate,
    burst: u32,
    flows: FlowCount,
    full_at: Vec<Time>,
}

impl FairShare {
    /// Shares of `link` among the flows that `flows` counts, with bursts of `burst` bytes; one count for each of `bins`
    /// places.
    pub fn new(link: Rate, burst: u32, flows: FlowCount, bins: usize) -> FairShare {
        FairShare { link, burst, flows, full_at: alloc::vec![Time::ZERO; bins] }
    }

    /// A packet of `flow` arrived, limited or not.
    #[inline]
    pub fn see(&mut self, flow: FlowId, now: Time) {
        self.flows.see(flow, now);
    }

    /// The number of flows, estimated.
    pub fn flows(&self) -> f64 {
        self.flows.estimate()
    }

    /// The rate of one flow.
    pub fn share(&self) -> Rate {
        Rate::from_bits(((self.link.as_bits() as f64 / self.flows()) as u64).max(1))
    }

    /// How long the bucket of a flow with these `places` will take to be full.
    pub fn lacking(&self, places: &[u16], now: Time) -> Span {
        self.full_at(places) - now
    }

    /// Whether a packet of `bytes` of a flow with these `places` may be queued now.
    pub fn admits(&self, places: &[u16], bytes: u32, now: Time) -> bool {
        let (share, lacking) = (self.share(), self.lacking(places, now));
        lacking == Span::ZERO || lacking + share.transmit(bytes) <= share.transmit(self.burst)
    }

    /// That packet was queued.
    pub fn charge(&mut self, places: &[u16], bytes: u32, now: Time) {
        let full_at = self.full_at(places).max(now) + self.share().transmit(bytes);
        for place in places {
            let bin = &mut self.full_at[usize::from(*place)];
            *bin = full_at.max(*bin);
        }
    }

    fn full_at(&self, places: &[u16]) -> Time {
        places.iter().map(|place| self.full_at[usize::from(*place)]).min().unwrap_or(Time::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of 10 packets a second: 80 kbit/s among ten flows that were seen, in packets of 100 bytes.
    fn ten_flows() -> FairShare {
        let mut fair = FairShare::new(Rate::from_bits(80_000), 200, FlowCount::new(Span::ZERO, 7), 8);
        (0..10).for_each(|flow| fair.see(FlowId(flow), Time::ZERO));
        fair
    }

    /// Packets that pass in ten seconds, flow by flow: each of the flows sends one packet a millisecond.
    fn passed(fair: &mut FairShare, flows: &[&[u16]]) -> Vec<u32> {
        let mut passed = alloc::vec![0; flows.len()];
        for ms in 0..10_000 {
            let now = Time::ZERO + Span::from_millis(ms);
            for (flow, places) in flows.iter().enumerate() {
                if fair.admits(places, 100, now) {
                    fair.charge(places, 100, now);
                    passed[flow] += 1;
                }
            }
        }
        passed
    }

    #[test]
    fn a_flow_with_a_bin_of_its_own_gets_its_share_whoever_is_in_the_others() {
        // The burst of 2 and 10 a second; one hash in 4096 more or less changes the estimate by 1 in 4096.
        let shares = passed(&mut ten_flows(), &[&[0, 4], &[0, 5], &[1, 5]]);
        assert!(shares.iter().all(|packets| packets.abs_diff(101) <= 1), "{shares:?}");
    }

    #[test]
    fn flows_that_meet_in_every_bin_share_one_share() {
        let shares = passed(&mut ten_flows(), &[&[0, 4], &[1, 5], &[0, 4]]);
        assert!(shares[0] + shares[2] <= 102 && shares[1] >= 100, "{shares:?}");
    }

    #[test]
    fn no_flow_gets_more_than_its_share() {
        // Every pair of bins of 4 and 4.
        let places: Vec<[u16; 2]> = (0..16).map(|i| [i % 4, 4 + i / 4]).collect();
        let flows: Vec<&[u16]> = places.iter().map(|pair| &pair[..]).collect();
        assert!(passed(&mut ten_flows(), &flows).iter().all(|packets| *packets <= 102));
    }

    #[test]
    fn a_link_without_a_rate_passes_a_packet_and_does_not_panic() {
        let mut fair = FairShare::new(Rate::from_bits(0), u32::MAX, FlowCount::new(Span::ZERO, 7), 2);
        fair.charge(&[0, 1], u32::MAX, Time::NEVER);
        assert!(fair.admits(&[0, 1], u32::MAX, Time::NEVER));
    }
}
