//! Why packets are dropped or marked.
//!
//! Reasons shared by several disciplines are declared here. Others are declared beside their discipline. A discipline's
//! settings list all its reasons.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// A declared reason.
#[derive(Debug)]
pub struct Reason {
    /// Its name in tables and results.
    pub name: &'static str,
    /// The reason in words, following "because".
    pub about: &'static str,
    /// Whether it applies only to flows the discipline has identified.
    pub targets_identified_flow: bool,
}

/// Why a packet was dropped or marked: a handle to a declared [`Reason`].
#[derive(Clone, Copy)]
pub struct Why(&'static Reason);

impl Why {
    /// The handle of `reason`, compared by address: declare each reason once.
    pub const fn of(reason: &'static Reason) -> Why {
        Why(reason)
    }

    /// The reason's name in tables and results.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The reason in words, following "because".
    pub const fn about(self) -> &'static str {
        self.0.about
    }

    /// Whether it applies only to flows the discipline has identified.
    pub const fn targets_identified_flow(self) -> bool {
        self.0.targets_identified_flow
    }
}

impl PartialEq for Why {
    #[inline]
    fn eq(&self, other: &Why) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for Why {}

impl Hash for Why {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Declares reasons: documentation, name in Rust, name in tables, text after "because". Add `targets identified` if the
/// discipline gives it only to flows it has identified.
///
/// ```text
/// reasons! {
///     /// It was compared with a packet of its own flow.
///     Match = "match", "it matched a queued packet of its own flow";
/// }
/// ```
#[macro_export]
macro_rules! reasons {
    ($($(#[$doc:meta])+ $why:ident = $name:literal, $about:literal $(, $targets:ident identified)?;)+) => {
        #[expect(non_upper_case_globals, reason = "they are used as an enum's variants are")]
        impl $crate::Why {
            $(
                $(#[$doc])+
                pub const $why: $crate::Why = {
                    static REASON: $crate::Reason = $crate::Reason {
                        name: $name,
                        about: $about,
                        targets_identified_flow: $crate::reasons!(@ $($targets)?),
                    };
                    $crate::Why::of(&REASON)
                };
            )+
        }
    };
    (@) => { false };
    (@ targets) => { true };
}

reasons! {
    /// The packet did not fit into the buffer.
    Overflow = "overflow", "the buffer was full";
    /// Selected at random, as early notice of congestion.
    Early = "early", "it was selected at random as early notice of congestion";
    /// The queue was above a threshold where every packet is dropped or marked.
    Forced = "forced", "the queue was above the threshold where every packet is dropped or marked";
    /// The flow exceeded its share of the queue.
    FlowLimit = "flow_limit", "its flow exceeded its share of the queue";
    /// The flow is treated as unresponsive: rate limit, penalty box or strikes.
    Unresponsive = "unresponsive", "its flow is treated as unresponsive", targets identified;
    /// The queueing delay was too long (CoDel).
    Sojourn = "sojourn", "the queueing delay was too long";
    /// The enclosing discipline was full and made this one drop a packet.
    Overload = "overload", "the enclosing discipline was full";
}

impl Why {
    /// The shared reasons in table order; tables list them first.
    pub const SHARED: [Why; 7] =
        [Why::Overflow, Why::Early, Why::Forced, Why::FlowLimit, Why::Unresponsive, Why::Sojourn, Why::Overload];
}

/// A value for each reason that occurred. Reasons are few, so a lookup costs a comparison or two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByReason<V>(Vec<(Why, V)>);

impl<V> Default for ByReason<V> {
    fn default() -> ByReason<V> {
        ByReason(Vec::new())
    }
}

impl<V: Default> ByReason<V> {
    /// The value of `why`, if it has occurred.
    pub fn get(&self, why: Why) -> Option<&V> {
        self.0.iter().find(|(known, _)| *known == why).map(|(_, kept)| kept)
    }

    /// The value of `why`, which begins as the default.
    #[inline]
    pub fn entry(&mut self, why: Why) -> &mut V {
        let position = self.0.iter().position(|(known, _)| *known == why).unwrap_or_else(|| self.add(why));
        &mut self.0[position].1
    }

    /// Inserts at the position by name, so that equal counts compare equal whichever reason came first.
    #[cold]
    fn add(&mut self, why: Why) -> usize {
        let position = self.0.partition_point(|(known, _)| known.name() < why.name());
        self.0.insert(position, (why, V::default()));
        position
    }

    /// Every reason that occurred, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (Why, &V)> {
        self.0.iter().map(|(why, kept)| (*why, kept))
    }

    /// Every value, for changes.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, kept)| kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn counts_by_reason_are_equal_whichever_reason_came_first() {
        let counted = |reasons: [Why; 3]| {
            let mut counts = ByReason::<u64>::default();
            reasons.into_iter().for_each(|why| *counts.entry(why) += 1);
            counts
        };
        let counts = counted([Why::Overflow, Why::Early, Why::Overflow]);
        assert_eq!(counts, counted([Why::Early, Why::Overflow, Why::Overflow]));
        assert_eq!([Why::Early, Why::Overflow, Why::Forced].map(|why| counts.get(why)), [Some(&1), Some(&2), None]);
    }

    #[test]
    fn a_discipline_lists_the_reasons_of_nested_disciplines_and_its_own() {
        let prio = registry::find("prio").unwrap();
        let inner = prio.reasons(&[("children", "[choke; tbf:rate=1Mbit/s,child=codel]")]).unwrap();
        let [shared, own] = [&inner[..5], &inner[5..]];
        assert_eq!(shared, [Why::Overflow, Why::Early, Why::Forced, Why::Sojourn, Why::Overload]);
        assert_eq!(own, [Why::Match]);
        assert_eq!(registry::find("droptail").unwrap().reasons(&[]).unwrap(), [Why::Overflow]);
    }

    #[test]
    fn no_two_reasons_have_one_name_and_each_names_a_column() {
        let all = registry::reasons();
        for (place, why) in all.iter().enumerate() {
            assert!(why.name().bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'_'), "{why}");
            assert!(all[..place].iter().all(|other| other.name() != why.name()), "{why}");
        }
    }
}
