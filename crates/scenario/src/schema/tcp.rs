//! `[[tcp]]`: TCP flows. A key added here is read, checked, written and documented; its value is in [`TcpSettings`].

use headgate_core::Span;

use super::declare::table;
use super::{RawEndpoints, RawGroup, RawHeaders, Size};
use crate::cc::{Cc, Recovery};
use crate::check::{LARGEST_PACKET, LARGEST_WINDOW, LONGEST_DELAY, POSITIVE_DELAY, above};

// The `ns2` values are those of `Agent/TCP` and `Agent/TCPSink` in the `ns-default.tcl` of ns-2.35.
table! {
    /// How the flows of a group speak TCP.
    pub struct TcpSettings, RawTcp several "groups headed [[tcp]], in double brackets" {
        ..group: RawGroup;
        /// the [congestion controller](transport.md)
        cc: Cc = Cc::Reno;
        /// how losses are [repaired](transport.md#losses); `"rack"` with a `cc` after `reno`, `"reno"` with `cc = "reno"` alone
        // ns-2's plain agent is Tahoe; the papers' scripts ask for NewReno.
        recovery: Recovery = Recovery::default_for(cc, Recovery::Sack), ns2 Recovery::default_for(cc, Recovery::NewReno),
            check recovery.is_selective() || !cc.needs().rates,
            else "`{cc}` measures the times of single segments: it needs `recovery = \"sack\"` or `\"rack\"`, not `{recovery}`";
        /// a full data packet on the wire, headers included
        // `packetSize_`. Release 2.35 adds 40 bytes on the wire (`useHeaders_`); the papers count packets of this size.
        packet: u32 as Size = 1500, ns2 1000, in Size(1)..=LARGEST_PACKET;
        /// the part of it that is headers, which goodput does not count; less than `packet`
        // IPv4 and TCP without options.
        header: u32 as Size = 40, ns2 0, in Size(0)..=LARGEST_PACKET;
        /// an ACK on the wire
        ack: u32 as Size = 40, in Size(1)..=LARGEST_PACKET;
        ..ends: RawEndpoints;
        /// the receiver's window in packets, which bounds cwnd
        window: u32 = 10_000, ns2 20, in 1..=LARGEST_WINDOW;
        /// cwnd at the start, in packets (RFC 6928)
        initial_window: u32 = 10, ns2 2, in 1..=LARGEST_WINDOW;
        /// ssthresh at the start, in packets; `"off"` for no bound (RFC 5681, 3.1); in `ns2` as `window`
        initial_ssthresh: Option<u32> = None, ns2 Some(window), in 1..=LARGEST_WINDOW;
        /// how long an ACK may wait for a second packet (RFC 5681, 4.2); `"off"` to acknowledge each at once
        // RFC 5681 allows 500 ms; 100 ms is our choice. `Agent/TCPSink` acknowledges each packet; `DelAck` is another class.
        delayed_ack: Option<Span> = Some(Span::from_millis(100)), ns2 None, in POSITIVE_DELAY;
        /// the retransmission timeout before the first sample (RFC 6298); at most `max_rto`
        initial_rto: Span = Span::from_secs(1), ns2 Span::from_secs(3), in POSITIVE_DELAY,
            check initial_rto <= max_rto, else "{initial_rto} is longer than `max_rto` ({max_rto})";
        /// the least timeout (RFC 6298)
        min_rto: Span = Span::from_secs(1), ns2 Span::from_millis(200), in POSITIVE_DELAY,
            check min_rto <= max_rto, else "{min_rto} is longer than `max_rto` ({max_rto})";
        /// the greatest timeout, backoff included
        max_rto: Span = Span::from_secs(60), in POSITIVE_DELAY;
        /// the clock's granularity G of RFC 6298, to which timeouts and samples are rounded up
        // `tcpTick_`.
        rto_granularity: Span = Span::from_millis(1), ns2 Span::from_millis(10), in POSITIVE_DELAY,
            check rto_granularity <= max_rto, else "{rto_granularity} is longer than `max_rto` ({max_rto})";
        /// new data on the first two duplicate ACKs (RFC 3042)
        limited_transmit: bool = true;
        /// with NewReno, each partial ACK restarts the timer, not the first alone (Slow-but-Steady, RFC 6582, 4)
        slow_but_steady: bool = false;
        /// packets leave one by one at a rate: twice `cwnd` a smoothed round trip in slow start, 1.2 times after (Linux), or the
        /// controller's own; `prague`, and always `bbr` and `bbr3`: `true`
        pacing: bool = cc.needs().pacing, check pacing || !cc.needs().rates,
            else "`{cc}` controls the rate at which segments leave: it needs `pacing`";
        /// packets can be marked (RFC 3168); `dctcp`, `prague`: `true`
        ecn: bool = cc.needs().marks;
        /// a loss recovery reduces in proportion to what arrives (RFC 9937, once RFC 6937); needs a `recovery` with selective
        /// acknowledgements; `true` with a `cc` after `reno`
        prr: bool = cc.needs().modern && recovery.is_selective(), check !prr || recovery.is_selective(),
            else "`prr` needs selective acknowledgements, which `{recovery}` does without";
        /// an ECN echo at a window of 1 waits for the timer (RFC 3168, 6.1.2); `dctcp`, `prague`: `false`
        // The wait replaces a window below one. A Scalable control is marked in every round trip (RFC 9331, section
        // 4.3) and would mostly be silent. With a window of one, ns-2's sender still sends a packet a round trip: an
        // ECN echo only lengthens the timer (`TcpAgent::ecn`).
        ecn_timeout: bool = !cc.needs().marks, ns2 false;
        /// what is sent again can be marked too, which RFC 3168 (6.1.5) forbids
        // `TcpAgent::output` sets ECT whatever it sends.
        ecn_retransmits: bool = false, ns2 true;
        /// after a pause longer than the timeout, cwnd is at most `initial_window` (RFC 5681, 4.1)
        // ns-2's one-way agents slow down after a pause only with `QOption_`, which is 0.
        idle_restart: bool = true, ns2 false;
        /// the receiver [counts marks](transport.md#accurate-ecn) for the sender (RFC 9768); `prague`: `true`
        accecn: bool = cc.needs().accurate_ecn;
        /// the first slow start [ends where round-trip times rise](transport.md#slow-start-and-congestion-avoidance) (RFC 9406);
        /// needs SACK
        hystart: bool = false, check !hystart || recovery.is_selective(),
            else "`hystart` needs selective acknowledgements, which `{recovery}` does without";
        /// a mark lowers the window by less than a loss does ([RFC 8511](transport.md#ecn))
        abe: bool = false;
        /// windows grow by [what is acknowledged](transport.md#slow-start-and-congestion-avoidance) and not by ACKs, in slow
        /// start by so many packets an ACK at most (L of RFC 3465)
        abc: Option<u32> = None, in 1..=2;
        /// of `ledbat` alone: the queueing delay to have (TARGET of [RFC 6817](transport.md#ledbat), 2.5: at most 100 ms)
        target: Span = Span::from_millis(100), in POSITIVE_DELAY,
            only cc.needs().delays, else "`target` is of `cc = \"ledbat\"` alone, not of `{cc}`";
        /// of `ledbat` alone: packets a round trip by which its window grows without a queue (GAIN of RFC 6817, 2.5: at most 1)
        // Above 1000 is a typing error.
        gain: f64 = 1.0, in above(0.0, 1000.0),
            only cc.needs().delays, else "`gain` is of `cc = \"ledbat\"` alone, not of `{cc}`";
        /// the greatest random delay before each transmission, which breaks phase effects (ns-2's `overhead_`)
        send_jitter: Span = Span::ZERO, in ..=LONGEST_DELAY, also "overhead";
        ..headers: RawHeaders;
    }
}
