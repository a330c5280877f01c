//! Set-associative hashing: slots in sets of eight, so that few hashes share a slot.
//!
//! A hash leads to one slot. If another hash has that slot, a free one in the same set is taken instead. Hashes share a
//! slot only when all eight are in use. With 1024 slots and 100 flows, a plain hash makes 9 % of the flows share;
//! with sets of eight it is about two flows in a million.
//!
//! Source: T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE", IEEE LANMAN 2018, section III.C; Linux 5.5,
//! `cake_hash` in `sch_cake.c`.

use alloc::vec::Vec;

use crate::params::BuildError;
use crate::tables::Tables;

/// Slots of a table.
pub const SLOTS: usize = 1024;
/// Slots in a set.
pub const WAYS: usize = 8;

/// The hashes that slots were last given to.
#[derive(Clone, Debug)]
pub struct Ways {
    tags: Vec<u64>,
}

/// The slot for a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its number.
    pub number: usize,
    /// Whether the hash already had it.
    pub kept: bool,
}

impl Ways {
    /// Slots without hashes.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(tables: Tables<'_>) -> Result<Ways, BuildError> {
        Ok(Ways { tags: tables.filled(SLOTS, 0)? })
    }

    /// Gives `hash` a slot: the one it had last, else the first of its set that is not `in_use`, else its own, which it
    /// then takes over.
    #[inline]
    pub fn give(&mut self, hash: u64, in_use: impl Fn(usize) -> bool) -> Slot {
        let own = own_slot(hash);
        if self.tags[own] == hash {
            return Slot { number: own, kept: true };
        }
        let slot = match self.find(hash) {
            Some(number) => return Slot { number, kept: true },
            None => set_of(own).find(|slot| !in_use(*slot)).unwrap_or(own),
        };
        self.tags[slot] = hash;
        Slot { number: slot, kept: false }
    }

    /// The slot that `hash` was last given, if no other has got it since.
    pub fn find(&self, hash: u64) -> Option<usize> {
        set_of(own_slot(hash)).find(|slot| self.tags[*slot] == hash)
    }
}

#[inline]
fn own_slot(hash: u64) -> usize {
    hash as usize % SLOTS
}

/// The slots of the set with `own`, beginning there.
#[inline]
fn set_of(own: usize) -> impl Iterator<Item = usize> {
    let set = own - own % WAYS;
    (0..WAYS).map(move |way| set + (own + way) % WAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_hashes_of_one_slot_have_eight_slots_and_the_ninth_takes_over_its_own() {
        let mut ways = Ways::new(Tables::ALLOCATE).unwrap();
        let hash = |n: u64| 5 + n * SLOTS as u64;
        let slots: Vec<usize> =
            (1..=8).map(|n| ways.give(hash(n), |slot| slot != 7 && slot < 5 + n as usize - 1).number).collect();
        assert_eq!(slots, [5, 6, 7, 7, 7, 7, 7, 7], "a slot that is not in use is given again");
        let mut ways = Ways::new(Tables::ALLOCATE).unwrap();
        let mut used = alloc::vec![false; SLOTS];
        for n in 1..=8 {
            let slot = ways.give(hash(n), |slot| used[slot]);
            assert!(!slot.kept && !used[slot.number] && slot.number < WAYS);
            used[slot.number] = true;
        }
        let again = ways.give(hash(3), |slot| used[slot]);
        assert_eq!(again, Slot { number: 7, kept: true });
        assert_eq!(ways.give(hash(9), |slot| used[slot]), Slot { number: 5, kept: false });
        assert_eq!(ways.give(hash(1), |slot| used[slot]), Slot { number: 5, kept: false }, "its slot was taken over");
    }
}
