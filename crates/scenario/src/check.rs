//! Checks that all sections share: defaults, required keys, ranges.

use std::fmt::Display;
use std::ops::{Bound, Range, RangeBounds};

use aqm::params::range_in_words;
use aqm::{Rate, Span};
use toml::Spanned;

use crate::error::Fault;
use crate::schema::{Located, Size};

/// A section of the file, to locate missing keys and bad defaults.
#[derive(Clone)]
pub(crate) struct Section {
    pub(crate) span: Range<usize>,
    /// As written in a file: `[link]`, `[[tcp]]`.
    pub(crate) heading: &'static str,
}

impl Section {
    pub(crate) fn require<T>(&self, key: &str, raw: Located<T>) -> Result<Spanned<T>, Fault> {
        raw.ok_or_else(|| self.missing_key(key))
    }

    pub(crate) fn missing_key(&self, key: &str) -> Fault {
        Fault::missing(self.span.clone(), self.heading, key)
    }

    /// The value, or the default located at the section's head.
    pub(crate) fn or_default<T>(&self, raw: Located<T>, default: T) -> Spanned<T> {
        raw.unwrap_or_else(|| Spanned::new(self.span.clone(), default))
    }

    /// The location of the key, or of the section without it.
    pub(crate) fn span_of<T>(&self, raw: &Located<T>) -> Range<usize> {
        raw.as_ref().map_or(self.span.clone(), Spanned::span)
    }
}

/// The largest packet length that an IP header can hold.
pub(crate) const LARGEST_PACKET: Size = Size(65_535);
/// Longer than any path on Earth and any timer.
pub(crate) const LONGEST_DELAY: Span = Span::from_secs(3600);
pub(crate) const POSITIVE_DELAY: (Bound<Span>, Bound<Span>) = above(Span::ZERO, LONGEST_DELAY);
pub(crate) const LONGEST_RUN: Span = Span::from_secs(86_400);
pub(crate) const POSITIVE_TIME: (Bound<Span>, Bound<Span>) = above(Span::ZERO, LONGEST_RUN);
/// At this rate an ACK takes 3.2 ns. Beyond it, rounding to nanoseconds would distort the rate.
pub(crate) const FASTEST: Rate = Rate::from_bits(100_000_000_000);
pub(crate) const POSITIVE_RATE: (Bound<Rate>, Bound<Rate>) = above(Rate::from_bits(0), FASTEST);
/// Catches typing errors: ten times the simulator's design size.
pub(crate) const MOST_FLOWS: u32 = 1_000_000;
/// Beyond RFC 7323's largest window of 1 GiB in packets of 1500 bytes.
pub(crate) const LARGEST_WINDOW: u32 = 1_000_000;

/// The values above `least`, up to `most`.
pub(crate) const fn above<T: Copy>(least: T, most: T) -> (Bound<T>, Bound<T>) {
    (Bound::Excluded(least), Bound::Included(most))
}

pub(crate) fn within<T: PartialOrd + Display>(value: Spanned<T>, range: impl RangeBounds<T>) -> Result<T, Fault> {
    if range.contains(value.get_ref()) {
        return Ok(value.into_inner());
    }
    Err(Fault::value(value.span(), format!("must be {}, not {}", range_in_words(&range), brief(value.get_ref()))))
}

/// The value for error messages: 1e300 is not written out.
fn brief(value: &impl Display) -> String {
    let whole = value.to_string();
    match whole.parse::<f64>() {
        Ok(number) if whole.len() > 20 => format!("{number:e}"),
        _ => whole,
    }
}

/// Checks a name for use in file paths, column names and changes (before a dot).
pub(crate) fn check_name(value: &Spanned<String>) -> Result<String, Fault> {
    let check_name = value.get_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if (1..=64).contains(&check_name.len()) && check_name.chars().all(plain) {
        return Ok(check_name.clone());
    }
    Err(Fault::value(value.span(), "a name is 1 to 64 letters, digits, `-` and `_`"))
}
