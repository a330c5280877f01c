//! Accurate ECN feedback (RFC 9768): the three-bit ACE field of acknowledgements counts marked segments.
//!
//! The TCP option with byte counts, the handshake and the tests of the path are left out. The receiver acknowledges
//! every second segment at the latest, so it stays within the limit on unreported marks (section 3.2.2.5.1).

/// The ACE field: a count of marked segments modulo 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ace(u8);

impl Ace {
    /// Its width.
    pub const BITS: u32 = 3;
    const MODULUS: u32 = 1 << Ace::BITS;

    /// The field at the begin of a connection (section 3.2.1).
    pub const INITIAL: Ace = Ace(5);

    /// The field of these bits; higher ones are ignored.
    #[inline]
    pub fn from_bits(bits: u8) -> Ace {
        Ace(bits % Ace::MODULUS as u8)
    }

    /// The flags AE, CWR and ECE, from the highest bit.
    #[inline]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The field after a segment.
    #[inline]
    pub fn after(self, marked: bool) -> Ace {
        Ace::from_bits(self.0 + u8::from(marked))
    }

    /// The marks since the field was `before`, modulo 8.
    #[inline]
    fn since(self, before: Ace) -> u32 {
        (u32::from(self.0) + Ace::MODULUS - u32::from(before.0)) % Ace::MODULUS
    }
}

/// Returns how many of the `delivered` segments were marked if an acknowledgement moves the field from `before` to
/// `ace`. If the field may have wrapped, the result is the largest possible number (appendix A.2.1).
pub fn newly_marked(before: Ace, ace: Ace, delivered: u32) -> u32 {
    let least = ace.since(before);
    match delivered {
        0 => 0,
        1..Ace::MODULUS => least.min(delivered),
        _ => delivered - (delivered - least) % Ace::MODULUS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_counts_from_five_and_goes_round() {
        let after = |marks| (0..marks).fold(Ace::INITIAL, |ace, _| ace.after(true)).bits();
        assert_eq!([0, 1, 2, 3, 8].map(after), [5, 6, 7, 0, 5]);
        assert_eq!(Ace(7).after(false), Ace(7));
    }

    #[test]
    fn marks_of_fewer_than_eight_segments_are_exact_and_of_more_the_largest_possible() {
        assert_eq!(newly_marked(Ace(5), Ace(5), 2), 0);
        assert_eq!(newly_marked(Ace(5), Ace(7), 2), 2);
        assert_eq!(newly_marked(Ace(7), Ace(2), 7), 3, "7, 0, 1, 2");
        // Appendix A.2.1: among 9 segments that move the field by 1, 9 or 1 were marked; among 14 that leave it, 8 or 0.
        assert_eq!(newly_marked(Ace(5), Ace(6), 9), 9);
        assert_eq!(newly_marked(Ace(5), Ace(5), 14), 8);
        assert_eq!(newly_marked(Ace(5), Ace(5), 0), 0, "an old or repeated acknowledgement says nothing");
    }
}
