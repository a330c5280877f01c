//! `[[udp]]`: datagrams, with congestion control or without.

use headgate_core::Rate;

use super::declare::table;
use super::{RawEndpoints, RawGroup, RawHeaders, Size};
use crate::cc::UdpCc;
use crate::check::{LARGEST_PACKET, POSITIVE_RATE};

table! {
    /// How the flows of a group send datagrams.
    pub struct UdpSettings, RawUdp several "groups headed [[udp]], in double brackets" {
        ..group: RawGroup;
        /// congestion control: `"off"`, or `"tfrc"` (RFC 5348)
        cc: UdpCc = UdpCc::Off;
        /// the rate of each on the wire, headers included; `"off"` where the source has its own; required without `traffic`; with
        /// TFRC the most it sends at, by default that of the sender's `access`
        rate: Option<Rate> = None, in POSITIVE_RATE;
        /// a packet on the wire, headers included
        packet: u32 as Size = 1000, in Size(1)..=LARGEST_PACKET;
        /// the part of it that is headers, which goodput does not count; less than `packet`; TFRC: `"40B"`
        // IPv4 and UDP. TFRC's packets bear a sequence number, a timestamp and a round-trip time as well (RFC 5348, 3.2).
        header: u32 as Size = if cc.needs().reports { 28 + 12 } else { 28 }, ns2 0, in Size(0)..=LARGEST_PACKET;
        /// a report of TFRC's receiver on the wire
        // Its reports have two times and two rates (RFC 5348, 3.2).
        feedback: u32 as Size = 44, ns2 40, in Size(1)..=LARGEST_PACKET;
        /// each interval is drawn uniformly in 1 - jitter to 1 + jitter times the nominal one
        jitter: f64 = 0.0, in 0.0..=1.0;
        ..ends: RawEndpoints;
        /// packets claim that they can be marked; TFRC takes a mark as a loss (RFC 5348, 5.1), a constant rate heeds none
        ecn: bool = false;
        ..headers: RawHeaders;
    }
}
