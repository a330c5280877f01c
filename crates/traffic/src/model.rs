//! The trait of traffic sources, and the sender they write to.

use std::sync::Arc;

use aqm::{BuildError, Params, Rate, Rng, Span};

use crate::write::SourceWrite;

/// A traffic source with its settings, shared by all flows of a group.
pub trait SourceModel: Sized {
    /// User settings.
    type Config: Params;
    /// The state of one flow between writes.
    type State: Clone;

    /// A source for flows of `sender`. Errors: conflicting settings, or a missing or malformed file.
    fn new(config: Self::Config, sender: &SenderInfo, files: &mut FileLoader<'_>) -> Result<Self, BuildError>;

    /// The initial state of flow number `flow` in its group, from 0.
    fn start(&self, flow: u32) -> Self::State;

    /// The flow's next write; `None` after the last.
    fn next(&self, flow: &mut Self::State, rng: &mut Rng) -> Option<SourceWrite>;

    /// Reports that the last write, a [transfer](SourceWrite::transfer), was delivered, `took` after it began. Called
    /// before [`next`](SourceModel::next).
    fn done(&self, _flow: &mut Self::State, _took: Span) {}

    /// Congestion control requests `rate` bytes of data a second, at `at` after the flow's start. Sources that cannot
    /// change their rate ignore it.
    fn follow(&self, _flow: &mut Self::State, _rate: f64, _at: Span) {}

    /// Mean bytes per flow; `None` if endless or dependent on the network.
    fn mean_bytes(&self) -> Option<f64> {
        None
    }

    /// Mean rate of a flow on an infinitely fast network, in bytes a second; `None` if it sends as fast as it can.
    fn nominal_rate(&self) -> Option<f64> {
        None
    }

    /// Bytes of every write, if they are always the same.
    fn write_bytes(&self) -> Option<u64> {
        None
    }

    /// Predetermined rates of a flow in bytes a second, by time since its start; empty if none.
    fn rates(&self) -> Vec<(Span, f64)> {
        Vec::new()
    }

    /// The number of flows, if limited.
    fn flows(&self) -> Option<u32> {
        None
    }
}

/// Returns a file's bytes by name, or an error message.
pub type FileLoader<'a> = dyn FnMut(&str) -> Result<Arc<[u8]>, String> + 'a;

/// The protocol that carries the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Adapts its rate and reports when a write is delivered.
    Tcp,
    /// Sends at once, without feedback.
    Udp,
}

impl Protocol {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        }
    }
}

/// The sender that carries a group's flows, as far as sources depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderInfo {
    /// TCP or UDP.
    pub protocol: Protocol,
    /// A full packet on the wire, headers included, in bytes.
    pub packet: u32,
    /// The data in a full packet, in bytes.
    pub payload: u32,
    /// The part of a full packet that rates count, in bytes: all of it, or its data.
    pub rated: u32,
    /// The group's rate, for sources of constant rate.
    pub rate: Option<Rate>,
    /// The relative spread of gaps at a constant rate, 0 to 1.
    pub jitter: f64,
}

impl SenderInfo {
    /// TCP with packets of `packet` bytes including `payload` bytes of data.
    pub const fn tcp(packet: u32, payload: u32) -> SenderInfo {
        SenderInfo { protocol: Protocol::Tcp, packet, payload, rated: packet, rate: None, jitter: 0.0 }
    }

    /// UDP with packets of `packet` bytes including `payload` bytes of data, at `rate` on the wire.
    pub const fn udp(packet: u32, payload: u32, rate: Rate) -> SenderInfo {
        SenderInfo { protocol: Protocol::Udp, packet, payload, rated: packet, rate: Some(rate), jitter: 0.0 }
    }

    /// The rate of a source: its `own` setting, or else the group's. Errors: neither is above 0.
    pub fn rate(&self, own: Option<Rate>) -> Result<Rate, BuildError> {
        let rate = own.or(self.rate).filter(|rate| rate.as_bits() > 0);
        rate.ok_or_else(|| BuildError::Conflict("a `rate` above 0 is missing".to_string()))
    }
}
