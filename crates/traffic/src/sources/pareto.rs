//! Bursts with Pareto distributed on and off periods.

use aqm::{BuildError, Rate, Span};

use crate::distribution::{Distribution, DistributionKind};
use crate::model::{Protocol, SenderInfo};
use crate::on_off::{ConstantRate, FirstPeriod, OnOff, on_off_source};
use crate::values::RandomTime;

aqm::params! {
    /// Settings of [`Pareto`].
    pub struct ParetoConfig {
        /// Mean length of an on period.
        on: Span = Span::from_millis(500), in Span::from_nanos(1)..=Span::from_secs(86_400);
        /// Mean length of an off period.
        off: Span = Span::from_millis(500), in Span::from_nanos(1)..=Span::from_secs(86_400);
        /// Shape of both distributions: P(T > t) falls as t^-shape. Below 2 the variance is infinite.
        shape: f64 = 1.5, in 1.01..=100.0;
        /// Rate during an on period, on the wire, or of the payload with the group's `rate_of`. `auto`: over TCP what
        /// TCP takes, over UDP the group's rate.
        rate: Option<Rate> = None, in Rate::from_bits(1)..=Rate::from_bits(100_000_000_000);
        /// First period: `on` or `off`.
        begin: FirstPeriod = FirstPeriod::On;
    }
    presets {
        "default" "500 ms on and off, shape 1.5 as in ns-2.35; its rate and packets are the group's (the defaults)" {}
        "ns2" "`Application/Traffic/Pareto` in ns-2.35, which has packets of 210 bytes: `packet` of the group" {
            "rate" = "64kbit/s", "begin" = "off"
        }
        "blue" "BLUE's section III-B: 2 s on, 3 s off; it does not give the shape" { "on" = "2s", "off" = "3s" }
    }
}

on_off_source! {
    /// An on-off source with heavy-tailed periods, so that its traffic has long memory.
    Pareto, ParetoConfig, cycle
}

fn cycle(config: ParetoConfig, sender: &SenderInfo) -> Result<OnOff, BuildError> {
    let time = |mean: Span| {
        Distribution::new(DistributionKind::Pareto, mean.as_nanos() as f64, config.shape).map(RandomTime::by)
    };
    let time = |mean| time(mean).map_err(BuildError::Conflict);
    let pace = pace(config.rate, sender)?;
    Ok(OnOff { on: time(config.on)?, off: time(config.off)?, pace, begin: config.begin })
}

/// Full packets at `rate`; without a rate over TCP, as much as TCP takes.
pub(super) fn pace(rate: Option<Rate>, sender: &SenderInfo) -> Result<Option<ConstantRate>, BuildError> {
    if sender.protocol == Protocol::Tcp && rate.is_none() {
        return Ok(None);
    }
    let gap = sender.rate(rate)?.transmit(sender.rated);
    Ok(Some(ConstantRate { gap, bytes: sender.payload.into() }))
}
