//! A video player that fetches segments, each at the highest bit rate the network seems to sustain.
//!
//! The rate is FESTIVE's reference rate (Jiang, Sekar, Zhang, section 3.3): the highest rate of the ladder that is at
//! most `safety` times the harmonic mean of past segments' throughput.
//!
//! Deviations: FESTIVE averages the last 20 segments, which would have to be stored per flow. Here the mean decays
//! exponentially. The rate rises without delay, and the times of requests are not randomized.

use aqm::{BuildError, Rate, Rng, Span};

use crate::model::{FileLoader, SenderInfo, SourceModel};
use crate::values::RateLadder;
use crate::write::{SourceWrite, WriteAmount};

aqm::params! {
    /// Settings of [`Video`].
    pub struct VideoConfig {
        /// Available bit rates of the film.
        ladder: RateLadder = netflix();
        /// Play time of a segment.
        segment: Span = Span::from_secs(4), in Span::from_millis(100)..=Span::from_secs(60);
        /// Play time that the player buffers. It requests a segment as soon as the buffer has room for it.
        buffer: Span = Span::from_secs(30), in Span::from_millis(100)..=Span::from_secs(3600);
        /// Share of the measured throughput that the player uses.
        safety: f64 = 0.85, in 0.01..=2.0;
        /// Weight of the last segment in the mean throughput. 1: only the last segment counts.
        weight: f64 = 0.1, in 0.01..=1.0;
        /// Play time of the film. `auto`: endless.
        length: Option<Span> = None, in Span::from_millis(100)..=Span::from_secs(86_400);
    }
    presets {
        "festive" "FESTIVE's 0.85, and a mean over about 20 segments; Netflix's ladder of 2015 (the defaults)" {}
    }
}

/// Netflix's ladder before December 2015 (Aaron, Li, Manohara, De Cock, Ronca, "Per-Title Encode Optimization", Netflix
/// Technology Blog).
fn netflix() -> RateLadder {
    let rates = [235_000, 375_000, 560_000, 750_000, 1_050_000, 1_750_000, 2_350_000, 3_000_000, 4_300_000, 5_800_000];
    RateLadder(rates.map(Rate::from_bits).to_vec())
}

/// A player.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    config: VideoConfig,
    segments: u32,
}

/// A player's state.
#[derive(Clone, Debug, Default)]
pub struct VideoState {
    segments: u32,
    /// Size of the last segment.
    bytes: u64,
    /// Mean seconds per bit; 0 before the first segment. Its inverse is the harmonic mean of the throughput.
    pace: f64,
    /// Play time in the buffer.
    stored: Span,
}

impl SourceModel for Video {
    type Config = VideoConfig;
    type State = VideoState;

    fn new(config: VideoConfig, _: &SenderInfo, _: &mut FileLoader<'_>) -> Result<Video, BuildError> {
        if config.buffer < config.segment {
            return Err(BuildError::Conflict("the `buffer` must hold a `segment`".to_string()));
        }
        let segments = config.length.map_or(u64::MAX, |length| length.as_nanos().div_ceil(config.segment.as_nanos()));
        Ok(Video { config, segments: u32::try_from(segments).unwrap_or(u32::MAX) })
    }

    fn start(&self, _: u32) -> VideoState {
        VideoState::default()
    }

    fn next(&self, flow: &mut VideoState, _: &mut Rng) -> Option<SourceWrite> {
        if flow.segments == self.segments {
            return None;
        }
        let first = flow.segments == 0;
        flow.segments += 1;
        let rate = self.choose(flow).as_bits() as f64;
        flow.bytes = (rate * self.config.segment.as_secs_f64() / 8.0).ceil() as u64;
        // Waits until the buffer has room, while the film plays.
        let wait = (flow.stored + self.config.segment) - self.config.buffer;
        flow.stored = flow.stored - wait;
        let data = WriteAmount::Bytes(flow.bytes.max(1));
        let write =
            if first { SourceWrite::after_start(Span::ZERO, data) } else { SourceWrite::after_delivery(wait, data) };
        Some(write.on_new_connection(first).awaited())
    }

    fn done(&self, flow: &mut VideoState, took: Span) {
        let pace = took.as_secs_f64() / (flow.bytes.max(1) as f64 * 8.0);
        let weight = if flow.pace == 0.0 { 1.0 } else { self.config.weight };
        flow.pace += weight * (pace - flow.pace);
        flow.stored = (flow.stored - took) + self.config.segment;
    }

    /// The rate of the highest quality.
    fn nominal_rate(&self) -> Option<f64> {
        self.config.ladder.0.last().map(|rate| rate.as_bits() as f64 / 8.0)
    }
}

impl Video {
    /// The rate of the next segment, at first the lowest.
    fn choose(&self, flow: &VideoState) -> Rate {
        let ladder = &self.config.ladder.0;
        let carried = if flow.pace > 0.0 { self.config.safety / flow.pace } else { 0.0 };
        let highest = ladder.iter().rev().find(|rate| rate.as_bits() as f64 <= carried);
        *highest.unwrap_or(&ladder[0])
    }
}
