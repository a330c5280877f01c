//! One direction of a link, simulated or live: a queue, and the medium that carries its packets.
//!
//! Simulator and live forwarder differ in packet type, next hop and clock, but share this code. A [`LinkQueue`] owns
//! the discipline's port and starts each transmission. A [`Medium`] computes when it ends ([`Transmitter`]), adds the
//! propagation delay and applies impairments ([`Impairer`]). The owner of a link implements [`NextHop`] and receives
//! the packets. A [`Meter`] measures one direction, such as the [`LinkLedger`](headgate_measure::LinkLedger) of a run.
#![forbid(unsafe_code)]

mod arrival;
mod impairer;
mod medium;
mod queue;
mod transmitter;
mod wake_times;
mod wire;

pub use arrival::{Alteration, Arrival};
pub use impairer::Impairer;
pub use medium::{Carrier, Medium, Transit};
pub use queue::{AlteredPackets, LinkQueue, Meter, NextHop, QueueHandover};
pub use transmitter::Transmitter;
pub use wake_times::WakeTimes;
pub use wire::{DrawnDelays, Wire, WireProperties, drawn_delays};
