//! Kinds of values for sources, besides those of [`mod@aqm::params`]: random sizes, times and counts, file
//! names, ladders and schedules of rates.

use std::fmt;
use std::marker::PhantomData;

use aqm::params::{Bytes, ParameterValue};
use aqm::settings::split;
use aqm::{Rate, Rng, Span};

use crate::distribution::{Distribution, DistributionKind};

/// A quantity, constant or drawn at random each time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomValue<U> {
    distribution: Distribution,
    unit: PhantomData<U>,
}

/// A size in bytes: `10KB`, `exp(10KB)`, `pareto(10KB,1.2)`.
pub type RandomSize = RandomValue<Bytes>;
/// A time: `5s`, `exp(5ms)`, `uniform(1s,2s)`.
pub type RandomTime = RandomValue<Span>;
/// A number: `1`, `exp(5)`.
pub type RandomCount = RandomValue<f64>;

/// The unit of a drawn quantity.
pub trait QuantityUnit: ParameterValue + Copy {
    /// Its name in messages.
    const WHAT: &'static str;
    /// An example value.
    const EXAMPLE: &'static str;
    /// The value in the smallest unit.
    fn number(self) -> f64;
    /// The value nearest to a non-negative number of smallest units.
    fn of(number: f64) -> Self;
}

impl QuantityUnit for Bytes {
    const WHAT: &'static str = "size";
    const EXAMPLE: &'static str = "10KB";
    fn number(self) -> f64 {
        self.0 as f64
    }
    fn of(number: f64) -> Bytes {
        Bytes(number as u64)
    }
}

impl QuantityUnit for Span {
    const WHAT: &'static str = "time";
    const EXAMPLE: &'static str = "5ms";
    fn number(self) -> f64 {
        self.as_nanos() as f64
    }
    fn of(number: f64) -> Span {
        Span::from_nanos((number + 0.5) as u64)
    }
}

impl QuantityUnit for f64 {
    const WHAT: &'static str = "number";
    const EXAMPLE: &'static str = "5";
    fn number(self) -> f64 {
        self
    }
    fn of(number: f64) -> f64 {
        number
    }
}

impl<U: QuantityUnit> RandomValue<U> {
    /// A quantity drawn from `distribution`, in the smallest unit.
    pub const fn by(distribution: Distribution) -> RandomValue<U> {
        RandomValue { distribution, unit: PhantomData }
    }

    /// The constant `value`.
    pub fn always(value: U) -> RandomValue<U> {
        RandomValue::by(Distribution::constant(value.number()))
    }

    /// The distribution, in the smallest unit.
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }
}

impl RandomSize {
    /// Draws bytes, rounded up, at least one.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        (libm::ceil(self.distribution.draw(rng)) as u64).max(1)
    }
}

impl RandomTime {
    /// Draws a time, rounded to nanoseconds.
    pub fn draw(&self, rng: &mut Rng) -> Span {
        Span::of(self.distribution.draw(rng))
    }

    /// Exponential with this mean.
    pub fn exponential(mean: Span) -> RandomTime {
        Distribution::new(DistributionKind::Exponential, mean.number(), 0.0)
            .map_or_else(|_| RandomTime::always(mean), RandomValue::by)
    }
}

impl RandomCount {
    /// Draws a count, rounded up, at least one.
    pub fn draw(&self, rng: &mut Rng) -> u32 {
        (libm::ceil(self.distribution.draw(rng)) as u32).max(1)
    }
}

impl<U: QuantityUnit> ParameterValue for RandomValue<U> {
    type Scalar = f64;

    fn kind() -> String {
        format!("{} or distribution", U::WHAT)
    }

    fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let Some((word, inside)) = text.split_once('(') else {
            return quantity::<U>(text)
                .map(|value| RandomValue::by(Distribution::constant(value)))
                .map_err(|_| expected::<U>());
        };
        let known = DistributionKind::ALL.iter().find(|(_, known, _)| !known.is_empty() && *known == word.trim());
        let (form, word, names) = known.ok_or_else(expected::<U>)?;
        let arguments = inside.strip_suffix(')').ok_or_else(expected::<U>)?;
        let arguments: Vec<&str> = arguments.split(',').collect();
        let usage = || format!("{word}({})", names.join(","));
        if arguments.len() != names.len() {
            return Err(usage());
        }
        let first = quantity::<U>(arguments[0]).map_err(|expected| format!("{}, with {expected}", usage()))?;
        let second = match arguments.get(1) {
            None => 0.0,
            Some(text) if form.second_has_unit() => quantity::<U>(text)?,
            Some(text) => f64::read(text).map_err(|expected| format!("{}, with {expected}", usage()))?,
        };
        Distribution::new(*form, first, second)
            .map(RandomValue::by)
            .map_err(|expected| format!("{}, with {expected}", usage()))
    }

    fn show(&self) -> String {
        let (first, second) = self.distribution.arguments();
        let form = self.distribution.form();
        let quantity = |number: f64| U::of(number).show();
        match form {
            DistributionKind::Constant => quantity(first),
            DistributionKind::Exponential => format!("{}({})", form.word(), quantity(first)),
            DistributionKind::Uniform => format!("{}({},{})", form.word(), quantity(first), quantity(second)),
            _ => format!("{}({},{second})", form.word(), quantity(first)),
        }
    }
}

/// Parses a non-negative quantity into the smallest unit.
fn quantity<U: QuantityUnit>(text: &str) -> Result<f64, String> {
    let number = U::read(text)?.number();
    if number < 0.0 { Err(format!("a {} that is not negative", U::WHAT)) } else { Ok(number) }
}

fn expected<U: QuantityUnit>() -> String {
    let words: Vec<String> =
        DistributionKind::ALL[1..].iter().map(|(_, word, names)| format!("{word}({})", names.join(","))).collect();
    format!("a {} such as \"{}\", or one of {}", U::WHAT, U::EXAMPLE, words.join(", "))
}

/// A size, or endless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeOrEndless(pub Option<RandomSize>);

impl ParameterValue for SizeOrEndless {
    type Scalar = f64;
    fn kind() -> String {
        format!("{}, or endless", RandomSize::kind())
    }
    fn read(text: &str) -> Result<Self, String> {
        if text.trim() == "endless" {
            return Ok(SizeOrEndless(None));
        }
        RandomSize::read(text)
            .map(|size| SizeOrEndless(Some(size)))
            .map_err(|expected| format!("{expected}, or endless"))
    }
    fn show(&self) -> String {
        self.0.as_ref().map_or_else(|| "endless".to_string(), ParameterValue::show)
    }
}

/// A file name, resolved by the caller; empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileName(pub String);

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ParameterValue for FileName {
    type Scalar = bool;
    fn kind() -> String {
        "name of a file".to_string()
    }
    fn read(text: &str) -> Result<Self, String> {
        let name = text.trim();
        if name.chars().any(char::is_control) {
            return Err("the name of a file".to_string());
        }
        Ok(FileName(name.to_string()))
    }
    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Increasing rates: `[235kbit/s; 750kbit/s; 3Mbit/s]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLadder(pub Vec<Rate>);

impl ParameterValue for RateLadder {
    type Scalar = bool;
    fn kind() -> String {
        "increasing rates".to_string()
    }
    fn read(text: &str) -> Result<Self, String> {
        let rates = listed(text)?.into_iter().map(Rate::parse).collect::<Result<Vec<Rate>, _>>()?;
        let rising = rates.windows(2).all(|pair| pair[0] < pair[1]);
        match rates.first() {
            Some(first) if rising && first.as_bits() > 0 => Ok(RateLadder(rates)),
            _ => Err("increasing rates above 0, as in \"[500kbit/s; 2Mbit/s]\"".to_string()),
        }
    }
    fn show(&self) -> String {
        bracketed(&self.0, Rate::to_string)
    }
}

/// Rates with the times from which they hold, counted from the flow's start: `[0s 250kbit/s; 50s 4Mbit/s]`; `[]` for
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateSchedule(pub Vec<(Span, Rate)>);

impl RateSchedule {
    /// A step in a schedule's notation.
    pub fn step(at: Span, rate: Rate) -> String {
        format!("{at} {rate}")
    }
}

impl ParameterValue for RateSchedule {
    type Scalar = bool;
    fn kind() -> String {
        "times with rates".to_string()
    }
    fn read(text: &str) -> Result<Self, String> {
        let form = || "increasing times, each with a rate, as in \"[0s 250kbit/s; 50s 4Mbit/s]\"".to_string();
        let step = |text: &str| {
            let (at, rate) = text.trim().split_once(char::is_whitespace)?;
            Some((Span::parse(at).ok()?, Rate::parse(rate).ok()?))
        };
        let steps = listed(text)?.into_iter().map(|text| step(text).ok_or_else(form)).collect::<Result<Vec<_>, _>>()?;
        if steps.windows(2).all(|pair| pair[0].0 < pair[1].0) { Ok(RateSchedule(steps)) } else { Err(form()) }
    }
    fn show(&self) -> String {
        bracketed(&self.0, |(at, rate)| RateSchedule::step(*at, *rate))
    }
}

/// The items in square brackets, separated by semicolons; none for `[]`.
fn listed(text: &str) -> Result<Vec<&str>, String> {
    let inside = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inside = inside.ok_or("a list between square brackets and semicolons, as in \"[a; b]\"")?;
    if inside.trim().is_empty() { Ok(Vec::new()) } else { split(inside, &[';']) }
}

fn bracketed<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join("; "))
}
