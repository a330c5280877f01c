//! The propagation delay of an access link: fixed, or drawn once for each flow.

use std::fmt;

use aqm::params::ParameterValue;
use aqm::{Rng, Span};
use headgate_traffic::DistributionKind;
use headgate_traffic::values::RandomTime;

use crate::check::LONGEST_DELAY;
use crate::model::FlowGroup;
use crate::schema::{Form, Ranged, Show, ValueKind};

/// The propagation delay of the access links at one end of a group's flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AccessDelay {
    /// The same for all flows.
    Fixed(Span),
    /// Drawn for each flow when the run begins. A draw above the longest delay of a link counts as that delay.
    Drawn(RandomTime),
}

impl AccessDelay {
    /// The delay, if it is fixed.
    pub fn fixed(&self) -> Option<Span> {
        if let AccessDelay::Fixed(delay) = self { Some(*delay) } else { None }
    }

    /// Its mean over flows.
    pub fn mean(&self) -> Span {
        match self {
            AccessDelay::Fixed(delay) => *delay,
            AccessDelay::Drawn(time) => rounded(time.distribution().mean()),
        }
    }

    /// The least that a flow can draw.
    pub fn least(&self) -> Span {
        match self {
            AccessDelay::Fixed(delay) => *delay,
            AccessDelay::Drawn(time) => rounded(time.distribution().least()),
        }
    }

    /// The delay of the flow that owns the random stream `rng`.
    fn draw(&self, rng: impl FnOnce() -> Rng) -> Span {
        match self {
            AccessDelay::Fixed(delay) => *delay,
            AccessDelay::Drawn(time) => time.draw(&mut rng()).min(LONGEST_DELAY),
        }
    }
}

/// Nanoseconds, rounded as draws are.
fn rounded(nanos: f64) -> Span {
    Span::from_nanos((nanos + 0.5) as u64)
}

impl<S> FlowGroup<S> {
    /// Whether the delay of an access link differs between its flows.
    pub fn draws_delays(&self) -> bool {
        self.sender.delay.fixed().is_none() || self.receiver.delay.fixed().is_none()
    }

    /// By flow: the delays of its sender's and its receiver's link in the run of `seed`. Each link has a random stream
    /// of its own, so another flow or group changes no delay.
    pub fn access_delays(&self, seed: u64) -> impl Iterator<Item = [Span; 2]> {
        let stream = move |end: &str, flow: u32| Rng::named(seed, &format!("{end} delay {}/{flow}", self.name));
        (0..self.flows).map(move |flow| {
            let sender = self.sender.delay.draw(|| stream("sender", flow));
            [sender, self.receiver.delay.draw(|| stream("receiver", flow))]
        })
    }
}

impl From<Span> for AccessDelay {
    fn from(delay: Span) -> AccessDelay {
        AccessDelay::Fixed(delay)
    }
}

/// As scenario files write it.
impl fmt::Display for AccessDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessDelay::Fixed(delay) => delay.fmt(f),
            AccessDelay::Drawn(time) => f.write_str(&time.show()),
        }
    }
}

impl Show for AccessDelay {
    fn show(&self) -> String {
        self.to_string().show()
    }
}

impl ValueKind for AccessDelay {
    fn form() -> Form {
        let json = r#"{"type": "string", "pattern": "^ *[0-9.eE-]+ *[A-Za-z/]+ *$|^ *[a-z0-9]+ *[(].*[)] *$"}"#;
        Form::new(RandomTime::kind(), "Time", json)
    }
    fn expecting() -> String {
        Span::expecting()
    }
    fn from_text(text: &str) -> Result<AccessDelay, String> {
        if text.contains('(') { drawn(text) } else { Span::from_text(text).map(AccessDelay::Fixed) }
    }
    fn from_number(number: &str) -> Result<AccessDelay, String> {
        Span::from_number(number).map(AccessDelay::Fixed)
    }
}

/// The bound that a range compares: the highest value of a uniform distribution, otherwise the mean.
impl Ranged for AccessDelay {
    type Scalar = Span;

    fn scalar(&self) -> Option<Span> {
        let AccessDelay::Drawn(time) = self else { return self.fixed() };
        let (_, highest) = time.distribution().arguments();
        let is_uniform = time.distribution().form() == DistributionKind::Uniform;
        Some(if is_uniform { rounded(highest) } else { self.mean() })
    }
}

fn drawn(text: &str) -> Result<AccessDelay, String> {
    let time = RandomTime::read(text).map_err(|expected| format!("expected {expected}, found {text:?}"))?;
    let (lowest, highest) = time.distribution().arguments();
    if time.distribution().form() == DistributionKind::Uniform && lowest == highest {
        let value = rounded(lowest);
        return Err(format!("{text:?} draws one value only: write \"{value}\", or a highest value above the lowest"));
    }
    Ok(AccessDelay::Drawn(time))
}
