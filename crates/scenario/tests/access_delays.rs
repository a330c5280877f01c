//! Delays of access links that each flow draws: their distributions, their random streams and their spelling.

use aqm::Span;
use headgate_scenario::{AccessDelay, Changes, Scenario};

/// A scenario with `flows` and changes from the command line.
fn read(flows: &str, set: &[&str]) -> Result<Scenario, String> {
    let text = format!(
        "name = 'small'\nduration = '10s'\nqdiscs = ['droptail']\n\
         link = {{ rate = '10Mbit/s', delay = '10ms', limit = '100p' }}\n{flows}"
    );
    let changes = Changes { set: set.iter().map(|change| (*change).to_string()).collect(), ..Changes::default() };
    Scenario::read(&text, "small.toml", &changes).map_err(|error| error.to_string())
}

/// The delays of `flows` TCP flows whose sender's link has the delay `written`.
fn draws(written: &str, flows: u32, seed: u64) -> Vec<[Span; 2]> {
    let group = format!("[[tcp]]\nflows = {flows}\nsender = {{ delay = '{written}' }}\n");
    read(&group, &[]).unwrap().tcp[0].access_delays(seed).collect()
}

/// Shares of flows, with the quantile of the standard normal distribution at each.
const QUANTILES: [(f64, f64); 5] =
    [(0.1, -1.281_551_565_5), (0.25, -0.674_489_750_2), (0.5, 0.0), (0.75, 0.674_489_750_2), (0.9, 1.281_551_565_5)];

/// The quantile, in milliseconds, of a share of flows and of its standard normal quantile.
type Quantile = fn(f64, f64) -> f64;

#[test]
fn the_draws_of_2000_flows_have_the_quantiles_of_their_distribution() {
    let families: [(&str, Quantile); 6] = [
        ("uniform(10ms,200ms)", |share, _| 10.0 + 190.0 * share),
        ("exp(40ms)", |share, _| -40.0 * (1.0 - share).ln()),
        // The scale is mean * (shape - 1) / shape, and for pareto2 mean * (shape - 1).
        ("pareto(40ms,1.6)", |share, _| 40.0 * 0.6 / 1.6 * (1.0 - share).powf(-1.0 / 1.6)),
        ("pareto2(40ms,3)", |share, _| 80.0 * ((1.0 - share).powf(-1.0 / 3.0) - 1.0)),
        ("lognormal(40ms,0.8)", |_, normal| (40_f64.ln() - 0.32 + 0.8 * normal).exp()),
        // For the shape 2 the scale is mean / gamma(1.5), and gamma(1.5) is sqrt(pi) / 2.
        ("weibull(40ms,2)", |share, _| 80.0 / std::f64::consts::PI.sqrt() * (-(1.0 - share).ln()).sqrt()),
    ];
    for (written, quantile) in families {
        let delays: Vec<f64> = draws(written, 2000, 7).iter().map(|[sender, _]| sender.as_secs_f64() * 1e3).collect();
        for (share, normal) in QUANTILES {
            let below = delays.iter().filter(|delay| **delay <= quantile(share, normal)).count() as f64 / 2000.0;
            // Four standard deviations of a share among 2000 flows.
            let tolerance = 4.0 * (share * (1.0 - share) / 2000.0).sqrt();
            assert!((below - share).abs() < tolerance, "{written}: {below} of the flows below the quantile {share}");
        }
    }
}

#[test]
fn a_seed_gives_the_same_draws_and_another_seed_other_draws() {
    let written = "exp(40ms)";
    assert_eq!(draws(written, 50, 3), draws(written, 50, 3));
    let [three, four] = [3, 4].map(|seed| draws(written, 50, seed));
    assert!(three.iter().zip(&four).all(|(a, b)| a[0] != b[0]));
}

#[test]
fn another_flow_or_group_and_the_other_end_leave_the_draws() {
    let written = "uniform(1ms,50ms)";
    let few = draws(written, 5, 1);
    assert_eq!(few, draws(written, 6, 1)[..5]);
    let both = "[[tcp]]\nname = 'late'\naccess = { delay = 'exp(2ms)' }\n\
                [[tcp]]\nname = 'tcp'\nflows = 5\naccess = { delay = 'uniform(1ms,50ms)' }\n";
    let both: Vec<[Span; 2]> = read(both, &[]).unwrap().tcp[1].access_delays(1).collect();
    assert!(both.iter().zip(&few).all(|(both, few)| both[0] == few[0]), "the receiver's draws change no sender's");
    assert!(both.iter().all(|[sender, receiver]| sender != receiver), "each end draws its own");
}

#[test]
fn a_fixed_delay_is_the_same_for_all_flows_and_draws_nothing() {
    let group = &read("[[tcp]]\nflows = 3\naccess = { delay = '7ms' }\n", &[]).unwrap().tcp[0];
    assert!(!group.draws_delays());
    assert!(group.access_delays(1).all(|ends| ends == [Span::from_millis(7); 2]));
}

#[test]
fn no_draw_is_below_the_least_or_above_the_longest_delay() {
    let delay_of = |written: &str| {
        let group = format!("[[udp]]\nrate = '1Mbit/s'\nsender = {{ delay = '{written}' }}\n");
        read(&group, &[]).unwrap().udp[0].sender.delay
    };
    for (written, least, mean) in [
        ("uniform(10ms,200ms)", 10, 105),
        ("pareto(40ms,2)", 20, 40),
        ("exp(40ms)", 0, 40),
        ("lognormal(40ms,1)", 0, 40),
        ("3ms", 3, 3),
    ] {
        let delay = delay_of(written);
        assert_eq!([delay.least(), delay.mean()], [least, mean].map(Span::from_millis), "{written}");
        assert!(draws(written, 500, 1).iter().all(|ends| ends[0] >= delay.least()), "{written}");
    }
    // The mean is in range, but one flow in three would draw more than an hour.
    let long: Vec<Span> = draws("exp(55min)", 100, 1).into_iter().map(|[sender, _]| sender).collect();
    assert_eq!(long.iter().max(), Some(&Span::from_secs(3600)));
    assert!(long.iter().any(|delay| *delay < Span::from_secs(3600)));
}

#[test]
fn the_canonical_text_keeps_the_distribution() {
    let group =
        "[[tcp]]\naccess = { delay = ' uniform( 1ms , 50ms ) ' }\nreceiver = { delay = 'lognormal(20ms,0.5)' }\n";
    let scenario = read(group, &[]).unwrap();
    let text = scenario.to_toml();
    let line = |end: &str| text.lines().find(|line| line.starts_with(end)).unwrap().to_string();
    assert_eq!(line("sender = "), r#"sender = { rate = "100Mbit/s", delay = "uniform(1ms,50ms)" }"#);
    assert_eq!(line("receiver = "), r#"receiver = { rate = "100Mbit/s", delay = "lognormal(20ms,0.5)" }"#);
    let again = Scenario::read(&text, "again.toml", &Changes::default()).unwrap();
    assert_eq!((again.to_toml(), &again), (text, &scenario));
    let changed = read("[[tcp]]\n", &["tcp.access.delay=exp(5ms)"]).unwrap();
    assert!(matches!(changed.tcp[0].sender.delay, AccessDelay::Drawn(_)));
    assert_eq!(changed.tcp[0].receiver.delay.to_string(), "exp(5ms)");
}

#[test]
fn delays_that_no_link_has_are_refused() {
    for (written, message) in [
        ("uniform(-1ms,5ms)", "expected uniform(LOWEST,HIGHEST), with"),
        ("exp(-5ms)", "expected exp(MEAN), with"),
        ("exp(0ms)", "expected exp(MEAN), with a mean above 0"),
        ("uniform(5ms,5ms)", "draws one value only: write \"5ms\""),
        ("uniform(0ms,0ms)", "draws one value only: write \"0s\""),
        ("uniform(9ms,5ms)", "with a lowest value that is not above the highest"),
        ("uniform(1ms,inf)", "with its unit"),
        ("uniform(1ms,2h)", "must be at most 3600s, not 7200s"),
        ("exp(2h)", "must be at most 3600s, not 7200s"),
        ("pareto(10ms,1)", "with a shape above 1"),
        ("uniform(10ms)", "expected uniform(LOWEST,HIGHEST), found"),
        ("uniform(1,5)", "with its unit"),
        ("gauss(10ms,1ms)", "or one of exp(MEAN)"),
        ("uniform(1ms,5ms", "or one of exp(MEAN)"),
    ] {
        let error = read(&format!("[[tcp]]\naccess = {{ delay = '{written}' }}\n"), &[]).unwrap_err();
        assert!(error.contains(message) && error.contains("tcp[0].access.delay"), "{written}: {error}");
    }
    let error = read("[[tcp]]\nrtt = '90ms'\nsender = { delay = 'exp(5ms)' }\n", &[]).unwrap_err();
    assert!(error.contains("`rtt` sets the delays of both access links"), "{error}");
}
