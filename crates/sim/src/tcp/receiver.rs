//! The receiving side: cumulative and selective acknowledgements, delayed ACKs, ECN echo.

use headgate_core::{Span, Time};

use super::Config;
use super::accecn;
use super::cc::Feedback;
use crate::segment::{Block, Blocks};

/// An acknowledgement to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The next segment expected.
    pub ack: u32,
    /// ECN echo.
    pub ece: bool,
    /// The ACE field of accurate ECN feedback (RFC 9768), in place of the echo; else 0.
    pub ace: u8,
    /// Selective acknowledgements beyond `ack`, if any; with RACK, a duplicate comes first.
    pub blocks: Option<Blocks>,
    /// The one-way delay of the last segment, for delay-based senders (RFC 6817, section 2.3).
    pub delay: Option<Span>,
}

/// The receiving side of one connection: 32 bytes, more only while segments are missing.
#[derive(Clone, Debug)]
pub struct Receiver {
    expected: u32,
    /// A mark was seen and the sender has not yet confirmed its reduction (RFC 3168, section 6.1.3). With mirrored
    /// feedback: the last segment was marked (RFC 8257's DCTCP.CE).
    echo: bool,
    /// The segment of the delayed acknowledgement was marked.
    withheld: bool,
    /// Segments beyond `expected` have arrived.
    gap: bool,
    /// Marks counted modulo 8, as in the ACE field (RFC 9768's r.cep).
    ace: u8,
    /// The deadline of a delayed acknowledgement; [`Time::NEVER`] if there is none.
    due: Time,
    beyond: Option<Box<Beyond>>,
    /// The one-way delay last measured.
    delay: Span,
}

/// Segments received beyond the next one expected.
#[derive(Clone, Debug, Default)]
struct Beyond {
    /// Ascending, each with the number of its last change.
    blocks: Vec<(Block, u32)>,
    changes: u32,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            expected: 0,
            echo: false,
            withheld: false,
            gap: false,
            ace: accecn::FIRST,
            due: Time::NEVER,
            beyond: None,
            delay: Span::ZERO,
        }
    }
}

impl Receiver {
    /// The next segment expected: all before it were delivered in order.
    #[inline]
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// When the delayed acknowledgement is due: call [`on_timer`](Receiver::on_timer) then.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        (self.due != Time::NEVER).then_some(self.due)
    }

    /// Starts a new connection on this flow, which does not echo earlier marks.
    pub fn renew(&mut self) {
        self.echo = false;
    }

    /// Sets the one-way delay of the arriving segment, for delay-based senders. Call before
    /// [`on_data`](Receiver::on_data).
    #[inline]
    pub fn on_delay(&mut self, delay: Span) {
        self.delay = delay;
    }

    /// Takes a segment; returns the acknowledgement to send now, if any (RFC 5681, section 4.2). Another may be due
    /// at the same moment: call [`on_timer`](Receiver::on_timer).
    #[inline]
    pub fn on_data(&mut self, seq: u32, marked: bool, cwr: bool, config: &Config, now: Time) -> Option<Reply> {
        let mut at_once = None;
        match Feedback::of(config) {
            // CWR first: a marked segment asks for a new echo.
            Feedback::Classic => self.echo = (self.echo && !cwr) || marked,
            Feedback::Mirrored => at_once = self.mirror(marked, config),
            Feedback::Accurate => self.ace = accecn::counted(self.ace, marked),
        }
        let in_order = seq == self.expected && !self.gap;
        let twice = (!in_order && config.rack() && self.has(seq)).then_some((seq, seq + 1));
        if in_order {
            self.expected += 1;
        } else if seq >= self.expected {
            self.file(seq);
        }
        match at_once {
            Some(None) => return Some(self.reply(config, twice)),
            Some(before) => {
                self.due = now; // the caller asks again
                return before;
            }
            None => {}
        }
        match config.delayed_ack {
            // The first of two segments in order may wait; the second, a gap, a duplicate or a filled gap may not.
            Some(delay) if in_order && self.due == Time::NEVER => {
                self.due = now + delay;
                self.withheld = marked;
                None
            }
            _ => Some(self.reply(config, twice)),
        }
    }

    /// RFC 8257, section 3.2: when marks begin or end, the earlier segments are acknowledged with their echo and the
    /// new segment at once. Of the section's alternatives this sends two ACKs, as the DCTCP paper and Linux do.
    /// Returns the first of them if marks begin or end and a segment waits for acknowledgement.
    fn mirror(&mut self, marked: bool, config: &Config) -> Option<Option<Reply>> {
        if self.echo == marked {
            return None;
        }
        let before = (self.due != Time::NEVER).then(|| self.reply(config, None));
        self.echo = marked;
        Some(before)
    }

    /// The delayed acknowledgement, if it is due.
    pub fn on_timer(&mut self, config: &Config, now: Time) -> Option<Reply> {
        (self.due <= now).then(|| self.reply(config, None))
    }

    fn has(&self, seq: u32) -> bool {
        seq < self.expected || self.beyond.as_ref().is_some_and(|beyond| beyond.has(seq))
    }

    /// The present acknowledgement. A segment that arrived `twice` comes first (RFC 2883, section 4).
    #[inline]
    fn reply(&mut self, config: &Config, twice: Option<Block>) -> Reply {
        // RFC 3168, section 6.1.3: echoes if any acknowledged segment is marked, even if the other carries CWR.
        let (ece, ace) = match Feedback::of(config) {
            Feedback::Accurate => (false, self.ace),
            _ => (self.echo | std::mem::take(&mut self.withheld), 0),
        };
        self.due = Time::NEVER;
        let wanted = self.gap && config.recovery.is_selective();
        let beyond = if wanted { self.beyond.as_deref() } else { None };
        let mut blocks = beyond.map(Beyond::newest);
        if let Some(twice) = twice {
            let [first, second, _] = blocks.unwrap_or_default();
            blocks = Some([twice, first, second]);
        }
        let delay = config.cc.needs().delays.then_some(self.delay);
        Reply { ack: self.expected, ece, ace, blocks, delay }
    }

    /// Records a segment that is out of order or fills a gap.
    fn file(&mut self, seq: u32) {
        let beyond = self.beyond.get_or_insert_default();
        beyond.file(seq);
        if let Some(end) = beyond.take_from(self.expected) {
            self.expected = end;
        }
        self.gap = !beyond.blocks.is_empty();
    }
}

impl Beyond {
    /// The three blocks that grew last, newest first (RFC 2018, section 4).
    fn newest(&self) -> Blocks {
        let mut newest = [((0, 0), 0); 3];
        for mut block in self.blocks.iter().rev().copied() {
            for kept in &mut newest {
                if kept.1 < block.1 {
                    std::mem::swap(kept, &mut block);
                }
            }
        }
        newest.map(|(block, _)| block)
    }

    fn has(&self, seq: u32) -> bool {
        self.blocks.iter().any(|((start, end), _)| (*start..*end).contains(&seq))
    }

    fn file(&mut self, seq: u32) {
        self.changes += 1;
        // The first block that ends at or beyond it; usually the segment extends the last block.
        let grows_last = self.blocks.last().is_some_and(|((_, end), _)| *end == seq);
        let at = match grows_last {
            true => self.blocks.len() - 1,
            false => self.blocks.partition_point(|((_, end), _)| *end < seq),
        };
        match self.blocks.get_mut(at) {
            Some(((start, end), change)) if *start <= seq + 1 => {
                (*start, *change) = ((*start).min(seq), self.changes);
                *end = (*end).max(seq + 1);
                self.join(at);
            }
            _ => self.blocks.insert(at, ((seq, seq + 1), self.changes)),
        }
    }

    /// Joins the block at `at` with the next one if they touch.
    fn join(&mut self, at: usize) {
        if let Some(&((start, end), _)) = self.blocks.get(at + 1)
            && self.blocks[at].0.1 == start
        {
            self.blocks[at].0.1 = end;
            self.blocks.remove(at + 1);
        }
    }

    /// Removes the block that begins at `expected`, if any, and returns its end.
    fn take_from(&mut self, expected: u32) -> Option<u32> {
        let begins = self.blocks.first().is_some_and(|((start, _), _)| *start == expected);
        begins.then(|| self.blocks.remove(0).0.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headgate_core::Span;
    use proptest::prelude::*;

    fn config(delayed_ack: Option<Span>) -> Config {
        Config { delayed_ack, ..Config::default() }
    }

    fn acks(segments: &[u32], delay: Option<Span>) -> Vec<Option<u32>> {
        let mut receiver = Receiver::default();
        segments
            .iter()
            .map(|&seq| receiver.on_data(seq, false, false, &config(delay), Time::ZERO).map(|r| r.ack))
            .collect()
    }

    #[test]
    fn each_segment_is_acknowledged_and_a_gap_repeats_the_last_ack() {
        assert_eq!(acks(&[0, 1, 3, 4, 2, 5], None), [1, 2, 2, 2, 5, 6].map(Some));
    }

    #[test]
    fn a_delayed_ack_waits_for_a_second_segment_but_not_at_a_gap() {
        let delay = Some(Span::from_millis(100));
        assert_eq!(acks(&[0, 1, 2, 4, 3, 5], delay), [None, Some(2), None, Some(3), Some(5), None]);
    }

    #[test]
    fn a_delayed_ack_goes_out_when_its_time_has_come() {
        let mut receiver = Receiver::default();
        let config = config(Some(Span::from_millis(100)));
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        assert_eq!(receiver.on_data(0, false, false, &config, at(5)), None);
        assert_eq!(receiver.deadline(), Some(at(105)));
        assert_eq!(receiver.on_timer(&config, at(104)), None);
        assert_eq!(
            receiver.on_timer(&config, at(105)),
            Some(Reply { ack: 1, ece: false, ace: 0, blocks: None, delay: None })
        );
        assert_eq!(receiver.on_timer(&config, at(300)), None);
    }

    #[test]
    fn blocks_are_reported_newest_first_and_merge() {
        // RFC 2018, section 4: the first block holds the segment that triggered the acknowledgement.
        let mut receiver = Receiver::default();
        let mut blocks = |seq| receiver.on_data(seq, false, false, &config(None), Time::ZERO).unwrap().blocks;
        assert_eq!(blocks(2), Some([(2, 3), (0, 0), (0, 0)]));
        assert_eq!(blocks(4), Some([(4, 5), (2, 3), (0, 0)]));
        assert_eq!(blocks(6), Some([(6, 7), (4, 5), (2, 3)]));
        assert_eq!(blocks(8), Some([(8, 9), (6, 7), (4, 5)]));
        assert_eq!(blocks(3), Some([(2, 5), (8, 9), (6, 7)]));
        assert_eq!(blocks(0), Some([(2, 5), (8, 9), (6, 7)]));
        assert_eq!(blocks(1), Some([(8, 9), (6, 7), (0, 0)]));
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_says_it_slowed_down() {
        let mut receiver = Receiver::default();
        let mut echo = |seq, marked, cwr| receiver.on_data(seq, marked, cwr, &config(None), Time::ZERO).unwrap().ece;
        let seen = [
            echo(0, false, false),
            echo(1, true, false),
            echo(2, false, false),
            echo(3, false, true),
            echo(4, true, true),
        ];
        assert_eq!(seen, [false, true, true, false, true]);
    }

    proptest! {
        #[test]
        fn in_any_order_and_with_duplicates_all_is_acknowledged_in_the_end(mut order in Just((0u32..60).collect::<Vec<_>>()).prop_shuffle(), again in prop::collection::vec(0u32..60, 0..20)) {
            order.extend(again);
            let mut receiver = Receiver::default();
            let mut arrived = std::collections::BTreeSet::new();
            for seq in order {
                let reply = receiver.on_data(seq, false, false, &config(None), Time::ZERO).unwrap();
                arrived.insert(seq);
                let expected = (0..).find(|s| !arrived.contains(s)).unwrap();
                prop_assert_eq!(reply.ack, expected);
                for (start, end) in reply.blocks.unwrap_or_default() {
                    prop_assert!((start..end).all(|s| arrived.contains(&s)), "a block holds what has not arrived");
                    prop_assert!(start == end || (start > expected && !arrived.contains(&end)));
                }
            }
            prop_assert_eq!(receiver.expected(), 60);
        }
    }
}
