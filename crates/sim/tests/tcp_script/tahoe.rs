//! Tahoe: fast retransmit without fast recovery (V. Jacobson, *Congestion Avoidance and Control*, SIGCOMM 1988, and the
//! 4.3BSD-Tahoe release; ns-2's `Agent/TCP`).

use headgate_scenario::Recovery;
use headgate_sim::tcp::TcpSettings;

use crate::common::{Host, Net, at, avoiding};

#[test]
fn the_third_duplicate_restarts_slow_start() {
    let mut host = Host::started(avoiding(Recovery::Tahoe, 8));
    assert_eq!(host.ack(1), "8");
    assert_eq!((host.ack(1), host.ack(1)), (String::new(), String::new()));
    // Eight outstanding: ssthresh 4, cwnd 1.
    assert_eq!(host.ack(1), "1r");
    assert_eq!(host.windows(), (1.0, 4.0));
    // Further duplicates have no effect: the window is not inflated, and there is no second reduction.
    assert_eq!((host.ack(1), host.ack(1), host.ack(1), host.ack(1)), Default::default());
    assert_eq!(host.windows(), (1.0, 4.0));
    // All have arrived: slow start to 4 (2, 3, 4), then a segment a round trip (4 and a quarter).
    assert_eq!(host.ack(9), "9 10");
    assert_eq!(host.ack(10), "11 12");
    assert_eq!(host.ack(11), "13 14");
    assert_eq!(host.ack(12), "15");
    assert_eq!(host.windows(), (4.25, 4.0));
    assert_eq!(host.tcp.timeouts(), 0);
}

#[test]
fn segments_sent_before_the_loss_are_retransmitted_unless_acknowledged() {
    // 1 and 3 of 1 to 8 are lost. Slow start restarts at 1: its ACK, up to 3, releases 3 and 4 again, although 4 has
    // arrived. The ACK of 3 covers all segments.
    let mut net = Net::new(avoiding(Recovery::Tahoe, 8)).losing(&[(1, 1), (3, 1)]);
    net.run(at(300));
    assert_eq!(net.rows(), ["0: 0 1 2 3 4 5 6 7", "100: 8 1r", "200: 3r 4r", "300: 9 10 11"]);
    // The ACK of 3 acknowledges 3 to 8: cwnd 3, 9 to 11; then a duplicate for 4, which arrived twice.
    assert_eq!(net.host.tcp.ssthresh(), 4.0);
}

#[test]
fn limited_transmit_precedes_recovery_and_its_segments_do_not_count() {
    let mut host = Host::started(TcpSettings { limited_transmit: true, ..avoiding(Recovery::Tahoe, 8) });
    assert_eq!(host.ack(1), "8");
    assert_eq!((host.ack(1), host.ack(1), host.ack(1)), ("9".into(), "10".into(), "1r".into()));
    assert_eq!(host.windows(), (1.0, 4.0));
}
