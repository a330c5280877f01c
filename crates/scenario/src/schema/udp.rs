//! `[[udp]]`: datagrams, with congestion control or without.

use aqm::{Rate, Span};

use super::declare::table;
use super::{RawEndpoints, RawGroup, RawHeaders, Size};
use crate::cc::UdpCc;
use crate::check::{LARGEST_PACKET, POSITIVE_RATE};
use crate::values::RateOf;

/// The least rate of a call.
const LEAST_CALL: Rate = Rate::from_bits(150_000);

/// Without a report for longer, a call could not be controlled.
const LONGEST_REPORT_INTERVAL: Span = Span::from_millis(1000);

table! {
    /// The settings of a group's senders of datagrams.
    pub struct UdpSettings, RawUdp several "groups headed [[udp]], in double brackets" {
        ..group: RawGroup;
        /// congestion control: `"off"`, `"tfrc"` (RFC 5348), or that of a [video call](transport.md#calls): `"gcc"`,
        /// `"nada"` (RFC 8698) or `"scream"` (RFC 8298)
        cc: UdpCc = UdpCc::Off;
        /// rate of each flow, on the wire with headers unless `rate_of` says otherwise; `"off"` if the source has a rate of its own; required
        /// without `traffic`. With congestion control it is the greatest rate: by default that of the sender's access link with TFRC, and
        /// `"2.5Mbit/s"` for a call
        // WebRTC's greatest rate for 1280 x 720 pixels (`simulcast.cc`, kSimulcastFormats).
        rate: Option<Rate> = if cc.traits().media { Some(Rate::from_bits(2_500_000)) } else { None }, in POSITIVE_RATE;
        /// least rate that the congestion control of a call may choose, counted as `rate`
        // RMIN of RFC 8698, figure 3.
        min_rate: Rate = rate.map_or(LEAST_CALL, |most| most.min(LEAST_CALL)), in POSITIVE_RATE,
            only cc.traits().media, else "`min_rate` is a key of calls only (`cc = \"gcc\"`, `\"nada\"` or `\"scream\"`), not of `cc = \"{cc}\"`",
            check rate.is_none_or(|most| min_rate <= most), else "{min_rate} is more than `rate`";
        /// time between the reports of a call's receiver, which it sends while packets arrive; by default `"20ms"` with SCReAM
        // DELTA of RFC 8698, figure 3, and WebRTC's first interval of transport feedback.
        report_interval: Span = Span::from_millis(if cc.traits().frequent_reports { 20 } else { 100 }),
            in Span::from_millis(1)..=LONGEST_REPORT_INTERVAL,
            only cc.traits().media, else "`report_interval` is a key of calls only (`cc = \"gcc\"`, `\"nada\"` or `\"scream\"`), not of `cc = \"{cc}\"`";
        /// size of a full packet on the wire, headers included
        packet: u32 as Size = if cc.traits().media { 1200 } else { 1000 }, in Size(1)..=LARGEST_PACKET;
        /// bytes of headers in it, which goodput does not count; less than `packet`; with congestion control `"40B"` by default
        // IPv4 and UDP. TFRC's packets bear a sequence number, a timestamp and a round-trip time as well (RFC 5348, 3.2), a
        // call's packets the header of RTP (RFC 3550, 5.1).
        header: u32 as Size = if cc.traits().reports { 28 + 12 } else { 28 }, ns2 0, in Size(0)..=LARGEST_PACKET;
        /// size of a report from TFRC's receiver on the wire. A call's report has 48 bytes and 2 for each packet (RFC 8888, 3.1)
        // TFRC's reports have two times and two rates (RFC 5348, 3.2).
        feedback: u32 as Size = 44, ns2 40, in Size(1)..=LARGEST_PACKET;
        /// what `rate` and a `rate` of the source count: `"wire"`, full packets with their headers, or `"payload"`, the
        /// data alone
        rate_of: RateOf = RateOf::Wire;
        /// random variation of the interval between packets: each is drawn uniformly from 1 - `jitter` to 1 + `jitter`
        /// times the nominal one
        jitter: f64 = 0.0, in 0.0..=1.0;
        ..ends: RawEndpoints;
        /// packets claim to be ECN-capable. TFRC treats a mark as a loss (RFC 5348, 5.1), SCReAM's packets bear ECT(1) (RFC 9331, 4.1), and
        /// GCC refuses it; without congestion control a mark has no effect
        ecn: bool = false, check !ecn || !cc.traits().ignores_marks,
            else "`cc = \"{cc}\"` does not react to marks: packets that claim to be ECN-capable would neither be dropped nor slow down";
        ..headers: RawHeaders;
    }
}
