//! A constant rate, or a schedule of rates.

use aqm::{BuildError, Rate, Rng, Span};

use crate::model::{FileLoader, SenderInfo, SourceModel};
use crate::values::RateSchedule;
use crate::write::{SourceWrite, WriteAmount};

aqm::params! {
    /// Settings of [`Cbr`].
    pub struct CbrConfig {
        /// Rate on the wire, or of the payload with the group's `rate_of`. `auto`: the group's rate.
        rate: Option<Rate> = None, in Rate::from_bits(1)..=Rate::from_bits(100_000_000_000);
        /// Rates with their start times, counted from the flow's start. Before the first one, `rate` holds. A rate of 0
        /// pauses.
        schedule: RateSchedule = RateSchedule::default();
    }
    presets {
        "default" "the group's rate (the defaults)" {}
        "red_pd" "RED-PD's figure 12: 0.25 Mb/s, 4 Mb/s from 50 s on, 0.25 Mb/s again from 250 s on" {
            "rate" = "250kbit/s", "schedule" = "[50s 4Mbit/s; 250s 250kbit/s]"
        }
    }
}

/// Packets at a constant rate. The group's `jitter` varies each gap uniformly around its nominal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Cbr {
    bytes: u64,
    /// Gaps by start time, at least one. The first starts at 0.
    steps: Vec<RateStep>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct RateStep {
    from: Span,
    /// The minimum gap, and the range of its random part; `None` for a pause.
    gap: Option<(Span, Span)>,
}

/// A flow's state.
#[derive(Clone, Debug, Default)]
pub struct CbrState {
    begun: bool,
    step: u32,
    /// Time of the last packet, counted from the flow's start.
    at: Span,
}

impl RateStep {
    fn new(from: Span, rate: Rate, sender: &SenderInfo) -> RateStep {
        let gap = rate.transmit(sender.rated);
        let jitter = Span::from_secs_f64(gap.as_secs_f64() * sender.jitter.clamp(0.0, 1.0));
        RateStep { from, gap: (rate.as_bits() > 0).then_some((gap - jitter, jitter * 2)) }
    }
}

impl SourceModel for Cbr {
    type Config = CbrConfig;
    type State = CbrState;

    fn new(config: CbrConfig, sender: &SenderInfo, _: &mut FileLoader<'_>) -> Result<Cbr, BuildError> {
        let schedule = &config.schedule.0;
        let mut steps = Vec::with_capacity(schedule.len() + 1);
        if schedule.first().is_none_or(|(from, _)| *from > Span::ZERO) {
            steps.push(RateStep::new(Span::ZERO, sender.rate(config.rate)?, sender));
        }
        steps.extend(schedule.iter().map(|(from, rate)| RateStep::new(*from, *rate, sender)));
        Ok(Cbr { bytes: sender.payload.into(), steps })
    }

    fn start(&self, _: u32) -> CbrState {
        CbrState::default()
    }

    #[inline]
    fn next(&self, flow: &mut CbrState, rng: &mut Rng) -> Option<SourceWrite> {
        let data = WriteAmount::Bytes(self.bytes);
        let before = flow.at;
        if std::mem::replace(&mut flow.begun, true) {
            self.advance(flow);
            // A gap keeps its length when the rate changes within it: the timer is already set.
            match self.steps[flow.step as usize].gap {
                Some((least, random)) => flow.at = flow.at + least + rng.span_below(random),
                None => self.resume(flow)?,
            }
        } else if self.steps[0].gap.is_none() {
            self.resume(flow)?;
        }
        Some(SourceWrite::after_start(flow.at - before, data))
    }

    /// The highest rate of the schedule.
    fn nominal_rate(&self) -> Option<f64> {
        Some(self.rates().into_iter().map(|(_, rate)| rate).fold(0.0, f64::max))
    }

    fn write_bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn rates(&self) -> Vec<(Span, f64)> {
        let nominal = |(least, random): (Span, Span)| least.as_secs_f64() + random.as_secs_f64() / 2.0;
        let rate = |step: &RateStep| step.gap.map_or(0.0, |gap| self.bytes as f64 / nominal(gap));
        self.steps.iter().map(|step| (step.from, rate(step))).collect()
    }
}

impl Cbr {
    /// Advances to the step that holds at the time of the last packet.
    fn advance(&self, flow: &mut CbrState) {
        while self.steps.get(flow.step as usize + 1).is_some_and(|step| step.from <= flow.at) {
            flow.step += 1;
        }
    }

    /// Advances from a pause to the next step with packets.
    fn resume(&self, flow: &mut CbrState) -> Option<()> {
        let later = flow.step as usize + 1;
        let step = later + self.steps[later..].iter().position(|step| step.gap.is_some())?;
        (flow.step, flow.at) = (step as u32, self.steps[step].from);
        Some(())
    }
}
