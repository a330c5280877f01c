//! Quantities as a file writes them: a number with its unit. Other spellings are refused with the right one.

use aqm::params::ParameterValue;

/// Units, each with the spellings that other tools and people use for it, in small letters.
const SPELLINGS: [(&str, &[&str]); 16] = [
    ("bit/s", &["bps", "bit", "bits", "bits/s", "b/s"]),
    ("kbit/s", &["kbps", "kbit", "kbit/s", "kbits/s", "kb/s", "k"]),
    ("Mbit/s", &["mbps", "mbit", "mbit/s", "mbits/s", "mb/s", "m"]),
    ("Gbit/s", &["gbps", "gbit", "gbit/s", "gbits/s", "gb/s", "g"]),
    ("B", &["b", "byte", "bytes"]),
    ("KB", &["kb", "kbyte", "kbytes", "k"]),
    ("MB", &["mb", "mbyte", "mbytes", "m"]),
    ("KiB", &["kib"]),
    ("MiB", &["mib"]),
    ("p", &["packet", "packets", "pkt", "pkts"]),
    ("ns", &["nsec", "nanosecond", "nanoseconds"]),
    ("us", &["usec", "µs", "μs", "microsecond", "microseconds"]),
    ("ms", &["msec", "msecs", "millisecond", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["m", "mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
];

/// Reads a quantity from a text. `unit` is suggested if there is none.
pub(super) fn quantity<V: ParameterValue>(text: &str, unit: &str) -> Result<V, String> {
    match text.trim() {
        // Excludes `nan` and `inf`, which are numbers only to Rust.
        bare if bare.ends_with(|c: char| c.is_ascii_digit()) && bare.parse::<f64>().is_ok() => unitless(bare, unit),
        negative if negative.starts_with('-') => Err(format!("must not be negative, found {text:?}")),
        _ => {
            V::read(text).map_err(|expected| format!("expected {expected}, found {text:?}{}", did_you_mean::<V>(text)))
        }
    }
}

/// The error of a number without a unit.
pub(super) fn unitless<V: ParameterValue>(number: &str, unit: &str) -> Result<V, String> {
    if number.starts_with('-') {
        return Err(format!("must not be negative, found {number}"));
    }
    // Most quantities must be above zero: a unit would not help.
    let with_unit = if number.parse() == Ok(0.0) { String::new() } else { format!("{number}{unit}") };
    match V::read(&with_unit) {
        Ok(_) => Err(format!("{number} has no unit: write {with_unit:?}")),
        Err(expected) => Err(format!("expected {expected}, found {number}")),
    }
}

/// Suggests the right spelling of a quantity, as a question; nothing if the unit is unknown or of another kind.
fn did_you_mean<V: ParameterValue>(text: &str) -> String {
    let text = text.trim();
    // `e` may belong to the number, as in 1e3.
    let (number, unit) = text.split_at(text.find(|c: char| c.is_alphabetic() && c != 'e').unwrap_or(text.len()));
    // A capital B stands for bytes, but rates are in bits.
    if unit.contains("B/") || unit.contains("Bps") {
        return String::new();
    }
    let unit = unit.to_lowercase();
    let meant = SPELLINGS.iter().filter(|(_, spellings)| spellings.contains(&&*unit));
    let mut meant = meant.map(|(unit, _)| format!("{}{unit}", number.trim_end())).filter(|text| V::read(text).is_ok());
    match meant.next() {
        Some(meant) if unit.ends_with("bps") => {
            format!("; did you mean {meant:?}? (tc reads `bps` as bytes per second)")
        }
        Some(meant) => format!("; did you mean {meant:?}?"),
        None => String::new(),
    }
}
