//! Which queued acknowledgement a new one makes unnecessary.
//!
//! An acknowledgement is dropped only if nothing is lost with it: it has no data, its SACK blocks are in the new one, its
//! timestamps are no later, and the ECE and CWR flags of its neighbors are the same. The oldest is dropped, so that the
//! next one takes its place near the head of the queue.
//!
//! Source: `cake_ack_filter` in Linux 5.5's `sch_cake.c`; "Piece of CAKE", section III.E.

use core::cmp::Ordering;

use crate::headers::AckHeader;

/// The place among the `queued` packets, oldest first, of the one that `newest`, behind them, makes unnecessary.
///
/// Another acknowledgement that would do must follow it, so that two are left of three. With `aggressive` one is enough,
/// if it is the packet before `newest` and has the same flags.
pub fn unnecessary(
    queued: impl Iterator<Item = Option<AckHeader>>,
    newest: &AckHeader,
    aggressive: bool,
) -> Option<usize> {
    let (mut chosen, mut eligible): (Option<(usize, u8)>, u32) = (None, 0);
    let mut last = 0;
    for (place, header) in queued.enumerate() {
        last = place;
        let Some(header) = header.filter(|header| header.connection == newest.connection) else { continue };
        if chosen.is_some_and(|(_, flags)| flags != header.ecn_flags) {
            // The sender must hear of the change, so the acknowledgement before it stays.
            chosen = None;
            eligible -= 1;
        }
        if !says_no_more(&header, newest) {
            continue;
        }
        let (oldest, _) = *chosen.get_or_insert((place, header.ecn_flags));
        if eligible > 0 {
            return Some(oldest);
        }
        eligible += 1;
    }
    let (place, flags) = chosen?;
    (aggressive && place == last && flags == newest.ecn_flags).then_some(place)
}

/// Whether `newest` says all that `older` says.
fn says_no_more(older: &AckHeader, newest: &AckHeader) -> bool {
    older.pure
        && timestamps_advance(older.timestamps, newest.timestamps)
        && !is_after(older.number, newest.number)
        && match compare_blocks(older, newest) {
            Some(Ordering::Less) => true,
            Some(_) => older.number != newest.number,
            None => false,
        }
}

fn timestamps_advance(older: Option<[u32; 2]>, newest: Option<[u32; 2]>) -> bool {
    let Some(older) = older else { return true };
    let newest = newest.unwrap_or_default();
    older.iter().zip(newest).all(|(older, newest)| !is_after(*older, newest))
}

/// `Less` if `newest` reports more bytes in its SACK blocks, `Equal` if it reports the same. `None` if `older` has a block
/// that `newest` lacks, or reports a duplicate (RFC 2883).
fn compare_blocks(older: &AckHeader, newest: &AckHeader) -> Option<Ordering> {
    let holds = |(start, end): (u32, u32)| blocks(newest).any(|(s, e)| !is_after(s, start) && !is_after(end, e));
    let kept = blocks(older).all(|(start, end)| !is_after(older.number, start) && holds((start, end)));
    let bytes = |header| blocks(header).map(|(start, end)| u64::from(end.wrapping_sub(start))).sum::<u64>();
    kept.then(|| bytes(older).cmp(&bytes(newest)).min(Ordering::Equal))
}

fn blocks(header: &AckHeader) -> impl Iterator<Item = (u32, u32)> {
    header.sack.into_iter().filter(|(start, end)| start != end)
}

/// Whether sequence number `a` is after `b`, modulo 2^32 (RFC 793, section 3.3).
#[inline]
fn is_after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u32) -> AckHeader {
        AckHeader { connection: 7, number, pure: true, ..AckHeader::default() }
    }

    fn filtered(queued: &[AckHeader], newest: AckHeader) -> [Option<usize>; 2] {
        [false, true].map(|aggressive| unnecessary(queued.iter().copied().map(Some), &newest, aggressive))
    }

    #[test]
    fn of_three_acknowledgements_the_oldest_goes_and_of_two_only_in_aggressive_mode() {
        assert_eq!(filtered(&[], ack(3)), [None, None]);
        assert_eq!(filtered(&[ack(1)], ack(3)), [None, Some(0)]);
        assert_eq!(filtered(&[ack(1), ack(2)], ack(3)), [Some(0), Some(0)]);
        assert_eq!(filtered(&[ack(u32::MAX - 1), ack(0)], ack(1)), [Some(0), Some(0)], "numbers wrap around");
        let other = AckHeader { connection: 8, ..ack(1) };
        assert_eq!(filtered(&[other, ack(1), ack(2)], ack(3)), [Some(1), Some(1)]);
        assert_eq!(filtered(&[ack(1), other], ack(3)), [None, None], "it does not precede the newest");
    }

    #[test]
    fn acknowledgements_that_say_something_more_stay() {
        let data = AckHeader { pure: false, ..ack(1) };
        let duplicate = ack(3);
        let later = AckHeader { timestamps: Some([9, 9]), ..ack(1) };
        let block = |blocks: [(u32, u32); 4]| AckHeader { sack: blocks, ..ack(1) };
        let none = (0, 0);
        for kept in [data, duplicate, ack(4), later, block([(5, 7), none, none, none])] {
            assert_eq!(filtered(&[kept, kept], ack(3)), [None, None], "{kept:?}");
        }
        let newest = AckHeader { sack: [(5, 9), none, none, none], timestamps: Some([9, 9]), ..ack(1) };
        for less in [ack(1), later, block([(5, 7), none, none, none])] {
            assert_eq!(filtered(&[less, less], newest), [Some(0), Some(0)], "{less:?}");
        }
        let dsack = AckHeader { number: 6, ..block([(5, 6), none, none, none]) };
        assert_eq!(filtered(&[dsack, dsack], AckHeader { number: 8, ..newest }), [None, None]);
    }

    #[test]
    fn a_change_of_flags_is_never_hidden() {
        let marked = |number| AckHeader { ecn_flags: 1, ..ack(number) };
        assert_eq!(filtered(&[ack(1), marked(2)], marked(3)), [None, Some(1)]);
        assert_eq!(filtered(&[ack(1), marked(2), marked(3)], marked(4)), [Some(1), Some(1)]);
        assert_eq!(filtered(&[marked(1)], ack(2)), [None, None]);
    }
}
