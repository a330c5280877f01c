//! `[[tcp]]`: TCP flows. A key added here is read, checked, written and documented; its value is in [`TcpSettings`].

use aqm::{Limit, Span};

use super::declare::table;
use super::{RawEndpoints, RawGroup, RawHeaders, Size};
use crate::cc::{Cc, Recovery, buffered_segments};
use crate::check::{LARGEST_PACKET, LARGEST_WINDOW, LONGEST_DELAY, POSITIVE_DELAY, above};
use crate::values::RateOf;

/// Thresholds of Vegas in packets: above it is a typing error.
const MOST_QUEUED: f64 = 1000.0;

// The `ns2` values are those of `Agent/TCP` and `Agent/TCPSink` in the `ns-default.tcl` of ns-2.35. The `linux` values are
// those of Linux 6.1 (`include/net/tcp.h`, `net/ipv4`).
table! {
    /// The TCP settings of a group's flows.
    pub struct TcpSettings, RawTcp several "groups headed [[tcp]], in double brackets" {
        ..group: RawGroup;
        /// the [congestion controller](transport.md)
        cc: Cc = Cc::Reno, linux Cc::Cubic;
        /// how losses are [detected and repaired](transport.md#losses): `"tahoe"`, `"reno"`, `"newreno"`, `"sack"` or
        /// `"rack"`. The default is `"rack"` with `cubic`, `dctcp`, `prague`, `ledbat`, `bbr` and `bbr3`, and `"reno"`
        /// where a file gives `cc = "reno"` alone; in `linux` always `"rack"`
        // ns-2's plain agent is Tahoe; the papers' scripts ask for NewReno.
        recovery: Recovery = Recovery::default_for(cc, Recovery::Sack), ns2 Recovery::default_for(cc, Recovery::NewReno),
            linux Recovery::Rack,
            check recovery.is_selective() || !cc.traits().rates,
            else "`{cc}` measures the times of single segments: it needs `recovery = \"sack\"` or `\"rack\"`, not `{recovery}`";
        /// each segment and ACK carries a [timestamp](transport.md#timestamps) (RFC 7323), also in 12 bytes more of `header`
        /// and `ack`
        // `tcp_timestamps` is 1.
        timestamps: bool = false, linux true;
        /// size of a full data packet on the wire, headers included
        // `packetSize_`. Release 2.35 adds 40 bytes on the wire (`useHeaders_`); the papers count packets of this size.
        packet: u32 as Size = 1500, ns2 1000, in Size(1)..=LARGEST_PACKET;
        /// bytes of headers in it, which goodput does not count; less than `packet`
        // IPv4 and TCP, without other options than the timestamp (`TCPOLEN_TSTAMP_ALIGNED`).
        header: u32 as Size = if timestamps { 52 } else { 40 }, ns2 0, in Size(0)..=LARGEST_PACKET;
        /// what a `rate` of the source counts: `"wire"`, full packets with their headers, or `"payload"`, the data alone
        rate_of: RateOf = RateOf::Wire;
        /// size of an ACK on the wire
        ack: u32 as Size = if timestamps { 52 } else { 40 }, in Size(1)..=LARGEST_PACKET;
        ..ends: RawEndpoints;
        /// the receiver's window in packets, an upper bound of `cwnd`
        window: u32 = 10_000, ns2 20, in 1..=LARGEST_WINDOW;
        /// most data that the application has written and the receiver has not yet acknowledged, in bytes without headers
        /// or in packets; at least one packet; `"off"` for no bound. A sender with a full buffer counts as
        /// [short of data](transport.md#data-that-ends)
        send_buffer: Option<Limit> = None, check buffered_segments(send_buffer, packet.saturating_sub(header)) > 0,
            else "the data of one packet is {packet}B less {header}B of headers, more than `send_buffer` holds";
        /// `cwnd` at the start, in packets (RFC 6928)
        initial_window: u32 = 10, ns2 2, in 1..=LARGEST_WINDOW;
        /// `window` bounds the segments in flight, but not `cwnd` (ns-2, Linux)
        // `TcpAgent::window`; `maxcwnd_` is 0, which is no bound. Linux has `snd_cwnd_clamp`, by default none.
        cwnd_beyond_window: bool = false, ns2 true, linux true;
        /// `ssthresh` at the start, in packets; `"off"` for no bound (RFC 5681, 3.1); in `ns2` the value of `window`
        initial_ssthresh: Option<u32> = None, ns2 Some(window), in 1..=LARGEST_WINDOW;
        /// longest time that the receiver waits for a second packet before it sends an ACK (RFC 5681, 4.2); `"off"`
        /// acknowledges each packet at once
        // RFC 5681 allows 500 ms; 100 ms is our choice. Linux waits from `TCP_DELACK_MIN`, 40 ms, on. `Agent/TCPSink` acknowledges each packet; `DelAck` is another class.
        delayed_ack: Option<Span> = Some(Span::from_millis(100)), ns2 None, linux Some(Span::from_millis(40)),
            in POSITIVE_DELAY;
        /// ACKs that leave at once at the start of a connection, at most half of `window`, and again after [signs of a slow
        /// sender](transport.md#as-in-linux); `"off"` for none
        // `TCP_MAX_QUICKACKS`, `tcp_incr_quickack`.
        quick_acks: Option<u32> = None, linux Some(16), in 1..=LARGEST_WINDOW;
        /// longest delay of an ACK that the tail probe of a single packet waits for (RFC 8985, 7.2); `"off"` takes
        /// `delayed_ack`
        // `tcp_schedule_loss_probe` adds `TCP_RTO_MIN`.
        probe_ack_delay: Option<Span> = None, linux Some(Span::from_millis(200)), in POSITIVE_DELAY;
        /// retransmission timeout (RTO) before the first round-trip sample (RFC 6298); at most `max_rto`
        initial_rto: Span = Span::from_secs(1), ns2 Span::from_secs(3), in POSITIVE_DELAY,
            check initial_rto <= max_rto, else "{initial_rto} is longer than `max_rto` ({max_rto})";
        /// least RTO (RFC 6298)
        min_rto: Span = Span::from_secs(1), ns2 Span::from_millis(200), linux Span::from_millis(200), in POSITIVE_DELAY,
            check min_rto <= max_rto, else "{min_rto} is longer than `max_rto` ({max_rto})";
        /// greatest RTO, backoff included
        // `TCP_RTO_MAX`.
        max_rto: Span = Span::from_secs(60), linux Span::from_secs(120), in POSITIVE_DELAY;
        /// clock granularity G of RFC 6298, to which RTOs and round-trip samples are rounded up
        // `tcpTick_`. Linux measures in microseconds (`tcp_rtt_estimator`); its timers, in jiffies, are up to 4 ms longer.
        rto_granularity: Span = Span::from_millis(1), ns2 Span::from_millis(10), linux Span::from_micros(1), in POSITIVE_DELAY,
            check rto_granularity <= max_rto, else "{rto_granularity} is longer than `max_rto` ({max_rto})";
        /// least variance term of the RTO: the RTO is SRTT + max(this, G, 4 RTTVAR) (RFC 6298, 2); `"off"` for G alone
        // `tcp_rtt_estimator` bounds the variance by `TCP_RTO_MIN`, and `__tcp_set_rto` adds SRTT.
        min_rto_variance: Option<Span> = None, linux Some(Span::from_millis(200)), in POSITIVE_DELAY;
        /// RTTVAR is the [largest deviation of a round trip](transport.md#timeouts) and falls once per round trip
        // `tcp_rtt_estimator`: `mdev_max_us`, `rtt_seq`.
        rttvar_by_round: bool = false, linux true;
        /// each ACK that delivers a segment sent once gives a [round-trip sample](transport.md#timeouts); needs a `recovery`
        /// with selective ACKs; by default one segment at a time is timed
        // `tcp_clean_rtx_queue`, `tcp_ack_update_rtt`.
        rtt_per_ack: bool = false, linux recovery.is_selective(), check !rtt_per_ack || recovery.is_selective(),
            else "`rtt_per_ack` needs selective acknowledgements, which `{recovery}` does not use";
        /// a reduction is [taken back](transport.md#undo) if its retransmissions prove needless (RFC 3708, RFC 4015); needs
        /// a `recovery` with selective ACKs
        // `tcp_undo_cwnd_reduction`.
        undo: bool = false, linux recovery.is_selective(), check !undo || recovery.is_selective(),
            else "`undo` needs selective acknowledgements, which `{recovery}` does not use";
        /// each of the first two duplicate ACKs sends a new segment (RFC 3042)
        limited_transmit: bool = true;
        /// each of these two also sends the next segment while `tahoe`, `reno` or `newreno` repairs a timeout's losses
        // `TcpAgent::send_one` sends `t_seqno_`, new or not.
        limited_retransmit: bool = false, ns2 true;
        /// a loss, a mark and [each timeout](transport.md#as-in-ns-2) halve the smaller of `cwnd` and `window`, not the
        /// outstanding data
        // `TcpAgent::slowdown` with `precisionReduce_`. RFC 5681, equation 4, halves FlightSize.
        halve_cwnd: bool = false, ns2 true;
        /// a loss and a timeout reduce `cwnd` in whole packets, not the outstanding data
        // `tcp_reno_ssthresh` and `cubictcp_recalc_ssthresh` use `snd_cwnd`, and `tcp_cwnd_reduction` `prior_cwnd`.
        reduce_cwnd: bool = false, linux true;
        /// neither the loss of a retransmission nor a timeout in a loss recovery reduces the window again
        // `tcp_enter_loss` reduces "if it has not yet been made inside this window", `tcp_enter_recovery` once.
        reduce_once: bool = false, linux true;
        /// with Reno too, a window of data has at most one fast retransmission
        // `bugFix_` is true.
        once_a_window: bool = false, ns2 true;
        /// a fast retransmission restarts the retransmission timer
        // `reset_rtx_timer` in `dupack_action`, of all agents.
        loss_restarts_timer: bool = false, ns2 true;
        /// with NewReno, a partial ACK reduces `cwnd` by the acknowledged data (RFC 6582, 3.2, step 3); otherwise to the
        /// halved `cwnd`
        // `partial_window_deflation_`: false before 5 May 2003.
        partial_deflation: bool = true;
        /// a recovery of `reno` or `newreno` ends with the halved `cwnd`, which the last ACK increases; otherwise with
        /// `ssthresh`, and with NewReno with at most one segment more than the outstanding data (RFC 6582, 3.2, step 3)
        // `exit_recovery_fix_` is 0.
        exit_burst: bool = false, ns2 true;
        /// with NewReno, each partial ACK restarts the retransmission timer, not only the first (Slow-but-Steady, RFC
        /// 6582, 4)
        slow_but_steady: bool = false;
        /// segments leave one by one at a rate: `cwnd` per smoothed round-trip time, times 2 in slow start and 1.2
        /// after it (as in Linux), or the controller's own; on by default with `prague`, always on with `bbr` and
        /// `bbr3`
        pacing: bool = cc.traits().pacing, check pacing || !cc.traits().rates,
            else "`{cc}` controls the rate at which segments leave: it needs `pacing`";
        /// packets are ECN-capable, so that disciplines can mark them (RFC 3168); on by default with `dctcp` and
        /// `prague`
        ecn: bool = cc.traits().marks;
        /// in loss recovery the window shrinks in proportion to the data that arrives (RFC 9937, which replaces RFC
        /// 6937); needs a `recovery` with selective ACKs; on by default where that of `recovery` is `"rack"`
        prr: bool = cc.traits().modern && recovery.is_selective(), linux recovery.is_selective(), check !prr || recovery.is_selective(),
            else "`prr` needs selective acknowledgements, which `{recovery}` does not use";
        /// after an ECN echo at a window of 1 packet, the sender waits for the retransmission timer (RFC 3168, 6.1.2);
        /// off by default with `dctcp` and `prague`
        // The wait replaces a window below one. A Scalable control is marked in every round trip (RFC 9331, section
        // 4.3) and would mostly be silent.
        ecn_timeout: bool = !cc.traits().marks, linux false;
        /// least `cwnd` after a mark, in packets
        // Every `ssthresh` function of Linux returns at least 2, to which `cwnd` falls (`tcp_reno_ssthresh`).
        min_marked_window: u32 = 1, linux 2, in 1..=LARGEST_WINDOW;
        /// `ecn_timeout` works [as in ns-2](transport.md#ecn): `cwnd` falls below 1, and echoes in a row double the RTO
        // `TcpAgent::ecn`, and `TcpAgent::newack` for the end of a backoff.
        ecn_backoff: bool = false, ns2 true;
        /// retransmissions are ECN-capable and can carry CWR, which RFC 3168 (6.1.5) forbids
        // `TcpAgent::output` sets ECT on every packet; `SetCWRonRetransmit_` is true.
        ecn_retransmits: bool = false, ns2 true;
        /// after an idle time longer than the RTO, `cwnd` is at most `initial_window` (RFC 5681, 4.1)
        // `slow_start_restart_`, and `restart_bugfix_`, which leaves `ssthresh`.
        idle_restart: bool = true;
        /// after such an idle time, `cwnd` is 1
        restart_from_one: bool = false, ns2 true;
        /// idle time begins with the last ACK, not with the last transmission
        // `TcpAgent::newtimer` sets the timer even if nothing is outstanding; when it expires, cwnd becomes 1.
        pause_from_ack: bool = false, ns2 true;
        /// `cwnd` [grows even if the data does not fill it](transport.md#data-that-ends)
        // `control_increase_` is 0.
        grow_unused: bool = false, ns2 true;
        /// `cwnd` grows only if data filled it within the last round trip, in slow start to more than half (Linux);
        /// otherwise it [grows up to a round trip's growth](transport.md#data-that-ends) above the largest flight
        // `tcp_is_cwnd_limited`, `tcp_cwnd_validate`.
        recent_use: bool = false, linux true;
        /// the receiver [reports the number of marks](transport.md#accurate-ecn) to the sender (RFC 9768); on by
        /// default with `prague`
        accecn: bool = cc.traits().accurate_ecn;
        /// with `accecn`, ACKs carry [counts of bytes](transport.md#accurate-ecn) too, which no lost ACK makes ambiguous
        accecn_option: bool = true;
        /// with `prague` only: marks of a [classic queue](transport.md#dctcp-and-prague) reduce the window as Reno's do
        // `prague_ecn_fallback` is 0.
        classic_fallback: bool = cc.traits().ect1, linux false,
            only cc.traits().ect1, else "`classic_fallback` is a key of `cc = \"prague\"` only, not of `{cc}`";
        /// the first slow start [ends when round-trip times rise](transport.md#slow-start-and-congestion-avoidance)
        /// (RFC 9406); needs a `recovery` with selective ACKs
        hystart: bool = false, check !hystart || recovery.is_selective(),
            else "`hystart` needs selective acknowledgements, which `{recovery}` does not use";
        /// a mark reduces the window by less than a loss does ([RFC 8511](transport.md#ecn))
        abe: bool = false;
        /// the window grows by [acknowledged data](transport.md#slow-start-and-congestion-avoidance) instead of by
        /// ACKs; in slow start, an ACK adds at most this many packets (L of RFC 3465)
        abc: Option<u32> = None, in 1..=2;
        /// the window grows by the packets that an ACK newly reports as arrived, in or out of order, and without
        /// `abc`'s bound (Linux)
        // `tcp_cong_control` passes `acked_sacked`; `tcp_slow_start` has no bound.
        count_delivered: bool = false, linux true;
        /// with `ledbat` only: target of the queueing delay (TARGET of [RFC 6817](transport.md#ledbat), 2.5, which
        /// allows at most 100 ms)
        target: Span = Span::from_millis(100), in POSITIVE_DELAY,
            only cc.traits().delays, else "`target` is a key of `cc = \"ledbat\"` only, not of `{cc}`";
        /// with `ledbat` only: packets per round trip by which the window grows without a queue (GAIN of RFC 6817, 2.5,
        /// which allows at most 1)
        // Above 1000 is a typing error.
        gain: f64 = 1.0, in above(0.0, 1000.0),
            only cc.traits().delays, else "`gain` is a key of `cc = \"ledbat\"` only, not of `{cc}`";
        /// with `cubic` only: the window after a loss, as a fraction (beta of [RFC 9438](transport.md#cubic), 4.6); in
        /// `ns2` 819 / 1024, in `linux` 717 / 1024
        // `beta` in ns-2's `tcp/linux/src/tcp_cubic.c` and Linux' `net/ipv4/tcp_cubic.c`.
        cubic_beta: f64 = 0.7, ns2 if cc.traits().beta { 819.0 / 1024.0 } else { 0.7 },
            linux if cc.traits().beta { 717.0 / 1024.0 } else { 0.7 }, in above(0.0, 0.99),
            only cc.traits().beta, else "`cubic_beta` is a key of `cc = \"cubic\"` only, not of `{cc}`";
        /// with `cubic` only: once W_est has regained the window before the reduction, it grows by a packet per round
        /// trip ([RFC 9438](transport.md#cubic), 4.3); otherwise it keeps growing by 0.53
        // `bictcp_update` uses `beta_scale` throughout.
        cubic_full_alpha: bool = true, linux !cc.traits().beta,
            only cc.traits().beta, else "`cubic_full_alpha` is a key of `cc = \"cubic\"` only, not of `{cc}`";
        /// with `vegas` only: the window grows while fewer of the flow's packets are queued (alpha of
        /// [Vegas](transport.md#vegas)); at most `vegas_beta`; in `ns2` 1
        // `v_alpha_`, `v_beta_` and `v_gamma_` in `ns-default.tcl`; Linux' `alpha`, `beta` and `gamma` are the paper's.
        vegas_alpha: f64 = 2.0, ns2 if cc.traits().round_trips { 1.0 } else { 2.0 }, in above(0.0, MOST_QUEUED),
            only cc.traits().round_trips, else "`vegas_alpha` is a key of `cc = \"vegas\"` only, not of `{cc}`",
            check vegas_alpha.total_cmp(&vegas_beta).is_le(), else "{vegas_alpha} is more than `vegas_beta` ({vegas_beta})";
        /// with `vegas` only: the window shrinks while more of the flow's packets are queued (beta); in `ns2` 3
        vegas_beta: f64 = 4.0, ns2 if cc.traits().round_trips { 3.0 } else { 4.0 }, in above(0.0, MOST_QUEUED),
            only cc.traits().round_trips, else "`vegas_beta` is a key of `cc = \"vegas\"` only, not of `{cc}`";
        /// with `vegas` only: slow start ends when more of the flow's packets are queued (gamma)
        vegas_gamma: f64 = 1.0, in above(0.0, MOST_QUEUED),
            only cc.traits().round_trips, else "`vegas_gamma` is a key of `cc = \"vegas\"` only, not of `{cc}`";
        /// with `vegas` only: slow start and the count of queued packets are [those of Linux](transport.md#vegas), not of
        /// the paper; needs a `recovery` with selective ACKs
        vegas_linux: bool = false, linux cc.traits().round_trips,
            only cc.traits().round_trips, else "`vegas_linux` is a key of `cc = \"vegas\"` only, not of `{cc}`",
            check !vegas_linux || recovery.is_selective(),
            else "`vegas_linux` needs selective acknowledgements, which `{recovery}` does not use";
        /// with `cubic` only: [Linux's HyStart](transport.md#slow-start-and-congestion-avoidance) ends slow start, and until
        /// a loss the window then grows by at least a packet per 20 acknowledged ones
        // `hystart_update`, and `cnt` in `bictcp_update` while `last_max_cwnd` is 0.
        cubic_hystart: bool = false, linux cc.traits().beta && !hystart,
            only cc.traits().beta, else "`cubic_hystart` is a key of `cc = \"cubic\"` only, not of `{cc}`",
            check !cubic_hystart || !hystart, else "`hystart` and `cubic_hystart` both end slow start: choose one";
        /// with `cubic` only: above `ssthresh` the window grows by [whole packets](transport.md#cubic) (Linux)
        // `bictcp_update`, `tcp_cong_avoid_ai`.
        cubic_whole: bool = false, linux cc.traits().beta,
            only cc.traits().beta, else "`cubic_whole` is a key of `cc = \"cubic\"` only, not of `{cc}`";
        /// greatest random delay before each transmission, against phase effects
        send_jitter: Span = Span::ZERO, in ..=LONGEST_DELAY, also "overhead";
        /// `send_jitter` delays the first segment of a burst, and the others follow it at once (ns-2's `overhead_`)
        // `overhead_`: `TcpAgent::send_much` sets a timer, and all the window allows leaves when it expires.
        jitter_bursts: bool = false, ns2 true;
        ..headers: RawHeaders;
    }
}
