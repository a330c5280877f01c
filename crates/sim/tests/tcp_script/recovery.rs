//! Fast retransmit and fast recovery without selective acknowledgements: Reno (RFC 5681, section 3.2), NewReno
//! (RFC 6582, section 3.2), limited transmit (RFC 3042).

use headgate_scenario::Recovery;
use headgate_sim::tcp::{Ack, TcpSettings};

use crate::common::{Host, Net, at, avoiding, ms};

/// Segments 1 to 8 outstanding, cwnd 8 and an eighth, 1 lost.
fn eight_outstanding(config: TcpSettings) -> Host {
    let mut host = Host::started(config);
    assert_eq!(host.ack(1), "8");
    assert_eq!(host.windows(), (8.125, 8.0));
    host
}

#[test]
fn the_third_duplicate_causes_the_retransmission_and_not_the_second() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut host = eight_outstanding(avoiding(recovery, 8));
        assert_eq!(host.ack(1), "");
        assert_eq!(host.ack(1), "");
        assert_eq!(host.windows(), (8.125, 8.0), "two duplicates may be reordering");
        // Steps 2 and 3: ssthresh = 8 / 2, cwnd = ssthresh + 3.
        assert_eq!(host.ack(1), "1r");
        assert_eq!(host.windows(), (7.0, 4.0));
    }
}

#[test]
fn one_loss_inflates_then_deflates_the_window() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut host = eight_outstanding(avoiding(recovery, 8));
        let sent: Vec<_> = (0..7).map(|_| host.ack(1)).collect();
        // Step 4: cwnd 7 at the third duplicate, then 8, 9, 10, 11; eight are outstanding, so 9 lets one more go.
        assert_eq!(sent, ["", "", "1r", "", "9", "10", "11"]);
        assert_eq!(host.windows(), (11.0, 4.0));
        // Step 6: back to ssthresh; 9, 10 and 11 are outstanding, one more may go. NewReno's option 1 says the same:
        // min(4, 3 + 1).
        assert_eq!(host.ack(9), "12");
        assert_eq!(host.windows(), (4.0, 4.0));
        // Then congestion avoidance.
        assert_eq!(host.ack(10), "13");
        assert_eq!(host.windows(), (4.25, 4.0));
    }
}

/// 1 and 3 lost of 1 to 8: six duplicates, from 2, 4, 5, 6, 7 and 8.
fn two_losses(recovery: Recovery) -> Host {
    let mut host = eight_outstanding(avoiding(recovery, 8));
    let sent: Vec<_> = (0..6).map(|_| host.ack(1)).collect();
    assert_eq!(sent, ["", "", "1r", "", "9", "10"]);
    assert_eq!(host.windows(), (10.0, 4.0));
    host
}

#[test]
fn reno_leaves_recovery_at_the_first_of_two_losses_and_stalls() {
    let mut host = two_losses(Recovery::Reno);
    // Step 6 knows no partial ACK: cwnd = 4, while 3 to 10 are outstanding.
    assert_eq!(host.ack(3), "");
    assert_eq!(host.windows(), (4.0, 4.0));
    // 9 and 10 cause the last two duplicates.
    assert_eq!((host.ack(3), host.ack(3)), (String::new(), String::new()));
    assert_eq!(host.expire(), "3r");
    assert_eq!(host.tcp.timeouts(), 1);
}

#[test]
fn newreno_treats_a_partial_ack_as_the_next_loss() {
    let mut host = two_losses(Recovery::NewReno);
    // Step 3: 3 again; the window deflates by the two acknowledged and inflates by one: 10 - 2 + 1. Eight, 3 to 10,
    // are outstanding: one more.
    assert_eq!(host.ack(3), "3r 11");
    assert_eq!(host.windows(), (9.0, 4.0));
    // 9 and 10 arrived: two duplicates, step 4 of RFC 5681.
    assert_eq!((host.ack(3), host.ack(3)), ("12".into(), "13".into()));
    // 11 covers what was outstanding when recovery began (up to 8): full, min(4, 3 + 1).
    assert_eq!(host.ack(11), "14");
    assert_eq!(host.windows(), (4.0, 4.0));
}

#[test]
fn newreno_repairs_one_loss_a_round_trip() {
    // 2, 4 and 6 of the first ten are lost.
    // 100 ms: ACKs of 0 and 1 (cwnd 10.2) send 10, 11; duplicates from 3, 5, 7, 8, 9: the third halves the ten
    //         outstanding to 5, cwnd 8, then 9, 10.
    // 200 ms: duplicates from 10, 11: cwnd 11, 12, each sends one; ACK 4 is partial: 12 - 2 + 1 = 11, ten outstanding.
    // 300 ms: duplicates from 12, 13: cwnd 12, 13; ACK 6: 13 - 2 + 1 = 12, eleven outstanding; duplicate from 14.
    // 400 ms: duplicates from 15, 16: cwnd 14, 15; ACK 17 is full: min(5, 4 + 1) = 5; ACKs of 17 and 18 send one each.
    let mut net = Net::new(avoiding(Recovery::NewReno, 10)).losing(&[(2, 1), (4, 1), (6, 1)]);
    net.run(at(400));
    assert_eq!(
        net.rows(),
        ["0: 0 1 2 3 4 5 6 7 8 9", "100: 10 11 2r", "200: 12 13 4r 14", "300: 15 16 6r 17 18", "400: 19 20 21 22 23"]
    );
    assert_eq!((net.host.tcp.ssthresh(), net.host.tcp.timeouts()), (5.0, 0));
}

#[test]
fn newreno_leaves_recovery_with_a_small_window_if_the_flight_is_small() {
    // The receiver's window keeps new data back; the full ACK finds nothing outstanding: min(4, max(0, 1) + 1) = 2.
    let mut host = Host::started(TcpSettings { window: 8, ..avoiding(Recovery::NewReno, 8) });
    assert_eq!(host.ack(1), "8");
    let sent: Vec<_> = (0..7).map(|_| host.ack(1)).collect();
    assert_eq!(sent.concat(), "1r");
    assert_eq!(host.ack(9), "9 10");
    assert_eq!(host.windows(), (2.0, 4.0));
}

#[test]
fn newreno_restarts_the_timer_at_the_first_partial_ack_only() {
    // RFC 6582, section 3.2, step 3: only the first partial ACK resets the timer.
    let mut host = two_losses(Recovery::NewReno);
    host.wait(ms(100));
    host.ack(3);
    let first = host.tcp.deadline();
    assert_eq!(first, Some(host.now + host.tcp.rto().timeout()));
    host.wait(ms(100));
    host.ack(5);
    assert_eq!(host.tcp.deadline(), first);
}

#[test]
fn slow_but_steady_newreno_restarts_the_timer_at_each_partial_ack() {
    // RFC 6582, section 4.
    let mut host = two_losses(Recovery::NewReno);
    host.config.slow_but_steady = true;
    for ack in [3, 5] {
        host.wait(ms(100));
        host.ack(ack);
        assert_eq!(host.tcp.deadline(), Some(host.now + host.tcp.rto().timeout()));
    }
}

#[test]
fn limited_transmit_sends_one_new_segment_on_each_of_two_duplicates() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut host = eight_outstanding(TcpSettings { limited_transmit: true, ..avoiding(recovery, 8) });
        // RFC 3042: up to cwnd + 2 outstanding, and cwnd stays.
        assert_eq!((host.ack(1), host.ack(1)), ("9".into(), "10".into()));
        assert_eq!(host.windows(), (8.125, 8.0));
        // RFC 5681, section 3.2, step 2: the two do not count: ssthresh = 8 / 2.
        assert_eq!(host.ack(1), "1r");
        assert_eq!(host.windows(), (7.0, 4.0));
    }
}

#[test]
fn limited_transmit_heeds_the_receivers_window() {
    let mut host = Host::started(TcpSettings { window: 9, limited_transmit: true, ..avoiding(Recovery::NewReno, 8) });
    assert_eq!(host.ack(1), "8");
    assert_eq!((host.ack(1), host.ack(1)), ("9".into(), String::new()));
}

#[test]
fn a_duplicate_ack_with_nothing_outstanding_is_ignored() {
    // RFC 5681, section 2: a duplicate acknowledgement needs outstanding data.
    let mut host = Host::new(avoiding(Recovery::NewReno, 4));
    let before = host.windows();
    let ack = Ack::default();
    (0..5).for_each(|_| host.tcp.on_ack(ack, &host.config, host.now));
    assert_eq!(host.windows(), before);
    assert_eq!(host.ack(0), "0 1 2 3");
}
