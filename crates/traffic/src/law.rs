//! Distributions of sizes and times, given by their mean (but uniform), so that a tail's shape does not change the
//! load.

use headgate_core::Rng;

/// A distribution over non-negative numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    form: Form,
    /// The mean, or the minimum.
    first: f64,
    /// The shape, or the maximum.
    second: f64,
    /// The factor of each draw, derived from the other two.
    scale: f64,
}

/// The families of distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
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

impl Form {
    /// Every family, with its name and arguments as users write them.
    pub const ALL: [(Form, &'static str, &'static [&'static str]); 7] = [
        (Form::Constant, "", &["VALUE"]),
        (Form::Exponential, "exp", &["MEAN"]),
        (Form::Pareto, "pareto", &["MEAN", "SHAPE"]),
        (Form::Lomax, "pareto2", &["MEAN", "SHAPE"]),
        (Form::Lognormal, "lognormal", &["MEAN", "SIGMA"]),
        (Form::Uniform, "uniform", &["LOWEST", "HIGHEST"]),
        (Form::Weibull, "weibull", &["MEAN", "SHAPE"]),
    ];

    /// Its name; empty for a constant.
    pub fn word(self) -> &'static str {
        Form::ALL.iter().find(|(form, ..)| *form == self).map_or("", |(_, word, _)| word)
    }

    /// Whether its second argument has the same unit as its first.
    pub(crate) fn second_has_unit(self) -> bool {
        self == Form::Uniform
    }

    /// The range of its second argument: minimum, maximum, and whether the minimum itself is allowed.
    fn second_range(self) -> Option<(f64, f64, bool)> {
        match self {
            // The mean is infinite for a shape of 1 or less.
            Form::Pareto | Form::Lomax => Some((1.0, 1000.0, false)),
            // At the maximum, one draw in a thousand is 10^10 times the median.
            Form::Lognormal => Some((0.0, 8.0, true)),
            Form::Weibull => Some((0.1, 100.0, true)),
            Form::Constant | Form::Exponential | Form::Uniform => None,
        }
    }
}

/// The largest exact integer; larger than any useful value in nanoseconds or bytes.
const LARGEST: f64 = 9_007_199_254_740_992.0;

impl Law {
    /// Always `value`.
    pub const fn constant(value: f64) -> Law {
        Law { form: Form::Constant, first: value, second: 0.0, scale: value }
    }

    /// The distribution of family `form` with the arguments named in [`Form::ALL`].
    ///
    /// # Errors
    /// The valid range of an argument that is out of range.
    pub fn new(form: Form, first: f64, second: f64) -> Result<Law, String> {
        if !(0.0..=LARGEST).contains(&first) || !(0.0..=LARGEST).contains(&second) {
            return Err("arguments that are not negative, and below 2^53".to_string());
        }
        if !matches!(form, Form::Constant | Form::Uniform) && first == 0.0 {
            return Err("a mean above 0".to_string());
        }
        if let Some((least, most, closed)) = form.second_range()
            && (second > most || second < least || (second == least && !closed))
        {
            let argument = if form == Form::Lognormal { "sigma" } else { "shape" };
            return Err(match closed {
                true => format!("a {argument} of {least} to {most}"),
                false => format!("a {argument} above {least} and at most {most}"),
            });
        }
        if form == Form::Uniform && first > second {
            return Err("a lowest value that is not above the highest".to_string());
        }
        Ok(Law { form, first, second, scale: scale(form, first, second) })
    }

    /// Its family.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Its arguments, as [`Law::new`] takes them.
    pub fn arguments(&self) -> (f64, f64) {
        (self.first, self.second)
    }

    /// Its mean.
    pub fn mean(&self) -> f64 {
        if self.form == Form::Uniform { (self.first + self.second) / 2.0 } else { self.first }
    }

    /// Draws a value, by inverting the distribution function if it has a closed form.
    pub fn draw(&self, rng: &mut Rng) -> f64 {
        if self.form == Form::Constant {
            return self.scale;
        }
        // In (0, 1], so that logarithm and negative powers are finite.
        let u = 1.0 - rng.unit();
        match self.form {
            Form::Constant => self.scale,
            Form::Exponential => -libm::log(u) * self.scale,
            Form::Pareto => libm::pow(u, -1.0 / self.second) * self.scale,
            Form::Lomax => (libm::pow(u, -1.0 / self.second) - 1.0) * self.scale,
            Form::Lognormal => libm::exp(self.second * normal(u, rng.unit())) * self.scale,
            Form::Uniform => self.first + u * self.scale,
            Form::Weibull => libm::pow(-libm::log(u), 1.0 / self.second) * self.scale,
        }
    }
}

/// The scale that gives the wanted mean.
fn scale(form: Form, first: f64, second: f64) -> f64 {
    match form {
        Form::Constant | Form::Exponential => first,
        Form::Pareto => first * (second - 1.0) / second,
        Form::Lomax => first * (second - 1.0),
        // The mean is exp(mu + sigma^2 / 2).
        Form::Lognormal => first * libm::exp(-second * second / 2.0),
        Form::Uniform => second - first,
        Form::Weibull => first / libm::tgamma(1.0 + 1.0 / second),
    }
}

/// A standard normal number from two uniform ones, the first above zero (Box and Muller, Annals of Mathematical
/// Statistics 29(2), 1958). The second of the pair is discarded: flows would have to store it.
fn normal(u: f64, v: f64) -> f64 {
    libm::sqrt(-2.0 * libm::log(u)) * libm::cos(core::f64::consts::TAU * v)
}
