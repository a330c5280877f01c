//! Explicit congestion notification (RFC 3168, section 6.1).

use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::TcpSettings;

use crate::common::{Fate, Host, Law, Net, at, avoiding, ms};

/// Loss detection by count, by time, and by time with PRR. All three react to marks alike.
fn recoveries(config: TcpSettings) -> [TcpSettings; 3] {
    let timed = TcpSettings { recovery: Recovery::Rack, ..config.clone() };
    [config, timed.clone(), TcpSettings { prr: true, ..timed }]
}

#[test]
fn an_echo_halves_the_window_once_and_the_next_new_segment_carries_cwr() {
    for config in recoveries(avoiding(Recovery::Sack, 8)) {
        let mut host = Host::started(config).with_ecn();
        // 6.1.2: cwnd and ssthresh are halved; nothing is sent again; seven are outstanding.
        assert_eq!(host.echo(1), "");
        assert_eq!(host.windows(), (4.0, 4.0));
        // Not again for the same window of data, and no growth on an echo. CWR goes with the first new segment.
        let sent: Vec<_> = (2..9).map(|ack| host.echo(ack)).collect();
        assert_eq!(sent, ["", "", "", "8c", "9", "10", "11"]);
        assert_eq!(host.windows(), (4.0, 4.0));
        // The receiver has seen CWR: growth goes on.
        assert_eq!(host.ack(9), "12");
        assert_eq!(host.windows(), (4.25, 4.0));
        // 13 to 16 would be the next window: an echo there halves anew.
        assert_eq!(host.echo(10), "");
        assert_eq!(host.windows(), (2.125, 2.125));
        assert_eq!((host.tcp.retransmits(), host.tcp.timeouts()), (0, 0));
    }
}

#[test]
fn with_alternative_backoff_a_mark_leaves_more_than_a_loss() {
    // RFC 8511, section 3.1: 0.8 for a mark; a loss halves the window as ever.
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut host = Host::started(TcpSettings { abe: true, ..avoiding(recovery, 10) }).with_ecn();
        host.echo(1);
        assert_eq!(host.windows(), (8.0, 8.0));
    }
    let mut host = Host::started(TcpSettings { abe: true, ..avoiding(Recovery::Sack, 10) }).with_ecn();
    host.sack(0, &[(1, 4)]);
    assert_eq!(host.windows(), (5.0, 5.0));
}

#[test]
fn an_echo_ends_slow_start() {
    let mut host = Host::started(TcpSettings { initial_ssthresh: None, ..avoiding(Recovery::NewReno, 8) }).with_ecn();
    host.echo(1);
    assert_eq!(host.windows(), (4.0, 4.0));
}

#[test]
fn ssthresh_stays_at_two_segments_and_the_window_at_one() {
    // RFC 5681, equation 4; RFC 3168, 6.1.2: cwnd is bounded below by one segment.
    let mut host = Host::started(TcpSettings { ecn_timeout: false, ..avoiding(Recovery::NewReno, 1) }).with_ecn();
    assert_eq!(host.echo(1), "1c");
    assert_eq!(host.windows(), (1.0, 2.0));
}

#[test]
fn at_a_window_of_one_an_echo_makes_the_sender_wait_for_its_timer() {
    for config in recoveries(avoiding(Recovery::Sack, 1)).into_iter().chain([avoiding(Recovery::NewReno, 1)]) {
        // 6.1.2: the timer is reset, and a new packet goes only when it expires.
        let mut host = Host::started(config).with_ecn();
        host.wait(ms(100));
        assert_eq!(host.echo(1), "");
        assert_eq!(host.tcp.deadline(), Some(at(1100)));
        host.wait(ms(500));
        assert_eq!(host.ack(1), "", "an acknowledgement meanwhile changes nothing");
        assert_eq!(host.expire(), "1c");
        assert_eq!((host.now, host.windows()), (at(1100), (1.0, 2.0)));
        assert_eq!((host.tcp.retransmits(), host.tcp.timeouts()), (0, 0), "nothing was lost");
        assert_eq!(host.tcp.rto().timeout(), ms(1000), "and nothing backs off");
    }
}

#[test]
fn the_timer_after_an_echo_includes_the_echos_round_trip_sample() {
    // RFC 6298, rule 2.2: R = 100 ms gives RTO = R + 4 R / 2 = 300 ms, though the timer was set for the initial 1 s.
    for config in recoveries(avoiding(Recovery::Sack, 1)).into_iter().chain([avoiding(Recovery::NewReno, 1)]) {
        let mut host = Host::started(TcpSettings { min_rto: ms(200), ..config }).with_ecn();
        host.wait(ms(100));
        assert_eq!(host.echo(1), "");
        assert_eq!(host.expire(), "1c");
        assert_eq!(host.now, at(400));
    }
}

#[test]
fn every_controller_can_wait_for_its_timer_or_go_on_at_a_window_of_one() {
    // BBR never has so small a window.
    let controllers = Cc::ALL.iter().filter(|cc| !cc.traits().rates).map(|cc| (*cc, Recovery::Sack));
    for of in controllers.chain(Recovery::ALL.iter().map(|recovery| recovery.law())) {
        let mut host = Host::started(avoiding(of, 1));
        assert_eq!(host.echo(1), "", "{of:?}");
        assert_eq!(host.expire(), "1", "{of:?}");
        assert_eq!((host.tcp.cwnd(), host.tcp.timeouts()), (1.0, 0), "{of:?}");

        let mut host = Host::started(TcpSettings { ecn_timeout: false, ..avoiding(of, 1) });
        assert_eq!(host.echo(1), "1", "{of:?}");
        assert_eq!(host.tcp.cwnd(), 1.0, "{of:?}");
    }
}

#[test]
fn the_receiver_echoes_until_it_sees_cwr() {
    // 2 is marked. 100 ms: ACKs 1 and 2 send 8, 9; cwnd 8 + 1/8 + 1/8.125. ACK 3 echoes and halves it, to a little
    // above 4; 3 to 7 echo too. Seven, 3 to 9, were outstanding at the echo; ACK 7 leaves 7, 8, 9: 10 goes, with CWR,
    // and with ACK 8 goes 11.
    // 200 ms: 8 and 9 were sent before CWR and echo, no growth: 12, 13. 10 brings CWR: ACK 11 is clean.
    let half = (8.0 + 1.0 / 8.0 + 1.0 / 8.125) / 2.0;
    let marks = |seq, _| if seq == 2 { Fate::Marked } else { Fate::Arrives };
    let mut net = Net::new(avoiding(Recovery::Sack, 8)).fate(marks).with_ecn();
    net.run(at(200));
    assert_eq!(net.rows(), ["0: 0 1 2 3 4 5 6 7", "100: 8 9 10c 11", "200: 12 13 14 15"]);
    assert_eq!(net.sent[13].cwnd, half, "9 echoes");
    assert_eq!(net.sent[14].cwnd, half + 1.0 / half, "10 ended it");
    assert_eq!(net.host.tcp.ssthresh(), half);
}

#[test]
fn every_reduction_is_announced() {
    // 6.1.2: CWR follows a reduction for any reason: retransmit timeout, fast retransmit, or echo.
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut host = Host::started(avoiding(recovery, 8)).with_ecn();
        let duplicate = |end| if recovery == Recovery::Sack { host.sack(0, &[(1, end)]) } else { host.ack(0) };
        let sent: Vec<_> = (2..9).map(duplicate).collect();
        // The retransmission is not new data, 8 is. Reno: cwnd 7 at the third duplicate, 9 at the fifth. SACK: cwnd 4,
        // pipe 5 (0 and 4 to 7) at the third, 3 at the fifth.
        assert_eq!(sent, ["", "", "0r", "", "8c", "9", "10"]);

        let mut host = Host::started(avoiding(recovery, 2)).with_ecn();
        assert_eq!(host.expire(), "0r");
        assert_eq!(host.ack(2), "2c 3");
    }
}

#[test]
fn a_loss_and_a_mark_in_one_window_of_data_halve_it_once() {
    // 6.1.2: reduced once in response to a series of dropped and marked packets from one window of data.
    // 0 is lost and 1 is marked: all ACKs echo. 100 ms: halved by the third duplicate; 8, with CWR, follows. 200 ms:
    // the ACK of 0 echoes still and ends recovery; 8 brought CWR: its ACK and the next are clean, the window grows.
    let fate = |seq, nth| match (seq, nth) {
        (0, 1) => Fate::Lost,
        (1, _) => Fate::Marked,
        _ => Fate::Arrives,
    };
    let mut net = Net::new(avoiding(Recovery::Sack, 8)).fate(fate).with_ecn();
    net.run(at(200));
    assert_eq!(net.rows(), ["0: 0 1 2 3 4 5 6 7", "100: 0r 8c 9 10", "200: 11 12 13 14"]);
    assert_eq!(net.host.tcp.ssthresh(), 4.0);
    assert!((4.5..5.0).contains(&net.host.tcp.cwnd()), "three clean ACKs");
}

#[test]
fn a_loss_in_a_window_that_was_halved_for_a_mark_does_not_halve_it_again() {
    // 6.1.2 in the opposite order: the echo arrives first, and 3, of the same window of data, is lost.
    for (recovery, inflated) in [(Recovery::Reno, 7.0), (Recovery::NewReno, 7.0), (Recovery::Sack, 4.0)] {
        let mut host = Host::started(avoiding(recovery, 8)).with_ecn();
        (1..4).for_each(|ack| assert_eq!(host.echo(ack), ""));
        assert_eq!(host.windows(), (4.0, 4.0));
        let duplicate = |end| if recovery == Recovery::Sack { host.sack(3, &[(4, end)]) } else { host.ack(3) };
        let sent: Vec<_> = (5..8).map(duplicate).collect();
        assert_eq!(sent[2].split(' ').next(), Some("3r"));
        assert_eq!(host.windows(), (inflated, 4.0));
    }
}

#[test]
fn scalable_controls_halve_the_window_for_a_loss_even_after_a_mark() {
    // RFC 9331, section 4.3; RFC 8257, section 3.5.
    for cc in [Cc::Dctcp, Cc::Prague] {
        let mut host = Host::started(avoiding(cc, 16));
        assert_eq!(host.echo(1), "");
        assert_eq!(host.windows(), (8.0, 8.0), "the first mark");
        // 1 to 16 are outstanding.
        host.sack(1, &[(2, 5)]);
        assert_eq!(host.tcp.ssthresh(), 7.5, "{cc}");
    }
}

#[test]
fn min_marked_window_bounds_the_window_after_a_mark() {
    // `tcp_reno_ssthresh` in Linux: max(cwnd / 2, 2). Without it a window of 2 falls to 1.
    for (least, window, left) in [(1, 2, (1.0, 2.0)), (2, 2, (2.0, 2.0)), (2, 8, (4.0, 4.0))] {
        let config = TcpSettings { min_marked_window: least, ecn_timeout: false, ..avoiding(Recovery::Sack, window) };
        let mut host = Host::started(config).with_ecn();
        host.echo(1);
        assert_eq!(host.windows(), left);
    }
}
