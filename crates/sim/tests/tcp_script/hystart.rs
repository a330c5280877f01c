//! HyStart++ (RFC 9406; steps are those of section 4.2, constants of 4.3).

use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::TcpSettings;

use crate::common::{Host, Law, ms, plain};

/// A sender in slow start after a round of 16 segments at 100 ms, with 32 segments sent.
fn after_one_round(of: impl Law) -> (Host, u32) {
    let mut host = Host::started(TcpSettings { hystart: true, initial_window: 16, ..plain(of) });
    let mut una = 0;
    round(&mut host, &mut una, 16, 100);
    assert_eq!(host.tcp.cwnd(), 32.0);
    (host, una)
}

/// `segments` are acknowledged one by one, `rtt` milliseconds after they were sent.
fn round(host: &mut Host, una: &mut u32, segments: u32, rtt: u64) {
    host.wait(ms(rtt));
    for _ in 0..segments {
        *una += 1;
        host.ack(*una);
    }
}

#[test]
fn slow_start_slows_down_with_the_eighth_sample_an_eighth_above_the_last_round() {
    for cc in [Cc::Reno, Cc::Cubic, Cc::Dctcp, Cc::Prague] {
        // An eighth of 100 ms: 112 ms is not enough, 113 ms is.
        let (mut host, mut una) = after_one_round(cc);
        round(&mut host, &mut una, 32, 112);
        assert_eq!(host.tcp.cwnd(), 64.0, "{cc}");
        let (mut host, mut una) = after_one_round(cc);
        round(&mut host, &mut una, 32, 113);
        // Seven ACKs of slow start, then a quarter of a segment for each of the other 25.
        assert_eq!(host.tcp.cwnd(), 32.0 + 7.0 + 25.0 / 4.0, "{cc}");
        assert_eq!(host.tcp.ssthresh(), f64::INFINITY, "{cc}");
    }
}

#[test]
fn five_rounds_of_conservative_slow_start_end_it() {
    let (mut host, mut una) = after_one_round(Recovery::Sack);
    round(&mut host, &mut una, 32, 113);
    let mut rounds = 0;
    while host.tcp.ssthresh().is_infinite() {
        let outstanding = host.tcp.cwnd() as u32;
        let before = host.tcp.cwnd();
        round(&mut host, &mut una, outstanding, 113);
        rounds += 1;
        let grown = host.tcp.cwnd() / before;
        assert!(rounds > 4 || (1.24..1.26).contains(&grown), "round {rounds}: {grown}");
    }
    // The round in which it began counts: its end and those of four more are five.
    assert_eq!(rounds, 5);
    assert!(host.tcp.cwnd() < host.tcp.ssthresh() + 1.0, "congestion avoidance");
}

#[test]
fn a_round_trip_shorter_than_what_ended_it_resumes_slow_start() {
    let (mut host, mut una) = after_one_round(Recovery::Sack);
    round(&mut host, &mut una, 32, 113);
    let before = host.tcp.cwnd();
    let outstanding = before as u32;
    // The eighth sample of less than 113 ms: the rest of the round counts in full.
    round(&mut host, &mut una, outstanding, 110);
    assert_eq!(host.tcp.cwnd(), before + 7.0 / 4.0 + f64::from(outstanding - 7));
}

#[test]
fn the_rise_that_counts_is_4_ms_at_least_and_16_ms_at_most() {
    for (base, slower, rise) in [(10, 13, false), (10, 14, true), (400, 415, false), (400, 416, true)] {
        let mut host = Host::started(TcpSettings { hystart: true, initial_window: 16, ..plain(Recovery::Sack) });
        let mut una = 0;
        round(&mut host, &mut una, 16, base);
        round(&mut host, &mut una, 32, slower);
        assert_eq!(host.tcp.cwnd() < 64.0, rise, "{base} and {slower} ms");
    }
}

#[test]
fn an_acknowledgement_counts_for_at_most_eight_segments_and_only_in_the_first_slow_start() {
    let mut host = Host::started(TcpSettings { hystart: true, initial_window: 16, ..plain(Recovery::Sack) });
    host.ack(16);
    assert_eq!(host.tcp.cwnd(), 24.0);
    // After a timeout an ACK of two segments adds one, as in RFC 5681.
    host.expire();
    host.ack(18);
    assert_eq!(host.tcp.cwnd(), 2.0);
}
