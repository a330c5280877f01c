//! CUBIC (RFC 9438): the window against the curve, the Reno-friendly region, and windows after losses, marks and timeouts.
//!
//! K = cbrt((W_max - cwnd_epoch) / 0.4); a window of W falls to 0.7 W.

use aqm::Time;
use headgate_scenario::Cc;
use headgate_sim::tcp::TcpSettings;

use crate::common::{Fate, Host, Net, at, avoiding, ms, plain};

/// A round trip in seconds.
const R: f64 = 0.1;
/// Section 4.3: 3 (1 - 0.7) / (1 + 0.7).
const ALPHA: f64 = 0.9 / 1.7;

fn secs(from: Time, to: Time) -> f64 {
    (to - from).as_secs_f64()
}

/// The bursts of segments sent at one time: their times, and `cwnd` after each.
fn rounds(net: &Net) -> Vec<(Time, f64)> {
    net.sent.chunk_by(|a, b| a.time == b.time).map(|sent| (sent[0].time, sent[sent.len() - 1].cwnd)).collect()
}

#[test]
fn the_window_follows_the_curve_concave_then_convex() {
    // 200 segments, the first lost: 140 are left, K = cbrt(60 / 0.4) = 5.31 s. Each ACK moves the window towards the
    // curve's value a round trip later (section 4.2). The ACKs of a round trip arrive together and close (1 - 1/e) of the
    // distance. The window is therefore above the curve and below its value a round trip later.
    let k = (60.0_f64 / 0.4).cbrt();
    let curve = |t: f64| 0.4 * (t - k).powi(3) + 200.0;
    let mut net = Net::new(avoiding(Cc::Cubic, 200)).losing(&[(0, 1)]);
    net.run(at(9000));
    assert_eq!(net.host.tcp.timeouts(), 0);
    // Recovery ends with the ACK of the retransmission, at 200 ms. The next ACK, at the same time, begins the epoch.
    let rounds: Vec<_> = rounds(&net).into_iter().filter(|(time, _)| *time >= at(300)).collect();
    assert!(rounds.len() > 80);
    for (time, cwnd) in rounds {
        let t = secs(at(200), time);
        assert!((curve(t) - 0.01..=curve(t + R) + 0.01).contains(&cwnd), "{t} s: {} {cwnd} {}", curve(t), curve(t + R));
    }
}

/// 70 segments of 100 are left at 200 ms. The data is unlimited until 2 s and from 22 s on. In between the application
/// supplies a segment every `gap` milliseconds, or nothing.
fn limited_for_twenty_seconds(gap: Option<u64>) -> Net<'static> {
    let config = TcpSettings { idle_restart: false, ..avoiding(Cc::Cubic, 100) };
    let mut net = Net::new(config).losing(&[(0, 1)]).of(1_000_000);
    net.run(at(2000));
    net.host.tcp.end_supply();
    for time in (2000..22_000).step_by(gap.unwrap_or(20_000) as usize) {
        net.run(at(time));
        net.offer(u32::from(gap.is_some()));
    }
    net.run(at(22_000));
    net.host.tcp.supply_endlessly();
    net.offer(0);
    net.run(at(25_000));
    net
}

#[test]
fn time_in_which_the_application_limits_the_flow_does_not_count() {
    // Sections 4.2 and 5.8. W_max = 100, K = cbrt(30 / 0.4) = 4.22 s. The first ACK of the data sent at 2 s is the last one
    // that finds the window full: t = 2.1 - 0.2 s. t continues when sending resumes. With 50 ms between segments some are
    // always outstanding. With 150 ms each is acknowledged before the next is sent.
    let k = (30.0_f64 / 0.4).cbrt();
    let curve = |t: f64| 0.4 * (t - k).powi(3) + 100.0;
    for gap in [Some(50), Some(150), None] {
        let net = limited_for_twenty_seconds(gap);
        let (limited, greedy): (Vec<_>, Vec<_>) =
            rounds(&net).into_iter().filter(|(time, _)| *time >= at(2200)).partition(|(time, _)| *time < at(22_000));
        let left = greedy[0].1;
        assert!(limited.iter().all(|(_, cwnd)| *cwnd == left), "{gap:?}: an unused window does not grow");
        assert!(greedy.len() > 25);
        // The first full window is acknowledged a round trip after sending resumes.
        for (time, cwnd) in greedy.into_iter().filter(|(time, _)| *time >= at(22_100)) {
            let t = 1.9 + secs(at(22_000), time);
            let range = curve(t - R) - 0.01..=curve(t + R) + 0.01;
            assert!(range.contains(&cwnd), "{gap:?}, {time:?}: {cwnd} is not in {range:?}");
        }
    }
}

#[test]
fn where_the_curve_is_slower_than_reno_the_window_grows_as_in_reno() {
    // 20 segments fall to 14; K = cbrt(6 / 0.4) = 2.5 s, while Reno's estimate is back at 20 after 6 / alpha = 11.3
    // round trips, 1.1 s. Until then alpha segments a round trip, afterwards one (section 4.3); cwnd is not whole, so
    // that a round trip has up to 1/14 fewer ACKs than it.
    let mut net = Net::new(avoiding(Cc::Cubic, 20)).losing(&[(0, 1)]);
    net.run(at(2500));
    let cwnd = |ms| rounds(&net).into_iter().rev().find(|(time, _)| *time <= at(ms)).unwrap().1;
    let before = (cwnd(1200) - cwnd(300)) / 9.0;
    assert!((ALPHA * 13.0 / 14.0..=ALPHA).contains(&before), "{before} a round trip");
    let after = (cwnd(2500) - cwnd(1500)) / 10.0;
    assert!((13.0 / 14.0..=1.0).contains(&after), "{after} a round trip");
}

#[test]
fn with_the_alpha_of_linux_the_window_keeps_growing_as_before_the_old_size() {
    // As above. `bictcp_update` in Linux uses 3 (1 - beta) / (1 + beta) throughout.
    let config = TcpSettings { cubic_full_alpha: false, ..avoiding(Cc::Cubic, 20) };
    let mut net = Net::new(config).losing(&[(0, 1)]);
    net.run(at(2500));
    let cwnd = |ms| rounds(&net).into_iter().rev().find(|(time, _)| *time <= at(ms)).unwrap().1;
    let after = (cwnd(2500) - cwnd(1500)) / 10.0;
    assert!((ALPHA * 19.0 / 20.0..=ALPHA).contains(&after), "{after} a round trip");
}

#[test]
fn a_loss_leaves_seven_tenths_and_fast_convergence_lowers_the_curve() {
    let mut host = Host::started(avoiding(Cc::Cubic, 100));
    assert_eq!(host.sack(0, &[(1, 4)]), "0r");
    assert_eq!(host.windows(), (70.0, 70.0));
    // Recovery ends; the next stage begins with the first ACK. W_max = 100: K = cbrt(30 / 0.4). An ACK 100 ms later,
    // srtt being that: towards W_cubic(0.1 + 0.1).
    host.wait(ms(100));
    host.ack(100);
    host.ack(101);
    host.wait(ms(100));
    let (before, srtt) = (host.tcp.cwnd(), host.tcp.rto().srtt().unwrap().as_secs_f64());
    host.ack(102);
    let curve = |t: f64, w_max: f64, k: f64| 0.4 * (t - k).powi(3) + w_max;
    let k = (30.0_f64 / 0.4).cbrt();
    assert!((host.tcp.cwnd() - before - (curve(0.1 + srtt, 100.0, k) - before) / before).abs() < 1e-9);
    // Fast convergence (section 4.7): the window is cwnd, less than 100; W_max = 0.85 of it.
    let cwnd = host.tcp.cwnd();
    host.sack(102, &[(103, 106)]);
    let left = host.tcp.ssthresh();
    let flight = 170.0 - 102.0;
    assert!((left - 0.7 * flight).abs() < 2.0, "{left}");
    host.wait(ms(100));
    host.ack(172);
    host.ack(173);
    host.wait(ms(100));
    let (before, srtt) = (host.tcp.cwnd(), host.tcp.rto().srtt().unwrap().as_secs_f64());
    host.ack(174);
    let k = ((0.85 * cwnd - left) / 0.4).cbrt();
    let expected = (curve(0.1 + srtt, 0.85 * cwnd, k) - before) / before;
    assert!((host.tcp.cwnd() - before - expected).abs() < 1e-3, "{} {expected}", host.tcp.cwnd() - before);
}

#[test]
fn after_a_timeout_the_curve_begins_flat() {
    // Sections 4.6 and 4.8: ssthresh = 0.7 x 100, slow start, and then K = 0. The curve hardly grows, so Reno's estimate
    // determines the window: alpha segments a round trip below the old window.
    let mut net = Net::new(avoiding(Cc::Cubic, 100)).fate(|seq, nth| match (seq, nth) {
        (0..100, 1) => Fate::Lost,
        _ => Fate::Arrives,
    });
    net.run(at(3000));
    assert_eq!((net.host.tcp.timeouts(), net.host.tcp.ssthresh()), (1, 70.0));
    // The timer expires at 1 s; then 1, 2, 4, 8, 16, 32, 64: avoidance begins at 1.7 s, in the burst after 64.
    let rounds = rounds(&net);
    let cwnd = |ms| rounds.iter().find(|(time, _)| *time == at(ms)).unwrap().1;
    assert_eq!((cwnd(1000), cwnd(1100), cwnd(1600)), (1.0, 2.0, 64.0));
    let each = (cwnd(2700) - cwnd(1700)) / 10.0;
    assert!((ALPHA * 0.95..ALPHA * 1.05).contains(&each), "{each} a round trip");
}

#[test]
fn a_mark_leaves_seven_tenths_and_with_alternative_backoff_more() {
    // RFC 9438, section 4.6; RFC 8511, section 3.1.
    for (abe, left) in [(false, 70.0), (true, 85.0)] {
        let mut host = Host::started(TcpSettings { abe, ..avoiding(Cc::Cubic, 100) }).with_ecn();
        host.echo(1);
        assert_eq!(host.windows(), (left, left));
    }
}

#[test]
fn slow_start_grows_by_one_segment_an_ack() {
    let mut net = Net::new(plain(Cc::Cubic));
    net.run(at(300));
    assert_eq!(net.bursts(), [2, 4, 8, 16]);
}
