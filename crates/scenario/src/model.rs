//! What a scenario says, once it has been read: every default filled in, every unit resolved.

use std::ops::Deref;

use headgate_core::{Qdisc, Rate, Span};
use headgate_traffic::{Plan, Traffic};

use crate::classify::{ClassRule, FlowKey};
use crate::header::Headers;
use crate::inputs::Inputs;
use crate::network::{Hop, Link};
use crate::record::Traced;
use crate::schema::{TcpSettings, UdpSettings};
use crate::start::Start;

/// One network, the flows on it, the disciplines to compare, and what to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A short name, the folder results go to.
    pub name: String,
    /// One or two sentences for the report.
    pub about: String,
    /// Simulated time of one run.
    pub duration: Span,
    /// The part at the beginning that no figure counts.
    pub warmup: Span,
    /// One run for each; at least one, all different.
    pub seeds: Vec<u64>,
    /// The disciplines to compare; at least one, all different.
    pub qdiscs: Vec<Qdisc>,
    /// The links between routers; at least one, at least one direction of which compares disciplines.
    pub links: Vec<Link>,
    /// Groups of TCP flows.
    pub tcp: Vec<TcpGroup>,
    /// Groups of UDP flows.
    pub udp: Vec<UdpGroup>,
    /// Which packets disciplines take for one flow.
    pub flow_key: FlowKey,
    /// Aggregates of flows; that at index `i` is class number `i + 1`.
    pub classes: Vec<ClassRule>,
    /// What to write down.
    pub record: Record,
    /// The files that the scenario names, whole.
    pub inputs: Inputs,
}

/// A link of one flow's own between its host and the router, both ways; its queue has no limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Rate, the same each way.
    pub rate: Rate,
    /// Propagation delay, the same each way.
    pub delay: Span,
}

/// A group of flows: what groups of every kind have, and the settings of its own kind.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup<S> {
    /// The group's name in tables.
    pub name: String,
    /// How many flows.
    pub flows: u32,
    /// The directions of links its data goes over, one at least; what answers it goes back over the same links.
    pub route: Vec<Hop>,
    /// What they have to send, as written.
    pub traffic: Traffic,
    /// The same, ready for flows to start; it follows from the rest of the group.
    pub plan: Plan,
    /// The sender's link.
    pub sender: Access,
    /// The receiver's link.
    pub receiver: Access,
    /// When the flows start.
    pub start: Start,
    /// When all flows stop sending; `None` for the end of the run.
    pub stop: Option<Span>,
    /// What the packets' headers say.
    pub headers: Headers,
    /// The settings of its kind.
    pub settings: S,
}

/// A group's settings are read as its own: `group.packet`.
impl<S> Deref for FlowGroup<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.settings
    }
}

/// Flows that send what their source writes as fast as TCP lets them, from `start` to `stop`.
pub type TcpGroup = FlowGroup<TcpSettings>;

/// Flows of datagrams: what their source writes, or as much as TFRC allows.
pub type UdpGroup = FlowGroup<UdpSettings>;

impl UdpGroup {
    /// Its rate is what losses and reports make of it, and its flows always have more to send.
    pub fn is_controlled(&self) -> bool {
        self.cc.needs().reports
    }

    /// The most that one of its flows can offer the network in the long run: its rate, or that of its access link.
    pub fn most(&self) -> Rate {
        self.rate.unwrap_or(self.sender.rate).min(self.sender.rate)
    }
}

/// What to write down besides the totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Length of one interval in the tables over time.
    pub interval: Span,
    /// Which events at the bottleneck to write, one row each.
    pub events: Events,
    /// The flows whose senders' state is written, a row each time it changes.
    pub flows: Vec<Traced>,
    /// The least time between two rows of one flow; zero for every change.
    pub flow_interval: Span,
    /// The links whose packets are captured: indices into the scenario's.
    pub capture: Vec<u16>,
}

/// Which events at the bottleneck are written, one row each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Events {
    /// None.
    Off,
    /// Drops and marks.
    Drops,
    /// Drops and marks, each with the discipline's gauges at that moment.
    Decisions,
    /// Arrivals and departures too, without gauges.
    All,
}
