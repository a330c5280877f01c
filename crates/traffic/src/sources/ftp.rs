//! Bulk transfer.

use aqm::{BuildError, Rng, Span};

use crate::model::{FileLoader, SenderInfo, SourceModel};
use crate::values::{RandomTime, SizeOrEndless};
use crate::write::{SourceWrite, WriteAmount};

aqm::params! {
    /// Settings of [`Ftp`].
    pub struct FtpConfig {
        /// Size of a file.
        size: SizeOrEndless = SizeOrEndless(None);
        /// Number of files.
        count: u32 = 1, in 1..=4_294_967_295;
        /// Pause between the end of a file and the start of the next.
        wait: RandomTime = RandomTime::always(Span::ZERO);
    }
    presets {
        "ns2" "`Application/FTP` in ns-2.35: one endless file (the defaults)" {}
    }
}

/// Files in sequence, each on its own connection as in stream mode of RFC 959 (section 3.4.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Ftp {
    config: FtpConfig,
}

impl SourceModel for Ftp {
    type Config = FtpConfig;
    type State = u32;

    fn new(config: FtpConfig, _: &SenderInfo, _: &mut FileLoader<'_>) -> Result<Ftp, BuildError> {
        if config.size.0.is_none() && config.count > 1 {
            return Err(BuildError::Conflict(
                "a `count` of files needs a `size`: the first would never end".to_string(),
            ));
        }
        Ok(Ftp { config })
    }

    fn start(&self, _: u32) -> u32 {
        0
    }

    fn next(&self, sent: &mut u32, rng: &mut Rng) -> Option<SourceWrite> {
        if *sent == self.config.count {
            return None;
        }
        *sent += 1;
        let Some(size) = self.config.size.0 else {
            return Some(SourceWrite::after_start(Span::ZERO, WriteAmount::Endless).on_new_connection(true));
        };
        let data = WriteAmount::Bytes(size.draw(rng));
        let first = *sent == 1;
        let write = if first {
            SourceWrite::after_start(Span::ZERO, data)
        } else {
            SourceWrite::after_delivery(self.config.wait.draw(rng), data)
        };
        Some(write.on_new_connection(true).awaited())
    }

    fn mean_bytes(&self) -> Option<f64> {
        self.config.size.0.map(|size| size.distribution().mean() * f64::from(self.config.count))
    }
}
