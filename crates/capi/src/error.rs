//! The words of the last failure, by thread.

use std::cell::RefCell;
use std::ffi::CString;

use core::ffi::c_char;

use crate::types::aqm_status;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps `words` for `aqm_error`, and returns `status`.
pub(crate) fn fail(status: aqm_status, words: impl Into<String>) -> aqm_status {
    let words = words.into().replace('\0', "?");
    LAST.with(|last| *last.borrow_mut() = CString::new(words).expect("it has no zero bytes"));
    status
}

/// Why the last call of this thread that failed did so, in words. The text stays until the thread's next failure.
#[unsafe(no_mangle)]
pub extern "C" fn aqm_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}
