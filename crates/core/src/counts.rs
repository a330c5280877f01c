//! Counts of what happened to packets.

use crate::reason::{ByReason, Why};

/// What happened to the packets of one flow, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets given to the port.
    pub arrived: u64,
    /// Packets that left to be sent.
    pub sent: u64,
    /// Bytes that left to be sent.
    pub sent_bytes: u64,
    /// Packets dropped and marked, by reason.
    pub signals: ByReason<Signals>,
}

/// Packets dropped and marked for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
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

    /// Packets dropped, for whatever reason.
    pub fn dropped(&self) -> u64 {
        self.signals.iter().map(|(_, signals)| signals.drops).sum()
    }

    /// Packets marked, for whatever reason.
    pub fn marked(&self) -> u64 {
        self.signals.iter().map(|(_, signals)| signals.marks).sum()
    }

    /// The packets whose flows had not been singled out, and how many of them were dropped. Their quotient is the
    /// ambient drop rate: what RED-PD drops before its queue is in neither (Mahajan, Floyd and Wetherall, ICNP 2001,
    /// section 1), nor is what others drop of flows that they hold back by name.
    pub fn ambient(&self) -> (u64, u64) {
        let singled = self.signals.iter().filter(|(why, _)| why.singles_out());
        let singled: u64 = singled.map(|(_, signals)| signals.drops).sum();
        (self.arrived - singled, self.dropped() - singled)
    }

    /// Adds the counts of others to these.
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
