//! Where a discipline gets its tables: the memory that its settings ask for before the first packet.
//!
//! A discipline that is built [allocates](Tables::ALLOCATE) its tables. A discipline that is only to be judged counts
//! their bytes and allocates none, so that a host learns the size of absurd settings without taking it
//! ([`registry::table_bytes`](crate::registry::table_bytes)). Both run the same constructor, so the bytes counted are the
//! bytes allocated.

use alloc::vec::Vec;
use core::cell::Cell;
use core::hint::black_box;

use crate::build_error::BuildError;

/// Allocates tables, or counts their bytes. Part of [`LinkInfo`](crate::LinkInfo), so that nested disciplines share it.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    counted: Option<&'a Cell<usize>>,
}

impl<'a> Tables<'a> {
    /// Allocates every table.
    pub const ALLOCATE: Tables<'static> = Tables { counted: None };

    /// Adds the bytes of every table to `counted`, and leaves the table empty. The discipline built with it must not
    /// get a packet.
    pub(crate) const fn counting(counted: &'a Cell<usize>) -> Tables<'a> {
        Tables { counted: Some(counted) }
    }

    /// Whether tables are counted instead of allocated.
    pub(crate) const fn is_counting(self) -> bool {
        self.counted.is_some()
    }

    /// A table of `len` copies of `value`, which may own no table itself.
    ///
    /// # Errors
    /// [`BuildError::Memory`] if the system refuses the memory.
    pub fn filled<V: Clone>(self, len: usize, value: V) -> Result<Vec<V>, BuildError> {
        let mut table = self.reserved(len)?;
        if !self.is_counting() {
            table.resize(len, value);
        }
        Ok(table)
    }

    /// A table of `len` values, each made from its index. A value may own no table itself.
    ///
    /// # Errors
    /// [`BuildError::Memory`] if the system refuses the memory, or the first error of `make`.
    pub fn filled_with<V>(
        self,
        len: usize,
        mut make: impl FnMut(usize) -> Result<V, BuildError>,
    ) -> Result<Vec<V>, BuildError> {
        let mut table = self.reserved(len)?;
        // Equal settings have equal errors, so the first value stands for all.
        let made = if self.is_counting() { len.min(1) } else { len };
        for index in 0..made {
            table.push(make(index)?);
        }
        Ok(table)
    }

    /// An empty table with room for `len` values.
    ///
    /// # Errors
    /// [`BuildError::Memory`] if the system refuses the memory.
    pub fn reserved<V>(self, len: usize) -> Result<Vec<V>, BuildError> {
        let (bytes, mut table) = (len.saturating_mul(size_of::<V>()), Vec::new());
        self.count(bytes);
        if !self.is_counting() {
            table.try_reserve_exact(len).map_err(|_| BuildError::memory(bytes))?;
        }
        Ok(table)
    }

    /// Counts `bytes` that are allocated in another way.
    pub fn count(self, bytes: usize) {
        if let Some(counted) = self.counted {
            counted.set(counted.get().saturating_add(bytes));
        }
    }
}

impl Default for Tables<'_> {
    fn default() -> Self {
        Tables::ALLOCATE
    }
}

/// Whether the system would give `bytes` in one piece. Linux promises many small tables that together exceed the
/// machine's memory, and kills the process when they are written; it refuses one piece of that size.
pub fn can_reserve(bytes: usize) -> bool {
    // The compiler may remove an allocation that nobody looks at.
    black_box(Vec::<u8>::new()).try_reserve_exact(black_box(bytes)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counted_table_has_the_bytes_of_the_allocated_one_and_stays_empty() {
        let counted = Cell::new(0);
        let tables = Tables::counting(&counted);
        assert_eq!((tables.filled(1 << 40, 7_u64), counted.take()), (Ok(Vec::new()), 1 << 43));
        let made = tables.filled_with(1 << 40, |index| Ok(index as u16)).unwrap();
        assert_eq!((made.len(), counted.take()), (1, 1 << 41));
        tables.count(usize::MAX);
        assert_eq!((tables.reserved::<u64>(usize::MAX), counted.take()), (Ok(Vec::new()), usize::MAX));
        assert_eq!(Tables::ALLOCATE.filled(3, 7_u8), Ok(Vec::from([7; 3])));
        assert_eq!(Tables::ALLOCATE.filled_with(3, Ok), Ok(Vec::from([0, 1, 2])));
    }

    #[test]
    fn a_table_that_the_system_refuses_is_an_error_not_an_abort() {
        let refused = Tables::ALLOCATE.filled(usize::MAX / 16, 0_u64).unwrap_err();
        assert_eq!(refused, BuildError::memory(usize::MAX / 2 - 7));
        assert!(can_reserve(1000) && !can_reserve(usize::MAX / 4));
    }

    #[test]
    fn the_first_value_of_a_counted_table_shows_the_error_of_all() {
        let (counted, wrong) = (Cell::new(0), || BuildError::Conflict("wrong".into()));
        for tables in [Tables::counting(&counted), Tables::ALLOCATE] {
            assert_eq!(tables.filled_with(5, |_| Err::<u8, _>(wrong())), Err(wrong()));
        }
    }
}
