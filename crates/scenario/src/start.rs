//! When the flows of a group start: drawn from a range, in steps, or by a Poisson process.

use std::ops::Range;

use aqm::{Rng, Span, Time};
use headgate_traffic::{PoissonArrivals, most_arrivals};
use toml::de::DeValue;

use crate::check::{self, MOST_FLOWS};
use crate::error::Fault;
use crate::schema::{Form, Node, RawStart, Show, ValueKind, given, mismatch};

/// When the flows of a group start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// Each at a time drawn uniformly in `from..=to`.
    Drawn {
        /// The earliest moment.
        from: Span,
        /// The latest moment.
        to: Span,
    },
    /// A number of flows at each step, beginning at time zero.
    Steps {
        /// Flows per step.
        flows: u32,
        /// Time between steps.
        every: Span,
        /// Time over which each step's flows are spread uniformly.
        within: Span,
    },
    /// Poisson arrivals. Flows that have not arrived by the end of the run never start.
    Poisson {
        /// Arrivals a second, on average.
        rate: f64,
        /// Mean load on the route's first link, if the file gives it. `rate` then follows from it.
        load: Option<f64>,
    },
}

impl Start {
    /// All at time zero.
    pub const AT_ZERO: Start = Start::Drawn { from: Span::ZERO, to: Span::ZERO };

    /// Latest start of `flows` flows; zero for Poisson arrivals.
    pub(crate) fn latest(self, flows: u32) -> Span {
        match self {
            Start::Drawn { to, .. } => to,
            Start::Steps { flows: step, every, within } => every * u64::from(flows.saturating_sub(1) / step) + within,
            Start::Poisson { .. } => Span::ZERO,
        }
    }

    /// Default number of flows: the flows of all steps before `end`, an upper bound on the Poisson arrivals, or one.
    /// `None` if there are too many.
    pub(crate) fn flows_until(self, end: Span) -> Option<u32> {
        let flows = match self {
            Start::Drawn { .. } => 1,
            Start::Steps { flows, every, within } => {
                u64::from(flows) * (end - within).as_nanos().div_ceil(every.as_nanos()).max(1)
            }
            Start::Poisson { rate, .. } => most_arrivals(rate, end).max(1),
        };
        u32::try_from(flows).ok().filter(|flows| *flows <= MOST_FLOWS)
    }
}

/// Upper bound of arrivals per second: no link carries as many packets.
pub(crate) const FASTEST_ARRIVALS: f64 = 1e6;

/// A flow's random stream, independent of other flows and groups.
pub fn flow_stream(seed: u64, group: &str, flow: u32) -> Rng {
    Rng::named(seed, &format!("flow {group}/{flow}"))
}

/// The random stream of a flow's source, separate from the flow's own.
pub fn source_stream(seed: u64, group: &str, flow: u32) -> Rng {
    Rng::named(seed, &format!("source {group}/{flow}"))
}

/// Draws the start times of a group's flows in one run.
#[derive(Clone, Debug)]
pub struct Starts {
    start: Start,
    arrivals: PoissonArrivals,
}

impl Starts {
    /// Start times of group `group` in the run of `seed`.
    pub fn new(start: Start, seed: u64, group: &str) -> Starts {
        let rate = if let Start::Poisson { rate, .. } = start { rate } else { 0.0 };
        Starts { start, arrivals: PoissonArrivals::new(rate, Rng::named(seed, &format!("arrivals {group}"))) }
    }

    /// Start time of the group's flow `index`. Call in order from 0; `rng` is the flow's own.
    pub fn draw(&mut self, index: u32, rng: &mut Rng) -> Time {
        let mut between = |from: Span, to: Span| Span::from_secs_f64(rng.between(from.as_secs_f64(), to.as_secs_f64()));
        let after = match self.start {
            Start::Drawn { from, to } => between(from, to),
            Start::Steps { flows, every, within } => {
                let step = every * u64::from(index / flows);
                between(step, step + within)
            }
            Start::Poisson { .. } => self.arrivals.next().unwrap_or(Span::MAX),
        };
        Time::ZERO + after
    }
}

/// A start as a file writes it.
#[derive(Clone, Debug)]
pub(crate) enum StartSpec {
    Drawn { from: Span, to: Span },
    Table(RawStart),
}

impl From<Start> for StartSpec {
    fn from(start: Start) -> StartSpec {
        StartSpec::Table(match start {
            Start::Drawn { from, to } => return StartSpec::Drawn { from, to },
            Start::Steps { flows, every, within } => {
                RawStart { flows: given(flows), every: given(every), within: given(within), ..RawStart::default() }
            }
            Start::Poisson { load: Some(load), .. } => RawStart { load: given(load), ..RawStart::default() },
            Start::Poisson { rate, load: None } => RawStart { rate: given(rate), ..RawStart::default() },
        })
    }
}

impl Show for StartSpec {
    fn show(&self) -> String {
        match self {
            StartSpec::Drawn { from, to } if from == to => from.show(),
            StartSpec::Drawn { from, to } => format!("{from}..{to}").show(),
            StartSpec::Table(table) => table.show(),
        }
    }
}

impl ValueKind for StartSpec {
    fn form() -> Form {
        Form::new("time, two times to draw from, or a table", "Start", r#"{"type": ["string", "object"]}"#)
    }
    fn expecting() -> String {
        "a time such as \"0s\", a range such as \"0s..1s\" to draw each time from, or a table: \
         { flows = 200, every = \"20s\" }, { load = 0.8 } or { rate = 50 }"
            .to_string()
    }
    fn read(node: &Node<'_>) -> Result<StartSpec, Fault> {
        match node.get_ref() {
            DeValue::String(text) => parse_range(text).map_err(|why| Fault::value(node.span(), why)),
            DeValue::Integer(_) | DeValue::Float(_) => Span::read(node).map(|to| StartSpec::Drawn { from: to, to }),
            DeValue::Table(_) => RawStart::read(node).map(StartSpec::Table),
            _ => mismatch(node, &Self::expecting()),
        }
    }
}

fn parse_range(text: &str) -> Result<StartSpec, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to) = (Span::from_text(from)?, Span::from_text(to)?);
    match from <= to {
        true => Ok(StartSpec::Drawn { from, to }),
        false => Err(format!("the range {text:?} ends before it begins")),
    }
}

/// `arrivals_to_fill` gives the arrivals per second that fill the route's first link, or why there is no such rate.
pub(crate) fn start(
    raw: StartSpec,
    span: &Range<usize>,
    arrivals_to_fill: impl FnOnce() -> Result<f64, String>,
) -> Result<Start, Fault> {
    let fault = |message| Fault::value(span.clone(), message);
    let table = match raw {
        StartSpec::Drawn { from, to } => return Ok(Start::Drawn { from, to }),
        StartSpec::Table(table) => table,
    };
    let within = table.within();
    match table {
        RawStart { flows: Some(flows), every: Some(every), within: spread, load: None, rate: None } => {
            let (flows, every) = (flows.into_inner(), every.into_inner());
            spread.map_or(Ok(within), |spread| check::within(spread, ..=every))?;
            Ok(Start::Steps { flows, every, within })
        }
        RawStart { flows: None, every: None, within: None, load: Some(load), rate: None } => {
            let load = load.into_inner();
            match load * arrivals_to_fill().map_err(fault)? {
                rate if rate > FASTEST_ARRIVALS => {
                    Err(fault(format!("brings {rate:.0} flows a second; the limit is {FASTEST_ARRIVALS}")))
                }
                rate => Ok(Start::Poisson { rate, load: Some(load) }),
            }
        }
        RawStart { flows: None, every: None, within: None, load: None, rate: Some(rate) } => {
            Ok(Start::Poisson { rate: rate.into_inner(), load: None })
        }
        _ => Err(fault("a table has `flows` and `every` (and `within`), or `load`, or `rate`".to_string())),
    }
}
