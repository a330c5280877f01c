//! The retransmission timer (RFC 6298) and what follows when it expires (RFC 5681, 6582, 6675).

use aqm::Span;
use headgate_scenario::Recovery;
use headgate_sim::tcp::{Ack, Rto, TcpSettings};

use crate::common::{Fate, Host, Net, at, avoiding, ms, plain};

#[test]
fn the_timeout_follows_from_the_samples() {
    // Section 2.2: SRTT 100, RTTVAR 50: 100 + 4 x 50.
    // Section 2.3, sample 140: RTTVAR = 3/4 x 50 + 1/4 x 40 = 47.5, SRTT = 7/8 x 100 + 1/8 x 140 = 105: 295.
    // Sample 100: RTTVAR = 3/4 x 47.5 + 1/4 x 5 = 36.875, SRTT = 7/8 x 105 + 1/8 x 100 = 104.375: 251.875.
    let config = TcpSettings { min_rto: ms(1), ..plain(Recovery::Sack) };
    let mut rto = Rto::new(&config);
    assert_eq!((rto.timeout(), rto.srtt()), (ms(1000), None), "section 2.1: a second before any sample");
    let timeouts = [100, 140, 100].map(|rtt| {
        rto.on_rtt(ms(rtt), &config);
        rto.timeout()
    });
    assert_eq!(timeouts, [ms(300), ms(295), Span::from_micros(251_875)]);
    assert_eq!(rto.srtt(), Some(Span::from_micros(104_375)));
}

#[test]
fn the_timeout_is_bounded_below_and_above() {
    // Section 2.4 and 2.5.
    let config = TcpSettings { max_rto: ms(1500), ..plain(Recovery::Sack) };
    let mut rto = Rto::new(&config);
    rto.on_rtt(ms(100), &config);
    assert_eq!(rto.timeout(), ms(1000));
    rto.on_rtt(ms(2000), &config);
    assert_eq!(rto.timeout(), ms(1500));
}

#[test]
fn a_coarse_clock_rounds_up_and_sets_the_smallest_margin() {
    // 30 ms on a clock of 100 ms is a tick: 100 + 4 x 50. With equal samples RTTVAR decays, and the timeout becomes
    // SRTT + max(G, 4 RTTVAR) = 100 + 100.
    let config = TcpSettings { min_rto: ms(1), rto_granularity: ms(100), ..plain(Recovery::Sack) };
    let mut rto = Rto::new(&config);
    rto.on_rtt(ms(30), &config);
    assert_eq!(rto.timeout(), ms(300));
    (0..60).for_each(|_| rto.on_rtt(ms(30), &config));
    assert_eq!(rto.timeout(), ms(200));
}

#[test]
fn a_sender_that_is_never_acknowledged_backs_off_to_the_maximum() {
    // Rules 5.5 and 5.6: 1, 2, 4, 8, 16, 32, then 60 seconds.
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut net = Net::new(avoiding(recovery, 10)).fate(|_, _| Fate::Lost);
        net.run(at(200_000));
        assert_eq!(net.times_of(0), [0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000, 183_000]);
        assert_eq!(net.sent.len(), 10 + 8, "one segment a timeout (RFC 5681: the loss window is 1)");
        // RFC 5681, equation 4: half of the flight the first time, then held constant.
        assert!(net.sent[10..].iter().all(|sent| (sent.cwnd, sent.ssthresh) == (1.0, 5.0)));
        assert_eq!(net.sent[11].rto, ms(4000));
        assert_eq!(net.host.tcp.timeouts(), 8);
    }
}

#[test]
fn ssthresh_does_not_fall_below_two_segments() {
    let mut host = Host::started(avoiding(Recovery::NewReno, 3));
    assert_eq!(host.expire(), "0r");
    assert_eq!(host.windows(), (1.0, 2.0));
}

#[test]
fn a_retransmitted_segment_gives_no_sample_and_leaves_the_backoff() {
    // Karn, section 3: the ACK at 1100 ms is no round-trip sample. The timeout stays doubled until segment 1,
    // sent at 1100 ms and acknowledged at 1200 ms, gives a sample (section 5, last paragraph): 100 + 4 x 50, at least
    // a second. ssthresh is 2: the second ACK finds congestion avoidance, 2.9 after the third.
    let mut net = Net::new(TcpSettings { initial_window: 1, ..plain(Recovery::NewReno) }).losing(&[(0, 1)]);
    net.run(at(1200));
    assert_eq!(net.rows(), ["0: 0", "1000: 0r", "1100: 1 2", "1200: 3 4"]);
    let timeouts: Vec<_> = net.sent.iter().map(|sent| sent.rto).collect();
    assert_eq!(timeouts[..4], [ms(1000), ms(2000), ms(2000), ms(2000)]);
    assert_eq!(timeouts[4], ms(1000));
    assert_eq!(net.host.tcp.rto().srtt(), Some(ms(100)));
}

#[test]
fn a_retransmission_cancels_the_running_measurement() {
    // 0 is timed and lost, and acknowledged after 200 ms: that is no sample. 8, the first new segment after the
    // retransmission, was sent once and gives a sample: 100 ms.
    let mut net = Net::new(avoiding(Recovery::NewReno, 8)).losing(&[(0, 1)]);
    net.run(at(200));
    assert_eq!(net.times_of(0), [0, 100]);
    assert_eq!(net.host.tcp.rto().srtt(), Some(ms(100)));
}

#[test]
fn the_timer_starts_restarts_and_stops_by_the_rules() {
    let mut host = Host::started(avoiding(Recovery::NewReno, 4));
    assert_eq!(host.tcp.deadline(), Some(at(1000)), "5.1: it starts with the first segment");
    host.wait(ms(100));
    host.ack(1);
    assert_eq!(host.tcp.deadline(), Some(at(1100)), "5.3: new data acknowledged");
    host.wait(ms(100));
    host.ack(1);
    host.ack(1);
    assert_eq!(host.tcp.deadline(), Some(at(1100)), "a duplicate does not restart it");
    assert_eq!(host.ack(1), "1r 5", "cwnd 2 + 3, four outstanding");
    assert_eq!(host.tcp.deadline(), Some(at(1100)), "5.1: it runs already when a segment is sent again");
    host.wait(ms(100));
    host.tcp.on_ack(Ack { ack: 6, ..Ack::default() }, &host.config, host.now);
    assert_eq!(host.tcp.deadline(), None, "5.2: all is acknowledged");
    host.wait(ms(100));
    assert_ne!(host.ack(6), "");
    assert_eq!(host.tcp.deadline(), Some(at(1400)), "5.1: it starts again");
}

#[test]
fn a_timer_that_has_not_expired_does_nothing() {
    let mut host = Host::started(avoiding(Recovery::NewReno, 4));
    host.tcp.on_timer(&host.config, at(999));
    assert_eq!((host.tcp.timeouts(), host.windows()), (0, (4.0, 4.0)));
}

#[test]
fn after_a_timeout_the_window_is_sent_again_in_slow_start() {
    // 0 and 1 arrive and send 8 and 9 at 100 ms; 2 to 9 are lost. 1100 ms: ssthresh = 8 / 2, cwnd 1. Each ACK then
    // adds one: 2, 3, 4; from 4 on congestion avoidance, 4.9 after four ACKs: the window stays at 4.
    let lost: Vec<_> = (2..10).map(|seq| (seq, 1)).collect();
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut net = Net::new(avoiding(recovery, 8)).losing(&lost);
        net.run(at(1400));
        assert_eq!(
            net.rows(),
            ["0: 0 1 2 3 4 5 6 7", "100: 8 9", "1100: 2r", "1200: 3r 4r", "1300: 5r 6r 7r 8r", "1400: 9r 10 11 12"]
        );
        assert_eq!((net.sent[10].cwnd, net.sent[10].ssthresh), (1.0, 4.0));
    }
}

#[test]
fn after_a_timeout_segments_reported_by_sack_are_not_retransmitted() {
    // RFC 6675, section 5.1. 2 is lost twice; 3, 6 and 7 arrive, 4, 5, 8 and 9 do not. The timeout empties the
    // scoreboard, but the ACK of 2 reports 6 and 7 again: 4 and 5 are retransmitted, then 8 and 9.
    let lost = [(2, 1), (2, 2), (4, 1), (5, 1), (8, 1), (9, 1)];
    let mut net = Net::new(avoiding(Recovery::Sack, 8)).losing(&lost);
    net.run(at(1300));
    // 100 ms: 3, 6, 7 are three duplicates: cwnd 4, 2 goes again. 4 and 5 are not lost yet (two above): pipe is 2
    // (again), 4, 5, 8, 9: full.
    // 1100 ms: cwnd 1. 1200 ms: ACK 4, cwnd 2. 1300 ms: ACKs 5 and 8, cwnd 3 and 4: 8 and 9 with the first, as 6 and
    // 7 left the network; 10 and 11 with the second.
    assert_eq!(net.rows(), ["0: 0 1 2 3 4 5 6 7", "100: 8 9 2r", "1100: 2r", "1200: 4r 5r", "1300: 8r 9r 10 11"]);
}

#[test]
fn duplicates_for_data_sent_before_a_timeout_begin_no_recovery() {
    // RFC 6582, section 3.2, steps 2 and 4; RFC 6675, section 5.1: not until `recover` is acknowledged.
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut host = Host::started(avoiding(recovery, 8));
        assert_eq!(host.ack(1), "8");
        assert_eq!(host.expire(), "1r");
        for end in 3..9 {
            let sent = if recovery == Recovery::Sack { host.sack(1, &[(2, end)]) } else { host.ack(1) };
            assert_eq!(sent, "");
        }
        assert_eq!(host.windows(), (1.0, 4.0));
        assert_eq!(host.tcp.retransmits(), 1);
    }
}

/// 1 to 8 were outstanding when the timer expired; then all of them are acknowledged, and 9 and 10 leave.
fn past_a_timeout(recovery: Recovery) -> Host {
    let mut host = Host::started(TcpSettings { limited_transmit: true, ..avoiding(recovery, 8) });
    assert_eq!(host.ack(1), "8");
    assert_eq!(host.expire(), "1r");
    assert_eq!(host.ack(9), "9 10");
    host
}

#[test]
fn after_a_timeout_newreno_ignores_duplicates_until_more_than_recover_is_acknowledged() {
    // RFC 6582, section 3.2, step 2: the ACK must cover more than `recover`, which is 8.
    let mut host = past_a_timeout(Recovery::NewReno);
    assert_eq!((host.ack(9), host.ack(9), host.ack(9)), ("11".into(), "12".into(), String::new()));
    // 10 to 12 outstanding, cwnd 3.
    assert_eq!(host.ack(10), "");
    assert_eq!((host.ack(10), host.ack(10), host.ack(10)), ("13".into(), "14".into(), "10r".into()));
    // Five outstanding, two by limited transmit: 3 / 2, at least 2.
    assert_eq!(host.windows(), (5.0, 2.0));
}

#[test]
fn after_a_timeout_sack_ignores_duplicates_until_recover_is_acknowledged() {
    // RFC 6675, section 5.1: HighACK at least RecoveryPoint, which is 8.
    let mut host = past_a_timeout(Recovery::Sack);
    let sent = [11, 12, 13].map(|end| host.sack(9, &[(10, end)]));
    // ssthresh 2, and of the pipe only 9 is left.
    assert_eq!(sent, ["11", "12", "9r 13"]);
    assert_eq!(host.windows(), (2.0, 2.0));
}

#[test]
fn a_timeout_after_a_reduction_in_the_same_window_does_not_raise_ssthresh() {
    // RFC 5681, equation 4, is an upper bound. 1 of 1 to 8 is lost and its retransmission too; the duplicates from 2 to
    // 8 sent 9, 10 and 11. Eleven segments are not acknowledged, but seven of them have arrived: half of eleven is
    // above the 4 that the loss has left.
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut host = Host::started(avoiding(recovery, 8));
        assert_eq!(host.ack(1), "8");
        let duplicate = |end| if recovery == Recovery::Sack { host.sack(1, &[(2, end)]) } else { host.ack(1) };
        let sent: Vec<_> = (3..10).map(duplicate).collect();
        assert_eq!(sent.concat(), "1r91011");
        assert_eq!(host.expire(), "1r");
        assert_eq!(host.windows(), (1.0, 4.0));
    }
}

#[test]
fn a_least_variance_term_keeps_the_timeout_above_the_smoothed_round_trip() {
    // Linux: srtt + max(4 rttvar, 200 ms). The first sample of 100 ms gives 100 + 4 x 50 ms. The variance of equal samples
    // decays, and the term stays. Bounding the sum instead leaves 200 ms.
    for (variance, least, first, later) in [(Some(ms(200)), 200, 300, 300), (None, 200, 300, 200)] {
        let config = TcpSettings { min_rto: ms(least), min_rto_variance: variance, ..avoiding(Recovery::Sack, 8) };
        let mut net = Net::new(config);
        net.run(at(150));
        assert_eq!(net.host.tcp.rto().timeout(), ms(first));
        net.run(at(3000));
        assert_eq!(net.host.tcp.rto().timeout(), ms(later));
    }
}
