//! Appropriate byte counting (RFC 3465): windows grow by the number of acknowledged segments.

use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::TcpSettings;

use crate::common::{Fate, Host, Net, at, avoiding, ms, plain};

/// The controllers whose slow start is RFC 5681's; HyStart++, LEDBAT and BBR have their own.
const SLOW_STARTERS: [(Cc, Recovery); 7] = [
    (Cc::Reno, Recovery::Tahoe),
    (Cc::Reno, Recovery::Reno),
    (Cc::Reno, Recovery::NewReno),
    (Cc::Reno, Recovery::Sack),
    (Cc::Cubic, Recovery::Sack),
    (Cc::Dctcp, Recovery::Sack),
    (Cc::Prague, Recovery::Sack),
];

fn counting(limit: u32, config: TcpSettings) -> TcpSettings {
    TcpSettings { abc: Some(limit), ..config }
}

#[test]
fn with_delayed_acks_and_a_limit_of_two_slow_start_doubles_the_window() {
    // Section 3.2: as if each segment were acknowledged. 4 segments: ACKs of 2 and 4, cwnd 6 and 8.
    let config = TcpSettings { initial_window: 4, delayed_ack: Some(ms(40)), ..plain(Recovery::Sack) };
    let mut net = Net::new(counting(2, config.clone()));
    net.run(at(200));
    assert_eq!(net.bursts(), [4, 8, 16]);
    // Section 2.3: with L = 1 growth is that of counting ACKs, half as much.
    let mut net = Net::new(counting(1, config));
    net.run(at(200));
    assert_eq!(net.bursts(), [4, 6, 9]);
}

#[test]
fn slow_start_grows_by_the_newly_acknowledged_segments_up_to_the_limit() {
    for of in SLOW_STARTERS {
        for (limit, grown) in [(1, [1.0, 2.0, 3.0]), (2, [1.0, 3.0, 5.0])] {
            let mut host = Host::started(counting(limit, TcpSettings { initial_window: 10, ..plain(of) }));
            // One segment, two, and four (a stretch ACK, or two lost ones).
            let windows = [1, 3, 7].map(|ack| {
                host.ack(ack);
                host.windows().0 - 10.0
            });
            assert_eq!(windows, grown, "{of:?}, L = {limit}");
        }
    }
}

#[test]
fn slow_start_that_follows_a_timeout_has_a_limit_of_one() {
    // Section 2.3's example: N is lost, N + 1 and N + 2 arrive. Of the three segments that the ACK covers, only one left
    // the network in the last round trip.
    for of in SLOW_STARTERS {
        let mut host = Host::started(counting(2, TcpSettings { initial_window: 8, ..plain(of) }));
        assert_eq!(host.expire(), "0r", "{of:?}");
        host.ack(3);
        assert_eq!(host.windows().0, 2.0, "{of:?}");
        // The limit holds for the whole phase, for new data too.
        host.ack(8);
        host.ack(10);
        assert_eq!(host.windows().0, 4.0, "{of:?}");
    }
}

#[test]
fn congestion_avoidance_adds_a_segment_for_each_window_acknowledged() {
    // Section 2.1: ten acknowledged segments add one to a window of ten, however many ACKs cover them.
    for acks in [&[1u32, 2, 3, 4, 5, 6, 7, 8, 9, 10][..], &[2, 4, 6, 8, 10], &[3, 4, 10], &[10]] {
        let mut host = Host::started(counting(2, avoiding(Recovery::Sack, 10)));
        for ack in acks {
            assert!(host.windows().0 < 11.0);
            host.ack(*ack);
        }
        assert!((host.windows().0 - 11.0).abs() < 1e-9, "{acks:?}: {}", host.windows().0);
    }
}

#[test]
fn congestion_avoidance_adds_no_more_than_a_segment_for_one_acknowledgement() {
    // Sections 2.1 and 3.2: a cumulative ACK after a timeout may cover many windows. 0 is lost, and too few later segments
    // arrive to show it.
    let lost = |seq, nth| if nth == 1 && seq == 0 { Fate::Lost } else { Fate::Arrives };
    let config = TcpSettings { initial_ssthresh: Some(2), initial_window: 2, ..plain(Recovery::NewReno) };
    let mut net = Net::new(counting(2, config)).fate(lost);
    net.run(at(5000));
    let grown = net.sent.windows(2).map(|pair| pair[1].cwnd - pair[0].cwnd).fold(0.0, f64::max);
    assert!(grown <= 1.0, "{grown}");
}

#[test]
fn with_delayed_acks_congestion_avoidance_is_as_fast_as_without() {
    // A segment a round trip (section 3.2). 20 round trips from 20 segments; the delayed ACK at the end of each may cost
    // two segments, 2 / 20.
    let grown = |delayed_ack| {
        let mut net = Net::new(counting(2, TcpSettings { delayed_ack, ..avoiding(Recovery::Sack, 20) }));
        net.run(at(2050));
        (net.host.tcp.cwnd() - 20.0) / 20.0
    };
    for delayed_ack in [None, Some(ms(40))] {
        let each = grown(delayed_ack);
        assert!((0.9..1.0 + 1e-9).contains(&each), "{each} a round trip");
    }
}
