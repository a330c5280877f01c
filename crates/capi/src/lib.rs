//! Headgate's queue disciplines for programs in C. `include/aqm.h` declares what is here.
//!
//! Every function checks its pointers, catches panics, and returns a status. A queue is a handle that only these
//! functions look into. `cargo bench -p headgate-capi` measures what a packet costs more than in Rust.
#![allow(non_camel_case_types, reason = "C's names")]
#![allow(unsafe_code, reason = "C passes pointers; each function states what it trusts")]

mod calls;
mod error;
mod handle;
mod queue;
mod types;

pub use calls::*;
pub use error::aqm_error;
pub use handle::aqm_queue;
pub use types::*;
