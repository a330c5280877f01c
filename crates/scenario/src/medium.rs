//! A link direction beyond a constant rate: changing rates, slots and aggregates, loss, duplicates, remarks, jitter,
//! reordering.

use std::ops::Range;
use std::sync::Arc;

use aqm::{Ecn, Rate, Span};
use toml::Spanned;

use crate::check::{FASTEST, LONGEST_RUN, Section};
use crate::error::Fault;
use crate::inputs::InputLoader;
use crate::schema::{Located, RawMedium, RawStep};
use crate::values::WordChoice;

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
    /// It sends in slots, as 5G does (3GPP TS 38.211, section 4.3.2): packets leave at the end of a slot. A slot carries the
    /// bytes that the rate sends in it. They are lost if no packet is queued to use them.
    Slots {
        /// Length of a slot: 1 ms in 5G at a subcarrier spacing of 15 kHz, 0.5 ms at 30 kHz, 0.125 ms at 120 kHz.
        length: Span,
    },
    /// It sends aggregates, as Wi-Fi does (IEEE 802.11-2016, section 10.13, A-MPDU): the packets that are queued when an
    /// aggregate begins leave together at its end. A packet that finds the link idle begins one.
    Aggregates {
        /// Longest time of an aggregate's packets at the link's rate. ath9k of Linux ends them after 4 ms; the standard's
        /// limit is 5.484 ms (aPPDUMaxTime).
        most: Span,
        /// Time before each aggregate in which nothing is sent.
        gap: Span,
    },
}

/// What a direction does to the ECN field of its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnTreatment {
    /// Nothing.
    #[default]
    Keep,
    /// Clears it to Not-ECT, marks too. Measured on 4 % of routers and in whole mobile networks: H. Lim et al., "A Fresh
    /// Look at ECN Traversal in the Wild", arXiv 2208.14523, 2022. RFC 9768, section 3.2.2.3, detects it.
    Bleach,
    /// Turns ECT(0) into ECT(1), so that an L4S queue takes classic packets for its own. Measured by C. Sander et al., "ECN
    /// with QUIC: Challenges in the Wild", ACM IMC 2023.
    Remark,
}

impl EcnTreatment {
    /// The field of a packet that arrives, for a field of `ecn` when it was sent.
    #[inline]
    pub fn of(self, ecn: Ecn) -> Ecn {
        match self {
            EcnTreatment::Bleach => Ecn::NotEct,
            EcnTreatment::Remark if ecn == Ecn::Ect0 => Ecn::Ect1,
            EcnTreatment::Keep | EcnTreatment::Remark => ecn,
        }
    }
}

impl WordChoice for EcnTreatment {
    const WHAT: &'static str = "treatment of the ECN field";
    const WORDS: &'static [(&'static str, EcnTreatment)] =
        &[("keep", EcnTreatment::Keep), ("bleach", EcnTreatment::Bleach), ("remark", EcnTreatment::Remark)];
}

/// What a direction writes into the headers of its packets, behind the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// What becomes of the ECN field.
    pub ecn: EcnTreatment,
    /// The DSCP of every packet, 0 to 63; `None` leaves it.
    pub dscp: Option<u8>,
}

/// What happens to packets on a direction, behind the queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Fraction of packets lost, below 1.
    pub loss: f64,
    /// Mean number of packets lost in a row (Gilbert's model); `None` for independent losses.
    pub burst: Option<f64>,
    /// Most packets lost in a row; `None` without a bound.
    pub burst_max: Option<u32>,
    /// Numbers of packets that are lost besides, from 1 in the order of sending: ascending, without repetitions.
    pub lost_packets: Arc<[u64]>,
    /// Fraction of packets that arrive twice.
    pub duplicate: f64,
    /// Changed header fields.
    pub remarks: Remarks,
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
            // All bytes of a slot or aggregate leave at once, and one may end as the span begins.
            RateVariation::Slots { length } => at(rate) + 2 * bytes_in(rate, *length),
            RateVariation::Aggregates { most, .. } => at(rate) + 2 * bytes_in(rate, *most),
        }
    }

    /// The greatest rate of the run, of a trace its mean; `rate` holds before the first step.
    pub(crate) fn fastest(&self, rate: Rate) -> Rate {
        match self {
            RateVariation::Schedule { steps, .. } => steps.iter().map(|(_, rate)| *rate).fold(rate, Rate::max),
            RateVariation::Constant
            | RateVariation::Trace { .. }
            | RateVariation::Slots { .. }
            | RateVariation::Aggregates { .. } => rate,
        }
    }

    /// Mean rate over `run`, or over a period if there is one; `rate` holds before the first step.
    pub(crate) fn mean(&self, rate: Rate, run: Span) -> Rate {
        match self {
            RateVariation::Constant | RateVariation::Trace { .. } | RateVariation::Slots { .. } => rate,
            RateVariation::Aggregates { most, gap } => {
                let (most, gap) = (most.as_nanos() as u128, gap.as_nanos() as u128);
                Rate::from_bits((u128::from(rate.as_bits()) * most / (most + gap)).max(1) as u64)
            }
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

/// Bytes that `rate` sends in `span`, rounded up.
fn bytes_in(rate: Rate, span: Span) -> u64 {
    (rate.as_bits() as f64 / 8.0 * span.as_secs_f64()) as u64 + 1
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
            let others = [span(&rate), span(&self.schedule), span(&self.slot), span(&self.aggregate)];
            return match others.into_iter().flatten().next() {
                Some(span) => {
                    let message =
                        "`trace` says when packets leave: leave out `rate`, `schedule`, `slot` and `aggregate`";
                    Err(Fault::plain(span, message))
                }
                None => read_trace(trace, loader),
            };
        }
        let rate = match (rate, default) {
            (None, Some(default)) => default,
            (given, _) => section.require("rate", given)?.into_inner(),
        };
        if let Some(variation) = self.slots_or_aggregates(rate)? {
            return Ok((rate, variation));
        }
        let period = self.schedule_period.as_ref().map(|period| *period.get_ref());
        Ok((rate, schedule(section.or_default(self.schedule.clone(), Vec::new()), period)?))
    }

    /// Slots or aggregates of a link of `rate`, if any.
    fn slots_or_aggregates(&self, rate: Rate) -> Result<Option<RateVariation>, Fault> {
        let gap = self.aggregate_gap();
        let variation = match (&self.slot, &self.aggregate) {
            (None, None) => {
                let alone = self.aggregate_gap.as_ref().filter(|_| gap > Span::ZERO);
                let refused = |gap: &Spanned<Span>| Fault::plain(gap.span(), "`aggregate_gap` needs `aggregate`");
                return alone.map_or(Ok(None), |gap| Err(refused(gap)));
            }
            (Some(_), Some(aggregate)) => {
                return Err(Fault::plain(aggregate.span(), "`slot` and `aggregate` exclude each other: give one"));
            }
            (Some(slot), None) => {
                let length = *slot.get_ref();
                if rate.as_bits() as f64 / 8.0 * length.as_secs_f64() < 1.0 {
                    let message = format!("at {rate} no byte fits into a slot of {length}");
                    return Err(Fault::value(slot.span(), message));
                }
                RateVariation::Slots { length }
            }
            (None, Some(aggregate)) => RateVariation::Aggregates { most: *aggregate.get_ref(), gap },
        };
        match span(&self.schedule) {
            Some(span) => Err(Fault::plain(span, "`schedule` cannot be combined with `slot` or `aggregate`")),
            None => Ok(Some(variation)),
        }
    }

    pub(crate) fn impairments(&self, section: &Section) -> Result<Impairments, Fault> {
        let (loss, reorder, reorder_by) = (self.loss(), self.reorder(), self.reorder_by());
        let (burst, burst_max) = self.bursts(loss)?;
        if reorder > 0.0 && reorder_by == Span::ZERO {
            let message = "`reorder` needs `reorder_by`, the delay of reordered packets";
            return Err(Fault::plain(section.span_of(&self.reorder), message));
        }
        Ok(Impairments {
            loss,
            burst,
            burst_max,
            lost_packets: self.lost_packets()?,
            duplicate: self.duplicate(),
            remarks: Remarks { ecn: self.ecn(), dscp: self.dscp.as_ref().map(|dscp| dscp.get_ref().0) },
            jitter: self.jitter(),
            reorder,
            reorder_by,
        })
    }

    /// Mean length and bound of the bursts of losses.
    fn bursts(&self, loss: f64) -> Result<(Option<f64>, Option<u32>), Fault> {
        let burst = self.loss_burst.as_ref().map(|burst| check_burst(burst, loss)).transpose()?;
        let Some(most) = &self.loss_burst_max else { return Ok((burst, None)) };
        let (span, most) = (most.span(), *most.get_ref());
        match burst {
            Some(burst) if burst > f64::from(most) => {
                Err(Fault::value(span, format!("must be at least `loss_burst`, {burst}, which is the mean")))
            }
            _ if loss == 0.0 => Err(Fault::plain(span, "`loss_burst_max` bounds the losses of `loss`, which is 0")),
            _ => check_burst(&Spanned::new(span, f64::from(most)), loss).map(|_| (burst, Some(most))),
        }
    }

    fn lost_packets(&self) -> Result<Arc<[u64]>, Fault> {
        let given = self.loss_at.as_ref().map_or(&[][..], |list| list.get_ref());
        let mut numbers: Vec<u64> = Vec::with_capacity(given.len());
        for number in given {
            let before = numbers.last().copied().unwrap_or(0);
            if *number.get_ref() <= before {
                let message = match before {
                    0 => "packets are numbered from 1".to_string(),
                    _ => format!("must be above the number before it, {before}"),
                };
                return Err(Fault::value(number.span(), message));
            }
            numbers.push(*number.get_ref());
        }
        Ok(numbers.into())
    }
}

fn span<T>(raw: &Located<T>) -> Option<Range<usize>> {
    raw.as_ref().map(Spanned::span)
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
