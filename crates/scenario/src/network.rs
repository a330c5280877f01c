//! The network as a graph: nodes by name, duplex links between them, routes over directions of links.

use std::fmt;

use headgate_core::{Limit, Qdisc, Rate, Span};

use crate::medium::{Impairments, Pace};
use crate::model::Scenario;

/// A duplex link between two routers: a queue before each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name in tables.
    pub name: String,
    /// The router at one end.
    pub from: String,
    /// The router at the other end.
    pub to: String,
    /// Propagation delay, the same each way.
    pub delay: Span,
    /// The direction from `from` to `to`.
    pub forward: Simplex,
    /// The direction from `to` to `from`.
    pub reverse: Simplex,
}

impl Link {
    /// One of its two directions.
    pub fn simplex(&self, direction: Direction) -> &Simplex {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }
}

/// What the link of a scenario is called that is a dumbbell: one link, from `left` to `right`.
pub const DUMBBELL: &str = "bottleneck";

/// What stands for the disciplines that are compared where a discipline of its own could stand.
pub(crate) const COMPARED: &str = "compared";

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Simplex {
    /// How fast it sends: where it follows a schedule before the first step, where it follows a trace on average.
    pub rate: Rate,
    /// How that changes.
    pub pace: Pace,
    /// What becomes of packets on the way.
    pub impairments: Impairments,
    /// Room in its queue, where the discipline's settings give no `limit`.
    pub limit: Limit,
    /// Its discipline; `None` for the ones that are compared.
    pub qdisc: Option<Qdisc>,
}

/// Which way along a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From its `from` to its `to`.
    #[default]
    Forward,
    /// From its `to` to its `from`.
    Reverse,
}

impl Direction {
    /// Both.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];

    /// The other one.
    pub const fn back(self) -> Direction {
        match self {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
        }
    }

    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One step of a route: a direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// The link: an index into the scenario's.
    pub link: u16,
    /// Which way along it.
    pub direction: Direction,
}

impl Hop {
    /// The direction's number among those of all links: each link's forward one before its reverse one.
    pub const fn number(self) -> u16 {
        self.link * 2 + self.direction as u16
    }

    /// The same link the other way.
    pub const fn back(self) -> Hop {
        Hop { link: self.link, direction: self.direction.back() }
    }
}

impl Scenario {
    /// Every direction of every link, in the order of their numbers.
    pub fn hops(&self) -> impl Iterator<Item = Hop> {
        let links = 0..self.links.len() as u16;
        links.flat_map(|link| Direction::BOTH.map(|direction| Hop { link, direction }))
    }

    /// What a direction of a link is like.
    pub fn simplex(&self, hop: Hop) -> &Simplex {
        self.links[usize::from(hop.link)].simplex(hop.direction)
    }

    /// The rate that a direction has on average over a run.
    pub fn mean_rate(&self, hop: Hop) -> Rate {
        let Simplex { rate, pace, .. } = self.simplex(hop);
        pace.mean(*rate, self.duration)
    }

    /// The first direction at which disciplines are compared: every scenario has one.
    pub fn bottleneck(&self) -> Hop {
        let compared = |hop: &Hop| self.simplex(*hop).qdisc.is_none();
        self.hops().find(compared).expect("a scenario that was read compares its disciplines somewhere")
    }

    /// What the random streams of a direction go by, simulated and live. Those of the dumbbell's link had their names before
    /// there were others.
    pub fn label(&self, Hop { link, direction }: Hop) -> String {
        match self.links[usize::from(link)].name.as_str() {
            DUMBBELL => direction.to_string(),
            name => format!("{name} {direction}"),
        }
    }

    /// The nodes on a route, both ends included.
    pub fn nodes<'a>(&'a self, route: &[Hop]) -> Vec<&'a str> {
        let ends = |hop: &Hop| {
            let link = &self.links[usize::from(hop.link)];
            match hop.direction {
                Direction::Forward => [link.from.as_str(), link.to.as_str()],
                Direction::Reverse => [link.to.as_str(), link.from.as_str()],
            }
        };
        let first = route.first().map(|hop| ends(hop)[0]);
        first.into_iter().chain(route.iter().map(|hop| ends(hop)[1])).collect()
    }
}
