//! Vegas (Brakmo and Peterson 1995, section III; Linux 6.1's `tcp_vegas.c`). A round ends with the ACK of its first
//! segment, whose round trip is then compared with the least, 100 ms here.

use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::TcpSettings;

use crate::common::{Host, avoiding, ms, plain};

/// All outstanding segments are acknowledged one by one, `rtt` milliseconds after they were sent.
fn round(host: &mut Host, rtt: u64) -> f64 {
    host.wait(ms(rtt));
    let (una, outstanding) = (host.tcp.una(), host.tcp.sent() as u32);
    (una + 1..=outstanding).for_each(|ack| drop(host.ack(ack)));
    host.tcp.cwnd()
}

fn linux(config: TcpSettings) -> TcpSettings {
    TcpSettings { vegas_linux: true, ..config }
}

fn slow_start() -> TcpSettings {
    TcpSettings { initial_window: 4, ..plain(Cc::Vegas) }
}

#[test]
fn slow_start_doubles_the_window_every_other_round() {
    for recovery in [Recovery::Sack, Recovery::Rack, Recovery::NewReno] {
        let mut host = Host::started(TcpSettings { recovery, ..slow_start() });
        let windows = [(); 6].map(|()| round(&mut host, 100));
        assert_eq!(windows, [4.0, 8.0, 8.0, 16.0, 16.0, 32.0], "{recovery}");
    }
}

#[test]
fn slow_start_ends_with_more_than_gamma_segments_in_queues() {
    // The third round has 8 segments. 8 x 14 / 114 is 0.98: one router buffer is not filled. 8 x 15 / 115 is 1.04.
    for (rtt, window, ssthresh) in [(114, 16.0, f64::INFINITY), (115, 8.0, 8.0)] {
        let mut host = Host::started(slow_start());
        let windows = [100, 100, 100, rtt].map(|rtt| round(&mut host, rtt));
        assert_eq!(windows, [4.0, 8.0, 8.0, window], "{rtt} ms");
        assert_eq!(host.tcp.ssthresh(), ssthresh, "{rtt} ms");
    }
    // With gamma = 2, 8 x 33 / 133 = 1.98 does not end it and 8 x 34 / 134 = 2.03 does.
    for (rtt, window) in [(133, 16.0), (134, 8.0)] {
        let mut host = Host::started(TcpSettings { vegas_gamma: 2.0, ..slow_start() });
        assert_eq!([100, 100, 100, rtt].map(|rtt| round(&mut host, rtt))[3], window, "{rtt} ms");
    }
}

#[test]
fn alpha_to_beta_segments_in_queues_leave_the_window() {
    // 20 x 11 / 111 = 1.98, 20 x 12 / 112 = 2.14; 20 x 25 / 125 = 4 exactly, 20 x 26 / 126 = 4.13.
    for (rtt, window) in [(100, 21.0), (111, 21.0), (112, 20.0), (125, 20.0), (126, 19.0), (500, 19.0)] {
        let mut host = Host::started(avoiding(Cc::Vegas, 20));
        assert_eq!([100, rtt].map(|rtt| round(&mut host, rtt)), [20.0, window], "{rtt} ms");
        assert!(host.tcp.ssthresh() <= window, "{rtt} ms");
    }
    // ns-2's 1 and 3: 20 x 5 / 105 = 0.95, 20 x 6 / 106 = 1.13; 20 x 17 / 117 = 2.91, 20 x 18 / 118 = 3.05.
    for (rtt, window) in [(105, 21.0), (106, 20.0), (117, 20.0), (118, 19.0)] {
        let mut host = Host::started(TcpSettings { vegas_alpha: 1.0, vegas_beta: 3.0, ..avoiding(Cc::Vegas, 20) });
        assert_eq!([100, rtt].map(|rtt| round(&mut host, rtt))[1], window, "{rtt} ms");
    }
}

#[test]
fn the_window_moves_once_a_round_and_down_to_two_segments() {
    let mut host = Host::started(avoiding(Cc::Vegas, 4));
    let windows = [100, 1000, 1000, 1000, 1000].map(|rtt| round(&mut host, rtt));
    // 3.6 of the 4 segments are in queues, between alpha and beta.
    assert_eq!(windows, [4.0; 5]);
    let mut host = Host::started(TcpSettings { vegas_alpha: 0.5, vegas_beta: 1.0, ..avoiding(Cc::Vegas, 4) });
    let windows = [100, 1000, 1000, 1000, 1000].map(|rtt| round(&mut host, rtt));
    assert_eq!(windows, [4.0, 3.0, 2.0, 2.0, 2.0]);
}

#[test]
fn linux_doubles_in_each_round_and_leaves_slow_start_with_the_window_that_the_path_carries() {
    let mut host = Host::started(linux(slow_start()));
    assert_eq!([(); 4].map(|()| round(&mut host, 100)), [8.0, 16.0, 32.0, 64.0]);
    // The first ACK of the third round ends the second, whose least sample is `rtt`. 16 x 12 / 100 is 1.92, rounded to
    // 1. 16 x 13 / 100 is 2.08: the window is 16 x 100 / 113 = 14.2, rounded down, and one.
    for (rtt, window, ssthresh) in [(112, 32.0, f64::INFINITY), (113, 15.0, 15.0)] {
        let mut host = Host::started(linux(slow_start()));
        assert_eq!([100, rtt, rtt].map(|rtt| round(&mut host, rtt)), [8.0, 16.0, window], "{rtt} ms");
        assert_eq!(host.tcp.ssthresh(), ssthresh, "{rtt} ms");
    }
}

#[test]
fn linux_compares_the_least_sample_of_a_round_with_the_least_round_trip() {
    // The second round ends the first, whose least sample is 100 ms: one segment more, 21. The third compares `rtt`:
    // 21 x 9 / 100 = 1.89, of 10 ms 2.1; of 23 ms 4.83, rounded to 4, of 24 ms 5.04.
    for (rtt, window) in [(109, 22.0), (110, 21.0), (123, 21.0), (124, 20.0)] {
        let mut host = Host::started(linux(avoiding(Cc::Vegas, 20)));
        assert_eq!([100, rtt, rtt].map(|rtt| round(&mut host, rtt)), [20.0, 21.0, window], "{rtt} ms");
    }
}

#[test]
fn linux_moves_the_window_as_reno_after_a_round_of_two_samples() {
    let mut host = Host::started(linux(avoiding(Cc::Vegas, 2)));
    assert_eq!([100, 300].map(|rtt| round(&mut host, rtt)), [2.0, 2.5]);
}

#[test]
fn after_a_timeout_slow_start_is_renos_until_the_outstanding_data_is_acknowledged() {
    let mut host = Host::started(avoiding(Cc::Vegas, 8));
    assert_eq!(host.expire(), "0r");
    assert_eq!(host.windows(), (1.0, 4.0));
    assert_eq!(host.ack(1), "1r 2r");
    assert_eq!(host.tcp.cwnd(), 2.0);
    // All 8 have arrived: Vegas begins a round, and its slow start does not grow in the first one.
    host.ack(8);
    assert_eq!(host.tcp.cwnd(), 2.0);
}

#[test]
fn a_loss_and_a_mark_halve_the_window() {
    let mut host = Host::started(avoiding(Cc::Vegas, 8));
    assert_eq!(host.sack(0, &[(1, 4)]), "0r");
    assert_eq!(host.windows(), (4.0, 4.0));
    let mut host = Host::started(TcpSettings { ecn: true, ..avoiding(Cc::Vegas, 8) });
    host.echo(1);
    assert_eq!(host.windows(), (4.0, 4.0));
}
