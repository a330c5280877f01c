//! `[[udp]]`: datagrams, with congestion control or without.

use aqm::Rate;

use super::declare::table;
use super::{RawEndpoints, RawGroup, RawHeaders, Size};
use crate::cc::UdpCc;
use crate::check::{LARGEST_PACKET, POSITIVE_RATE};
use crate::values::RateOf;

table! {
    /// The settings of a group's senders of datagrams.
    pub struct UdpSettings, RawUdp several "groups headed [[udp]], in double brackets" {
        ..group: RawGroup;
        /// congestion control: `"off"`, or `"tfrc"` (RFC 5348)
        cc: UdpCc = UdpCc::Off;
        /// rate of each flow, on the wire with headers unless `rate_of` says otherwise; `"off"` if the source has a rate of its own; required
        /// without `traffic`. With TFRC it is the greatest rate, by default that of the sender's access link
        rate: Option<Rate> = None, in POSITIVE_RATE;
        /// size of a full packet on the wire, headers included
        packet: u32 as Size = 1000, in Size(1)..=LARGEST_PACKET;
        /// bytes of headers in it, which goodput does not count; less than `packet`; with TFRC `"40B"` by default
        // IPv4 and UDP. TFRC's packets bear a sequence number, a timestamp and a round-trip time as well (RFC 5348, 3.2).
        header: u32 as Size = if cc.traits().reports { 28 + 12 } else { 28 }, ns2 0, in Size(0)..=LARGEST_PACKET;
        /// size of a report from TFRC's receiver on the wire
        // Its reports have two times and two rates (RFC 5348, 3.2).
        feedback: u32 as Size = 44, ns2 40, in Size(1)..=LARGEST_PACKET;
        /// what `rate` and a `rate` of the source count: `"wire"`, full packets with their headers, or `"payload"`, the
        /// data alone
        rate_of: RateOf = RateOf::Wire;
        /// random variation of the interval between packets: each is drawn uniformly from 1 - `jitter` to 1 + `jitter`
        /// times the nominal one
        jitter: f64 = 0.0, in 0.0..=1.0;
        ..ends: RawEndpoints;
        /// packets claim to be ECN-capable. TFRC treats a mark as a loss (RFC 5348, 5.1); without congestion control a
        /// mark has no effect
        ecn: bool = false;
        ..headers: RawHeaders;
    }
}
