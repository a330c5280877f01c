//! One direction of a link, in every world: a queue, its transmitter, and the medium behind it.
//!
//! The simulator and the live forwarder differ in what a packet is, where it goes next and who keeps the time. What a
//! link does to packets is the same, and written here once. A [`LinkQueue`] owns the discipline's port and decides when
//! each packet is sent. A [`Medium`] says how long sending takes ([`Transmitter`]) and what happens on the way
//! ([`Passage`]). Whoever runs the link is its [`NextHop`] and gets the packets that come out. A [`Meter`] measures
//! one direction, such as [`LinkLedger`](headgate_measure::LinkLedger) for the tables of a run.
#![forbid(unsafe_code)]

mod medium;
mod passage;
mod queue;
mod transmitter;
mod wakes;
mod wire;

pub use medium::{Carrier, Medium, Transit};
pub use passage::Passage;
pub use queue::{HandOver, LinkQueue, Meter, NextHop};
pub use transmitter::Transmitter;
pub use wakes::Wakes;
pub use wire::{Wire, WireKind};
