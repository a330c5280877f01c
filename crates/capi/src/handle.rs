//! Handles: what a pointer to `aqm_queue` points to.
//!
//! A program in C can use a queue that it has freed, or free it twice. So the memory of a handle never returns to the
//! system, and a word in it tells what the handle is. A freed one keeps saying so until [`KEPT`] others were freed.

use core::cell::{Cell, UnsafeCell};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::queue::Queue;

/// Freed handles that wait before the oldest of them becomes a new queue.
const KEPT: usize = 256;

/// The state of a handle: eight letters, which memory of other origin hardly has by chance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    pub const READY: Word = Word(u64::from_be_bytes(*b"aqmready"));
    /// A call is under way.
    pub const BUSY: Word = Word(u64::from_be_bytes(*b"aqm-busy"));
    /// A call panicked, so the queue's state is unknown.
    pub const BROKEN: Word = Word(u64::from_be_bytes(*b"aqmbroke"));
    pub const FREED: Word = Word(u64::from_be_bytes(*b"aqmfreed"));
}

/// A queue with its discipline.
pub struct aqm_queue {
    pub(crate) word: Cell<Word>,
    /// Only borrowed while the word is `BUSY`. A freed handle has none.
    pub(crate) inside: UnsafeCell<Option<Queue>>,
}

/// A handle that was freed: empty, and used by nobody.
struct Freed(*mut aqm_queue);

// SAFETY: an empty handle has nothing that belongs to a thread, and only the list has its pointer.
unsafe impl Send for Freed {}

static FREED: Mutex<VecDeque<Freed>> = Mutex::new(VecDeque::new());

impl aqm_queue {
    /// A handle of `queue`: the oldest freed one if enough wait, else a new one.
    pub(crate) fn new(queue: Queue) -> *mut aqm_queue {
        let mut freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = if freed.len() > KEPT { freed.pop_front() } else { None };
        let made = aqm_queue { word: Cell::new(Word::READY), inside: UnsafeCell::new(Some(queue)) };
        match oldest {
            Some(Freed(handle)) => {
                // SAFETY: it was made below and never given back. It is empty, so nothing is lost.
                unsafe { handle.write(made) };
                handle
            }
            None => Box::into_raw(Box::new(made)),
        }
    }

    /// Frees the queue of a handle.
    ///
    /// # Safety
    /// `new` made the handle, it is not freed, and no call is under way.
    pub(crate) unsafe fn free(handle: *mut aqm_queue) {
        // SAFETY: the caller promises that nobody else uses it.
        let queue = unsafe {
            (*handle).word.set(Word::FREED);
            (*handle).inside.get_mut().take()
        };
        FREED.lock().unwrap_or_else(PoisonError::into_inner).push_back(Freed(handle));
        drop(queue);
    }
}
