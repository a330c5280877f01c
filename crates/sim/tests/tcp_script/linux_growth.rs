//! How Linux 6.1 (`net/ipv4`) grows its window, beside what the RFCs say. Every figure follows from the function named
//! beside it.

use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::TcpSettings;

use crate::common::{Host, at, ms, plain};

/// A window of ten in slow start, and data for it.
fn ten(recovery: Recovery, config: TcpSettings) -> Host {
    let mut host = Host::finite(TcpSettings { recovery, initial_window: 10, ..config });
    host.offer(10);
    host.wait(ms(100));
    host
}

fn counting(cc: Cc) -> TcpSettings {
    TcpSettings { count_delivered: true, ..plain((cc, Recovery::Sack)) }
}

#[test]
fn slow_start_counts_every_segment_that_an_ack_delivers() {
    // tcp_slow_start: 10 + 4. RFC 3465 with L = 2 adds two, RFC 5681 one.
    for cc in [Cc::Reno, Cc::Cubic] {
        for (config, cwnd) in [
            (counting(cc), 14.0),
            (TcpSettings { abc: Some(2), ..plain((cc, Recovery::Sack)) }, 12.0),
            (plain((cc, Recovery::Sack)), 11.0),
        ] {
            let mut host = ten(Recovery::Sack, config);
            host.ack(4);
            assert_eq!(host.windows().0, cwnd, "{cc:?}");
        }
    }
}

#[test]
fn slow_start_ends_at_ssthresh_and_the_rest_counts_for_congestion_avoidance() {
    // tcp_slow_start: cwnd 10 grows to ssthresh 13, and 1 of 4 is left: 13 + 1/13.
    let mut host = ten(Recovery::Sack, TcpSettings { initial_ssthresh: Some(13), ..counting(Cc::Reno) });
    host.ack(4);
    assert_eq!(host.windows().0, 13.0 + 1.0 / 13.0);
}

#[test]
fn a_segment_counts_once_whether_an_ack_or_a_duplicate_reports_it() {
    // tcp_cong_control gets acked_sacked. Two duplicates report 1 and 2: the ACK of all three delivers only 0. Without SACK
    // tcp_remove_reno_sacks takes the duplicates off. RFC 3465 counts the three that it acknowledges, up to L.
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        for (config, cwnd) in [(counting(Cc::Reno), 11.0), (TcpSettings { abc: Some(2), ..plain(recovery) }, 12.0)] {
            let mut host = ten(recovery, config);
            if recovery == Recovery::Sack {
                host.sack(0, &[(1, 2)]);
                host.sack(0, &[(1, 3)]);
            } else {
                host.ack(0);
                host.ack(0);
            }
            host.ack(3);
            assert_eq!(host.windows().0, cwnd, "{recovery:?}");
        }
    }
}

/// `cwnd` after each ACK of two segments, when the application offers `segments` to a window of ten.
fn windows(segments: u32, config: TcpSettings) -> Vec<f64> {
    let config = TcpSettings { initial_window: 10, count_delivered: true, ..config };
    let mut host = Host::finite(config);
    host.offer(segments);
    host.wait(ms(100));
    let acks = (1..=segments / 2).map(|n| 2 * n);
    acks.map(|ack| {
        host.ack(ack);
        host.windows().0
    })
    .collect()
}

#[test]
fn slow_start_needs_more_than_half_of_the_window_in_use() {
    // tcp_is_cwnd_limited: cwnd < 2 max_packets_out. Five of ten: 10 < 10 is false. Six: 10 < 12, then 12 < 12 is false. All
    // ten fill the window, and it doubles. maxFS begins with the initial window, so a window of ten may double anyway.
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let recent = |segments| windows(segments, TcpSettings { recent_use: true, ..plain(recovery) });
        assert_eq!(recent(4), [10.0, 10.0]);
        assert_eq!(recent(6), [12.0, 12.0, 12.0]);
        assert_eq!(recent(10), [12.0, 14.0, 16.0, 18.0, 20.0]);
        assert_eq!(windows(4, plain(recovery)), [12.0, 14.0]);
    }
}

#[test]
fn congestion_avoidance_needs_a_full_window_in_the_last_round_trip() {
    // tcp_cwnd_validate: is_cwnd_limited stays until the segments sent by then are acknowledged.
    let config = TcpSettings { initial_ssthresh: Some(10), recent_use: true, ..counting(Cc::Reno) };
    assert_eq!(windows(8, config.clone()), [10.0; 4]);
    let mut host = ten(Recovery::Sack, config);
    host.ack(5);
    assert_eq!(host.windows().0, 10.5);
    // Only six are outstanding, but five of them filled the window: the next ACK adds 5 / 10.
    host.offer(1);
    host.ack(10);
    assert_eq!(host.windows().0, 11.0);
    host.offer(1);
    host.ack(12);
    assert_eq!(host.windows().0, 11.0, "one segment, then two, in a window of eleven");
}

#[test]
fn a_receiver_that_bounds_the_flight_bounds_the_growth() {
    // tcp_is_cwnd_limited: the receiver admits eight of ten. Slow start grows while cwnd < 16.
    let config =
        TcpSettings { window: 8, cwnd_beyond_window: true, recent_use: true, initial_window: 10, ..counting(Cc::Reno) };
    let mut host = Host::started(config);
    host.wait(ms(100));
    (1..=20).for_each(|ack| _ = host.ack(ack));
    assert_eq!(host.windows().0, 16.0);
}

#[test]
fn the_probe_of_a_single_segment_waits_for_probe_ack_delay() {
    // tcp_schedule_loss_probe: 2 SRTT, and TCP_RTO_MIN with one segment outstanding: 100 + 200 + 200. Otherwise the
    // receiver's delayed ACK counts (RFC 8985, 7.2).
    for (probe_ack_delay, time) in [(Some(ms(200)), 500), (None, 340)] {
        let config = TcpSettings { probe_ack_delay, delayed_ack: Some(ms(40)), ..plain(Recovery::Rack) };
        let mut host = Host::finite(config);
        host.offer(1);
        host.wait(ms(100));
        host.ack(1);
        assert_eq!(host.offer(1), "1");
        assert_eq!((host.expire(), host.now), ("1r".into(), at(time)));
    }
}
