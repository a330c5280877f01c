//! Distributions of sizes and times. All but the uniform distribution are given by their mean, so that the shape of a
//! tail does not change the load.

use aqm::Rng;

/// A distribution over non-negative numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    form: DistributionKind,
    /// The mean, or the minimum.
    first: f64,
    /// The shape, or the maximum.
    second: f64,
    /// The scale of each draw, derived from the two arguments.
    scale: f64,
}

/// The families of distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistributionKind {
    /// A constant.
    Constant,
    /// Exponential, by mean.
    Exponential,
    /// Pareto, by mean and shape, from its scale up: P(X > x) = (scale / x)^shape.
    Pareto,
    /// Pareto of the second kind (Lomax), by mean and shape, from zero up: P(X > x) = (1 + x / scale)^-shape.
    Lomax,
    /// Log-normal, by mean and the standard deviation of its logarithm.
    Lognormal,
    /// Uniform, by minimum and maximum.
    Uniform,
    /// Weibull, by mean and shape: P(X > x) = exp(-(x / scale)^shape).
    Weibull,
}

impl DistributionKind {
    /// Every family, with its name and arguments as users write them.
    pub const ALL: [(DistributionKind, &'static str, &'static [&'static str]); 7] = [
        (DistributionKind::Constant, "", &["VALUE"]),
        (DistributionKind::Exponential, "exp", &["MEAN"]),
        (DistributionKind::Pareto, "pareto", &["MEAN", "SHAPE"]),
        (DistributionKind::Lomax, "pareto2", &["MEAN", "SHAPE"]),
        (DistributionKind::Lognormal, "lognormal", &["MEAN", "SIGMA"]),
        (DistributionKind::Uniform, "uniform", &["LOWEST", "HIGHEST"]),
        (DistributionKind::Weibull, "weibull", &["MEAN", "SHAPE"]),
    ];

    /// Its name; empty for a constant.
    pub fn word(self) -> &'static str {
        DistributionKind::ALL.iter().find(|(form, ..)| *form == self).map_or("", |(_, word, _)| word)
    }

    /// Whether its second argument has the same unit as its first.
    pub(crate) fn second_has_unit(self) -> bool {
        self == DistributionKind::Uniform
    }

    /// The range of its second argument: minimum, maximum, and whether the minimum itself is allowed.
    fn second_range(self) -> Option<(f64, f64, bool)> {
        match self {
            // The mean is infinite for a shape of 1 or less.
            DistributionKind::Pareto | DistributionKind::Lomax => Some((1.0, 1000.0, false)),
            // At the maximum, one draw in a thousand is 10^10 times the median.
            DistributionKind::Lognormal => Some((0.0, 8.0, true)),
            DistributionKind::Weibull => Some((0.1, 100.0, true)),
            DistributionKind::Constant | DistributionKind::Exponential | DistributionKind::Uniform => None,
        }
    }
}

/// The largest exact integer; larger than any useful value in nanoseconds or bytes.
const LARGEST: f64 = 9_007_199_254_740_992.0;

impl Distribution {
    /// Always `value`.
    pub const fn constant(value: f64) -> Distribution {
        Distribution { form: DistributionKind::Constant, first: value, second: 0.0, scale: value }
    }

    /// The distribution of family `form` with the arguments named in [`DistributionKind::ALL`].
    ///
    /// # Errors
    /// The valid range of an argument that is out of range.
    pub fn new(form: DistributionKind, first: f64, second: f64) -> Result<Distribution, String> {
        if !(0.0..=LARGEST).contains(&first) || !(0.0..=LARGEST).contains(&second) {
            return Err("arguments that are not negative, and below 2^53".to_string());
        }
        if !matches!(form, DistributionKind::Constant | DistributionKind::Uniform) && first == 0.0 {
            return Err("a mean above 0".to_string());
        }
        if let Some((least, most, closed)) = form.second_range()
            && (second > most || second < least || (second == least && !closed))
        {
            let argument = if form == DistributionKind::Lognormal { "sigma" } else { "shape" };
            return Err(match closed {
                true => format!("a {argument} of {least} to {most}"),
                false => format!("a {argument} above {least} and at most {most}"),
            });
        }
        if form == DistributionKind::Uniform && first > second {
            return Err("a lowest value that is not above the highest".to_string());
        }
        Ok(Distribution { form, first, second, scale: scale(form, first, second) })
    }

    /// Its family.
    pub fn form(&self) -> DistributionKind {
        self.form
    }

    /// Its arguments, as [`Distribution::new`] takes them.
    pub fn arguments(&self) -> (f64, f64) {
        (self.first, self.second)
    }

    /// Its mean.
    pub fn mean(&self) -> f64 {
        if self.form == DistributionKind::Uniform { (self.first + self.second) / 2.0 } else { self.first }
    }

    /// The bound that no draw falls below.
    pub fn least(&self) -> f64 {
        match self.form {
            DistributionKind::Constant | DistributionKind::Uniform => self.first,
            DistributionKind::Pareto => self.scale,
            DistributionKind::Exponential
            | DistributionKind::Lomax
            | DistributionKind::Lognormal
            | DistributionKind::Weibull => 0.0,
        }
    }

    /// Draws a value, by inverting the distribution function if it has a closed form.
    pub fn draw(&self, rng: &mut Rng) -> f64 {
        if self.form == DistributionKind::Constant {
            return self.scale;
        }
        // In (0, 1], so that logarithm and negative powers are finite.
        let u = 1.0 - rng.unit();
        match self.form {
            DistributionKind::Constant => self.scale,
            DistributionKind::Exponential => -libm::log(u) * self.scale,
            DistributionKind::Pareto => libm::pow(u, -1.0 / self.second) * self.scale,
            DistributionKind::Lomax => (libm::pow(u, -1.0 / self.second) - 1.0) * self.scale,
            DistributionKind::Lognormal => libm::exp(self.second * normal(u, rng.unit())) * self.scale,
            DistributionKind::Uniform => self.first + u * self.scale,
            DistributionKind::Weibull => libm::pow(-libm::log(u), 1.0 / self.second) * self.scale,
        }
    }
}

/// The scale that gives the wanted mean.
fn scale(form: DistributionKind, first: f64, second: f64) -> f64 {
    match form {
        DistributionKind::Constant | DistributionKind::Exponential => first,
        DistributionKind::Pareto => first * (second - 1.0) / second,
        DistributionKind::Lomax => first * (second - 1.0),
        // The mean is exp(mu + sigma^2 / 2).
        DistributionKind::Lognormal => first * libm::exp(-second * second / 2.0),
        DistributionKind::Uniform => second - first,
        DistributionKind::Weibull => first / libm::tgamma(1.0 + 1.0 / second),
    }
}

/// A standard normal number from two uniform ones, the first above zero (Box and Muller, Annals of Mathematical
/// Statistics 29(2), 1958). The second of the pair is discarded: flows would have to store it.
fn normal(u: f64, v: f64) -> f64 {
    libm::sqrt(-2.0 * libm::log(u)) * libm::cos(core::f64::consts::TAU * v)
}
