//! Headgate's packet simulator: the same disciplines, a dumbbell, TCP by the RFCs.
#![forbid(unsafe_code)]

mod outcome;

pub use outcome::{EventRow, FlowRow, Happening, IntervalRow, LinkRow, Outcome, RunError, Watch};
