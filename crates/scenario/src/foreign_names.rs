//! Names that other tools use for keys of a scenario, suggested when a file or a keyword has them.

/// Each foreign name with the key of ours. `make docs` writes them for Python's keywords too.
pub const FOREIGN_NAMES: [(&str, &str); 12] = [
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("buffer", "limit"),
    ("buffer_size", "limit"),
    ("queue", "limit"),
    ("queue_size", "limit"),
    ("latency", "delay"),
    ("qdisc", "qdiscs"),
    ("discipline", "qdiscs"),
    ("time", "duration"),
    ("mss", "packet"),
    ("congestion_control", "cc"),
];

/// The key among `known` that other tools call `name`.
pub(crate) fn key_for(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let (_, key) = FOREIGN_NAMES.iter().find(|(foreign, _)| *foreign == name)?;
    known.iter().copied().find(|known| known == key)
}
