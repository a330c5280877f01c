//! A link direction beyond a constant rate: changing rates, loss, jitter, reordering.

use std::sync::Arc;

use aqm::{Rate, Span};
use toml::Spanned;

use crate::check::{FASTEST, LONGEST_RUN, Section};
use crate::error::Fault;
use crate::inputs::InputLoader;
use crate::schema::{Located, RawMedium, RawStep};

/// How the rate of a direction changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RateVariation {
    /// It is constant.
    #[default]
    Constant,
    /// It changes at given times.
    Schedule {
        /// Times and new rates, in order. A rate of 0 sends nothing.
        steps: Vec<(Span, Rate)>,
        /// Period of the schedule. Each period begins with the link's own rate.
        period: Option<Span>,
    },
    /// It follows a trace in mahimahi's format.
    Trace {
        /// The file's name without folders.
        name: String,
        /// Times in ms at which 1500 bytes may leave, non-decreasing; repeats after the last.
        opportunities: Arc<[u64]>,
    },
}

/// Random impairments of the packets on a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Fraction of packets lost, below 1.
    pub loss: f64,
    /// Mean number of packets lost in a row (Gilbert's model); `None` for independent losses.
    pub burst: Option<f64>,
    /// Additional delay, uniform from 0 to this. Packets stay in order.
    pub jitter: Span,
    /// Fraction of packets delayed by `reorder_by`, so that later packets overtake them.
    pub reorder: f64,
    /// The delay of reordered packets.
    pub reorder_by: Span,
}

/// Bytes per opportunity of a trace: mahimahi's 1504 (`PACKET_SIZE` in `link_queue.hh`) less the 4 of its TUN header.
pub const OPPORTUNITY: u64 = 1500;

impl RateVariation {
    /// Upper bound on the bytes that leave within `span`; `rate` holds before the first step.
    pub fn most(&self, rate: Rate, span: Span) -> u64 {
        let at = |rate: Rate| (rate.as_bits() as f64 / 8.0 * span.as_secs_f64()) as u64;
        match self {
            RateVariation::Constant => at(rate),
            RateVariation::Schedule { steps, .. } => steps.iter().map(|(_, rate)| at(*rate)).fold(at(rate), u64::max),
            RateVariation::Trace { opportunities, .. } => densest_bytes(opportunities, span),
        }
    }

    /// The greatest rate of the run, of a trace its mean; `rate` holds before the first step.
    pub(crate) fn fastest(&self, rate: Rate) -> Rate {
        match self {
            RateVariation::Constant | RateVariation::Trace { .. } => rate,
            RateVariation::Schedule { steps, .. } => steps.iter().map(|(_, rate)| *rate).fold(rate, Rate::max),
        }
    }

    /// Least time in which a packet of `bytes` can be sent; `rate` holds before the first step.
    pub fn least_transmission(&self, rate: Rate, bytes: u32) -> Span {
        match self {
            RateVariation::Constant => rate.transmit(bytes),
            RateVariation::Schedule { .. } => self.fastest(rate).transmit(bytes),
            // At an opportunity, a packet leaves at once.
            RateVariation::Trace { .. } => Span::ZERO,
        }
    }

    /// Mean rate over `run`, or over a period if there is one; `rate` holds before the first step.
    pub(crate) fn mean(&self, rate: Rate, run: Span) -> Rate {
        match self {
            RateVariation::Constant | RateVariation::Trace { .. } => rate,
            RateVariation::Schedule { steps, period } => {
                let (length, mut bits) = (period.unwrap_or(run), 0.0);
                let (mut since, mut now) = (Span::ZERO, rate);
                for &(at, next) in steps.iter().chain([&(length, Rate::from_bits(0))]) {
                    let until = at.min(length);
                    bits += (until - since).as_secs_f64() * now.as_bits() as f64;
                    (since, now) = (until, next);
                }
                Rate::from_bits(((bits / length.as_secs_f64()) as u64).max(1))
            }
        }
    }
}

/// Most bytes that a trace lets pass within `span`: its densest opportunities.
fn densest_bytes(opportunities: &[u64], span: Span) -> u64 {
    let (count, period) = (opportunities.len() as u64, opportunities.last().copied().unwrap_or(0).max(1));
    let within = span.as_nanos().div_ceil(1_000_000);
    let (periods, rest) = (within / period, within % period);
    let again = opportunities.iter().map(|moment| moment + period);
    let both: Vec<u64> = opportunities.iter().copied().chain(again).collect();
    let mut first = 0;
    let most = (0..both.len()).map(|last| {
        first += both[first..].iter().take_while(|moment| **moment + rest < both[last]).count();
        last + 1 - first
    });
    (periods * count + most.max().unwrap_or(0) as u64) * OPPORTUNITY
}

impl RawMedium {
    /// The rate and its changes. `default` applies without `rate` and `trace`.
    pub(crate) fn rate_variation(
        &self,
        rate: Located<Rate>,
        section: &Section,
        default: Option<Rate>,
        loader: &InputLoader<'_>,
    ) -> Result<(Rate, RateVariation), Fault> {
        if let Some(trace) = &self.trace {
            let beside = rate.as_ref().map(Spanned::span).or(self.schedule.as_ref().map(Spanned::span));
            return match beside {
                Some(span) => {
                    Err(Fault::plain(span, "`trace` says when packets leave: leave out `rate` and `schedule`"))
                }
                None => read_trace(trace, loader),
            };
        }
        let rate = match (rate, default) {
            (None, Some(default)) => default,
            (given, _) => section.require("rate", given)?.into_inner(),
        };
        let period = self.schedule_period.as_ref().map(|period| *period.get_ref());
        Ok((rate, schedule(section.or_default(self.schedule.clone(), Vec::new()), period)?))
    }

    pub(crate) fn impairments(&self, section: &Section) -> Result<Impairments, Fault> {
        let (loss, reorder, reorder_by) = (self.loss(), self.reorder(), self.reorder_by());
        let burst = self.loss_burst.as_ref().map(|burst| check_burst(burst, loss)).transpose()?;
        if reorder > 0.0 && reorder_by == Span::ZERO {
            let message = "`reorder` needs `reorder_by`, the delay of reordered packets";
            return Err(Fault::plain(section.span_of(&self.reorder), message));
        }
        Ok(Impairments { loss, burst, jitter: self.jitter(), reorder, reorder_by })
    }
}

/// Gilbert's model (Bell System Technical Journal 39(5), 1960), with a bad state that loses every packet. Bursts have
/// geometric length. At least one packet passes between two bursts, which bounds the loss rate.
fn check_burst(burst: &Spanned<f64>, loss: f64) -> Result<f64, Fault> {
    let (span, burst) = (burst.span(), *burst.get_ref());
    if loss <= burst / (burst + 1.0) {
        return Ok(burst);
    }
    Err(Fault::value(
        span,
        format!("bursts of {burst} packets with a packet between them lose less than {loss} of all"),
    ))
}

fn schedule(raw: Spanned<Vec<Spanned<RawStep>>>, period: Option<Span>) -> Result<RateVariation, Fault> {
    let length = raw.span();
    let mut steps: Vec<(Span, Rate)> = Vec::new();
    for step in raw.into_inner() {
        let section = Section { span: step.span(), heading: "a step of `schedule`" };
        let step = step.into_inner();
        let at = section.require("at", step.at)?;
        let before = steps.last().map_or(Span::ZERO, |(at, _)| *at);
        if *at.get_ref() <= before {
            return Err(Fault::value(at.span(), format!("must come after {before}, not at {}", at.get_ref())));
        }
        if period.is_some_and(|period| *at.get_ref() >= period) {
            return Err(Fault::value(at.span(), "comes after `schedule_period`: it would never take effect"));
        }
        let rate = section.require("rate", step.rate)?;
        steps.push((at.into_inner(), rate.into_inner()));
    }
    match (steps.is_empty(), period) {
        (true, Some(_)) => Err(Fault::plain(length, "`schedule_period` needs a `schedule` to repeat")),
        (true, None) => Ok(RateVariation::Constant),
        (false, period) => Ok(RateVariation::Schedule { steps, period }),
    }
}

fn read_trace(path: &Spanned<String>, loader: &InputLoader<'_>) -> Result<(Rate, RateVariation), Fault> {
    let (name, bytes) = loader.load(path)?;
    let fault = |message: String| Fault::value(path.span(), message);
    let opportunities = mahimahi(&bytes).map_err(|message| fault(format!("{name}: {message}")))?;
    let last = opportunities.last().copied().unwrap_or(0);
    let bits = opportunities.len() as f64 * OPPORTUNITY as f64 * 8.0 / (last as f64 / 1e3);
    if bits > FASTEST.as_bits() as f64 {
        return Err(fault(format!("{name}: its rate exceeds {FASTEST}")));
    }
    Ok((Rate::from_bits((bits as u64).max(1)), RateVariation::Trace { name, opportunities: opportunities.into() }))
}

/// Reads one whole number of milliseconds a line, as mahimahi's `LinkQueue` does. Messages say where a fault is, and
/// repeat nothing from the file: a scenario may name one that its reader must not see.
fn mahimahi(bytes: &[u8]) -> Result<Vec<u64>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not a text".to_string())?;
    let mut moments: Vec<u64> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let parsed = line.parse().ok().filter(|_| line.bytes().all(|byte| byte.is_ascii_digit()));
        let most = LONGEST_RUN.as_nanos() / 1_000_000;
        let moment = parsed.filter(|moment| *moment <= most);
        let moment = moment.ok_or_else(|| {
            let column = 1 + line.chars().take_while(char::is_ascii_digit).count();
            let column = if column > line.chars().count() { 1 } else { column };
            format!("line {number}, column {column}: expected a whole number of milliseconds, at most {most}")
        })?;
        if moments.last().is_some_and(|before| *before > moment) {
            return Err(format!("line {number}: times must not decrease"));
        }
        moments.push(moment);
    }
    match moments.last() {
        None => Err("the trace is empty".to_string()),
        Some(0) => Err("the trace lasts no time: its last line is 0".to_string()),
        Some(_) => Ok(moments),
    }
}
