//! What becomes of a packet on a medium.

use aqm::Time;
use headgate_scenario::Remarks;

/// What becomes of a packet on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It arrives unchanged at this time.
    At(Time),
    /// It is lost.
    Lost,
    /// It arrives at this time, with other header fields or twice.
    Altered(Time, Alteration),
}

/// Changes to a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alteration {
    /// The header fields that change.
    pub remarks: Remarks,
    /// Whether a copy follows it at once.
    pub duplicate: bool,
}

impl Arrival {
    /// When the packet arrives; `None` if it is lost.
    #[inline]
    pub fn time(self) -> Option<Time> {
        match self {
            Arrival::At(time) | Arrival::Altered(time, _) => Some(time),
            Arrival::Lost => None,
        }
    }

    /// The same fate at other times.
    #[inline]
    #[must_use]
    pub fn map(self, times: impl FnOnce(Time) -> Time) -> Arrival {
        match self {
            Arrival::At(time) => Arrival::At(times(time)),
            Arrival::Lost => Arrival::Lost,
            Arrival::Altered(time, alteration) => Arrival::Altered(times(time), alteration),
        }
    }
}
