//! Bursts with exponentially distributed on and off periods.

use aqm::{BuildError, Rate, Span};

use super::pareto::pace;
use crate::model::SenderInfo;
use crate::on_off::{FirstPeriod, OnOff, on_off_source};
use crate::values::RandomTime;

aqm::params! {
    /// Settings of [`Exp`].
    pub struct ExpConfig {
        /// Mean length of an on period.
        on: Span = Span::from_millis(500), in Span::from_nanos(1)..=Span::from_secs(86_400);
        /// Mean length of an off period.
        off: Span = Span::from_millis(500), in Span::from_nanos(1)..=Span::from_secs(86_400);
        /// Rate during an on period, on the wire, or of the payload with the group's `rate_of`. `auto`: over TCP what
        /// TCP takes, over UDP the group's rate.
        rate: Option<Rate> = None, in Rate::from_bits(1)..=Rate::from_bits(100_000_000_000);
        /// First period: `on` or `off`.
        begin: FirstPeriod = FirstPeriod::On;
    }
    presets {
        "default" "500 ms on and off as in ns-2.35; its rate and packets are the group's (the defaults)" {}
        "ns2" "`Application/Traffic/Exponential` in ns-2.35, which has packets of 210 bytes: `packet` of the group" {
            "rate" = "64kbit/s", "begin" = "off"
        }
    }
}

on_off_source! {
    /// An on-off source with exponential periods, so that its traffic has short memory.
    Exp, ExpConfig, cycle
}

fn cycle(config: ExpConfig, sender: &SenderInfo) -> Result<OnOff, BuildError> {
    let (on, off) = (RandomTime::exponential(config.on), RandomTime::exponential(config.off));
    Ok(OnOff { on, off, pace: pace(config.rate, sender)?, begin: config.begin })
}
