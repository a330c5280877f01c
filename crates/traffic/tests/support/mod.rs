//! Tests of goodness of fit, and the writes of a source on an infinitely fast network.

use aqm::{Rate, Rng, Span};
use headgate_traffic::{FlowSource, GroupSource, SenderInfo, SourceWrite, Traffic, WriteStart};

/// Number of draws with which a Kolmogorov-Smirnov test detects a difference of a hundredth.
pub const DRAWS: usize = 20_000;

/// Fails if the sample does not fit the distribution function `cdf`, by the Kolmogorov-Smirnov test at 0.1 %. Its
/// critical value for large samples is sqrt(-ln(0.0005) / 2) / sqrt(n).
pub fn assert_fits(what: &str, mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    sample.sort_unstable_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = sample.iter().enumerate().map(|(i, x)| {
        let expected = cdf(*x);
        (expected - i as f64 / n).abs().max((expected - (i + 1) as f64 / n).abs())
    });
    let distance = distance.fold(0.0, f64::max);
    let critical = 1.9495 / n.sqrt();
    assert!(distance < critical, "{what}: D = {distance:.5}, critical {critical:.5}, n = {n}");
}

/// Fails if `found` differs from `expected` by more than five times `deviation`.
pub fn assert_near(what: &str, found: f64, expected: f64, deviation: f64) {
    assert!((found - expected).abs() <= 5.0 * deviation, "{what}: {found}, expected {expected} +- 5 x {deviation}");
}

pub fn exponential(mean: f64) -> impl Fn(f64) -> f64 {
    move |x| 1.0 - (-x / mean).exp()
}

/// Pareto from `k` up, with the `k` of this mean.
pub fn pareto(mean: f64, shape: f64) -> impl Fn(f64) -> f64 {
    let k = mean * (shape - 1.0) / shape;
    move |x| if x < k { 0.0 } else { 1.0 - (k / x).powf(shape) }
}

/// Pareto of the second kind.
pub fn lomax(mean: f64, shape: f64) -> impl Fn(f64) -> f64 {
    let scale = mean * (shape - 1.0);
    move |x| 1.0 - (1.0 + x / scale).powf(-shape)
}

pub fn rng(name: &str) -> Rng {
    Rng::named(7, name)
}

/// Packets of 1000 bytes, 960 of data, over TCP.
pub const TCP: SenderInfo = SenderInfo::tcp(1000, 960);

/// The same packets over UDP at 1 Mbit/s: one every 8 ms.
pub const UDP: SenderInfo = SenderInfo::udp(1000, 960, Rate::from_bits(1_000_000));

pub fn group_source(text: &str, sender: &SenderInfo) -> GroupSource {
    let traffic: Traffic = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    traffic
        .build(sender, &mut |name| Err(format!("there is no {name}")))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn source(text: &str, sender: &SenderInfo) -> FlowSource {
    group_source(text, sender).start(0)
}

/// The next `n` writes, or fewer if the source ends. Each write is delivered at once.
pub fn writes(source: &mut FlowSource, n: usize) -> Vec<SourceWrite> {
    let mut rng = rng("writes");
    let mut next = || {
        let write = source.next(&mut rng);
        source.done(Span::ZERO);
        write
    };
    (0..n).map_while(|_| next()).collect()
}

/// Seconds since the previous write.
pub fn gap(write: &SourceWrite) -> f64 {
    match write.after {
        WriteStart::AfterStart(gap) | WriteStart::AfterDelivery(gap) => gap.as_secs_f64(),
    }
}

/// The writes that begin before `end`, with their times in seconds.
pub fn until(source: &mut FlowSource, end: f64) -> Vec<(f64, SourceWrite)> {
    let (mut rng, mut at) = (rng("until"), 0.0);
    let next = || {
        let write = source.next(&mut rng)?;
        at += gap(&write);
        Some((at, write))
    };
    std::iter::from_fn(next).take_while(|(at, _)| *at < end).collect()
}
