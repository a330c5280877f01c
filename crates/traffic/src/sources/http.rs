//! Short transfers in sequence.

use aqm::params::ParameterValue;
use aqm::{BuildError, Rng, Span};

use crate::model::{FileLoader, SenderInfo, SourceModel};
use crate::values::{RandomSize, RandomTime};
use crate::write::{SourceWrite, WriteAmount};

/// How much a transfer sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TransferExtent {
    /// By size.
    Bytes(RandomSize),
    /// By duration, sending as much as TCP takes.
    Time(RandomTime),
}

impl ParameterValue for TransferExtent {
    type Scalar = f64;
    fn kind() -> String {
        format!("{}, or {}", RandomSize::kind(), RandomTime::kind())
    }
    fn read(text: &str) -> Result<Self, String> {
        let time = |expected| {
            RandomTime::read(text)
                .map(TransferExtent::Time)
                .map_err(|_| format!("{expected}; or a time in the same forms"))
        };
        RandomSize::read(text).map(TransferExtent::Bytes).or_else(time)
    }
    fn show(&self) -> String {
        match self {
            TransferExtent::Bytes(size) => size.show(),
            TransferExtent::Time(time) => time.show(),
        }
    }
}

aqm::params! {
    /// Settings of [`Http`].
    pub struct HttpConfig {
        /// Size of a transfer, or its duration while it sends what TCP takes.
        transfer: TransferExtent = TransferExtent::Time(RandomTime::always(Span::from_secs(5)));
        /// Pause between the end of a transfer and the start of the next.
        wait: RandomTime = RandomTime::always(Span::ZERO);
        /// Number of transfers. `auto`: unlimited.
        count: Option<u32> = None, in 1..=4_294_967_295;
        /// Whether all transfers share one connection (RFC 9112, section 9.3).
        persistent: bool = false;
    }
    presets {
        "faba" "FABA's section 5.5: connections of 5 s, one by one (the defaults)" {}
    }
}

/// A client that fetches one object after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Http {
    config: HttpConfig,
}

/// A client's state.
#[derive(Clone, Debug, Default)]
pub struct HttpState {
    count: u32,
    /// The configured duration of the last transfer.
    lasts: Span,
}

impl SourceModel for Http {
    type Config = HttpConfig;
    type State = HttpState;

    fn new(config: HttpConfig, _: &SenderInfo, _: &mut FileLoader<'_>) -> Result<Http, BuildError> {
        match config.transfer {
            TransferExtent::Time(time) if time.distribution().mean() == 0.0 => {
                Err(BuildError::Conflict("a `transfer` must last for more than 0s".to_string()))
            }
            _ => Ok(Http { config }),
        }
    }

    fn start(&self, _: u32) -> HttpState {
        HttpState::default()
    }

    fn next(&self, flow: &mut HttpState, rng: &mut Rng) -> Option<SourceWrite> {
        if self.config.count == Some(flow.count) {
            return None;
        }
        let first = flow.count == 0;
        flow.count = flow.count.saturating_add(1);
        let pause = if first { Span::ZERO } else { self.config.wait.draw(rng) };
        let write = match self.config.transfer {
            TransferExtent::Time(time) => {
                let gap = flow.lasts + pause;
                flow.lasts = time.draw(rng).max(Span::from_nanos(1));
                SourceWrite::after_start(gap, WriteAmount::Duration(flow.lasts))
            }
            TransferExtent::Bytes(size) if first => {
                SourceWrite::after_start(pause, WriteAmount::Bytes(size.draw(rng))).awaited()
            }
            TransferExtent::Bytes(size) => {
                SourceWrite::after_delivery(pause, WriteAmount::Bytes(size.draw(rng))).awaited()
            }
        };
        Some(write.on_new_connection(first || !self.config.persistent))
    }

    fn nominal_rate(&self) -> Option<f64> {
        let wait = self.config.wait.distribution().mean();
        match self.config.transfer {
            TransferExtent::Bytes(size) if wait > 0.0 => Some(1e9 * size.distribution().mean() / wait),
            _ => None,
        }
    }

    fn mean_bytes(&self) -> Option<f64> {
        match self.config.transfer {
            TransferExtent::Bytes(size) => self.config.count.map(|count| size.distribution().mean() * f64::from(count)),
            TransferExtent::Time(_) => None,
        }
    }
}
