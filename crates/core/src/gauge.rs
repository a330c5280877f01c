/// A gauge: a value that a discipline reports over time, declared with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Its name in tables.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// Its meaning, in a sentence.
    pub about: &'static str,
    /// Whether it describes one flow instead of the queue.
    pub of_flow: bool,
}

impl Gauge {
    /// RED's average queue.
    pub const AVERAGE: Gauge = Gauge::new(
        "average",
        "packets",
        "Average queue length, as of the last arrival; in bytes with `byte_mode` or thresholds in bytes.",
    );
    /// RED's probability.
    pub const PROBABILITY: Gauge =
        Gauge::new("probability", "probability", "pb: RED's drop or mark probability, before spacing.");
    /// RED's maxp, its probability at the upper threshold.
    pub const MAXP: Gauge = Gauge::new("maxp", "probability", "Drop or mark probability at the upper threshold.");
    /// Packets queued of one flow.
    pub const QUEUED: Gauge = Gauge::of_flow("queued", "packets", "Queued packets of the flow.");

    /// A gauge of the queue.
    pub const fn new(name: &'static str, unit: &'static str, about: &'static str) -> Gauge {
        Gauge { name, unit, about, of_flow: false }
    }

    /// A gauge of a flow.
    pub const fn of_flow(name: &'static str, unit: &'static str, about: &'static str) -> Gauge {
        Gauge { name, unit, about, of_flow: true }
    }
}
