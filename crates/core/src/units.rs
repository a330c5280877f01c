//! Quantities with units, parsed from and printed as text: link rates, limits and queue levels.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::packet::Backlog;
use crate::params::BuildError;
use crate::scaled::{number, parse_scaled, show_scaled};
use crate::time::Span;

/// A link rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

const RATES: &[(&str, f64)] = &[
    ("Gbit/s", 1e9),
    ("Mbit/s", 1e6),
    ("kbit/s", 1e3),
    ("bit/s", 1.0),
    ("Kbit/s", 1e3),
    // tc's spelling.
    ("gbit", 1e9),
    ("mbit", 1e6),
    ("kbit", 1e3),
    ("bit", 1.0),
];
const SIZES: &[(&str, f64)] =
    &[("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0), ("kB", 1e3), ("KiB", 1024.0), ("MiB", 1_048_576.0)];

impl Rate {
    /// `bits` per second.
    pub const fn from_bits(bits: u64) -> Rate {
        Rate(bits)
    }

    /// Bits per second.
    pub const fn as_bits(self) -> u64 {
        self.0
    }

    /// The time to send `bytes`, rounded up; forever at a rate of zero.
    pub fn transmit(self, bytes: u32) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        // 2^31 bytes x 8e9 < 2^64: one 64-bit division for any real packet, 128 bits for larger ones.
        match u64::from(bytes).checked_mul(8_000_000_000) {
            Some(scaled) => Span::from_nanos(scaled.div_ceil(self.0)),
            None => {
                let nanos = (u128::from(bytes) * 8_000_000_000).div_ceil(u128::from(self.0));
                Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }

    /// Parses `"10Mbit/s"`, or tc's `"10mbit"`.
    ///
    /// # Errors
    /// The expected form, if the text is not a number with a unit of rate.
    pub fn parse(text: &str) -> Result<Rate, &'static str> {
        // `kbps` is rejected: elsewhere it means bits, in tc bytes.
        let expected = "a rate with its unit, such as \"10Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s)";
        parse_scaled(text, RATES, None).map(Rate).ok_or(expected)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_scaled(self.0, &RATES[..4], "bit/s", f)
    }
}

/// A limit on a queue: `150p` or `150` packets, or `200KB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub enum Limit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether a queue holding `held` may add a packet of `bytes`.
    #[inline]
    pub fn admits(self, held: Backlog, bytes: u32) -> bool {
        match self {
            Limit::Packets(most) => held.packets < most,
            Limit::Bytes(most) => held.bytes + u64::from(bytes) <= most,
        }
    }

    /// Whether a queue may hold `held`.
    #[inline]
    pub fn holds(self, held: Backlog) -> bool {
        match self {
            Limit::Packets(most) => held.packets <= most,
            Limit::Bytes(most) => held.bytes <= most,
        }
    }

    /// The limit in packets, at `mean_packet` bytes each.
    pub fn packets(self, mean_packet: u32) -> f64 {
        match self {
            Limit::Packets(n) => f64::from(n),
            Limit::Bytes(n) => n as f64 / f64::from(mean_packet.max(1)),
        }
    }

    /// The limit in bytes, at `mean_packet` bytes a packet.
    pub fn bytes(self, mean_packet: u32) -> f64 {
        match self {
            Limit::Packets(n) => f64::from(n) * f64::from(mean_packet),
            Limit::Bytes(n) => n as f64,
        }
    }

    /// Parses `"150"`, `"150p"` or `"200KB"`.
    ///
    /// # Errors
    /// The expected form, if the text is neither, or zero.
    pub fn parse(text: &str) -> Result<Limit, &'static str> {
        let expected = "a limit above 0 in packets or bytes, such as \"150p\" or \"200KB\"";
        let packets = parse_scaled(text, &[("p", 1.0)], Some(1.0));
        let limit = match packets {
            Some(n) => Limit::Packets(u32::try_from(n).map_err(|_| expected)?),
            None => Limit::Bytes(parse_scaled(text, SIZES, None).ok_or(expected)?),
        };
        match limit {
            Limit::Packets(0) | Limit::Bytes(0) => Err(expected),
            _ => Ok(limit),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Limit::Packets(n) => write!(f, "{n}p"),
            Limit::Bytes(n) => show_scaled(n, &SIZES[..4], "B", f),
        }
    }
}

/// A queue length to compare with, in packets, bytes or a share of the limit: `50`, `50p`, `30KB`, `25%`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Level {
    /// A number of packets, possibly fractional: averages are compared with it.
    Packets(f64),
    /// A number of bytes.
    Bytes(f64),
    /// A share of the limit: 0.25 is a quarter.
    Share(f64),
}

impl Level {
    /// The level in packets, for a queue of `limit` and packets of `mean_packet` bytes.
    pub fn packets(self, limit: Limit, mean_packet: u32) -> f64 {
        match self {
            Level::Packets(n) => n,
            Level::Bytes(n) => n / f64::from(mean_packet.max(1)),
            Level::Share(part) => part * limit.packets(mean_packet),
        }
    }

    /// The level in bytes, for a queue of `limit` and packets of `mean_packet` bytes.
    pub fn bytes(self, limit: Limit, mean_packet: u32) -> f64 {
        match self {
            Level::Packets(n) => n * f64::from(mean_packet),
            Level::Bytes(n) => n,
            Level::Share(part) => part * limit.bytes(mean_packet),
        }
    }

    /// Whether the level is a number of bytes. The queue is then measured in bytes, whatever its packets' sizes.
    #[inline]
    pub fn is_of_bytes(self) -> bool {
        matches!(self, Level::Bytes(_))
    }

    /// The length of a queue that holds `held`, to compare with [`packets`](Level::packets): its packets, or for a level
    /// in bytes its bytes over `mean_packet`.
    #[inline]
    pub fn length(self, held: Backlog, mean_packet: f64) -> f64 {
        if self.is_of_bytes() { held.bytes as f64 / mean_packet } else { f64::from(held.packets) }
    }

    /// The level in packets for parameter `name`, whose queues count packets.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] for a level in bytes. Converted with the mean packet size, it would be another backlog
    /// for packets of another size.
    pub(crate) fn counted_in_packets(
        self,
        name: &'static str,
        limit: Limit,
        mean_packet: u32,
    ) -> Result<f64, BuildError> {
        if !self.is_of_bytes() {
            return Ok(self.packets(limit, mean_packet));
        }
        let packets = libm::round(self.packets(limit, mean_packet)).max(1.0);
        let why = format!(
            "`{name}` is \"{self}\", but this discipline counts packets: write \"{packets}p\" or a share of the limit"
        );
        Err(BuildError::Conflict(why))
    }

    /// Whether a queue of `limit` that holds `held` is longer than this level. A share counts in the limit's unit.
    #[inline]
    pub fn is_exceeded(self, held: Backlog, limit: Limit) -> bool {
        match (self, limit) {
            (Level::Packets(n), _) => f64::from(held.packets) > n,
            (Level::Bytes(n), _) => held.bytes as f64 > n,
            (Level::Share(part), Limit::Packets(most)) => f64::from(held.packets) > part * f64::from(most),
            (Level::Share(part), Limit::Bytes(most)) => held.bytes as f64 > part * most as f64,
        }
    }

    /// Parses `"50"`, `"50p"`, `"2.5p"`, `"30KB"` or `"25%"`.
    ///
    /// # Errors
    /// The expected form, if the text is none of these.
    pub fn parse(text: &str) -> Result<Level, &'static str> {
        let expected = "a queue length in packets, bytes or a share of the limit, such as \"50p\", \"30KB\" or \"25%\"";
        if let Some(percent) = text.trim().strip_suffix('%') {
            return number(percent).map(|n| Level::Share(n / 100.0)).ok_or(expected);
        }
        if let Some(n) = number(text.trim().strip_suffix('p').unwrap_or(text)) {
            return Ok(Level::Packets(n));
        }
        parse_scaled(text, SIZES, None).map(|n| Level::Bytes(n as f64)).ok_or(expected)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Level::Packets(n) => write!(f, "{n}p"),
            Level::Bytes(n) => show_scaled(n as u64, &SIZES[..4], "B", f),
            Level::Share(part) => write!(f, "{}%", part * 100.0),
        }
    }
}

/// Parses a size in bytes: `"512B"`, `"1.5KB"`.
///
/// # Errors
/// The expected form, if the text is not a number with a unit of size.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, &'static str> {
    parse_scaled(text, SIZES, None).ok_or("a size with its unit, such as \"512B\" (B, KB, MB, KiB, MiB)")
}

/// Writes a size in bytes with its unit.
pub(crate) fn show_bytes(bytes: u64) -> String {
    Limit::Bytes(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_survive_a_round_trip_through_text() {
        for text in ["10Mbit/s", "1.5Mbit/s", "9600bit/s", "45Mbit/s", "100Gbit/s"] {
            let rate = Rate::parse(text).unwrap();
            assert_eq!(Rate::parse(&rate.to_string()), Ok(rate));
        }
        for text in ["150p", "200KB", "1B", "78p"] {
            assert_eq!(Limit::parse(text).unwrap().to_string(), text);
        }
        for text in ["25%", "50p", "2.5p", "30KB"] {
            assert_eq!(Level::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_missing_or_foreign_unit_is_refused() {
        assert!(Rate::parse("10").is_err());
        assert!(Rate::parse("10kbps").is_err());
        assert!(Rate::parse("-3Mbit/s").is_err());
        assert!(Limit::parse("0").is_err());
        assert!(Limit::parse("5ms").is_err());
        assert!(Level::parse("ten").is_err());
    }

    #[test]
    fn sending_takes_bytes_over_rate_rounded_up() {
        assert_eq!(Rate::from_bits(10_000_000).transmit(512), Span::from_nanos(409_600));
        assert_eq!(Rate::from_bits(3).transmit(1), Span::from_nanos(2_666_666_667));
        assert_eq!(Rate::from_bits(0).transmit(1), Span::MAX);
        assert_eq!(Rate::from_bits(8).transmit(u32::MAX), Span::from_secs(u64::from(u32::MAX)));
    }
}
