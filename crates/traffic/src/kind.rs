//! What every kind of source can do, and what it must know of whoever sends for it.

use std::sync::Arc;

use headgate_core::{BuildError, Params, Rate, Rng, Span};

use crate::write::Write;

/// A kind of source with its settings, the same for all flows of a group. What a flow remembers lies apart, in `State`:
/// there may be a hundred thousand of them.
pub trait Kind: Sized {
    /// What users can set.
    type Config: Params;
    /// What one flow remembers between its writes.
    type State: Clone;

    /// A source for flows of `sender`; `files` finds what the settings name.
    ///
    /// # Errors
    /// Values that do not fit each other or the sender, a file that is not there or cannot be understood.
    fn new(config: Self::Config, sender: &Sender, files: &mut Files<'_>) -> Result<Self, BuildError>;

    /// What flow number `flow` of its group, from 0, remembers at its start.
    fn start(&self, flow: u32) -> Self::State;

    /// The flow's next write; `None` if there is no more.
    fn next(&self, flow: &mut Self::State, rng: &mut Rng) -> Option<Write>;

    /// The flow's last write was delivered, `took` after it began. Told before the write that follows it is asked for,
    /// if that one begins [`After::Done`](crate::After::Done); otherwise it may not be.
    fn done(&self, _flow: &mut Self::State, _took: Span) {}

    /// What a flow writes in all, on average, in bytes; `None` if it has no end or depends on the network.
    fn mean_bytes(&self) -> Option<f64> {
        None
    }

    /// What a flow writes in the long run, however fast the network is, in bytes a second; `None` if it takes all that
    /// it can get. Where writes wait for those before them, these count as done at once.
    fn mean_rate(&self) -> Option<f64> {
        None
    }

    /// From when on, counted from its start, a flow writes how many bytes a second, where that is laid down beforehand;
    /// nothing otherwise.
    fn rates(&self) -> Vec<(Span, f64)> {
        Vec::new()
    }

    /// How many flows it knows, if it knows only so many.
    fn flows(&self) -> Option<u32> {
        None
    }
}

/// Finds a file by name: its bytes, or why not.
pub type Files<'a> = dyn FnMut(&str) -> Result<Arc<[u8]>, String> + 'a;

/// What carries the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// It adapts, and knows when a write is done.
    Tcp,
    /// It sends at once and hears nothing.
    Udp,
}

impl Protocol {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        }
    }
}

/// Whoever sends for the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sender {
    /// TCP or UDP.
    pub protocol: Protocol,
    /// A full packet on the wire, headers included, in bytes.
    pub packet: u32,
    /// The part of it that is data, in bytes.
    pub payload: u32,
    /// The group's rate on the wire, for sources that keep to one.
    pub rate: Option<Rate>,
    /// How far the gaps of a constant rate are drawn from the nominal one, as a part of it; 0 to 1.
    pub jitter: f64,
}

impl Sender {
    /// TCP with packets of `packet` bytes, `payload` of which are data.
    pub const fn tcp(packet: u32, payload: u32) -> Sender {
        Sender { protocol: Protocol::Tcp, packet, payload, rate: None, jitter: 0.0 }
    }

    /// UDP with such packets, at `rate` where the source keeps to one.
    pub const fn udp(packet: u32, payload: u32, rate: Rate) -> Sender {
        Sender { protocol: Protocol::Udp, packet, payload, rate: Some(rate), jitter: 0.0 }
    }

    /// The rate that a source with `own` in its settings keeps to: its own, or else the group's.
    ///
    /// # Errors
    /// Neither gives one.
    pub fn rate(&self, own: Option<Rate>) -> Result<Rate, BuildError> {
        let rate = own.or(self.rate).filter(|rate| rate.as_bits() > 0);
        rate.ok_or_else(|| BuildError::Conflict("a `rate` above 0 is missing".to_string()))
    }
}
