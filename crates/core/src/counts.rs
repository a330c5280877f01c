//! Packet counts: arrivals, departures, drops and marks.

use crate::reason::{ByReason, Why};

/// Packet counts of one flow or of all flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets given to the port.
    pub arrived: u64,
    /// Packets dequeued.
    pub sent: u64,
    /// Bytes dequeued.
    pub sent_bytes: u64,
    /// Drops and marks by reason.
    pub signals: ByReason<SignalCounts>,
}

/// Drops and marks for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalCounts {
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
}

impl Counts {
    /// Packets dropped for `why`.
    pub fn drops(&self, why: Why) -> u64 {
        self.signals.get(why).map_or(0, |signals| signals.drops)
    }

    /// Packets marked for `why`.
    pub fn marks(&self, why: Why) -> u64 {
        self.signals.get(why).map_or(0, |signals| signals.marks)
    }

    /// Packets dropped for any reason.
    pub fn dropped(&self) -> u64 {
        self.signals.iter().map(|(_, signals)| signals.drops).sum()
    }

    /// Packets marked for any reason.
    pub fn marked(&self) -> u64 {
        self.signals.iter().map(|(_, signals)| signals.marks).sum()
    }

    /// Arrivals and drops, both without the packets dropped for reasons that apply only to identified flows (such as
    /// RED-PD's drops before its queue). Drops over arrivals is the ambient drop rate (Mahajan, Floyd and Wetherall, ICNP 2001,
    /// section 1).
    pub fn ambient(&self) -> (u64, u64) {
        let targeted = self.signals.iter().filter(|(why, _)| why.targets_identified_flow());
        let targeted: u64 = targeted.map(|(_, signals)| signals.drops).sum();
        (self.arrived - targeted, self.dropped() - targeted)
    }

    /// Adds `others` to these counts.
    pub fn add(&mut self, others: &Counts) {
        self.arrived += others.arrived;
        self.sent += others.sent;
        self.sent_bytes += others.sent_bytes;
        for (why, signals) in others.signals.iter() {
            let sum = self.signals.entry(why);
            sum.drops += signals.drops;
            sum.marks += signals.marks;
        }
    }
}
