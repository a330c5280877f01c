//! Memory shared with the kernel.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Memory pages shared with the kernel. Within the process, only this value refers to them.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: only this mapping refers to the pages, so they may move to another thread with it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps the memory of `socket` at `offset`.
    pub(super) fn of(socket: BorrowedFd<'_>, bytes: usize, offset: u64) -> io::Result<Mapping> {
        Self::new(bytes, libc::MAP_SHARED | libc::MAP_POPULATE, socket.as_raw_fd(), offset)
    }

    /// Zeroed pages to register with the kernel.
    pub(super) fn anonymous(bytes: usize) -> io::Result<Mapping> {
        Self::new(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    fn new(bytes: usize, flags: libc::c_int, fd: libc::c_int, offset: u64) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses the address of a new mapping, so it overlaps no memory of this process.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, fd, offset as libc::off_t) }.cast::<u8>();
        match NonNull::new(start) {
            Some(start) if start.as_ptr().cast::<libc::c_void>() != libc::MAP_FAILED => Ok(Mapping { start, bytes }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Start address, for registration.
    pub(super) fn address(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The 32-bit word at `at`, atomic for both sides. Panics unless `at` is a multiple of 4 within the mapping.
    #[inline]
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= self.bytes, "{at} of {}", self.bytes);
        // SAFETY: the word lies within the mapping. It is aligned, since the mapping begins at a page. All references
        // to it are references to atomics.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    /// The 64-bit word at `at`, atomic for both sides. Panics unless `at` is a multiple of 8 within the mapping.
    #[inline]
    pub(super) fn long(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.bytes, "{at} of {}", self.bytes);
        // SAFETY: as for `word`.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    /// Copies `bytes` to `at`. The kernel must not read there now: it would see a mix of old and new bytes. Panics if
    /// they do not fit.
    #[inline]
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at.checked_add(bytes.len()).is_some_and(|end| end <= self.bytes), "{at} of {}", self.bytes);
        // SAFETY: the destination lies within the mapping, so it does not overlap `bytes`. `&mut self` excludes other
        // readers and writers in this process.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping, and nothing refers to it any more. If the call failed, the mapping would
        // stay, which does no harm.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::Ordering;

    #[test]
    fn nothing_is_written_or_read_beyond_the_end() {
        let mut mapping = Mapping::anonymous(4096).unwrap();
        mapping.write(4090, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(mapping.word(4092).load(Ordering::Relaxed).to_ne_bytes(), [3, 4, 5, 6]);
        assert_eq!(mapping.long(4088).load(Ordering::Relaxed).to_ne_bytes(), [0, 0, 1, 2, 3, 4, 5, 6]);
        for (at, bytes) in [(4090, 7), (4097, 0), (usize::MAX, 2)] {
            let write = catch_unwind(AssertUnwindSafe(|| mapping.write(at, &vec![0; bytes])));
            assert!(write.is_err(), "{at}, {bytes}");
        }
        for at in [4093, 4094, 4096, 2] {
            assert!(catch_unwind(AssertUnwindSafe(|| mapping.word(at).load(Ordering::Relaxed))).is_err(), "{at}");
        }
        assert!(catch_unwind(AssertUnwindSafe(|| mapping.long(4092).load(Ordering::Relaxed))).is_err());
    }
}
