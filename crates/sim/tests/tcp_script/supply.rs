//! Data that ends, pauses between data, and one connection after another (RFC 5681, sections 3.1 and 4.1;
//! draft-ietf-ccwg-ratelimited-increase, section 3).

use aqm::Limit;
use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::TcpSettings;

use crate::common::{Host, at, avoiding, ms, plain};

/// Every way to repair losses.
fn recoveries(config: impl Fn(Recovery) -> TcpSettings) -> [TcpSettings; 4] {
    let tracked = TcpSettings { recovery: Recovery::Rack, prr: true, ..config(Recovery::Sack) };
    [config(Recovery::Reno), config(Recovery::NewReno), config(Recovery::Sack), tracked]
}

#[test]
fn a_sender_sends_no_more_than_the_offered_data() {
    for config in recoveries(plain) {
        let mut host = Host::finite(config);
        assert_eq!(host.offer(0), "");
        assert!(host.tcp.acked_all());
        // IW 2; the ACK of 0 adds one to the window, and 1 to 3 are outstanding.
        assert_eq!(host.offer(5), "0 1");
        assert_eq!(host.ack(1), "2 3");
        assert_eq!(host.ack(2), "4", "the window would allow two");
        assert_eq!(host.ack(4), "");
        assert!(!host.tcp.acked_all());
        assert_eq!(host.ack(5), "");
        assert!(host.tcp.acked_all());
        assert_eq!(host.tcp.una(), 5);
        assert_eq!(host.tcp.deadline(), None, "nothing is outstanding");
    }
}

#[test]
fn data_offered_later_is_sent_within_the_window() {
    let mut host = Host::finite(avoiding(Recovery::NewReno, 8));
    assert_eq!(host.offer(3), "0 1 2");
    assert_eq!(host.offer(10), "3 4 5 6 7");
    assert_eq!(host.ack(1), "8");
}

#[test]
fn unlimited_data_needs_no_offer_and_has_no_end() {
    let mut host = Host::started(plain(Recovery::Sack));
    assert_eq!(host.offer(7), "");
    assert_eq!(host.ack(2), "2 3 4");
    assert!(!host.tcp.acked_all());
}

#[test]
fn in_slow_start_the_window_grows_to_twice_the_largest_flight() {
    // IW 2 and two segments at a time: 2 x 2. The third pair finds a window of 4 that it does not fill.
    let mut host = Host::finite(plain(Recovery::Sack));
    for pair in 0..4 {
        host.offer(2);
        host.ack(2 * pair + 1);
        host.ack(2 * pair + 2);
    }
    assert_eq!(host.windows().0, 4.0);
    // Five at once: the window is full at 4, so ACKs raise it again, to 2 x 4.
    assert_eq!(host.offer(5), "8 9 10 11");
    assert_eq!(host.ack(9), "12");
    (10..14).for_each(|ack| assert_eq!(host.ack(ack), ""));
    assert_eq!(host.windows().0, 8.0);
}

#[test]
fn in_congestion_avoidance_the_window_grows_to_one_segment_above_the_largest_flight() {
    // IW 8 counts as used at the start. Then one segment at a time: 8 + 1/8 + 1/8.125 ... stops at 8 + 1.
    let mut host = Host::finite(avoiding(Recovery::NewReno, 8));
    for seq in 0..100 {
        host.offer(1);
        host.ack(seq + 1);
    }
    assert_eq!(host.windows().0, 9.0);
}

#[test]
fn after_a_reduction_the_window_grows_only_while_it_is_used() {
    // An echo halves 8 to 4. Then at most one segment is outstanding, which allows 1 + 1: 4 stays.
    let mut host = Host::finite(avoiding(Recovery::Sack, 8));
    host.offer(8);
    assert_eq!(host.echo(8), "");
    for seq in 8..20 {
        host.offer(1);
        host.ack(seq + 1);
    }
    assert_eq!(host.windows(), (4.0, 4.0));
}

#[test]
fn the_last_segments_are_repaired_with_nothing_new_to_send() {
    // RFC 6675, NextSeg: no unsent data, so rule 3 and rule 4. 5 and 7 of eight are lost. 6 alone does not show it: the
    // timer repairs them.
    let mut host = Host::finite(avoiding(Recovery::Sack, 8));
    host.offer(8);
    assert_eq!(host.ack(5), "");
    assert_eq!(host.sack(5, &[(6, 7)]), "");
    assert_eq!(host.expire(), "5r");
    assert_eq!(host.ack(7), "7r");
    assert_eq!(host.ack(8), "");
    assert!(host.tcp.acked_all());

    // 0 and 5 are lost: three duplicates, cwnd 4, pipe 0 (again), 5, 7 and, before the last SACK, 4 and 6.
    let mut host = Host::finite(avoiding(Recovery::Sack, 8));
    host.offer(8);
    let sent: Vec<_> = (2..6).map(|end| host.sack(0, &[(1, end)])).collect();
    assert_eq!(sent.concat(), "0r");
    assert_eq!(host.sack(0, &[(6, 7), (1, 5)]), "5r", "rule 3: pipe is 0 (again), 5, 7");
}

/// A connection that delivered twelve segments in 200 ms and is idle; its timeout is 1 s.
fn idle_host(config: TcpSettings) -> Host {
    let mut host = Host::finite(TcpSettings { initial_window: 4, ..config });
    host.offer(12);
    host.wait(ms(100));
    (1..5).for_each(|ack| drop(host.ack(ack)));
    host.wait(ms(100));
    (5..13).for_each(|ack| drop(host.ack(ack)));
    assert!(host.tcp.acked_all());
    assert_eq!((host.windows().0, host.tcp.rto().timeout()), (16.0, ms(1000)));
    host
}

#[test]
fn after_a_pause_longer_than_the_timeout_the_initial_window_applies() {
    // The last segment was sent at 100 ms: at 1100 ms not longer than the timeout, at 1101 ms it is.
    for (pause, sent) in [(900, 16), (901, 4)] {
        let mut host = idle_host(plain(Recovery::Sack));
        host.wait(ms(pause));
        assert_eq!(host.offer(40).split(' ').count(), sent);
        assert_eq!(host.windows().0, sent as f64);
    }
}

#[test]
fn without_idle_restart_a_pause_changes_nothing() {
    let mut host = idle_host(TcpSettings { idle_restart: false, ..plain(Recovery::Sack) });
    host.wait(ms(60_000));
    assert_eq!(host.offer(40).split(' ').count(), 16);
}

#[test]
fn a_pause_does_not_enlarge_a_small_window() {
    // cwnd is 1 after a timeout, below IW: min(IW, cwnd).
    let mut host = Host::finite(plain(Recovery::NewReno));
    host.offer(1);
    assert_eq!(host.expire(), "0r");
    host.ack(1);
    let before = host.windows().0;
    host.wait(ms(10_000));
    assert_eq!(host.offer(9), "1 2");
    assert_eq!(host.windows().0, before);
}

#[test]
fn a_reset_restores_the_initial_state_and_keeps_the_counts() {
    for config in recoveries(plain) {
        let mut host = idle_host(config);
        host.tcp.reset(&host.config, host.now);
        assert_eq!(host.windows(), (4.0, f64::INFINITY));
        assert_eq!((host.tcp.rto().srtt(), host.tcp.rto().timeout()), (None, ms(1000)));
        assert_eq!(host.tcp.deadline(), None);
        assert_eq!(host.offer(9), "12 13 14 15");
        assert_eq!(host.tcp.deadline(), Some(at(1200)));
        assert_eq!(host.ack(13), "16 17");
        // 4 for 100 ms, up to 16 by 200 ms (4 ACKs at 100 ms: 8), then 4 again and 5: the area counts on.
        host.wait(ms(100));
        let area = host.tcp.cwnd_area(host.now) / ms(100).as_nanos() as f64;
        assert_eq!(area, 4.0 + 8.0 + 5.0);
    }
}

#[test]
fn segments_outstanding_at_a_reset_are_still_delivered() {
    for config in recoveries(|cc| avoiding(cc, 8)) {
        let mut host = Host::finite(config);
        host.offer(8);
        host.sack(0, &[(1, 4)]);
        host.tcp.reset(&host.config, host.now);
        assert_eq!(host.expire(), "0r");
        assert_eq!(host.ack(8), "");
        assert!(host.tcp.acked_all());
    }
}

#[test]
fn a_send_buffer_bounds_the_data_that_is_not_acknowledged() {
    for config in recoveries(|recovery| avoiding(recovery, 8)) {
        // 5840 bytes hold four segments of 1460.
        let config = TcpSettings { send_buffer: Some(Limit::Bytes(5840)), ..config };
        let mut host = Host::started(config.clone());
        assert_eq!((host.tcp.sent(), host.ack(1), host.ack(3)), (4, "4".to_string(), "5 6".to_string()));
        // One byte less holds three.
        let short = TcpSettings { send_buffer: Some(Limit::Bytes(5839)), ..config.clone() };
        assert_eq!(Host::started(short).tcp.sent(), 3);
        // Data that ends earlier does not fill it.
        let mut host = Host::finite(config);
        assert_eq!(host.offer(2), "0 1");
        assert_eq!(host.offer(9), "2 3");
    }
}

#[test]
fn a_full_send_buffer_leaves_the_window_unused() {
    // As above for data that ends: 8 grows by a segment at most, and with `grow_unused` by 1 / cwnd an ACK.
    let config = TcpSettings { send_buffer: Some(Limit::Packets(4)), ..avoiding(Recovery::NewReno, 8) };
    for (grow_unused, bound) in [(false, true), (true, false)] {
        let mut host = Host::started(TcpSettings { grow_unused, ..config.clone() });
        (1..100).for_each(|ack| drop(host.ack(ack)));
        assert_eq!(host.tcp.cwnd() == 9.0, bound, "{}", host.tcp.cwnd());
    }
    // CUBIC does not count the time either (RFC 9438, section 5.8): its window stays.
    let mut host = Host::started(TcpSettings { cc: Cc::Cubic, recovery: Recovery::Sack, ..config });
    (1..100).for_each(|ack| {
        host.wait(ms(100));
        host.ack(ack);
    });
    assert_eq!(host.tcp.cwnd(), 8.0);
}
