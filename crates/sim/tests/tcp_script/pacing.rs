//! Pacing (Linux, `tcp_update_pacing_rate`): twice the window over a round trip in slow start, 1.2 times afterwards.

use headgate_scenario::Recovery;
use headgate_sim::tcp::TcpSettings;

use crate::common::{Fate, Net, at, avoiding, ms, plain};

fn paced(config: TcpSettings) -> TcpSettings {
    TcpSettings { pacing: true, ..config }
}

/// When each segment was sent, in microseconds.
fn times(net: &Net) -> Vec<u64> {
    net.sent.iter().map(|sent| sent.time.as_nanos() / 1000).collect()
}

#[test]
fn slow_start_is_paced_at_twice_the_window() {
    // Segments 0 and 1 leave before a round-trip time is known. The ACK of 0 at 100 ms opens the window to 3:
    // 2 leaves, and the next 100 ms / (2 x 3) later; by then the ACK of 1 has opened it to 4: 100 ms / (2 x 4) apart.
    // The ACK of 2 at 200 ms opens it to 5: 6 and 7 are 10 ms apart, 8 may leave at 220, when the ACK of 3 at 216.7 has
    // opened the window to 6: 9 leaves 8.3 ms after it.
    let mut net = Net::new(paced(plain(Recovery::Sack)));
    net.run(at(229));
    assert_eq!(times(&net), [0, 0, 100_000, 116_666, 129_166, 141_666, 200_000, 210_000, 220_000, 228_333]);
}

#[test]
fn congestion_avoidance_is_paced_at_a_fifth_more_than_the_window() {
    // Ten ACKs arrive together at 100 ms. The first lets segment 10 go at a window of 10.1; after all of them the
    // others are 100 ms / (1.2 x cwnd) apart.
    let mut net = Net::new(paced(avoiding(Recovery::Sack, 10)));
    net.run(at(190));
    let grown = (0..10).fold(10.0, |cwnd, _| cwnd + 1.0 / cwnd);
    let first = 100.0 + 100.0 / (1.2 * 10.1);
    let expected = (0..9).map(|n| first + f64::from(n) * 100.0 / (1.2 * grown));
    let sent: Vec<f64> = net.sent[10..].iter().map(|sent| sent.time.as_secs_f64() * 1e3).collect();
    assert_eq!(sent[0], 100.0);
    assert_eq!(sent.len(), 10, "what the window allows");
    for (sent, expected) in sent[1..].iter().zip(expected) {
        assert!((sent - expected).abs() < 1e-4, "{sent} ms rather than {expected}"); // each rounded to a nanosecond
    }
}

#[test]
fn a_lost_ack_makes_no_burst() {
    let config = TcpSettings { delayed_ack: None, ..avoiding(Recovery::Sack, 8) };
    let lost: Vec<u32> = (9..=16).filter(|nth| nth % 4 != 0).collect();
    let bursts = |config| {
        let mut net = Net::new(config).losing_acks(&lost);
        net.run(at(1000));
        net.bursts().into_iter().skip(1).max()
    };
    assert_eq!(bursts(paced(config.clone())), Some(1));
    assert!(bursts(config) >= Some(4), "an ACK of four segments lets four go");
}

#[test]
fn retransmissions_are_paced_too() {
    let mut net = Net::new(paced(avoiding(Recovery::Sack, 20)))
        .fate(|seq, nth| if (40..50).contains(&seq) && nth == 1 { Fate::Lost } else { Fate::Arrives });
    net.run(at(2000));
    assert_eq!(net.host.tcp.retransmits(), 10);
    let paced = net.sent.windows(2).filter(|pair| pair[1].time >= at(100));
    for pair in paced {
        let rate = 1.2 * pair[0].cwnd.max(1.0) / 0.1;
        let gap = (pair[1].time - pair[0].time).as_secs_f64();
        // In recovery up to twice the window is in flight, and the pacing rate follows the flight.
        assert!(gap >= 0.5 / rate, "{gap} s after {:?}", pair[0]);
    }
}

#[test]
fn the_retransmission_of_a_timeout_leaves_at_once() {
    let mut net =
        Net::new(paced(TcpSettings { min_rto: ms(300), initial_rto: ms(300), ..avoiding(Recovery::Sack, 4) }))
            .fate(|_, nth| if nth == 1 { Fate::Lost } else { Fate::Arrives });
    net.run(at(310));
    assert_eq!(net.times_of(0), [0, 300]);
}
