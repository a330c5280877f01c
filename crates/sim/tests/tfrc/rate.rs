//! The rate under losses: that of the throughput equation (RFC 5348, section 3.1).

use aqm::{Rng, Span};
use headgate_sim::tfrc::packets_a_round_trip;
use proptest::prelude::*;

use crate::tfrc::path::{CONFIG, Fate, Path, at};

const RTT: Span = Span::from_millis(100);

fn every(n: u32, fate: Fate) -> impl FnMut(u32) -> Fate {
    move |seq| if seq % n == n - 1 { fate } else { Fate::Arrives }
}

/// Packets per round trip, measured after a warm-up of 60 s.
fn measured(fate: impl FnMut(u32) -> Fate, seconds: u64) -> f64 {
    let mut path = Path::new(RTT, fate);
    path.run(at(1000 * (seconds + 60)));
    path.packets_a_second(at(60_000)) * RTT.as_secs_f64()
}

#[test]
fn periodic_losses_give_the_rate_of_the_equation() {
    // Losses are further apart than a round trip, so each is an event, and the loss event rate is 1/n.
    for (n, seconds) in [(1000, 400), (100, 120), (20, 120)] {
        let expected = packets_a_round_trip(1.0 / f64::from(n));
        let ratio = measured(every(n, Fate::Lost), seconds) / expected;
        assert!((ratio - 1.0).abs() < 0.01, "one in {n}: {ratio} of the equation's rate");
    }
}

#[test]
fn a_mark_has_the_effect_of_a_loss() {
    let ratio = measured(every(100, Fate::Marked), 120) / packets_a_round_trip(0.01);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio} of the equation's rate");
}

/// The loss event rate if each packet is lost with probability `p`. All losses within a round trip of W packets belong to
/// one event, and the next event begins 1/p packets later. Intervals therefore have 1/p + W packets, with W from the
/// equation for that loss event rate.
fn event_rate(p: f64) -> f64 {
    (0..100).fold(p, |rate, _| 1.0 / (1.0 / p + packets_a_round_trip(rate)))
}

/// At 1 loss in 1000 there are about 800 loss events. The rate is proportional to the root of the mean interval, so its
/// standard error is half of 1/sqrt(800), 1.8 %. The tolerance is five of these.
#[test]
fn random_losses_give_the_rate_of_the_equation() {
    for (p, seconds) in [(0.001, 2000), (0.01, 600), (0.05, 600)] {
        let mut rng = Rng::named(7, "losses");
        let fate = move |_| if rng.chance(p) { Fate::Lost } else { Fate::Arrives };
        let ratio = measured(fate, seconds) / packets_a_round_trip(event_rate(p));
        assert!((ratio - 1.0).abs() < 0.1, "p = {p}: {ratio} of the equation's rate");
    }
}

/// A report at `t` covers packets sent from `t - 2R` to `t - R`, so twice its receive rate may be the current rate. Once
/// receive rates bound the rate, it therefore doubles only every second round trip.
#[test]
fn without_losses_the_rate_doubles_at_most_each_round_trip_and_at_least_each_second() {
    let mut path = Path::new(RTT, |_| Fate::Arrives);
    path.run(at(1000));
    // The first packet arrives at 50 ms and its report at 100 ms: four packets of 1000 bytes a round trip.
    assert_eq!(path.rates[0], (at(100), 40_000.0));
    let doubled: Vec<f64> = path.rates.windows(2).map(|pair| pair[1].1 / pair[0].1).collect();
    assert!(doubled.iter().all(|factor| *factor <= 2.0 + 1e-9), "{doubled:?}");
    assert!(doubled.windows(2).all(|two| two[0] * two[1] >= 2.0 - 1e-9), "{doubled:?}");
    let last = path.rates.last().unwrap().1;
    assert!(last >= 40_000.0 * 2f64.powi(4), "{last}");
}

#[test]
fn the_first_loss_halves_the_rate_that_slow_start_reached() {
    // The loss sets the rate to the receive rate, and slow start sends at twice that rate (section 6.3.1).
    let mut path = Path::new(RTT, |seq| if seq == 200 { Fate::Lost } else { Fate::Arrives });
    path.run(at(1500));
    let before = path.rates.iter().zip(&path.reports).take_while(|(_, report)| report.loss == 0.0);
    let before = before.last().unwrap().0.1;
    let after = path.rates.iter().zip(&path.reports).find(|(_, report)| report.loss > 0.0).unwrap().0.1;
    assert!((after / before - 0.5).abs() < 0.1, "from {before} to {after}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn under_any_losses_and_marks_the_rate_stays_within_its_bounds(
        seed in any::<u64>(),
        p in 0.0f64..1.0,
        marked in 0.0f64..1.0,
        outage in 0u64..20_000,
    ) {
        let mut rng = Rng::named(seed, "fates");
        let fate = move |_| match (rng.chance(p), rng.chance(marked)) {
            (true, false) => Fate::Lost,
            (true, true) => Fate::Marked,
            _ => Fate::Arrives,
        };
        let mut path = Path::new(RTT, fate);
        path.outage = (at(outage), at(outage + 5000));
        // With few losses the rate grows without bound, and the test's run time with it.
        while path.now < at(20_000) && path.sender.rate() < 1e7 {
            path.run(path.now + RTT);
            path.now += RTT;
            let rate = path.sender.rate();
            prop_assert!(rate.is_finite() && rate >= f64::from(CONFIG.segment) / 64.0);
            prop_assert!((0.0..=1.0).contains(&path.receiver.loss_event_rate()));
        }
        prop_assert!(path.sent.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
