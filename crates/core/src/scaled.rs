//! Numbers with units, read and written as text. [`Rate`](crate::Rate), [`Span`](crate::Span) and the other quantities
//! use it.

use core::fmt;

/// A non-negative finite decimal number.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-'));
    let value: f64 = if plain { text.parse().ok()? } else { return None };
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Parses a number with one of `units` into the smallest unit. A number without a unit is multiplied by `bare`, if
/// given.
pub(crate) fn parse_scaled(text: &str, units: &[(&str, f64)], bare: Option<f64>) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let scale = match unit {
        "" => bare?,
        named => units.iter().find(|(name, _)| *name == named)?.1,
    };
    let scaled = number(digits)? * scale + 0.5;
    (scaled < u64::MAX as f64).then_some(scaled as u64)
}

/// Formats `value` in the largest unit that it reaches; zero in `zero_unit`.
pub(crate) fn show_scaled(
    value: u64,
    units: &[(&str, f64)],
    zero_unit: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match units.iter().find(|(_, scale)| value as f64 >= *scale) {
        Some((unit, scale)) => write!(f, "{}{unit}", value as f64 / scale),
        None => write!(f, "0{zero_unit}"),
    }
}
