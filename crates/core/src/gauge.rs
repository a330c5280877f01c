//! What a discipline tells of itself over time: its gauges, declared with its settings.

/// A gauge of a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Its name in tables.
    pub name: &'static str,
    /// What its values are in.
    pub unit: &'static str,
    /// What it means, in a sentence.
    pub about: &'static str,
    /// Whether it tells of one flow, and not of the queue.
    pub of_flow: bool,
}

impl Gauge {
    /// RED's average queue.
    pub const AVERAGE: Gauge =
        Gauge::new("average", "packets", "The average queue, as of the last arrival; in bytes with `byte_mode`.");
    /// RED's probability.
    pub const PROBABILITY: Gauge = Gauge::new("probability", "probability", "RED's pb, before spacing.");
    /// RED's greatest probability.
    pub const MAXP: Gauge = Gauge::new("maxp", "probability", "The probability at the upper threshold.");
    /// Packets that wait of a flow.
    pub const QUEUED: Gauge = Gauge::of_flow("queued", "packets", "Packets of the flow that wait.");

    /// A gauge of the queue.
    pub const fn new(name: &'static str, unit: &'static str, about: &'static str) -> Gauge {
        Gauge { name, unit, about, of_flow: false }
    }

    /// A gauge that is kept of each flow.
    pub const fn of_flow(name: &'static str, unit: &'static str, about: &'static str) -> Gauge {
        Gauge { name, unit, about, of_flow: true }
    }
}
