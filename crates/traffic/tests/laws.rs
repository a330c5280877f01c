//! Draws follow the requested distribution, and distributions survive a round trip through text.

use aqm::params::ParameterValue;
use headgate_traffic::values::{RandomCount, RandomSize, RandomTime, RateLadder, RateSchedule, SizeOrEndless};
use headgate_traffic::{Distribution, DistributionKind};
use proptest::prelude::*;

use crate::support::{DRAWS, assert_fits, assert_near, exponential, lomax, pareto, rng};

fn drawn(form: DistributionKind, first: f64, second: f64) -> Vec<f64> {
    let law = Distribution::new(form, first, second).unwrap();
    let mut rng = rng(form.word());
    (0..DRAWS).map(|_| law.draw(&mut rng)).collect()
}

#[test]
fn draws_follow_the_distribution_function() {
    assert_fits("exponential", drawn(DistributionKind::Exponential, 3.0, 0.0), exponential(3.0));
    for shape in [1.05, 1.5, 3.0] {
        assert_fits("pareto", drawn(DistributionKind::Pareto, 12.0, shape), pareto(12.0, shape));
        assert_fits("pareto2", drawn(DistributionKind::Lomax, 12.0, shape), lomax(12.0, shape));
    }
    assert_fits("uniform", drawn(DistributionKind::Uniform, 2.0, 6.0), |x| (x - 2.0) / 4.0);
    for shape in [0.5, 1.0, 2.0] {
        // Gamma(3) = 2, Gamma(2) = 1, Gamma(1.5) = sqrt(pi) / 2.
        let gamma = [(0.5, 2.0), (1.0, 1.0), (2.0, std::f64::consts::PI.sqrt() / 2.0)];
        let scale = 5.0 / gamma.iter().find(|(of, _)| *of == shape).unwrap().1;
        assert_fits("weibull", drawn(DistributionKind::Weibull, 5.0, shape), |x: f64| {
            1.0 - (-(x / scale).powf(shape)).exp()
        });
    }
    let (mean, sigma) = (7.0_f64, 1.37);
    let mu = mean.ln() - sigma * sigma / 2.0;
    let normal = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    assert_fits("lognormal", drawn(DistributionKind::Lognormal, mean, sigma), |x| normal((x.ln() - mu) / sigma));
}

#[test]
fn the_mean_equals_the_parameter() {
    // Variance at mean 1, by family, with parameters for which it is finite.
    let gamma = |x| libm::tgamma(x);
    let cases = [
        (DistributionKind::Exponential, 0.0, 1.0),
        (DistributionKind::Pareto, 3.5, 1.0 / (3.5 * 1.5)),
        (DistributionKind::Lomax, 3.5, 3.5 / 1.5),
        (DistributionKind::Lognormal, 0.8, (0.8_f64 * 0.8).exp() - 1.0),
        (DistributionKind::Weibull, 0.7, gamma(1.0 + 2.0 / 0.7) / gamma(1.0 + 1.0 / 0.7).powi(2) - 1.0),
    ];
    for (form, second, variance) in cases {
        let draws = drawn(form, 1.0, second);
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        assert_near(form.word(), mean, 1.0, (variance / DRAWS as f64).sqrt());
    }
    assert_eq!(Distribution::new(DistributionKind::Uniform, 2.0, 6.0).unwrap().mean(), 4.0);
}

#[test]
fn draws_are_at_least_one_and_fit_their_type() {
    let mut rng = rng("extremes");
    for text in ["0B", "exp(1B)", "pareto2(1B,1.001)", "lognormal(9PB,8)", "weibull(1GB,0.1)", "uniform(0B,1B)"] {
        let Ok(size) = RandomSize::read(text) else { continue };
        assert!((0..1000).all(|_| size.draw(&mut rng) >= 1), "{text}");
    }
    let count = RandomCount::read("lognormal(1000000000,8)").unwrap();
    assert!((0..1000).all(|_| count.draw(&mut rng) >= 1));
}

#[test]
fn distributions_are_read_as_they_are_shown() {
    for text in ["10KB", "exp(10KB)", "pareto(10KB,1.2)", "pareto2(1.5MB,1.05)", "lognormal(10KB,1.37)"] {
        assert_eq!(RandomSize::read(text).unwrap().show(), text);
    }
    for text in ["0s", "exp(5ms)", "uniform(1s,2.5s)", "weibull(20ms,0.5)"] {
        assert_eq!(RandomTime::read(text).unwrap().show(), text);
    }
    assert_eq!(RandomSize::read(" uniform( 1KB , 2KB ) ").unwrap().show(), "uniform(1KB,2KB)");
    assert_eq!(SizeOrEndless::read("endless").unwrap().show(), "endless");
    assert_eq!(RateLadder::read("[235kbit/s; 3Mbit/s]").unwrap().show(), "[235kbit/s; 3Mbit/s]");
    assert_eq!(RateSchedule::read("[0s 250kbit/s;50s  4Mbit/s]").unwrap().show(), "[0s 250kbit/s; 50s 4Mbit/s]");
    assert_eq!(RateSchedule::read("[]").unwrap().show(), "[]");
}

#[test]
fn errors_say_what_is_wrong_with_a_distribution() {
    let size = |text: &str| RandomSize::read(text).unwrap_err();
    assert_eq!(size("pareto(10KB)"), "pareto(MEAN,SHAPE)");
    assert_eq!(size("pareto(10KB,1)"), "pareto(MEAN,SHAPE), with a shape above 1 and at most 1000");
    assert_eq!(size("exp(0B)"), "exp(MEAN), with a mean above 0");
    assert_eq!(
        size("lognormal(1KB,-1)"),
        "lognormal(MEAN,SIGMA), with arguments that are not negative, and below 2^53"
    );
    assert_eq!(size("uniform(2KB,1KB)"), "uniform(LOWEST,HIGHEST), with a lowest value that is not above the highest");
    for bad in ["10", "gauss(10KB,1)", "exp(10KB", "exp 10KB)", "exp(5ms)", "exp()", "", "-5KB", "pareto(10KB,inf)"] {
        assert!(RandomSize::read(bad).is_err(), "{bad:?} was accepted");
    }
    assert!(RandomCount::read("-1").is_err());
    for bad in ["[]", "[2Mbit/s; 1Mbit/s]", "[0Mbit/s]", "1Mbit/s", "[1]"] {
        assert!(RateLadder::read(bad).is_err(), "{bad:?} was accepted");
    }
    for bad in ["[1s]", "[2s 1Mbit/s; 1s 1Mbit/s]", "[1Mbit/s 1s]", "0s 1Mbit/s"] {
        assert!(RateSchedule::read(bad).is_err(), "{bad:?} was accepted");
    }
}

proptest! {
    #[test]
    fn any_text_is_refused_or_survives_a_round_trip(text in "[a-z2(),. 0-9KBms]{0,30}") {
        if let Ok(size) = RandomSize::read(&text) {
            prop_assert_eq!(RandomSize::read(&size.show()), Ok(size));
        }
        if let Ok(wait) = RandomTime::read(&text) {
            prop_assert_eq!(RandomTime::read(&wait.show()), Ok(wait));
        }
    }

    #[test]
    fn any_distribution_survives_a_round_trip_through_text(
        form in prop::sample::select(&DistributionKind::ALL[..]), first in 0_u64..1 << 40, second in 0.0..200.0_f64,
    ) {
        let second = match form.0 {
            DistributionKind::Constant | DistributionKind::Exponential => 0.0,
            DistributionKind::Uniform => (first + 5) as f64,
            _ => second,
        };
        if let Ok(law) = Distribution::new(form.0, first as f64, second).map(RandomSize::by) {
            prop_assert_eq!(RandomSize::read(&law.show()), Ok(law));
        }
    }
}
