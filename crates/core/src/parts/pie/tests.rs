//! Tests of PIE's controller: its probability, its rules, and Linux's.

use super::*;

const RULES: PieSettings = PieSettings {
    target: 0.015,
    tupdate: Span::from_millis(15),
    alpha: 0.125,
    beta: 1.25,
    max_burst: Span::from_millis(150),
    derandomize: false,
    cap_increase: false,
    high_delay: f64::INFINITY,
    byte_mode: false,
    packet: 1000.0,
    dq_rate_estimator: false,
    marks_below: 0.1,
    max_probability: 1.0,
    linux: false,
};

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Probabilities after an update at each delay, in ms, repeated `held` times.
fn probabilities(rules: &PieSettings, pie: &mut PieController, delays: &[u64]) -> alloc::vec::Vec<f64> {
    let each = delays.iter().map(|delay| {
        pie.departed(rules, 1000, Span::from_millis(*delay), *delay * 1000, Time::ZERO);
        pie.updates(rules, *delay * 1000, 1);
        pie.probability
    });
    each.collect()
}

fn close(found: &[f64], expected: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} {expected:?}");
}

#[test]
fn steps_are_scaled_by_the_table_of_rfc_8033() {
    // Section 4.2: the factor below each probability.
    let table = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0), (1.0, 1.0)];
    for pair in table.windows(2) {
        let [(bound, below), (_, above)] = pair else { unreachable!() };
        assert_eq!([scale(0.9 * bound), scale(*bound)], [*below, *above], "at {bound}");
    }
}

#[test]
fn the_probability_follows_the_delay_in_steps_scaled_to_it() {
    let mut pie = PieController::new(&RULES);
    // Delay from 0 to 40 ms: (0.125 x 0.025 + 1.25 x 0.040)/2048 = 0.053125/2048 = 2.593994140625e-5.
    // At 40 ms again: 0.003125/128 more, for p is in 1e-5..1e-4: 2.44140625e-5, together 5.035400390625e-5.
    // To 60 ms: (0.005625 + 0.025)/128 = 2.392578125e-4: 2.8961181640625e-4.
    // To 90 ms, p in 1e-4..1e-3: (0.009375 + 0.0375)/32 = 1.46484375e-3: 1.754455566406250e-3.
    // To 140 ms, p in 1e-3..1e-2: (0.015625 + 0.0625)/8 = 9.765625e-3: 1.152008056640625e-2.
    // To 300 ms, p in 1e-2..1e-1: (0.035625 + 0.2)/2 = 0.1178125: 0.12933258056640625.
    // At 300 ms again, p above 0.1: 0.035625: 0.16495758056640625.
    // To 15 ms: 0 - 1.25 x 0.285 = -0.35625: below 0, so 0. Then 0 ms: below 0 again.
    let found = probabilities(&RULES, &mut pie, &[40, 40, 60, 90, 140, 300, 300, 15, 0]);
    let steps = [2.593994140625e-5, 2.44140625e-5, 2.392578125e-4, 1.46484375e-3, 9.765625e-3, 0.1178125, 0.035625];
    let mut sum = 0.0;
    let mut expected: alloc::vec::Vec<f64> = steps
        .iter()
        .map(|step| {
            sum += step;
            sum
        })
        .collect();
    expected.extend([0.0, 0.0]);
    close(&found, &expected);
}

#[test]
fn the_options_cap_and_push_the_steps_and_calm_decays_the_probability() {
    let capped = PieSettings { cap_increase: true, high_delay: 0.25, ..RULES };
    let mut pie = PieController { probability: 0.5, delay_old: 0.2, ..PieController::new(&capped) };
    // 0.125 x 0.185 = 0.023125, capped at 0.02. At 260 ms: 0.030625 + 0.075, capped at 0.02, and 0.02 for the high delay.
    close(&probabilities(&capped, &mut pie, &[200, 260]), &[0.52, 0.56]);
    let mut pie = PieController { probability: 0.5, delay_old: 0.0, ..PieController::new(&RULES) };
    // Without delay: -0.125 x 0.015 = -0.001875, then times 0.98.
    close(&probabilities(&RULES, &mut pie, &[0, 0]), &[0.4881625, 0.98 * (0.4881625 - 0.001875)]);
}

#[test]
fn a_burst_passes_without_drops_once_and_again_after_the_congestion() {
    let mut pie = PieController::new(&RULES);
    let mut rng = Rng::new(1);
    pie.departed(&RULES, 1000, Span::from_millis(400), 400_000, at(1));
    let mut signaled =
        |pie: &mut PieController| (0..1000).filter(|_| pie.signals(&RULES, 400_000, 1000, &mut rng)).count();
    // 150 ms are ten updates of 15 ms; the ninth leaves 15 ms of it.
    pie.catch_up(&RULES, 400_000, at(149));
    assert_eq!((pie.burst_allowance, signaled(&mut pie)), (Span::from_millis(15), 0));
    pie.catch_up(&RULES, 400_000, at(150));
    assert!(pie.burst_allowance == Span::ZERO && pie.probability > 0.1 && signaled(&mut pie) > 50);
    // Calm from 0.7: two updates leave (0.7 - 0.001875 - 1.25 x 0.4 - 0.001875) x 0.98. The allowance is renewed
    // only once the probability is 0.
    pie.probability = 0.7;
    pie.departed(&RULES, 1000, Span::ZERO, 0, at(151));
    pie.catch_up(&RULES, 0, at(180));
    assert!((pie.probability - 0.192325).abs() < 1e-12 && signaled(&mut pie) == 0 && pie.burst_allowance == Span::ZERO);
    pie.catch_up(&RULES, 0, at(60_000));
    assert!(pie.probability == 0.0 && signaled(&mut pie) == 0 && pie.burst_allowance == RULES.max_burst);
}

#[test]
fn two_packets_or_fewer_and_a_small_delay_cause_no_drops() {
    let sure =
        PieController { probability: 1.0, delay_old: 1.0, burst_allowance: Span::ZERO, ..PieController::new(&RULES) };
    let mut rng = Rng::new(1);
    assert!(!sure.clone().signals(&RULES, 2000, 1000, &mut rng));
    assert!(sure.clone().signals(&RULES, 2001, 1000, &mut rng));
    let low = PieController { probability: 0.19, delay_old: 0.007, ..sure };
    assert!((0..1000).all(|_| !low.clone().signals(&RULES, 9000, 1000, &mut rng)));
}

#[test]
fn spaced_signals_are_no_nearer_and_no_farther_than_the_bounds() {
    let rules = PieSettings { derandomize: true, ..RULES };
    let mut pie =
        PieController { probability: 0.05, delay_old: 1.0, burst_allowance: Span::ZERO, ..PieController::new(&rules) };
    let mut rng = Rng::new(3);
    let mut gaps = alloc::vec::Vec::new();
    let mut gap = 0;
    for _ in 0..200_000 {
        gap += 1;
        if pie.signals(&rules, 90_000, 1000, &mut rng) {
            gaps.push(gap);
            gap = 0;
        }
    }
    // 0.85/0.05 = 17 and 8.5/0.05 = 170 packets; the sums of 0.05 may round to either side.
    let (least, most) = (*gaps.iter().min().unwrap(), *gaps.iter().max().unwrap());
    assert!((17..=18).contains(&least) && (165..=171).contains(&most), "{least} {most}");
    // A probability of 0.05 from the 17th on: mean 16 + 20 = 36 packets, deviation 19.5 over some 5500 gaps.
    let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
    assert!((mean - 36.0).abs() < 1.5, "{mean}");
}

#[test]
fn after_a_long_silence_all_missed_updates_are_made() {
    for (probability, waited, bytes) in [(0.7, 0, 0), (0.0, 90, 50_000), (0.3, 8, 4_000)] {
        let delay_old = f64::from(waited) / 1000.0;
        let start = PieController { probability, delay_old, delay: delay_old, ..PieController::new(&RULES) };
        let (mut once, mut often) = (start.clone(), start);
        once.catch_up(&RULES, bytes, at(60_000));
        (1..=60_000).for_each(|ms| often.catch_up(&RULES, bytes, at(ms)));
        assert_eq!((once.probability, once.burst_allowance), (often.probability, often.burst_allowance));
        assert!(once.probability == 0.0 || once.probability == 1.0);
    }
}

#[test]
fn littles_law_gives_the_delay_from_the_rate_of_departures() {
    let rules = PieSettings { dq_rate_estimator: true, ..RULES };
    let mut pie = PieController::new(&rules);
    // A packet of 1024 B each ms, 32 KiB left: the first starts a measurement that ends 16 packets (16 ms) later.
    (0..=16).for_each(|ms| pie.departed(&rules, 1024, Span::ZERO, 32_768, at(ms)));
    assert!((pie.dq_time() - 0.016).abs() < 1e-12);
    pie.updates(&rules, 32_768, 1);
    assert!((pie.delay - 0.032).abs() < 1e-12);
    // At half the rate: 32 ms with weight 1/4: 0.016 x 3/4 + 0.032/4 = 0.020.
    (9..=24).for_each(|ms| pie.departed(&rules, 1024, Span::ZERO, 32_768, at(2 * ms)));
    assert!((pie.dq_time() - 0.020).abs() < 1e-12, "{}", pie.dq_time());
}

const LINUX: PieSettings =
    PieSettings { derandomize: true, cap_increase: true, max_probability: 256.0, linux: true, ..RULES };

#[test]
fn the_probability_is_clamped_or_winds_up_to_its_maximum_and_starts_again_at_one() {
    let wound = |rules: &PieSettings, probability| {
        let mut pie = PieController { probability, delay_old: 0.2, ..PieController::new(rules) };
        probabilities(rules, &mut pie, &[200, 200])
    };
    // 0.125 x 0.185 = 0.023125, with Linux 0.02.
    close(&wound(&RULES, 0.99), &[1.0, 1.0]);
    close(&wound(&LINUX, 0.99), &[1.01, 1.03]);
    close(&wound(&LINUX, 255.99), &[1.0, 1.02]);
}

#[test]
fn linux_spends_the_allowance_between_departures_and_renews_it_in_a_calm_update() {
    let mut pie = PieController::new(&LINUX);
    for ms in [10, 40, 100] {
        pie.departed(&LINUX, 1000, Span::from_millis(30), 9000, at(ms));
    }
    assert_eq!(pie.burst_allowance, Span::from_millis(60));
    // The first update comes after 500 ms. Delay: 0.0019, growth 0.0375, by 2048. No update spends the allowance.
    pie.catch_up(&LINUX, 9000, at(499));
    assert_eq!(pie.probability, 0.0);
    pie.catch_up(&LINUX, 9000, at(500));
    assert!((pie.probability - 0.039375 / 2048.0).abs() < 1e-15 && pie.burst_allowance == Span::from_millis(60));
    // Empty from here on: the first calm update takes the rest of the probability, the second renews the allowance.
    pie.departed(&LINUX, 1000, Span::ZERO, 0, at(510));
    pie.catch_up(&LINUX, 0, at(515));
    assert!(pie.probability == 0.0 && pie.burst_allowance == Span::ZERO);
    pie.catch_up(&LINUX, 0, at(530));
    assert_eq!(pie.burst_allowance, LINUX.max_burst);
}

#[test]
fn linux_decays_by_a_64th_and_only_while_nothing_is_queued() {
    let after = |bytes| {
        let mut pie = PieController { probability: 0.5, ..PieController::new(&LINUX) };
        pie.updates(&LINUX, bytes, 1);
        pie.probability
    };
    close(&[after(0), after(1)], &[0.498125 * 63.0 / 64.0, 0.498125]);
}

#[test]
fn linux_uses_the_current_delay_and_drops_at_two_packets() {
    let sure = PieController {
        probability: 0.19,
        accumulated: 8.5,
        delay: 0.02,
        burst_allowance: Span::ZERO,
        ..PieController::new(&LINUX)
    };
    let mut rng = Rng::new(1);
    let mut hit = |pie: &PieController, rules, bytes| pie.clone().signals(rules, bytes, 1000, &mut rng);
    assert_eq!([1999, 2000].map(|bytes| hit(&sure, &LINUX, bytes)), [false, true]);
    let shrunk = PieController { delay: 0.007, delay_old: 0.02, ..sure.clone() };
    let spaced = PieSettings { derandomize: true, ..RULES };
    assert_eq!([(&shrunk, &LINUX), (&shrunk, &spaced)].map(|(pie, rules)| hit(pie, rules, 9000)), [false, true]);
    // A drop resets the sum of probabilities. A mark that was certain does not.
    let mut marked = sure;
    assert!(marked.signals(&LINUX, 9000, 1000, &mut rng) && marked.accumulated > 8.5);
}

#[test]
fn linux_averages_rates_of_departure() {
    let rules = PieSettings { dq_rate_estimator: true, ..LINUX };
    let mut pie = PieController::new(&rules);
    // 1024 B each ms. Linux counts the first packet too: 16 packets, 15 ms after the first.
    (0..=15).for_each(|ms| pie.departed(&rules, 1024, Span::ZERO, 32_768, at(ms)));
    assert!((pie.dq_time() - 0.015).abs() < 1e-12);
    // Then 16 packets in 32 ms, at 15/32 of that rate: 7/8 + 15/32/8 of it.
    (1..=16).for_each(|n| pie.departed(&rules, 1024, Span::ZERO, 32_768, at(15 + 2 * n)));
    assert!((pie.dq_time() - 0.015 / (0.875 + 0.125 * 15.0 / 32.0)).abs() < 1e-12, "{}", pie.dq_time());
    assert_eq!(pie.burst_allowance, rules.max_burst - Span::from_millis(15 + 32));
}
