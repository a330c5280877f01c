//! Accurate ECN feedback (RFC 9768): the three-bit ACE field of acknowledgements counts marked segments.
//!
//! The TCP option with byte counts, the handshake and the tests of the path are left out. The receiver acknowledges
//! every second segment at the latest, so it stays within the limit on unreported marks (section 3.2.2.5.1).

const MODULUS: u32 = 8;

pub const INITIAL_ACE: u8 = 5; // section 3.2.1

#[inline]
pub fn count_mark(ace: u8, marked: bool) -> u8 {
    (ace + u8::from(marked)) % MODULUS as u8
}

/// Returns how many of the `delivered` segments were marked if an acknowledgement moves the field from `before` to
/// `ace`. If the field may have wrapped, the result is the largest possible number (appendix A.2.1).
pub fn newly_marked(before: u8, ace: u8, delivered: u32) -> u32 {
    let least = (u32::from(ace) + MODULUS - u32::from(before)) % MODULUS;
    match delivered {
        0 => 0,
        1..MODULUS => least.min(delivered),
        _ => delivered - (delivered - least) % MODULUS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_counts_from_five_and_goes_round() {
        let after = |marks| (0..marks).fold(INITIAL_ACE, |ace, _| count_mark(ace, true));
        assert_eq!([0, 1, 2, 3, 8].map(after), [5, 6, 7, 0, 5]);
        assert_eq!(count_mark(7, false), 7);
    }

    #[test]
    fn marks_of_fewer_than_eight_segments_are_exact_and_of_more_the_largest_possible() {
        assert_eq!(newly_marked(5, 5, 2), 0);
        assert_eq!(newly_marked(5, 7, 2), 2);
        assert_eq!(newly_marked(7, 2, 7), 3, "7, 0, 1, 2");
        // Appendix A.2.1: among 9 segments that move the field by 1, 9 or 1 were marked; among 14 that leave it, 8 or 0.
        assert_eq!(newly_marked(5, 6, 9), 9);
        assert_eq!(newly_marked(5, 5, 14), 8);
        assert_eq!(newly_marked(5, 5, 0), 0, "an old or repeated acknowledgement says nothing");
    }
}
