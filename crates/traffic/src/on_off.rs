//! On-off sources: bursts of writes, and pauses between them.

use aqm::{Rng, Span};

use crate::values::RandomTime;
use crate::write::{SourceWrite, WriteAmount};

aqm::choice! {
    /// The first period of an on-off source.
    pub enum FirstPeriod {
        /// On: it sends at its start.
        On = "on",
        /// Off: sources that start together are spread out.
        Off = "off",
    }
}

/// The on and off times of a source, and its writes while on.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// Length of an on period.
    pub on: RandomTime,
    /// Length of an off period.
    pub off: RandomTime,
    /// Writes while on; `None` for as much as TCP takes.
    pub pace: Option<ConstantRate>,
    /// The first period.
    pub begin: FirstPeriod,
}

/// Writes at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantRate {
    /// Time between writes.
    pub gap: Span,
    /// Bytes per write.
    pub bytes: u64,
}

/// A flow's state.
#[derive(Clone, Debug, Default)]
pub struct OnOffState {
    begun: bool,
    /// Writes left in the burst, with a pace.
    left: u32,
    /// Length of the last on period, without a pace.
    lasted: Span,
}

impl OnOff {
    /// The next write of a flow.
    pub fn next(&self, flow: &mut OnOffState, rng: &mut Rng) -> SourceWrite {
        match self.pace {
            Some(pace) => self.paced(pace, flow, rng),
            None => {
                let lasted = self.on.draw(rng);
                let gap = flow.lasted + self.pause(flow, rng);
                flow.lasted = lasted;
                SourceWrite::after_start(gap, WriteAmount::Duration(lasted))
            }
        }
    }

    /// A burst is a whole number of writes, at least one. The pause begins a gap after the last write, as in ns-2
    /// (`tools/pareto.cc`, `tools/expoo.cc` in ns-2.35).
    fn paced(&self, pace: ConstantRate, flow: &mut OnOffState, rng: &mut Rng) -> SourceWrite {
        let data = WriteAmount::Bytes(pace.bytes);
        if flow.left > 0 {
            flow.left -= 1;
            return SourceWrite::after_start(pace.gap, data);
        }
        let length = self.on.draw(rng).as_nanos();
        let writes = (length + pace.gap.as_nanos() / 2) / pace.gap.as_nanos().max(1);
        flow.left = u32::try_from(writes).unwrap_or(u32::MAX).max(1) - 1;
        let gap = if flow.begun { pace.gap } else { Span::ZERO };
        SourceWrite::after_start(gap + self.pause(flow, rng), data)
    }

    /// Mean rate in bytes a second, pauses included; `None` without a pace. Every burst is taken to have the mean
    /// length, at least one write: rounding to whole writes changes the mean little.
    pub fn nominal_rate(&self) -> Option<f64> {
        let ConstantRate { gap, bytes } = self.pace?;
        let gap = gap.as_nanos() as f64;
        let writes = (self.on.distribution().mean() / gap).max(1.0);
        Some(1e9 * writes * bytes as f64 / (writes * gap + self.off.distribution().mean()))
    }

    /// Bytes of every write; `None` without a pace.
    pub fn write_bytes(&self) -> Option<u64> {
        self.pace.map(|pace| pace.bytes)
    }

    fn pause(&self, flow: &mut OnOffState, rng: &mut Rng) -> Span {
        let first = !std::mem::replace(&mut flow.begun, true);
        if first && self.begin == FirstPeriod::On { Span::ZERO } else { self.off.draw(rng) }
    }
}

/// Declares an on-off source: documentation, type, settings, and a function that makes its cycle for a sender.
macro_rules! on_off_source {
    ($(#[$doc:meta])+ $source:ident, $config:ty, $cycle:expr) => {
        $(#[$doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $source {
            cycle: $crate::on_off::OnOff,
        }

        impl $crate::model::SourceModel for $source {
            type Config = $config;
            type State = $crate::on_off::OnOffState;

            fn new(
                config: $config,
                sender: &$crate::model::SenderInfo,
                _: &mut $crate::model::FileLoader<'_>,
            ) -> Result<$source, aqm::BuildError> {
                Ok($source { cycle: $cycle(config, sender)? })
            }

            fn start(&self, _: u32) -> $crate::on_off::OnOffState {
                $crate::on_off::OnOffState::default()
            }

            fn next(&self, flow: &mut $crate::on_off::OnOffState, rng: &mut aqm::Rng) -> Option<$crate::write::SourceWrite> {
                Some(self.cycle.next(flow, rng))
            }

            fn nominal_rate(&self) -> Option<f64> {
                self.cycle.nominal_rate()
            }

            fn write_bytes(&self) -> Option<u64> {
                self.cycle.write_bytes()
            }
        }
    };
}

pub(crate) use on_off_source;
