//! Slots for the frames of a network.

use aqm::Limit;
use headgate_scenario::{Hop, Scenario, UdpGroup};

use crate::forward::settings::LaneSettings;
use crate::io::BATCH;

/// Most slots for the flows' own links: half a gigabyte, of which only touched pages use memory.
const MOST_ACCESS_SLOTS: u64 = 1 << 18;

/// Most slots of all.
const MOST_SLOTS: u64 = 1_000_000;

/// Numbers of slots by purpose. Each link gets slots for its queue and its propagation, bounded by its limit and rate.
/// Each group gets slots for its flows' own links, which have no queue limit: for its TCP windows, or for its datagrams
/// of one second. A flood therefore takes no slots from other groups and links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlotBudget {
    pub(super) all: u32,
    /// By group: most frames on its flows' own links. TCP has no limit, as its windows bound it.
    pub(super) group_limits: Vec<u32>,
}

impl SlotBudget {
    pub(super) fn of(scenario: &Scenario) -> SlotBudget {
        let links: u64 = scenario.hops().map(|hop| link_slots(scenario, hop)).sum();
        let windows = scenario.tcp.iter().map(|group| u64::from(group.flows) * u64::from(group.window.min(4096)));
        let datagrams: Vec<u64> = scenario.udp.iter().map(datagrams_per_second).collect();
        let access = windows.chain(datagrams.iter().copied()).sum::<u64>().min(MOST_ACCESS_SLOTS);
        let of_udp = datagrams.iter().map(|datagrams| u32::try_from(*datagrams).unwrap_or(u32::MAX));
        let group_limits = scenario.tcp.iter().map(|_| u32::MAX).chain(of_udp).collect();
        SlotBudget { all: (links + access).min(MOST_SLOTS) as u32, group_limits }
    }
}

/// Frames queued and propagating at a link.
fn link_slots(scenario: &Scenario, hop: Hop) -> u64 {
    let direction_settings = scenario.direction_settings(hop);
    // A byte limit holds more acknowledgements than packets of the scenario's size.
    let queued = match direction_settings.limit {
        Limit::Packets(packets) => u64::from(packets),
        Limit::Bytes(bytes) => bytes / 40,
    };
    u64::from(LaneSettings::slots(direction_settings, scenario.links[usize::from(hop.link)].delay)).max(queued)
}

/// The datagrams of a group in a second, plus a batch.
fn datagrams_per_second(group: &UdpGroup) -> u64 {
    let each = group.most().as_bits() / (8 * u64::from(group.packet).max(1));
    u64::from(group.flows) * each + BATCH as u64
}
