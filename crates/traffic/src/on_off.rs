//! On-off sources.

use headgate_core::{Rng, Span};

use crate::values::Wait;
use crate::write::{Data, Write};

headgate_core::choice! {
    /// What a source that is on and off begins with.
    pub enum Begin {
        /// It sends at its start.
        On = "on",
        /// It waits first: sources that start together spread by it.
        Off = "off",
    }
}

/// The on and off times of a source, and its writes while on.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// Length of an on period.
    pub on: Wait,
    /// Length of an off period.
    pub off: Wait,
    /// Writes while on; `None` for as much as TCP takes.
    pub pace: Option<Pace>,
    /// The first period.
    pub begin: Begin,
}

/// Writes at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Time between writes.
    pub gap: Span,
    /// Bytes per write.
    pub bytes: u64,
}

/// A flow's state.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    begun: bool,
    /// Writes left in the burst, with a pace.
    left: u32,
    /// Length of the last on period, without a pace.
    lasted: Span,
}

impl OnOff {
    /// The next write of a flow.
    pub fn next(&self, flow: &mut Phase, rng: &mut Rng) -> Write {
        match self.pace {
            Some(pace) => self.paced(pace, flow, rng),
            None => {
                let lasted = self.on.draw(rng);
                let gap = flow.lasted + self.pause(flow, rng);
                flow.lasted = lasted;
                Write::after(gap, Data::For(lasted))
            }
        }
    }

    /// A burst is a whole number of writes, at least one. The pause counts from the end of the last write's gap, as in
    /// ns-2 (`tools/pareto.cc`, `tools/expoo.cc` in ns-2.35).
    fn paced(&self, pace: Pace, flow: &mut Phase, rng: &mut Rng) -> Write {
        let data = Data::Bytes(pace.bytes);
        if flow.left > 0 {
            flow.left -= 1;
            return Write::after(pace.gap, data);
        }
        let length = self.on.draw(rng).as_nanos();
        let writes = (length + pace.gap.as_nanos() / 2) / pace.gap.as_nanos().max(1);
        flow.left = u32::try_from(writes).unwrap_or(u32::MAX).max(1) - 1;
        let gap = if flow.begun { pace.gap } else { Span::ZERO };
        Write::after(gap + self.pause(flow, rng), data)
    }

    /// Mean rate in bytes a second, pauses included; `None` without a pace. A burst counts as its mean length, at least
    /// one write: rounding to whole writes evens out.
    pub fn mean_rate(&self) -> Option<f64> {
        let Pace { gap, bytes } = self.pace?;
        let gap = gap.as_nanos() as f64;
        let writes = (self.on.law().mean() / gap).max(1.0);
        Some(1e9 * writes * bytes as f64 / (writes * gap + self.off.law().mean()))
    }

    fn pause(&self, flow: &mut Phase, rng: &mut Rng) -> Span {
        let first = !std::mem::replace(&mut flow.begun, true);
        if first && self.begin == Begin::On { Span::ZERO } else { self.off.draw(rng) }
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

        impl $crate::kind::Kind for $source {
            type Config = $config;
            type State = $crate::on_off::Phase;

            fn new(
                config: $config,
                sender: &$crate::kind::Sender,
                _: &mut $crate::kind::Files<'_>,
            ) -> Result<$source, headgate_core::BuildError> {
                Ok($source { cycle: $cycle(config, sender)? })
            }

            fn start(&self, _: u32) -> $crate::on_off::Phase {
                $crate::on_off::Phase::default()
            }

            fn next(&self, flow: &mut $crate::on_off::Phase, rng: &mut headgate_core::Rng) -> Option<$crate::write::Write> {
                Some(self.cycle.next(flow, rng))
            }

            fn mean_rate(&self) -> Option<f64> {
                self.cycle.mean_rate()
            }
        }
    };
}

pub(crate) use on_off_source;
