//! The network as a graph: nodes by name, duplex links between them, routes over directions of links.

use std::fmt;

use aqm::{Framing, Limit, Qdisc, Rate, Span};

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
    /// Bytes that the link adds to each packet; they take transmission time, and no discipline sees them.
    pub framing: Framing,
    /// What happens to packets behind the queue: loss, duplicates, remarks, jitter and reordering.
    pub impairments: Impairments,
    /// Queue limit, unless the discipline's settings give one.
    pub limit: Limit,
    /// Its discipline; `None` if it runs the compared disciplines in turn.
    pub qdisc: Option<Qdisc>,
}

impl DirectionSettings {
    /// Time from the begin of a packet's transmission to its end at the far end, on an idle link at the rate before the first
    /// step of a schedule. Without propagation.
    pub fn unqueued_transmission(&self, bytes: u32) -> Span {
        let own = self.rate.transmit(self.framing.wire_bytes(bytes));
        match self.rate_variation {
            RateVariation::Constant | RateVariation::Schedule { .. } | RateVariation::Trace { .. } => own,
            RateVariation::Slots { length } => length,
            RateVariation::Aggregates { gap, .. } => gap + own,
        }
    }

    /// Least time in which a packet of `bytes` can be sent.
    pub fn least_transmission(&self, bytes: u32) -> Span {
        match &self.rate_variation {
            // At an opportunity, a packet leaves at once. So does one that takes the room of others in an aggregate that ends.
            RateVariation::Trace { .. } | RateVariation::Aggregates { .. } => Span::ZERO,
            RateVariation::Schedule { steps, .. } => {
                let fastest = steps.iter().map(|(_, rate)| *rate).fold(self.rate, Rate::max);
                fastest.transmit(self.framing.wire_bytes(bytes))
            }
            _ => self.unqueued_transmission(bytes),
        }
    }
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

    /// Mean rate of a direction over a run in bits of packets, without framing. All packets count as the mean one.
    pub fn packet_rate(&self, hop: Hop) -> Rate {
        let (rate, framing) = (self.mean_rate(hop), self.direction_settings(hop).framing);
        let packet = self.mean_packet();
        let wire = framing.wire_bytes(packet);
        if wire == packet {
            return rate;
        }
        Rate::from_bits((u128::from(rate.as_bits()) * u128::from(packet) / u128::from(wire.max(1))) as u64)
    }

    /// The first direction that compares disciplines. Every scenario has one.
    pub fn bottleneck(&self) -> Hop {
        let compared = |hop: &Hop| self.direction_settings(*hop).qdisc.is_none();
        self.hops().find(compared).expect("a scenario that was read compares its disciplines somewhere")
    }

    /// The DSCP with which packets of a group reach `hop`: `own`, unless a link before it on their way writes another.
    /// `route` is that of the group's data; replies take it back.
    pub fn dscp_at(&self, hop: Hop, route: &[Hop], own: u8) -> u8 {
        let written = |hop: Hop| self.direction_settings(hop).impairments.remarks.dscp;
        let last = if let Some(at) = route.iter().position(|passed| *passed == hop) {
            route[..at].iter().rev().find_map(|passed| written(*passed))
        } else {
            let back = route.iter().position(|passed| passed.back() == hop);
            back.and_then(|at| route[at + 1..].iter().find_map(|passed| written(passed.back())))
        };
        last.unwrap_or(own)
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
