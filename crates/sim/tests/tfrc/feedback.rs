//! The sender without reports, and without data to send (RFC 5348, sections 4.3, 4.4).

use aqm::{Span, Time};

use crate::tfrc::path::{CONFIG, Fate, Path, at};

const RTT: Span = Span::from_millis(100);

fn one_in_a_hundred(seq: u32) -> Fate {
    if seq % 100 == 99 { Fate::Lost } else { Fate::Arrives }
}

#[test]
fn before_any_report_the_rate_is_a_packet_a_second_and_halves() {
    let mut path = Path::new(RTT, |_| Fate::Lost);
    path.run(at(60_000));
    // The timer runs for 2 s and then for 2s/X (sections 4.2, 4.4): a packet a second up to 2 s, one in two up to 6 s,
    // one in four up to 14 s, one in eight up to 30 s, one in sixteen up to 62 s. The interval applies from the last
    // packet on.
    let seconds: Vec<u64> = path.sent.iter().map(|at| at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(seconds, [0, 1, 3, 5, 9, 13, 21, 29, 45]);
}

#[test]
fn the_rate_never_falls_below_a_packet_in_64_seconds() {
    let mut path = Path::new(RTT, |_| Fate::Lost);
    path.run(at(2_000_000));
    let gaps: Vec<Span> = path.sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps.iter().max(), Some(&Span::from_secs(64)));
    assert_eq!(gaps.last(), Some(&Span::from_secs(64)));
}

#[test]
fn lost_reports_halve_the_rate_each_four_round_trips() {
    let mut path = Path::new(RTT, one_in_a_hundred);
    path.run(at(30_000));
    let steady = path.sender.rate();
    path.outage = (path.now, Time::NEVER);
    let mut rates = vec![steady];
    // The last report may be a round trip old, and the timer runs for 4R from it.
    while path.now < at(31_300) {
        path.run(path.now + Span::from_millis(1));
        path.now += Span::from_millis(1);
        if path.sender.rate() < rates[rates.len() - 1] {
            rates.push(path.sender.rate());
        }
    }
    assert!(rates.len() >= 3, "{rates:?}");
    for pair in rates.windows(2) {
        // At the first expiry the receive rate may be below half of the equation's rate (section 4.4). The smaller of
        // the two bounds the cut.
        let factor = pair[1] / pair[0];
        assert!((0.4..=0.5 + 1e-9).contains(&factor), "{rates:?}");
    }
}

#[test]
fn the_rate_recovers_when_reports_resume() {
    let mut path = Path::new(RTT, one_in_a_hundred);
    path.run(at(60_000));
    let steady = path.packets_a_second(at(30_000));
    path.outage = (at(60_000), at(62_000));
    path.run(at(62_000));
    assert!(path.sender.rate() < steady * f64::from(CONFIG.segment) / 8.0);
    path.run(at(90_000));
    assert!((path.packets_a_second(at(70_000)) / steady - 1.0).abs() < 0.1);
}

#[test]
fn a_data_limited_sender_may_send_twice_what_arrives() {
    // At 1 loss in 1000 TCP would send 38 packets a round trip. The application has one each 20 ms, five a round trip.
    let mut path = Path::new(RTT, |seq| if seq % 1000 == 999 { Fate::Lost } else { Fate::Arrives });
    path.application = Some(Span::from_millis(20));
    path.run(at(100_000));
    assert!((path.packets_a_second(at(50_000)) - 50.0).abs() < 1.0);
    // The bound is twice the receive rate (section 4.3).
    let allowed = path.sender.rate();
    assert!((80_000.0..=140_000.0).contains(&allowed), "{allowed}");
}

#[test]
fn a_loss_while_data_limited_bounds_the_rate_by_the_receive_rate() {
    // recv_limit = max(X_recv_set), with its values halved and 0.85 of the new one (section 4.3).
    let mut path = Path::new(RTT, |seq| if seq == 500 { Fate::Lost } else { Fate::Arrives });
    path.application = Some(Span::from_millis(20));
    path.run(at(20_000));
    let first = path.reports.iter().position(|report| report.loss > 0.0).unwrap();
    let (rate, report) = (path.rates[first].1, path.reports[first].rate);
    assert!(rate <= 0.85 * report + 1e-6 && rate >= 0.4 * report, "{rate} after {report}");
}

#[test]
fn an_idle_senders_rate_is_not_halved_below_the_initial_rate() {
    let mut path = Path::new(RTT, |_| Fate::Arrives);
    path.run(at(1000));
    let busy = path.sender.rate();
    // Nothing is sent for a minute: the rate is halved, but no further than to less than twice the initial rate.
    path.application = Some(Span::from_secs(60));
    path.run(at(60_000));
    let idle = path.sender.rate();
    assert!(idle < busy && (40_000.0..80_000.0).contains(&idle), "from {busy} to {idle}");
}
