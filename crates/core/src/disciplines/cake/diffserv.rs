//! Tins: the classes of traffic that CAKE sorts packets into by their codepoint.
//!
//! Below its threshold rate a tin has priority over those before it; above it, tins share by their weights. The first
//! tin's threshold is the whole rate.
//!
//! Source: "Piece of CAKE", section III.D and table 2; the functions `cake_config_*` and the tables above them in Linux
//! 5.5's `sch_cake.c`.

use alloc::vec::Vec;

use crate::units::Rate;

crate::choice! {
    /// The tins.
    pub enum Diffserv {
        /// One tin.
        Besteffort = "besteffort",
        /// Eight tins, by the three bits of the former IP precedence (RFC 791).
        Precedence = "precedence",
        /// Three tins: best effort, bulk, voice.
        Diffserv3 = "diffserv3",
        /// Four tins: best effort, bulk, video, voice.
        Diffserv4 = "diffserv4",
        /// Eight tins, from bulk to network control.
        Diffserv8 = "diffserv8",
    }
}

/// A tin's part of the bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TinShare {
    /// The rate up to which it has priority.
    pub threshold: Option<Rate>,
    /// Bytes per turn where there is no shaper.
    pub quantum: i64,
}

impl Diffserv {
    /// The tin of a packet with this codepoint.
    #[inline]
    pub fn tin(self, dscp: u8) -> usize {
        match self {
            Diffserv::Besteffort => 0,
            Diffserv::Precedence => usize::from(dscp >> 3 & 7),
            Diffserv::Diffserv3 => three_tins(dscp),
            Diffserv::Diffserv4 => four_tins(dscp),
            Diffserv::Diffserv8 => eight_tins(dscp),
        }
    }

    /// The tins of a shaper that keeps `bandwidth`.
    pub fn shares(self, bandwidth: Option<Rate>) -> Vec<TinShare> {
        let share = |divisor: u64| TinShare {
            threshold: bandwidth.map(|rate| Rate::from_bits((rate.as_bits() / divisor).max(1))),
            quantum: 1024 / divisor as i64,
        };
        match self {
            Diffserv::Besteffort => Vec::from([share(1)]),
            Diffserv::Diffserv3 => Vec::from([share(1), share(16), share(4)]),
            Diffserv::Diffserv4 => Vec::from([share(1), share(16), share(2), share(4)]),
            Diffserv::Precedence | Diffserv::Diffserv8 => falling_shares(bandwidth),
        }
    }
}

/// Eight tins, each with 7/8 of the one before.
fn falling_shares(bandwidth: Option<Rate>) -> Vec<TinShare> {
    let first = TinShare { threshold: bandwidth, quantum: 256 };
    let next = |share: &TinShare| {
        let threshold = share.threshold.map(|rate| Rate::from_bits((rate.as_bits() / 8 * 7).max(1)));
        Some(TinShare { threshold, quantum: share.quantum * 7 / 8 })
    };
    core::iter::successors(Some(first), next).take(8).collect()
}

/// Codepoints by their names in RFC 2474, 2597, 3246, 5865 and 8622, and those of the former TOS field (RFC 1349).
const LE: u8 = 1;
const CS1: u8 = 8;
const CS2: u8 = 16;
const CS3: u8 = 24;
const CS4: u8 = 32;
const CS5: u8 = 40;
const CS6: u8 = 48;
const CS7: u8 = 56;
const EF: u8 = 46;
const VOICE_ADMIT: u8 = 44;
const TOS_THROUGHPUT: u8 = 2;
const TOS_DELAY: u8 = 4;

/// Assured forwarding class 1 to 4, of any drop precedence.
fn is_af(class: u8, dscp: u8) -> bool {
    dscp >> 3 == class && matches!(dscp & 7, 2 | 4 | 6)
}

fn three_tins(dscp: u8) -> usize {
    match dscp {
        LE | CS1 => 1,
        TOS_DELAY | VOICE_ADMIT | EF | CS6 | CS7 => 2,
        _ => 0,
    }
}

fn four_tins(dscp: u8) -> usize {
    match dscp {
        LE | CS1 => 1,
        TOS_DELAY | CS2 | CS3 => 2,
        CS4 | CS5 | VOICE_ADMIT | EF | CS6 | CS7 => 3,
        _ if (2..=4).any(|class| is_af(class, dscp)) => 2,
        _ => 0,
    }
}

fn eight_tins(dscp: u8) -> usize {
    match dscp {
        LE => 0,
        CS1 | TOS_THROUGHPUT => 1,
        CS3 => 3,
        CS2 => 5,
        TOS_DELAY => 4,
        CS4 | CS5 | VOICE_ADMIT | EF => 6,
        CS6 | CS7 => 7,
        _ if is_af(1, dscp) => 1,
        _ if is_af(2, dscp) => 4,
        _ if is_af(3, dscp) || is_af(4, dscp) => 3,
        _ => 2,
    }
}
