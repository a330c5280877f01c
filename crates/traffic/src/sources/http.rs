//! Short transfers in sequence.

use headgate_core::params::Value;
use headgate_core::{BuildError, Rng, Span};

use crate::kind::{Files, Kind, Sender};
use crate::values::{Size, Wait};
use crate::write::{Data, Write};

/// The extent of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transfer {
    /// By size.
    Bytes(Size),
    /// By duration, sending as much as TCP takes.
    Time(Wait),
}

impl Value for Transfer {
    type Scalar = f64;
    fn kind() -> String {
        format!("{}, or {}", Size::kind(), Wait::kind())
    }
    fn read(text: &str) -> Result<Self, String> {
        let time =
            |expected| Wait::read(text).map(Transfer::Time).map_err(|_| format!("{expected}; or the same of times"));
        Size::read(text).map(Transfer::Bytes).or_else(time)
    }
    fn show(&self) -> String {
        match self {
            Transfer::Bytes(size) => size.show(),
            Transfer::Time(time) => time.show(),
        }
    }
}

headgate_core::params! {
    /// Settings of [`Http`].
    pub struct HttpConfig {
        /// A transfer: its size, or how long it sends what TCP takes.
        transfer: Transfer = Transfer::Time(Wait::always(Span::from_secs(5)));
        /// From the end of one transfer to the beginning of the next.
        wait: Wait = Wait::always(Span::ZERO);
        /// Transfers in all. `auto`: as many as there is time for.
        count: Option<u32> = None, in 1..=4_294_967_295;
        /// All transfers share one connection (RFC 9112, section 9.3).
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
pub struct Fetched {
    count: u32,
    /// The configured duration of the last transfer.
    lasts: Span,
}

impl Kind for Http {
    type Config = HttpConfig;
    type State = Fetched;

    fn new(config: HttpConfig, _: &Sender, _: &mut Files<'_>) -> Result<Http, BuildError> {
        match config.transfer {
            Transfer::Time(time) if time.law().mean() == 0.0 => {
                Err(BuildError::Conflict("a `transfer` must last for more than 0s".to_string()))
            }
            _ => Ok(Http { config }),
        }
    }

    fn start(&self, _: u32) -> Fetched {
        Fetched::default()
    }

    fn next(&self, flow: &mut Fetched, rng: &mut Rng) -> Option<Write> {
        if self.config.count == Some(flow.count) {
            return None;
        }
        let first = flow.count == 0;
        flow.count = flow.count.saturating_add(1);
        let pause = if first { Span::ZERO } else { self.config.wait.draw(rng) };
        let write = match self.config.transfer {
            Transfer::Time(time) => {
                let gap = flow.lasts + pause;
                flow.lasts = time.draw(rng).max(Span::from_nanos(1));
                Write::after(gap, Data::For(flow.lasts))
            }
            Transfer::Bytes(size) if first => Write::after(pause, Data::Bytes(size.draw(rng))).awaited(),
            Transfer::Bytes(size) => Write::when_done(pause, Data::Bytes(size.draw(rng))).awaited(),
        };
        Some(write.on_fresh(first || !self.config.persistent))
    }

    fn mean_rate(&self) -> Option<f64> {
        let wait = self.config.wait.law().mean();
        match self.config.transfer {
            Transfer::Bytes(size) if wait > 0.0 => Some(1e9 * size.law().mean() / wait),
            _ => None,
        }
    }

    fn mean_bytes(&self) -> Option<f64> {
        match self.config.transfer {
            Transfer::Bytes(size) => self.config.count.map(|count| size.law().mean() * f64::from(count)),
            Transfer::Time(_) => None,
        }
    }
}
