//! Single packets at random times.

use aqm::params::Bytes;
use aqm::{BuildError, Rng, Span};

use crate::model::{FileLoader, SenderInfo, SourceModel};
use crate::values::RandomTime;
use crate::write::{SourceWrite, WriteAmount};

aqm::params! {
    /// Settings of [`Telnet`].
    pub struct TelnetConfig {
        /// Time between two packets.
        gap: RandomTime = RandomTime::exponential(Span::from_secs(1));
        /// Data per packet. `auto`: a full packet.
        size: Option<Bytes> = None, in Bytes(1)..=Bytes(1_000_000);
    }
    presets {
        "ns2" "`Application/Telnet` in ns-2.35: exponential gaps of 1 s on average (the defaults)" {}
        "faba" "FABA's section 5.5: 5 ms on average, which with packets of 512 bytes is about 100 kB/s" {
            "gap" = "exp(5ms)"
        }
    }
}

/// A user typing.
#[derive(Clone, Debug, PartialEq)]
pub struct Telnet {
    gap: RandomTime,
    bytes: u64,
}

impl SourceModel for Telnet {
    type Config = TelnetConfig;
    type State = ();

    fn new(config: TelnetConfig, sender: &SenderInfo, _: &mut FileLoader<'_>) -> Result<Telnet, BuildError> {
        if config.gap.distribution().mean() == 0.0 {
            return Err(BuildError::Conflict("a `gap` of 0s leaves no time between packets".to_string()));
        }
        Ok(Telnet { gap: config.gap, bytes: config.size.map_or(sender.payload.into(), |size| size.0) })
    }

    fn start(&self, _: u32) {}

    /// The first packet follows a gap, as in ns-2 (`apps/telnet.cc`).
    fn next(&self, _: &mut (), rng: &mut Rng) -> Option<SourceWrite> {
        Some(SourceWrite::after_start(self.gap.draw(rng), WriteAmount::Bytes(self.bytes)))
    }

    fn write_bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn nominal_rate(&self) -> Option<f64> {
        Some(1e9 * self.bytes as f64 / self.gap.distribution().mean())
    }
}
