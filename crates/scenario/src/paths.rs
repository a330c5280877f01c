//! Static routes: the next link of a packet.
//!
//! Replies take the links of the route back. A route visits no node twice, so one table serves data and replies.

use crate::model::Scenario;

/// Entry for a packet that leaves the network for its host.
const HOST: u16 = u16::MAX;

/// The link after each link, by group.
#[derive(Debug)]
pub struct Paths {
    /// Each flow's group; empty if every route is a single link, where no lookup is needed.
    groups: Vec<u16>,
    /// By group, and by number of the direction that a packet leaves.
    next: Vec<u16>,
    directions: usize,
}

impl Paths {
    /// The routes of `scenario`.
    pub fn new(scenario: &Scenario) -> Paths {
        let directions = 2 * scenario.links.len();
        let mut paths = Paths { groups: Vec::new(), next: Vec::new(), directions };
        if scenario.routes().all(|route| route.len() == 1) {
            return paths;
        }
        for group in scenario.groups() {
            paths.groups.extend((0..group.flows).map(|_| group.index as u16));
            let start = paths.next.len();
            paths.next.resize(start + directions, HOST);
            for pair in group.route.windows(2) {
                paths.next[start + usize::from(pair[0].number())] = pair[1].number();
                paths.next[start + usize::from(pair[1].back().number())] = pair[0].back().number();
            }
        }
        paths
    }

    /// The next link of a packet of `flow` after `link`; `None` if that is its host.
    #[inline]
    pub fn next(&self, link: u16, flow: usize) -> Option<u16> {
        let group = usize::from(*self.groups.get(flow)?);
        Some(self.next[group * self.directions + usize::from(link)]).filter(|next| *next != HOST)
    }
}
