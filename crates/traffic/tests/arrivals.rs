//! Flow arrivals are a Poisson process.

use aqm::Span;
use headgate_traffic::{PoissonArrivals, most_arrivals};

use crate::support::{DRAWS, assert_fits, assert_near, exponential, rng};

/// The number of windows of one second with 0, 1, 2 ... arrivals, among 4000 windows at 3 arrivals a second.
fn windows() -> Vec<u32> {
    let mut counts = vec![0_u32; 4000];
    let seconds = PoissonArrivals::new(3.0, rng("windows")).map(|at| at.as_secs_f64() as usize);
    seconds.take_while(|second| *second < 4000).for_each(|second| counts[second] += 1);
    counts
}

#[test]
fn gaps_are_exponential() {
    let moments: Vec<Span> = PoissonArrivals::new(50.0, rng("gaps")).take(DRAWS).collect();
    let gaps = moments.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
    assert_fits("gaps", gaps.collect(), exponential(0.02));
}

#[test]
fn counts_are_poisson_distributed() {
    let counts = windows();
    // The cells are 0 to 9, and 10 or more. With 10 degrees of freedom, chi-square exceeds 29.59 once in a thousand
    // times.
    let mut cells = [0.0; 11];
    counts.iter().for_each(|count| cells[(*count as usize).min(10)] += 1.0);
    let mut expected = [0.0; 11];
    let mut term = (-3.0_f64).exp();
    for (k, cell) in expected.iter_mut().enumerate().take(10) {
        *cell = term * 4000.0;
        term *= 3.0 / (k + 1) as f64;
    }
    expected[10] = 4000.0 - expected[..10].iter().sum::<f64>();
    let chi: f64 = cells.iter().zip(expected).map(|(found, expected)| (found - expected).powi(2) / expected).sum();
    assert!(chi < 29.59, "chi-square {chi}, cells {cells:?}, expected {expected:?}");
}

#[test]
fn the_index_of_dispersion_is_one() {
    let counts = windows();
    let n = counts.len() as f64;
    let mean = counts.iter().map(|count| f64::from(*count)).sum::<f64>() / n;
    let variance = counts.iter().map(|count| (f64::from(*count) - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // (n - 1) times the index is chi-square distributed with n - 1 degrees of freedom.
    assert_near("index of dispersion", variance / mean, 1.0, (2.0 / (n - 1.0)).sqrt());
}

#[test]
fn a_run_has_at_most_five_standard_deviations_more_than_the_mean() {
    assert_eq!(most_arrivals(100.0, Span::from_secs(100)), 10_000 + 500);
    assert_eq!(most_arrivals(0.0, Span::from_secs(100)), 0);
    assert_eq!(PoissonArrivals::new(0.0, rng("none")).next(), None);
    for seed in 0..200 {
        let arrivals = PoissonArrivals::new(20.0, aqm::Rng::new(seed));
        let arrived = arrivals.take_while(|at| *at < Span::from_secs(5)).count() as u64;
        assert!(arrived <= most_arrivals(20.0, Span::from_secs(5)), "{arrived}");
    }
}
