//! How many frames the network may hold.

use headgate_core::Limit;
use headgate_scenario::{Hop, Scenario, UdpGroup};

use crate::forward::settings::LaneSettings;
use crate::io::BATCH;

/// The most that flows may have on their own links, in frames: half a gigabyte, which is touched only where it is used.
const MOST_ON_ACCESS: u64 = 1 << 18;

/// The most of all.
const MOST: u64 = 1_000_000;

/// Room for frames: a share for what may wait and fly at each link, which their limits and rates bound, and one for what the flows
/// of each group may have on their own links, whose queues have no limit: a window of each, or a second's datagrams. So a flood
/// takes nothing of what other groups and links need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slots {
    /// All of it.
    pub(super) all: u32,
    /// By group, the most that may be on its flows' own links. Of TCP, which its windows bound, there is none.
    pub(super) rooms: Vec<u32>,
}

impl Slots {
    /// What `scenario` needs.
    pub(super) fn of(scenario: &Scenario) -> Slots {
        let links: u64 = scenario.hops().map(|hop| at(scenario, hop)).sum();
        let windows = scenario.tcp.iter().map(|group| u64::from(group.flows) * u64::from(group.window.min(4096)));
        let datagrams: Vec<u64> = scenario.udp.iter().map(second).collect();
        let access = windows.chain(datagrams.iter().copied()).sum::<u64>().min(MOST_ON_ACCESS);
        let of_udp = datagrams.iter().map(|datagrams| u32::try_from(*datagrams).unwrap_or(u32::MAX));
        let rooms = scenario.tcp.iter().map(|_| u32::MAX).chain(of_udp).collect();
        Slots { all: (links + access).min(MOST) as u32, rooms }
    }
}

/// What waits and flies at a link.
fn at(scenario: &Scenario, hop: Hop) -> u64 {
    let simplex = scenario.simplex(hop);
    // Room in the queue counts packets of the scenario's size, and acknowledgements are smaller.
    let waiting = match simplex.limit {
        Limit::Packets(packets) => u64::from(packets),
        Limit::Bytes(bytes) => bytes / 40,
    };
    u64::from(LaneSettings::slots(simplex, scenario.links[usize::from(hop.link)].delay)).max(waiting)
}

/// What the flows of a group can send in a second, and a batch.
fn second(group: &UdpGroup) -> u64 {
    let each = group.most().as_bits() / (8 * u64::from(group.packet).max(1));
    u64::from(group.flows) * each + BATCH as u64
}
