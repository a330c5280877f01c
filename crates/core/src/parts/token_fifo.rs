//! A FIFO in which an arriving packet pays with tokens of its flow's bucket, shared by SFED and FABA.
//!
//! The owner of the buckets passes the bucket's level with each arrival. [`TokenFifo::admit`] drops, marks or stores
//! the packet and returns its price. [`TokenFifo::pop`] returns the tokens that a departing packet carried.

use super::Fifo;
use crate::cx::Cx;
use crate::packet::{Backlog, Packet};
use crate::params::BuildError;
use crate::reason::Why;
use crate::units::Limit;

/// An amount of tokens, as an integer, so that none is lost by rounding. Its unit is 2^-20 of a token that stands for a
/// packet, or 2^-8 of a token that stands for a byte.
pub type Tokens = i64;

/// The maximum total of tokens; sums over a million buckets with the largest packets do not overflow.
const MAX_TOTAL: f64 = (1u64 << 56) as f64;

crate::reasons! {
    /// Its flow's token bucket is low.
    Bucket = "bucket", "its flow's token bucket was low";
}

crate::params! {
    /// Settings of FABA's and SFED's tokens.
    pub struct TokenSettings {
        /// Buffer size. An arriving packet that does not fit is dropped. The paper's B.
        limit: Limit = Limit::Packets(1000);
        /// Tokens in the system as a multiple of the limit. Above 1 the buffer can overflow while buckets still hold
        /// tokens, which hurts flows that keep to their share.
        alpha: f64 = 1.0, in 0.001..=1000.0;
        /// Share of its height above which a bucket causes no drops.
        lambda1: f64 = 0.5, in 0.0..=1.0, also "k1";
        /// Share of its height below which the drop probability rises from `maxp` to 1 (empty bucket).
        lambda2: f64 = 0.25, in 0.0..=1.0, also "k2";
        /// Drop probability at `lambda2`.
        maxp: f64 = 0.02, in 0.0..=1.0;
        /// Profile below `lambda2`: the drop probability rises to 1 as the bucket empties, as in gentle RED. Off: it is 1
        /// from `lambda2` on, as in RED from maxth on.
        gentle: bool = true;
        /// Marks ECN-capable packets instead of dropping them, while the flow's bucket can pay for the packet.
        ecn: bool = true;
        /// Whether a token stands for a byte instead of a packet. `auto`: on if `limit` is in bytes.
        byte_mode: Option<bool> = None, also "bytemode";
    }
    presets {}
}

/// The level of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketLevel {
    /// Tokens in it; negative if it is in debt.
    pub tokens: Tokens,
    /// Its capacity.
    pub height: Tokens,
}

/// The payment for an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payment {
    /// Tokens from the packet's bucket.
    Bucket(Tokens),
    /// Spare tokens, because the bucket is empty.
    Spare(Tokens),
    /// None: the packet was dropped.
    Dropped,
}

/// The tokens returned by a departing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    /// Tokens it carried.
    pub carried: Tokens,
    /// Maximum tokens moved to or from a bucket at once: the tokens of a mean packet, or of this packet if it is
    /// larger. With less, spare tokens would pile up in a queue of large packets.
    pub grain: Tokens,
    /// Tokens carried by queued packets.
    pub queue: Tokens,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenUnit {
    Packet,
    Byte,
}

impl TokenUnit {
    /// The tokens that stand for `backlog`.
    #[inline]
    fn tokens(self, backlog: Backlog) -> Tokens {
        match self {
            TokenUnit::Packet => Tokens::from(backlog.packets) * Self::Packet.fraction(),
            TokenUnit::Byte => (backlog.bytes as Tokens).saturating_mul(Self::Byte.fraction()),
        }
    }

    /// Units per token. They divide few tokens among many flows, and the tokens of a million buckets with the largest
    /// packets do not overflow.
    const fn fraction(self) -> Tokens {
        match self {
            TokenUnit::Packet => 1 << 20,
            TokenUnit::Byte => 1 << 8,
        }
    }
}

/// The queue and its drop probability. The caller owns the buckets.
pub struct TokenFifo<T> {
    fifo: Fifo<T>,
    terms: TokenSettings,
    unit: TokenUnit,
    grain: Tokens,
    /// Slope of the drop probability over the bucket's fill (tokens over height) between lambda2 and lambda1, and below
    /// lambda2.
    gentle_slope: f64,
    steep_slope: f64,
    /// Drop probability just below lambda2.
    steep_base: f64,
    /// The limit in tokens.
    room: f64,
}

impl<T> TokenFifo<T> {
    /// An empty queue, for packets of `mean_packet` bytes.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if `lambda2` is not below `lambda1`.
    pub fn new(terms: TokenSettings, mean_packet: u32) -> Result<Self, BuildError> {
        let TokenSettings { limit, lambda1, lambda2, maxp, gentle, byte_mode, .. } = terms;
        if lambda2 >= lambda1 {
            return Err(BuildError::Conflict("`lambda2` must be below `lambda1`".into()));
        }
        let (unit, room) = match byte_mode.unwrap_or(matches!(limit, Limit::Bytes(_))) {
            true => (TokenUnit::Byte, limit.bytes(mean_packet)),
            false => (TokenUnit::Packet, limit.packets(mean_packet)),
        };
        Ok(TokenFifo {
            fifo: Fifo::new(limit),
            terms,
            unit,
            grain: unit.tokens(one(mean_packet)).max(1),
            gentle_slope: maxp / (lambda1 - lambda2),
            steep_slope: if gentle { (1.0 - maxp) / lambda2 } else { 0.0 },
            steep_base: if gentle { maxp } else { 1.0 },
            room,
        })
    }

    /// Number of tokens in the system, the paper's T: `alpha` times the limit in tokens.
    pub fn total_tokens(&self) -> Tokens {
        (self.terms.alpha * self.room * self.unit.fraction() as f64).clamp(1.0, MAX_TOTAL) as Tokens
    }

    /// `amount` in tokens of one packet or byte, for gauges.
    pub fn whole_tokens(&self, amount: Tokens) -> f64 {
        amount as f64 / self.unit.fraction() as f64
    }

    /// Admits, marks or drops the packet according to its bucket's `level`.
    ///
    /// Only departures return tokens. If flows outnumber tokens, every bucket can be empty along with the queue, and
    /// drops would then never end. The paper assumes full buckets when the queue is empty. Here a packet that arrives
    /// at an empty queue is never dropped, and missing tokens are lent.
    ///
    /// Draws one number for each arrival at a nonempty queue.
    #[inline(always)]
    pub fn admit(&mut self, packet: Packet<T>, level: BucketLevel, cx: &mut Cx<'_, T>) -> Payment {
        let cost = self.unit.tokens(one(packet.bytes));
        let waiting = self.fifo.backlog().packets > 0;
        let hit = waiting && cx.rng.unit() < self.drop_probability(level);
        // A marked packet must still be paid for: without drops at an empty bucket, a flow that ignores marks would
        // drain it without end. The paper does not cover marks.
        let may_mark = hit && self.terms.ecn && level.tokens >= cost && self.fifo.admits(packet.bytes);
        let Some(packet) = cx.signal_if(hit, packet, Why::Bucket, may_mark) else { return Payment::Dropped };
        if !self.fifo.push(packet, cx) {
            return Payment::Dropped;
        }
        if level.tokens > 0 { Payment::Bucket(cost) } else { Payment::Spare(cost) }
    }

    /// Dequeues the oldest packet.
    #[inline]
    pub fn pop(&mut self) -> Option<(Packet<T>, Refund)> {
        let packet = self.fifo.pop()?;
        let carried = self.unit.tokens(one(packet.bytes));
        let queue = self.unit.tokens(self.fifo.backlog());
        Some((packet, Refund { carried, grain: self.grain.max(carried), queue }))
    }

    /// f_p, shaped like gentle RED (figure 3): 0 above `lambda1`, `maxp` at `lambda2`, 1 for an empty bucket. Section 4
    /// admits any profile. That of RED is 1 at `lambda2` and below.
    #[inline]
    pub fn drop_probability(&self, level: BucketLevel) -> f64 {
        let TokenSettings { lambda1, lambda2, gentle, .. } = self.terms;
        let filled = level.tokens as f64 / level.height as f64;
        // Computes both slopes without a branch. The level of a flow at its share often crosses lambda1, so a processor
        // would mispredict half of the branches.
        let shallow = (self.gentle_slope * (lambda1 - filled)).max(0.0);
        let steep = self.steep_base + self.steep_slope * (lambda2 - filled);
        let some = if (filled < lambda2) | (!gentle & (filled <= lambda2)) { steep } else { shallow };
        if level.tokens <= 0 { 1.0 } else { some }
    }

    /// Packets and bytes held.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    /// The tokens carried by queued packets.
    pub fn carried(&self) -> Tokens {
        self.unit.tokens(self.fifo.backlog())
    }
}

fn one(bytes: u32) -> Backlog {
    Backlog { packets: 1, bytes: u64::from(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Ecn, FlowId};
    use crate::rng::Rng;
    use crate::time::Time;

    const TERMS: TokenSettings = TokenSettings {
        limit: Limit::Packets(10),
        alpha: 1.0,
        lambda1: 0.5,
        lambda2: 0.25,
        maxp: 0.02,
        gentle: true,
        ecn: true,
        byte_mode: None,
    };
    const TOKEN: Tokens = 1 << 20;

    fn fifo(terms: TokenSettings) -> TokenFifo<()> {
        TokenFifo::new(terms, 1000).unwrap()
    }

    fn admit(fifo: &mut TokenFifo<()>, bytes: u32, tokens: Tokens, ecn: Ecn) -> Payment {
        let packet = Packet { ecn, ..Packet::new(FlowId(1), bytes, ()) };
        fifo.admit(
            packet,
            BucketLevel { tokens, height: 8 * TOKEN },
            &mut Cx::new(Time::ZERO, &mut Rng::new(1), &mut ()),
        )
    }

    #[test]
    fn the_drop_probability_is_that_of_figure_3() {
        let fifo = fifo(TERMS);
        for (holds, probability) in [(8, 0.0), (4, 0.0), (3, 0.01), (2, 0.02), (1, 0.51), (0, 1.0), (-1, 1.0)] {
            let found = fifo.drop_probability(BucketLevel { tokens: holds * TOKEN, height: 8 * TOKEN });
            assert!((found - probability).abs() < 1e-9, "{holds} of 8: {found} not {probability}");
        }
        // A share below the token fraction gives a bucket of height 0, always empty.
        assert_eq!(fifo.drop_probability(BucketLevel { tokens: 0, height: 0 }), 1.0);
    }

    #[test]
    fn with_reds_own_profile_the_drop_probability_jumps_to_1_at_lambda2() {
        // Section 4 allows any profile. In Floyd and Jacobson 1993, a drop is certain from maxth on.
        let fifo = fifo(TokenSettings { gentle: false, maxp: 0.1, ..TERMS });
        for (holds, probability) in [(8, 0.0), (4, 0.0), (3, 0.05), (2, 1.0), (1, 1.0), (0, 1.0)] {
            let found = fifo.drop_probability(BucketLevel { tokens: holds * TOKEN, height: 8 * TOKEN });
            assert!((found - probability).abs() < 1e-9, "{holds} of 8: {found} not {probability}");
        }
    }

    #[test]
    fn an_arrival_at_an_empty_queue_is_not_dropped_and_an_empty_bucket_gets_spare_tokens() {
        let mut fifo = fifo(TERMS);
        assert_eq!(admit(&mut fifo, 1000, 0, Ecn::NotEct), Payment::Spare(TOKEN));
        assert_eq!(admit(&mut fifo, 1000, 0, Ecn::NotEct), Payment::Dropped);
        assert_eq!(admit(&mut fifo, 1000, 1, Ecn::Ect0), Payment::Dropped, "it cannot pay, so no mark");
        assert_eq!(admit(&mut fifo, 1000, 8 * TOKEN, Ecn::NotEct), Payment::Bucket(TOKEN));
        let (_, refund) = fifo.pop().unwrap();
        assert_eq!(refund, Refund { carried: TOKEN, grain: TOKEN, queue: TOKEN });
    }

    #[test]
    fn with_a_byte_limit_a_token_is_a_byte_and_a_large_packet_is_a_large_grain() {
        let mut bytes = fifo(TokenSettings { limit: Limit::Bytes(10_000), alpha: 0.5, ..TERMS });
        assert_eq!(bytes.total_tokens(), 5000 << 8);
        assert_eq!(admit(&mut bytes, 1500, 8 * TOKEN, Ecn::NotEct), Payment::Bucket(1500 << 8));
        assert_eq!(admit(&mut bytes, 0, 8 * TOKEN, Ecn::NotEct), Payment::Bucket(0));
        assert_eq!(bytes.pop().unwrap().1, Refund { carried: 1500 << 8, grain: 1500 << 8, queue: 0 });
        let packets = fifo(TokenSettings { limit: Limit::Bytes(10_000), byte_mode: Some(false), ..TERMS });
        assert_eq!((packets.total_tokens(), packets.whole_tokens(TOKEN / 2)), (10 * TOKEN, 0.5));
    }

    #[test]
    fn thresholds_the_wrong_way_round_are_refused() {
        let crossed = TokenSettings { lambda1: 0.25, lambda2: 0.25, ..TERMS };
        assert!(matches!(TokenFifo::<()>::new(crossed, 1000), Err(BuildError::Conflict(_))));
    }
}
