//! The camera and encoder of a video call: one frame after the other, at the rate that congestion control allows.
//!
//! It follows the statistical model of RFC 8593, section 5. The encoder takes a new target rate `lag` after the request,
//! and one request at a time. Frame sizes and intervals vary around their means by Laplace distributions.
//!
//! Deviations: a new rate makes no burst of larger frames (RFC 8593, section 5.4), and there are no key frames.

use aqm::{BuildError, Rate, Rng, Span};

use crate::model::{FileLoader, SenderInfo, SourceModel};
use crate::write::{SourceWrite, WriteAmount};

aqm::params! {
    /// Settings of [`Call`].
    pub struct CallConfig {
        /// Rate of the video, without packet headers. With congestion control it is the greatest one. `auto`: the group's
        /// `rate`, less the headers.
        rate: Option<Rate> = None, in Rate::from_bits(1000)..=Rate::from_bits(1_000_000_000);
        /// Frames a second.
        fps: f64 = 30.0, in 1.0..=240.0;
        /// Time from a new target rate to the first frame that the encoder makes at it; requests in between wait.
        lag: Span = Span::from_millis(200), in Span::ZERO..=Span::from_secs(10);
        /// Spread of frame sizes: the scale of their Laplace distribution, as a part of the mean size.
        size_spread: f64 = 0.15, in 0.0..=1.0;
        /// Spread of the intervals between frames: the scale of their Laplace distribution, as a part of the mean interval.
        time_spread: f64 = 0.15, in 0.0..=1.0;
    }
    presets {
        "rfc8593" "RFC 8593's example values: a lag of 200 ms, both spreads 0.15 (the defaults)" {}
        "steady" "frames of equal size at equal intervals, without a lag" {
            "lag" = "0s", "size_spread" = "0", "time_spread" = "0"
        }
    }
}

/// A draw lies at most this far from the mean, as a part of it: no frame is empty, and no interval negative.
const FARTHEST: f64 = 0.9;

/// One side of a video call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    config: CallConfig,
    /// The rate without congestion control and the greatest one with it, in bytes of video a second.
    most: f64,
}

/// A flow's state. Times count from its start.
#[derive(Clone, Copy, Debug)]
pub struct CallState {
    begun: bool,
    /// The time of the last frame.
    at: Span,
    /// Bytes of video a second: now, as last requested, and of the request that the encoder is about to take.
    rate: u32,
    requested: u32,
    taken_next: u32,
    /// When the encoder takes it; [`Span::MAX`] without such a request.
    takes_at: Span,
}

impl SourceModel for Call {
    type Config = CallConfig;
    type State = CallState;

    fn new(config: CallConfig, sender: &SenderInfo, _: &mut FileLoader<'_>) -> Result<Call, BuildError> {
        // The group's rate counts headers, the video's rate does not.
        let data =
            |rate: Rate| rate.as_bits() as f64 / 8.0 * f64::from(sender.payload) / f64::from(sender.rated.max(1));
        let most = match config.rate {
            Some(rate) => rate.as_bits() as f64 / 8.0,
            None => data(sender.rate(None)?),
        };
        Ok(Call { config, most })
    }

    fn start(&self, _: u32) -> CallState {
        let rate = self.most as u32;
        CallState { begun: false, at: Span::ZERO, rate, requested: rate, taken_next: rate, takes_at: Span::MAX }
    }

    fn next(&self, flow: &mut CallState, rng: &mut Rng) -> Option<SourceWrite> {
        let begun = std::mem::replace(&mut flow.begun, true);
        let interval = varied(1.0 / self.config.fps, self.config.time_spread, rng);
        let gap = if begun { Span::from_secs_f64(interval) } else { Span::ZERO };
        flow.at = flow.at + gap;
        self.take_requests(flow);
        let bytes = varied(f64::from(flow.rate) / self.config.fps, self.config.size_spread, rng);
        Some(SourceWrite::after_start(gap, WriteAmount::Bytes((bytes.round() as u64).max(1))))
    }

    fn follow(&self, flow: &mut CallState, rate: f64, at: Span) {
        flow.requested = rate.min(self.most) as u32;
        if !flow.begun {
            flow.rate = flow.requested;
        } else if flow.takes_at == Span::MAX {
            self.request(flow, at);
        }
    }

    fn nominal_rate(&self) -> Option<f64> {
        Some(self.most)
    }
}

impl Call {
    /// Begins to take the latest request at `at`, if it is news.
    fn request(&self, flow: &mut CallState, at: Span) {
        let is_news = flow.requested != flow.rate;
        flow.taken_next = flow.requested;
        flow.takes_at = if is_news { at + self.config.lag } else { Span::MAX };
    }

    /// Takes the requested rate if its time has come. A request made meanwhile then waits for a lag of its own.
    fn take_requests(&self, flow: &mut CallState) {
        while flow.takes_at <= flow.at {
            flow.rate = flow.taken_next;
            self.request(flow, flow.takes_at);
        }
    }
}

/// A draw of a Laplace distribution around `mean`, whose scale is `spread` times the mean.
fn varied(mean: f64, spread: f64, rng: &mut Rng) -> f64 {
    if spread == 0.0 {
        return mean;
    }
    let u = rng.unit() - 0.5;
    let deviation = -spread * u.signum() * libm::log((1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE));
    mean * (1.0 + deviation.clamp(-FARTHEST, FARTHEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traffic;
    use crate::registry::FlowSource;

    fn flow(settings: &str) -> FlowSource {
        let traffic: Traffic = format!("call:{settings}").parse().unwrap();
        let sender = SenderInfo::udp(1200, 1160, Rate::from_bits(1_200_000));
        traffic.build(&sender, &mut |_| Err(String::new())).unwrap().start(0)
    }

    /// Bytes and gap in nanoseconds of the next frame.
    fn frame(flow: &mut FlowSource, rng: &mut Rng) -> (u64, u64) {
        let write = flow.next(rng).unwrap();
        let (crate::WriteStart::AfterStart(gap), WriteAmount::Bytes(bytes)) = (write.after, write.data) else {
            panic!("{write:?}")
        };
        (bytes, gap.as_nanos())
    }

    #[test]
    fn a_steady_call_has_equal_frames_at_equal_intervals() {
        // 960 kbit/s are 120000 bytes a second: 4800 bytes in each of 25 frames.
        let (mut flow, mut rng) = (flow("preset=steady,fps=25,rate=960kbit/s"), Rng::new(1));
        assert_eq!(frame(&mut flow, &mut rng), (4800, 0));
        assert_eq!(frame(&mut flow, &mut rng), (4800, 40_000_000));
    }

    #[test]
    fn the_groups_rate_counts_headers() {
        // 1.2 Mbit/s in packets of 1200 bytes are 125 packets of 1160 bytes a second: 5800 bytes in each of 25 frames.
        let (mut flow, mut rng) = (flow("preset=steady,fps=25"), Rng::new(1));
        assert_eq!(frame(&mut flow, &mut rng).0, 5800);
    }

    #[test]
    fn the_encoder_takes_a_new_rate_after_its_lag_and_one_request_at_a_time() {
        let (mut flow, mut rng) = (flow("preset=steady,fps=25,rate=2Mbit/s,lag=100ms"), Rng::new(1));
        // Before the first frame, the encoder takes any rate at once.
        flow.follow(120_000.0, Span::ZERO);
        let mut sizes = Vec::new();
        for number in 0..10 {
            let at = Span::from_millis(40 * number);
            match number {
                1 => flow.follow(240_000.0, at),
                2 => flow.follow(60_000.0, at),
                _ => {}
            }
            sizes.push(frame(&mut flow, &mut rng).0);
        }
        // Requested at 40 ms, taken at 140 ms, by the frame at 160 ms. The next request is taken at 240 ms.
        assert_eq!(sizes, [4800, 4800, 4800, 4800, 9600, 9600, 2400, 2400, 2400, 2400]);
    }

    #[test]
    fn sizes_and_intervals_keep_their_means_and_have_the_spread_of_a_laplace_distribution() {
        let (mut flow, mut rng) = (flow("fps=25,rate=960kbit/s"), Rng::new(3));
        let frames: Vec<(u64, u64)> = (0..40_000).map(|_| frame(&mut flow, &mut rng)).skip(1).collect();
        let count = frames.len() as f64;
        let (sizes, gaps) = frames.iter().fold((0.0, 0.0), |(s, g), f| (s + f.0 as f64, g + f.1 as f64));
        assert!((sizes / count / 4800.0 - 1.0).abs() < 0.01 && (gaps / count / 40e6 - 1.0).abs() < 0.01);
        // The mean distance from the mean of a Laplace distribution is its scale.
        let apart: f64 = frames.iter().map(|frame| (frame.0 as f64 / 4800.0 - 1.0).abs()).sum();
        assert!((apart / count / 0.15 - 1.0).abs() < 0.03, "{}", apart / count);
        assert!(frames.iter().all(|frame| frame.0 >= 480 && frame.1 >= 4_000_000));
    }
}
