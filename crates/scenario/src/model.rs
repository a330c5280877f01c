//! What a scenario says, once it has been read: every default filled in, every unit resolved.

use headgate_core::{Qdisc, Rate, Span};
use headgate_traffic::{Plan, Traffic};

use crate::cc::Cc;
use crate::classify::{ClassRule, FlowKey};
use crate::header::Headers;
use crate::inputs::Inputs;
use crate::network::{Hop, Link};
use crate::record::Traced;
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

/// Flows that send what their source writes as fast as TCP lets them, from `start` to `stop`.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpGroup {
    /// The group's name in tables.
    pub name: String,
    /// How many flows.
    pub flows: u32,
    /// The directions of links its data goes over, one at least; ACKs go back over the same links.
    pub route: Vec<Hop>,
    /// What they have to send, as written.
    pub traffic: Traffic,
    /// The same, ready for flows to start; it follows from the rest of the group.
    pub plan: Plan,
    /// Congestion control.
    pub cc: Cc,
    /// A full data packet on the wire, headers included, in bytes.
    pub packet: u32,
    /// The part of it that is headers, in bytes; goodput does not count it.
    pub header: u32,
    /// A pure ACK on the wire, in bytes.
    pub ack: u32,
    /// The sender's link.
    pub sender: Access,
    /// The receiver's link.
    pub receiver: Access,
    /// When the flows start.
    pub start: Start,
    /// When all flows stop sending; `None` for the end of the run.
    pub stop: Option<Span>,
    /// The receiver's window, in packets: `cwnd` never rules beyond it.
    pub window: u32,
    /// `cwnd` at the start, in packets (RFC 5681, RFC 6928).
    pub initial_window: u32,
    /// `ssthresh` at the start, in packets; `None` for no bound.
    pub initial_ssthresh: Option<u32>,
    /// How long an ACK may wait for a second packet; `None` acknowledges each at once.
    pub delayed_ack: Option<Span>,
    /// The retransmission timeout before the first sample (RFC 6298).
    pub initial_rto: Span,
    /// The least retransmission timeout.
    pub min_rto: Span,
    /// The greatest retransmission timeout, backoff included.
    pub max_rto: Span,
    /// The clock's granularity G in RFC 6298; timeouts and samples are rounded up to it.
    pub rto_granularity: Span,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Packets leave at a rate, one by one, not as ACKs come.
    pub pacing: bool,
    /// Packets are ECN-capable (RFC 3168).
    pub ecn: bool,
    /// Losses are found by time, and probes ask for the last packets (RFC 8985).
    pub rack: bool,
    /// A loss recovery reduces in proportion to what arrives (RFC 9937).
    pub prr: bool,
    /// An ECN echo at a window of one packet makes the sender wait for its retransmission timer (RFC 3168, 6.1.2).
    pub ecn_timeout: bool,
    /// What is sent again can be marked too, which RFC 3168 (6.1.5) forbids.
    pub ecn_retransmits: bool,
    /// After a pause longer than the retransmission timeout `cwnd` starts anew (RFC 5681, 4.1).
    pub idle_restart: bool,
    /// The receiver counts marks for the sender (RFC 9768).
    pub accecn: bool,
    /// The first slow start ends where round-trip times rise (RFC 9406).
    pub hystart: bool,
    /// A mark lowers the window by less than a loss does (RFC 8511).
    pub abe: bool,
    /// Windows grow by what is acknowledged and not by acknowledgements, in slow start by as many packets an ACK at most (L of RFC
    /// 3465); `None` counts ACKs.
    pub abc: Option<u32>,
    /// The queueing delay to have, of `ledbat` alone (TARGET of RFC 6817).
    pub target: Span,
    /// Packets a round trip by which its window grows where there is no queue (GAIN of RFC 6817).
    pub gain: f64,
    /// A random delay in [0, `overhead`) before each transmission, which breaks phase effects (ns-2's `overhead_`).
    pub overhead: Span,
    /// What the packets' headers say.
    pub headers: Headers,
}

/// Congestion control of a UDP sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpCc {
    /// None: what the source writes, whatever happens to its packets.
    Off,
    /// TCP-Friendly Rate Control (RFC 5348), which always has more to send.
    Tfrc,
}

/// Flows of datagrams: what their source writes, or as much as TFRC allows.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpGroup {
    /// The group's name in tables.
    pub name: String,
    /// How many flows.
    pub flows: u32,
    /// The directions of links its packets go over, one at least.
    pub route: Vec<Hop>,
    /// What they have to send, as written.
    pub traffic: Traffic,
    /// The same, ready for flows to start; it follows from the rest of the group.
    pub plan: Plan,
    /// Congestion control.
    pub cc: UdpCc,
    /// Rate of each on the wire, headers included, for sources that keep to one; `None` where the source has its own.
    /// With congestion control, the most it sends at.
    pub rate: Option<Rate>,
    /// A packet on the wire, headers included, in bytes.
    pub packet: u32,
    /// The part of it that is headers, in bytes; goodput does not count it.
    pub header: u32,
    /// A report of the receiver's on the wire, in bytes; without congestion control there are none.
    pub feedback: u32,
    /// Of a constant rate: each interval between packets is drawn uniformly in `1 - jitter ..= 1 + jitter` times the
    /// nominal one; 0 to 1.
    pub jitter: f64,
    /// The sender's link.
    pub sender: Access,
    /// The receiver's link.
    pub receiver: Access,
    /// When the flows start.
    pub start: Start,
    /// When all flows stop; `None` for the end of the run.
    pub stop: Option<Span>,
    /// Packets claim to be ECN-capable; without congestion control the sender heeds no mark.
    pub ecn: bool,
    /// What the packets' headers say.
    pub headers: Headers,
}

impl UdpGroup {
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
