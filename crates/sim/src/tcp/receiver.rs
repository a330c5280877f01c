//! The receiving side: cumulative and selective acknowledgements, delayed ACKs, ECN echo.

use aqm::{Ecn, Span, Time};

use super::TcpSettings;
use super::accecn::{Ace, EcnCounts};
use super::cc::EcnFeedback;
use super::out_of_order::OutOfOrderBlocks;
use super::quick_acks::QuickAcks;
use crate::segment::{AckOptions, SackBlock, SackBlocks};
use crate::send_clock::Timestamp;

/// An acknowledgement to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingAck {
    /// The next segment expected.
    pub ack: u32,
    /// ECN echo.
    pub ece: bool,
    /// The ACE field of accurate ECN feedback (RFC 9768), in place of the echo; else 0.
    pub ace: Ace,
    /// Its options, if any. Few acknowledgements have some, and these alone pay for their size.
    pub options: Option<AckOptions>,
}

/// The receiving side of one connection: 32 bytes, more only after a gap, or with `timestamps` or `quick_acks`.
#[derive(Clone, Debug)]
pub struct TcpReceiver {
    expected: u32,
    /// A mark was seen and the sender has not yet confirmed its reduction (RFC 3168, section 6.1.3). With mirrored
    /// and accurate feedback: the last segment was marked (RFC 8257's DCTCP.CE).
    ece_pending: bool,
    /// The segment of the delayed acknowledgement was marked.
    delayed_is_marked: bool,
    /// Segments beyond `expected` have arrived.
    has_gap: bool,
    /// Marks counted modulo 8, as in the ACE field (RFC 9768's r.cep).
    ace: Ace,
    /// The deadline of a delayed acknowledgement; [`Time::NEVER`] if there is none.
    ack_due: Time,
    details: Option<Box<ReceiverDetails>>,
    /// The one-way delay last measured.
    delay: Span,
}

/// State that few receivers need.
#[derive(Clone, Debug, Default)]
struct ReceiverDetails {
    out_of_order: OutOfOrderBlocks,
    /// With `timestamps`: the timestamp to echo (TS.Recent, RFC 7323, section 4.3).
    echo: Timestamp,
    /// With `timestamps`: the number of the last acknowledgement sent (Last.ACK.sent).
    last_ack: u32,
    /// With `quick_acks`.
    quick_acks: QuickAcks,
    /// With `accecn_option`.
    counts: EcnCounts,
}

impl Default for TcpReceiver {
    fn default() -> TcpReceiver {
        TcpReceiver {
            expected: 0,
            ece_pending: false,
            delayed_is_marked: false,
            has_gap: false,
            ace: Ace::INITIAL,
            ack_due: Time::NEVER,
            details: None,
            delay: Span::ZERO,
        }
    }
}

impl TcpReceiver {
    /// The next segment expected: all before it were delivered in order.
    #[inline]
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// The segments received beyond [`expected`](TcpReceiver::expected). A segment is new if it changes either number.
    #[inline]
    pub fn beyond_gap(&self) -> u32 {
        match &self.details {
            Some(details) if self.has_gap => details.out_of_order.len(),
            _ => 0,
        }
    }

    /// When the delayed acknowledgement is due: call [`on_timer`](TcpReceiver::on_timer) then.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        (self.ack_due != Time::NEVER).then_some(self.ack_due)
    }

    /// Starts a new connection on this flow, which does not echo earlier marks.
    pub fn begin_connection(&mut self) {
        self.ece_pending = false;
        if let Some(details) = &mut self.details {
            details.quick_acks = QuickAcks::default();
        }
    }

    /// The one-way delay of the last segment.
    #[inline]
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Sets the one-way delay of the arriving segment. Call before [`on_data`](TcpReceiver::on_data).
    #[inline]
    pub fn on_delay(&mut self, delay: Span) {
        self.delay = delay;
    }

    /// Counts the ECN field of the arriving segment. With `accecn_option`, call before
    /// [`on_data`](TcpReceiver::on_data).
    #[inline(never)]
    pub fn on_ecn(&mut self, ecn: Ecn) {
        self.details.get_or_insert_default().counts.count(ecn);
    }

    /// Processes a segment; returns the acknowledgement to send now, if any (RFC 5681, section 4.2). Another may be due
    /// at the same moment: call [`on_timer`](TcpReceiver::on_timer).
    #[inline(always)]
    pub fn on_data(
        &mut self,
        seq: u32,
        marked: bool,
        cwr: bool,
        config: &TcpSettings,
        now: Time,
    ) -> Option<OutgoingAck> {
        let mut quick = config.quick_acks.is_some() && self.acknowledges_quickly((seq, marked, cwr), config, now);
        match EcnFeedback::of(config) {
            // CWR first: a marked segment asks for a new echo.
            EcnFeedback::Classic => self.ece_pending = (self.ece_pending && !cwr) || marked,
            EcnFeedback::Mirrored if self.ece_pending == marked => {}
            EcnFeedback::Mirrored => return self.mirror(seq, marked, config, now),
            EcnFeedback::Accurate => {
                // RFC 9768, section 3.2.2.5.1: the first mark after an unmarked segment is acknowledged at once.
                quick |= marked && !self.ece_pending;
                self.ece_pending = marked;
                self.ace = self.ace.after(marked);
            }
        }
        let (in_order, duplicate) = self.take(seq, config);
        match config.delayed_ack {
            // The acknowledgement of the first of two in-order segments may wait. The second segment is acknowledged at
            // once. So is a segment beyond a gap, in a gap, or received before.
            Some(delay) if in_order && self.ack_due == Time::NEVER && !quick => {
                self.ack_due = now + delay;
                self.delayed_is_marked = marked;
                None
            }
            _ => Some(self.reply(config, duplicate)),
        }
    }

    /// Takes an arriving segment: whether it is in order, and the segment as a block if it is to be reported as received
    /// twice.
    #[inline(always)]
    fn take(&mut self, seq: u32, config: &TcpSettings) -> (bool, Option<SackBlock>) {
        if seq == self.expected && !self.has_gap {
            self.expected += 1;
            (true, None)
        } else {
            (false, self.take_out_of_order(seq, config))
        }
    }

    #[inline(never)]
    fn take_out_of_order(&mut self, seq: u32, config: &TcpSettings) -> Option<SackBlock> {
        let reports = config.rack() || config.undo;
        let duplicate = (reports && self.contains(seq)).then_some((seq, seq + 1));
        if seq >= self.expected {
            self.insert(seq);
        }
        // Without a gap, other settings alone need the details.
        if !self.has_gap && !keeps_details(config) {
            self.details = None;
        }
        duplicate
    }

    /// Whether the acknowledgement of an arriving segment leaves at once for Linux's reasons.
    #[inline(never)]
    fn acknowledges_quickly(&mut self, (seq, marked, cwr): (u32, bool, bool), config: &TcpSettings, now: Time) -> bool {
        let Some(most) = config.quick_acks else { return false };
        let begins_echo = EcnFeedback::of(config) == EcnFeedback::Classic && marked && (cwr || !self.ece_pending);
        let old = seq < self.expected;
        let quick_acks = &mut self.details.get_or_insert_default().quick_acks;
        quick_acks.on_data(most.min((config.window / 2).max(2)), old, begins_echo, config.min_rto, now);
        // The window of a sender that announces a reduction may be a single segment (`tcp_ecn_accept_cwr`).
        cwr || quick_acks.any_left()
    }

    /// Takes a segment with which marks begin or end, when marks are mirrored (RFC 8257, section 3.2). One ACK covers the
    /// earlier segments with the old echo, if one of them waits for it, and a second the new segment. The section allows
    /// alternatives; the DCTCP paper and Linux use this one.
    #[inline(never)]
    fn mirror(&mut self, seq: u32, marked: bool, config: &TcpSettings, now: Time) -> Option<OutgoingAck> {
        let before = (self.ack_due != Time::NEVER).then(|| self.reply(config, None));
        self.ece_pending = marked;
        let (_, duplicate) = self.take(seq, config);
        if before.is_none() {
            return Some(self.reply(config, duplicate));
        }
        self.ack_due = now; // the caller then calls `on_timer`
        before
    }

    /// The delayed acknowledgement, if it is due.
    pub fn on_timer(&mut self, config: &TcpSettings, now: Time) -> Option<OutgoingAck> {
        (self.ack_due <= now).then(|| self.reply(config, None))
    }

    fn contains(&self, seq: u32) -> bool {
        seq < self.expected || self.details.as_ref().is_some_and(|details| details.out_of_order.contains(seq))
    }

    /// The current acknowledgement. Its first block is the `duplicate` segment, if any (RFC 2883, section 4).
    #[inline(always)]
    fn reply(&mut self, config: &TcpSettings, duplicate: Option<SackBlock>) -> OutgoingAck {
        // RFC 3168, section 6.1.3: echoes if any acknowledged segment is marked, even if the other carries CWR.
        let (ece, ace) = match EcnFeedback::of(config) {
            EcnFeedback::Accurate => (false, self.ace),
            _ => (self.ece_pending | std::mem::take(&mut self.delayed_is_marked), Ace::default()),
        };
        self.ack_due = Time::NEVER;
        let has_options = self.has_gap || duplicate.is_some() || has_options(config);
        let options = if has_options { self.options(config, duplicate) } else { None };
        if config.quick_acks.is_some()
            && let Some(details) = &mut self.details
        {
            details.quick_acks.on_ack();
        }
        OutgoingAck { ack: self.expected, ece, ace, options }
    }

    #[inline(never)]
    fn options(&mut self, config: &TcpSettings, duplicate: Option<SackBlock>) -> Option<AckOptions> {
        let options = AckOptions {
            blocks: self.blocks(config, duplicate),
            delay: config.cc.traits().delays.then_some(self.delay),
            echo: if config.timestamps { self.echo_timestamp() } else { None },
            counts: self.details.as_ref().filter(|_| config.counts_ecn()).map(|details| details.counts),
        };
        (options != AckOptions::default()).then_some(options)
    }

    fn blocks(&mut self, config: &TcpSettings, duplicate: Option<SackBlock>) -> Option<SackBlocks> {
        let wanted = self.has_gap && config.recovery.is_selective();
        let details = if wanted { self.details.as_deref_mut() } else { None };
        let blocks = details.map(|details| details.out_of_order.newest());
        let Some(duplicate) = duplicate else { return blocks };
        let [first, second, _] = blocks.unwrap_or_default();
        Some([duplicate, first, second])
    }

    /// Records the timestamp of an arriving segment, if the last acknowledgement asked for this segment or an earlier
    /// one (RFC 7323, section 4.3, step 2). With `timestamps`, call before [`on_data`](TcpReceiver::on_data). A delayed acknowledgement thus echoes the first of its segments, and one
    /// beyond a gap the last segment before the gap.
    #[inline(never)]
    pub fn on_timestamp(&mut self, seq: u32, timestamp: Timestamp) {
        let details = self.details.get_or_insert_default();
        if seq <= details.last_ack {
            details.echo = details.echo.max(timestamp);
        }
    }

    fn echo_timestamp(&mut self) -> Option<Timestamp> {
        let details = self.details.as_mut()?;
        details.last_ack = self.expected;
        Some(details.echo)
    }

    /// Records a segment that is out of order or fills a gap.
    fn insert(&mut self, seq: u32) {
        let out_of_order = &mut self.details.get_or_insert_default().out_of_order;
        out_of_order.insert(seq);
        if let Some(end) = out_of_order.take_block_at(self.expected) {
            self.expected = end;
        }
        self.has_gap = !out_of_order.is_empty();
    }
}

/// Whether every acknowledgement has options.
#[inline]
fn has_options(config: &TcpSettings) -> bool {
    config.timestamps || config.counts_ecn() || config.cc.traits().delays
}

/// Whether a receiver needs its details even without a gap.
fn keeps_details(config: &TcpSettings) -> bool {
    config.timestamps || config.quick_acks.is_some() || config.counts_ecn()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::Span;
    use proptest::prelude::*;

    fn config(delayed_ack: Option<Span>) -> TcpSettings {
        TcpSettings { delayed_ack, ..TcpSettings::default() }
    }

    fn acks(segments: &[u32], delay: Option<Span>) -> Vec<Option<u32>> {
        let mut receiver = TcpReceiver::default();
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
    fn a_delayed_ack_leaves_at_its_deadline() {
        let mut receiver = TcpReceiver::default();
        let config = config(Some(Span::from_millis(100)));
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        assert_eq!(receiver.on_data(0, false, false, &config, at(5)), None);
        assert_eq!(receiver.deadline(), Some(at(105)));
        assert_eq!(receiver.on_timer(&config, at(104)), None);
        assert_eq!(
            receiver.on_timer(&config, at(105)),
            Some(OutgoingAck { ack: 1, ece: false, ace: Ace::default(), options: None })
        );
        assert_eq!(receiver.on_timer(&config, at(300)), None);
    }

    #[test]
    fn blocks_are_reported_newest_first_and_merge() {
        // RFC 2018, section 4: the first block holds the segment that triggered the acknowledgement.
        let mut receiver = TcpReceiver::default();
        let mut blocks = |seq| receiver.on_data(seq, false, false, &config(None), Time::ZERO).unwrap().options?.blocks;
        assert_eq!(blocks(2), Some([(2, 3), (0, 0), (0, 0)]));
        assert_eq!(blocks(4), Some([(4, 5), (2, 3), (0, 0)]));
        assert_eq!(blocks(6), Some([(6, 7), (4, 5), (2, 3)]));
        assert_eq!(blocks(8), Some([(8, 9), (6, 7), (4, 5)]));
        assert_eq!(blocks(3), Some([(2, 5), (8, 9), (6, 7)]));
        assert_eq!(blocks(0), Some([(2, 5), (8, 9), (6, 7)]));
        assert_eq!(blocks(1), Some([(8, 9), (6, 7), (0, 0)]));
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_confirms_its_reduction() {
        let mut receiver = TcpReceiver::default();
        let mut ece_pending =
            |seq, marked, cwr| receiver.on_data(seq, marked, cwr, &config(None), Time::ZERO).unwrap().ece;
        let seen = [
            ece_pending(0, false, false),
            ece_pending(1, true, false),
            ece_pending(2, false, false),
            ece_pending(3, false, true),
            ece_pending(4, true, true),
        ];
        assert_eq!(seen, [false, true, true, false, true]);
    }

    proptest! {
        #[test]
        fn all_segments_are_acknowledged_in_any_order_and_with_duplicates(mut order in Just((0u32..60).collect::<Vec<_>>()).prop_shuffle(), again in prop::collection::vec(0u32..60, 0..20)) {
            order.extend(again);
            let mut receiver = TcpReceiver::default();
            let mut arrived = std::collections::BTreeSet::new();
            for seq in order {
                let reply = receiver.on_data(seq, false, false, &config(None), Time::ZERO).unwrap();
                arrived.insert(seq);
                let expected = (0..).find(|s| !arrived.contains(s)).unwrap();
                prop_assert_eq!(reply.ack, expected);
                for (start, end) in reply.options.and_then(|options| options.blocks).unwrap_or_default() {
                    prop_assert!((start..end).all(|s| arrived.contains(&s)), "a block reports a segment that has not arrived");
                    prop_assert!(start == end || (start > expected && !arrived.contains(&end)));
                }
            }
            prop_assert_eq!(receiver.expected(), 60);
        }

        #[test]
        fn a_segment_changes_what_was_received_when_it_first_arrives(segments in prop::collection::vec(0u32..40, 0..200)) {
            let mut receiver = TcpReceiver::default();
            let mut arrived = std::collections::BTreeSet::new();
            let received = |receiver: &TcpReceiver| (receiver.expected(), receiver.beyond_gap());
            for seq in segments {
                let before = received(&receiver);
                receiver.on_data(seq, false, false, &config(None), Time::ZERO);
                prop_assert_eq!(received(&receiver) != before, arrived.insert(seq));
                prop_assert_eq!((receiver.expected() + receiver.beyond_gap()) as usize, arrived.len());
            }
        }
    }
}
