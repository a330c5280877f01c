//! The resolved scenario: every default filled in, every unit converted.

use std::ops::Deref;

use aqm::{Qdisc, Rate, Span};
use headgate_traffic::{GroupSource, Traffic};

use crate::classify::{FlowKey, TrafficClass};
use crate::fair::FairUnit;
use crate::header::Headers;
use crate::inputs::Inputs;
use crate::network::{Hop, Link};
use crate::record::Traced;
use crate::schema::{Access, TcpSettings, UdpSettings};
use crate::start::Start;

/// One network, the flows on it, the disciplines to compare, and what to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Short name, and name of the result folder.
    pub name: String,
    /// One or two sentences for the report.
    pub about: String,
    /// Simulated time of one run.
    pub duration: Span,
    /// Initial part of the run that results leave out.
    pub warmup: Span,
    /// One run for each seed; at least one, all different.
    pub seeds: Vec<u64>,
    /// The disciplines to compare; at least one, all different.
    pub qdiscs: Vec<Qdisc>,
    /// The unit among which links are to be divided fairly; `None` if the scenario states none.
    pub fair: Option<FairUnit>,
    /// The links between routers. At least one direction compares disciplines.
    pub links: Vec<Link>,
    /// Groups of TCP flows.
    pub tcp: Vec<TcpGroup>,
    /// Groups of UDP flows.
    pub udp: Vec<UdpGroup>,
    /// The header fields that define a flow for disciplines.
    pub flow_key: FlowKey,
    /// Aggregates of flows; the class at index `i` has number `i + 1`.
    pub classes: Vec<TrafficClass>,
    /// What to record besides totals.
    pub record: Record,
    /// Contents of the files that the scenario names.
    pub inputs: Inputs,
}

/// A group of flows, with the settings `S` of its protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup<S> {
    /// The group's name in tables.
    pub name: String,
    /// Number of flows.
    pub flows: u32,
    /// The link directions that its data crosses, at least one. Replies take the same links back.
    pub route: Vec<Hop>,
    /// The traffic as written.
    pub traffic: Traffic,
    /// The traffic ready for flows to start; derived from the other fields.
    pub source: GroupSource,
    /// The sender's link.
    pub sender: Access,
    /// The receiver's link.
    pub receiver: Access,
    /// When the flows start.
    pub start: Start,
    /// When all flows stop sending; `None` for the end of the run.
    pub stop: Option<Span>,
    /// Fields of the packet headers.
    pub headers: Headers,
    /// The settings of its protocol.
    pub settings: S,
}

/// Settings read as the group's own: `group.packet`.
impl<S> Deref for FlowGroup<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.settings
    }
}

/// TCP flows, which send their source's data as fast as TCP allows, from `start` to `stop`.
pub type TcpGroup = FlowGroup<TcpSettings>;

/// UDP flows, which send their source's data, or as much as their congestion control allows.
pub type UdpGroup = FlowGroup<UdpSettings>;

impl UdpGroup {
    /// Whether the flows use congestion control. They then always have data to send, or are calls.
    pub fn is_controlled(&self) -> bool {
        self.cc.traits().reports
    }

    /// Whether the flows are calls with a congestion control of media.
    pub fn is_call(&self) -> bool {
        self.cc.traits().media
    }

    /// Least rate of a call on the wire.
    pub fn least(&self) -> Rate {
        self.on_the_wire(self.min_rate).min(self.most())
    }

    /// Highest long-run rate of one flow on the wire: its own, or its access link's.
    pub fn most(&self) -> Rate {
        self.rate.map_or(self.sender.rate, |rate| self.on_the_wire(rate)).min(self.sender.rate)
    }

    /// A rate that counts what `rate_of` says, as one on the wire.
    fn on_the_wire(&self, rate: Rate) -> Rate {
        let rated = self.rate_of.bytes(self.packet, self.header);
        let bits = u128::from(rate.as_bits()) * u128::from(self.packet) / u128::from(rated.max(1));
        Rate::from_bits(u64::try_from(bits).unwrap_or(u64::MAX))
    }
}

/// What to record besides totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Interval of the tables over time.
    pub interval: Span,
    /// Recorded events at the bottleneck, one row each.
    pub events: Events,
    /// Flows with a trace of the sender's state, one row a change.
    pub flows: Vec<Traced>,
    /// Least time between two rows of a flow; zero for every change.
    pub flow_interval: Span,
    /// The captured links, as indices into the scenario's.
    pub capture: Vec<u16>,
}

/// The recorded events at the bottleneck.
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
