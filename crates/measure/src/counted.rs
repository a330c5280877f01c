//! Which flow of the scenario a packet is of.

use headgate_core::Packet;

/// A packet's handle, as far as a ledger must know what it stands for. Whoever runs a scenario knows its packets, the
/// simulator by what they carry and a link of real packets by their ports.
pub trait Counted: Sized {
    /// The number of the packet's flow among those of the scenario.
    fn flow(packet: &Packet<Self>) -> u32;

    /// Whether it is data of that flow. What answers data is not, nor is what belongs to no flow of the scenario.
    fn is_data(packet: &Packet<Self>) -> bool;
}
