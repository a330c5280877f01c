//! Slow start, congestion avoidance and the windows that bound them (RFC 5681, section 3.1).

use headgate_scenario::Recovery;
use headgate_sim::tcp::TcpSettings;

use crate::common::{Host, Net, at, avoiding, ms, plain};

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    // One segment more for each ACK, so each ACK releases two.
    let mut net = Net::new(plain(Recovery::Sack));
    net.run(at(300));
    assert_eq!(
        net.rows(),
        ["0: 0 1", "100: 2 3 4 5", "200: 6 7 8 9 10 11 12 13", "300: 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29"]
    );
}

#[test]
fn with_delayed_acks_slow_start_grows_by_half() {
    // Equation 2: an ACK of two segments adds one all the same. 4 segments: ACKs of 2 and 4, cwnd 5 and 6, up to
    // 2 + 5 and 4 + 6. 6 segments: ACKs of 6, 8, 10, cwnd 7, 8, 9, up to 13, 16, 19.
    let mut net = Net::new(TcpSettings { initial_window: 4, delayed_ack: Some(ms(40)), ..plain(Recovery::Sack) });
    net.run(at(200));
    assert_eq!(net.rows(), ["0: 0 1 2 3", "100: 4 5 6 7 8 9", "200: 10 11 12 13 14 15 16 17 18"]);
}

#[test]
fn from_ssthresh_on_the_window_grows_by_one_over_cwnd_an_ack() {
    // Slow start 2, 4, 8; then equation 3. Each ACK adds a little over 2 to the square of cwnd: after 8 ACKs cwnd is
    // just above sqrt(64 + 16) = 8.9, and sends 8 again; the next 8 pass 9 (81) at once, and 10 (100) only after them.
    let mut net = Net::new(TcpSettings { initial_ssthresh: Some(8), ..plain(Recovery::Sack) });
    net.run(at(400));
    assert_eq!(net.bursts(), [2, 4, 8, 8, 9]);
    assert_eq!(net.sent[6].cwnd, 5.0, "each ACK of slow start adds one");
    // The ACK of segment 6 comes first at 300 ms: 8 + 1/8.
    assert_eq!(net.sent[14].cwnd, 8.125);
    assert_eq!(net.sent[15].cwnd, 8.125 + 1.0 / 8.125);
}

#[test]
fn congestion_avoidance_adds_about_a_segment_a_round_trip() {
    let growth = |delayed_ack| {
        let mut net = Net::new(TcpSettings { delayed_ack, ..avoiding(Recovery::Sack, 20) });
        net.run(at(2050));
        net.host.tcp.cwnd() - 20.0
    };
    // 20 round trips. RFC 5681: equation 3 gives slightly less than one segment a round trip, since cwnd grows within
    // it, and half as much when ACKs cover two segments. A window of w gives whole(w) ACKs of at most 1/w each; the
    // part lost to rounding down and to growth within the trip is at most 1.5 / w, 0.075 here.
    let each = growth(None) / 20.0;
    assert!((0.925..1.0).contains(&each), "{each} a round trip");
    let delayed = growth(Some(ms(40))) / 20.0;
    assert!((0.4..=0.5).contains(&delayed), "{delayed} a round trip with delayed ACKs");
}

#[test]
fn the_receive_window_bounds_the_outstanding_segments() {
    let mut net = Net::new(TcpSettings { window: 5, ..plain(Recovery::Sack) });
    net.run(at(400));
    assert_eq!(net.bursts(), [2, 4, 5, 5, 5]);
    assert!(net.host.tcp.cwnd() <= 5.0, "the window grows at most to the receive window");
}

#[test]
fn the_initial_window_leaves_at_once_and_no_more() {
    for n in [1, 2, 10] {
        let mut net = Net::new(TcpSettings { initial_window: n, ..plain(Recovery::NewReno) });
        net.run(at(99));
        assert_eq!(net.bursts(), [n as usize]);
    }
    let mut net = Net::new(TcpSettings { initial_window: 10, window: 3, ..plain(Recovery::NewReno) });
    net.run(at(99));
    assert_eq!(net.bursts(), [3], "the receiver's window binds from the start");
}

#[test]
fn the_next_ack_replaces_a_lost_one() {
    // Three of four ACKs are lost: the last acknowledges four segments and adds one to the window (equation 2 adds
    // at most one segment an ACK).
    let mut net = Net::new(TcpSettings { initial_window: 4, ..plain(Recovery::NewReno) }).losing_acks(&[1, 2, 3]);
    net.run(at(100));
    assert_eq!(net.rows(), ["0: 0 1 2 3", "100: 4 5 6 7 8"]);
    assert_eq!(net.host.tcp.retransmits(), 0);
}

#[test]
fn old_acknowledgements_and_those_of_unsent_data_are_ignored() {
    let mut host = Host::started(avoiding(Recovery::NewReno, 4));
    assert_eq!(host.ack(2), "4 5");
    let before = host.windows();
    assert_eq!(host.ack(1), "", "an old ACK");
    assert_eq!(host.ack(9), "", "an ACK of unsent data");
    assert_eq!(host.windows(), before);
}
