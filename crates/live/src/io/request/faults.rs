//! A request that fails on purpose, in tests: the fault belongs to a thread and to the threads that it starts.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::rows::Request;

/// The fault of a test.
#[derive(Clone, Debug)]
pub(crate) struct RequestFault {
    failing: Request,
    code: i32,
    reached: Arc<AtomicBool>,
}

thread_local! {
    static CURRENT: RefCell<Option<RequestFault>> = const { RefCell::new(None) };
}

impl RequestFault {
    /// `request` fails with error number `code` whenever it is made.
    pub(crate) fn of(request: Request, code: i32) -> RequestFault {
        RequestFault { failing: request, code, reached: Arc::default() }
    }

    /// Calls `work` with this fault.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        inherit(Some(self.clone()));
        let result = work();
        inherit(None);
        result
    }

    /// Whether the request was made.
    pub(crate) fn reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }
}

/// Whether the fault of this thread is of one of `requests`, and the request has not been made.
pub(crate) fn is_ahead(requests: &[Request]) -> bool {
    current().is_some_and(|fault| requests.contains(&fault.failing) && !fault.reached())
}

/// The fault of this thread, for a thread that it starts.
pub(crate) fn current() -> Option<RequestFault> {
    CURRENT.with_borrow(Clone::clone)
}

/// Gives this thread the fault of the thread that started it.
pub(crate) fn inherit(fault: Option<RequestFault>) {
    CURRENT.set(fault);
}

/// The error number with which `request` fails; `None` if it is made.
pub(super) fn take(request: Request) -> Option<i32> {
    let fault = current().filter(|fault| fault.failing == request)?;
    fault.reached.store(true, Ordering::Relaxed);
    Some(fault.code)
}
