//! Maps a packet to its flow in the scenario.

use aqm::Packet;

/// A packet handle that knows its flow: by its contents in the simulator, by its ports on a live link.
pub trait HasFlow: Sized {
    /// The flow's number in the scenario.
    fn flow(packet: &Packet<Self>) -> u32;

    /// Whether it is data of that flow, and not a reply or foreign traffic.
    fn is_data(packet: &Packet<Self>) -> bool;

    /// The handle as a number: it differs for packets of a flow that are queued at the same time.
    fn handle_bits(packet: &Packet<Self>) -> u64;
}
