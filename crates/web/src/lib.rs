//! The engine of the lab: the simulator in a web page.
//!
//! A [`Lab`] is one run of a scenario with one discipline and one seed. The page advances it, looks at it
//! ([`snapshot`](Lab::snapshot)) and changes it. Without changes, its result is the command line's to the last bit.
//! Everything goes to the page as JSON; times are milliseconds.
#![forbid(unsafe_code)]

mod catalog;
mod lab;
mod limits;
mod queue_picture;
mod result;
mod retune;
mod snapshot;
#[cfg(target_arch = "wasm32")]
mod wasm;

pub use catalog::{disciplines, reasons};
pub use lab::Lab;
pub use retune::{SetOutcome, changed};

/// An error in words for the reader of the page.
pub type Message = String;
