//! Accurate ECN feedback (RFC 9768): the three-bit ACE field of acknowledgements counts marked segments.
//!
//! The receiver acknowledges the first of consecutive marks at once, and every second segment at the latest, so it stays
//! within the limits of section 3.2.2.5.1. With `accecn_option` it also sends counts that no lost acknowledgement makes
//! ambiguous; a sender whose first segments all arrived without ECT then sends no more ECT.
//!
//! Deviations: connections begin established. The handshake, which captures show, always agrees on this feedback.

use aqm::Ecn;

/// The ACE field: a count of marked segments modulo 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ace(u8);

impl Ace {
    /// Its width.
    pub const BITS: u32 = 3;
    const MODULUS: u32 = 1 << Ace::BITS;

    /// The field at the begin of a connection (section 3.2.1).
    pub const INITIAL: Ace = Ace(5);

    /// The field after `marks` marked segments.
    #[inline]
    pub fn of_marks(marks: u32) -> Ace {
        Ace::from_bits(Ace::INITIAL.0 + (marks % Ace::MODULUS) as u8)
    }

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

/// What the option AccECN counts since the begin of the connection (section 3.2.3). The option counts bytes of data, this
/// counts segments: all but the last of a transfer have the same size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// Segments that arrived with a mark (ECEB).
    pub marked: u32,
    /// Segments that arrived with ECT(0) or ECT(1) (EE0B, EE1B).
    pub unmarked: u32,
}

impl EcnCounts {
    /// Counts an arriving segment.
    #[inline]
    pub fn count(&mut self, ecn: Ecn) {
        let marked = ecn == Ecn::Ce;
        self.marked = self.marked.wrapping_add(marked.into());
        self.unmarked = self.unmarked.wrapping_add((ecn.is_capable() && !marked).into());
    }

    /// Whether all segments arrived without ECT: the path clears the field.
    pub fn is_cleared(self) -> bool {
        self == EcnCounts::default()
    }
}

/// Returns how many segments were marked since the receiver had counted `before`, by the field `ace` of an
/// acknowledgement that reports `delivered` segments. They may be more than these: segments that arrive twice count. If the
/// field may have wrapped, the result is the largest possible number (appendix A.2.1).
pub fn newly_marked(before: u32, ace: Ace, delivered: u32) -> u32 {
    let least = ace.since(Ace::of_marks(before));
    match delivered {
        0 => 0,
        1..Ace::MODULUS => least,
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
        assert_eq!(newly_marked(0, Ace(5), 2), 0);
        assert_eq!(newly_marked(0, Ace(7), 2), 2);
        assert_eq!(newly_marked(2, Ace(2), 7), 3, "7, 0, 1, 2");
        // Appendix A.2.1: among 9 segments that move the field by 1, 9 or 1 were marked; among 14 that leave it, 8 or 0.
        assert_eq!(newly_marked(8, Ace(6), 9), 9);
        assert_eq!(newly_marked(8, Ace(5), 14), 8);
        assert_eq!(newly_marked(8, Ace(5), 0), 0, "an old or repeated acknowledgement says nothing");
    }

    #[test]
    fn segments_without_ect_are_not_counted() {
        let mut counts = EcnCounts::default();
        counts.count(Ecn::NotEct);
        assert!(counts.is_cleared());
        for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            counts.count(ecn);
        }
        assert_eq!(counts, EcnCounts { marked: 1, unmarked: 2 });
    }
}
