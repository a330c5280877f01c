//! Voice: packets of a codec during talkspurts.

use aqm::{BuildError, Span};

use crate::model::SenderInfo;
use crate::on_off::{ConstantRate, FirstPeriod, OnOff, on_off_source};
use crate::values::RandomTime;

aqm::choice! {
    /// How speech is coded.
    pub enum Codec {
        /// 64 kbit/s (ITU-T G.711).
        G711 = "g711",
        /// 8 kbit/s (ITU-T G.729).
        G729 = "g729",
    }
}

impl Codec {
    /// Bit rate without headers.
    const fn bits(self) -> u64 {
        match self {
            Codec::G711 => 64_000,
            Codec::G729 => 8_000,
        }
    }
}

aqm::params! {
    /// Settings of [`Voip`].
    pub struct VoipConfig {
        /// Voice codec.
        codec: Codec = Codec::G711;
        /// Speech per packet (RFC 3551, section 4.2: 20 ms by default).
        frame: Span = Span::from_millis(20), in Span::from_millis(1)..=Span::from_millis(200);
        /// Mean length of a talkspurt.
        talk: Span = Span::from_millis(1004), in Span::from_millis(1)..=Span::from_secs(86_400);
        /// Mean length of a pause, in which nothing is sent. `0s`: no pauses.
        pause: Span = Span::from_millis(1587), in Span::ZERO..=Span::from_secs(86_400);
    }
    presets {
        "p59" "ITU-T P.59, table 1: talkspurts of 1.004 s, pauses of 1.587 s (the defaults)" {}
        "brady" "Brady's measurements as commonly rounded: 1 s and 1.35 s" { "talk" = "1s", "pause" = "1.35s" }
    }
}

/// RTP's fixed header (RFC 3550, section 5.1).
const RTP: u64 = 12;

on_off_source! {
    /// One side of a call. Both times are exponential, a common simplification of measured conversations.
    Voip, VoipConfig, cycle
}

fn cycle(config: VoipConfig, _: &SenderInfo) -> Result<OnOff, BuildError> {
    let speech = config.codec.bits() * config.frame.as_nanos();
    let pace = ConstantRate { gap: config.frame, bytes: speech.div_ceil(8_000_000_000) + RTP };
    let (on, off) = (RandomTime::exponential(config.talk), RandomTime::exponential(config.pause));
    Ok(OnOff { on, off, pace: Some(pace), begin: FirstPeriod::On })
}
