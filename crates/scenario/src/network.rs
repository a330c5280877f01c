//! The network as a graph: nodes by name, duplex links between them, routes over directions of links.

use std::fmt;

use aqm::{Limit, Qdisc, Rate, Span};

use crate::medium::{Impairments, RateVariation};
use crate::model::Scenario;

/// A duplex link between two routers, with a queue in each direction.
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
    pub forward: DirectionSettings,
    /// The direction from `to` to `from`.
    pub reverse: DirectionSettings,
}

impl Link {
    /// The settings of a direction.
    pub fn direction_settings(&self, direction: Direction) -> &DirectionSettings {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }
}

/// Default name of a single link (a dumbbell), from `left` to `right`.
pub const DUMBBELL: &str = "bottleneck";

/// The `qdisc` of a direction that compares disciplines.
pub(crate) const COMPARED: &str = "compared";

/// The settings of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionSettings {
    /// Rate: before the first step of a schedule, or the mean of a trace.
    pub rate: Rate,
    /// How the rate changes.
    pub rate_variation: RateVariation,
    /// Loss, jitter and reordering.
    pub impairments: Impairments,
    /// Queue limit, unless the discipline's settings give one.
    pub limit: Limit,
    /// Its discipline; `None` if it runs the compared disciplines in turn.
    pub qdisc: Option<Qdisc>,
}

/// A direction along a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From `from` to `to`.
    #[default]
    Forward,
    /// From `to` to `from`.
    Reverse,
}

impl Direction {
    /// Both directions.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];

    /// The opposite direction.
    pub const fn back(self) -> Direction {
        match self {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
        }
    }

    /// The name in tables.
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
    /// Index of the link in the scenario.
    pub link: u16,
    /// Direction along the link.
    pub direction: Direction,
}

impl Hop {
    /// The direction's number: forward before reverse, link by link.
    pub const fn number(self) -> u16 {
        self.link * 2 + self.direction as u16
    }

    /// The opposite direction of the link.
    pub const fn back(self) -> Hop {
        Hop { link: self.link, direction: self.direction.back() }
    }
}

impl Scenario {
    /// Every direction of every link, by number.
    pub fn hops(&self) -> impl Iterator<Item = Hop> {
        let links = 0..self.links.len() as u16;
        links.flat_map(|link| Direction::BOTH.map(|direction| Hop { link, direction }))
    }

    /// The settings of a direction.
    pub fn direction_settings(&self, hop: Hop) -> &DirectionSettings {
        self.links[usize::from(hop.link)].direction_settings(hop.direction)
    }

    /// Mean rate of a direction over a run.
    pub fn mean_rate(&self, hop: Hop) -> Rate {
        let DirectionSettings { rate, rate_variation, .. } = self.direction_settings(hop);
        rate_variation.mean(*rate, self.duration)
    }

    /// The first direction that compares disciplines. Every scenario has one.
    pub fn bottleneck(&self) -> Hop {
        let compared = |hop: &Hop| self.direction_settings(*hop).qdisc.is_none();
        self.hops().find(compared).expect("a scenario that was read compares its disciplines somewhere")
    }

    /// Name of a direction's random streams, simulated and live. A dumbbell's streams keep the names of the first
    /// release.
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
