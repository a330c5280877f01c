//! What a sender keeps that has a record of each segment outstanding: the records and those who read them.

use headgate_core::{Span, Time};

use super::Ack;
use super::outstanding::{Outstanding, Record};
use super::prr::Prr;
use super::rack::Rack;
use super::rate_sample::Rate;
use super::tlp::Tlp;

/// At most 320 bytes of a flow, and 56 for each segment outstanding.
#[derive(Clone, Debug)]
pub struct Tracker {
    /// The segments outstanding.
    pub out: Outstanding,
    /// Losses by time, round-trip times.
    pub rack: Rack,
    /// Tail loss probes.
    pub tlp: Tlp,
    /// The recovery in progress, if it reduces in proportion.
    pub prr: Option<Prr>,
    /// Delivery rates.
    pub rate: Rate,
    /// The retransmission timer, [`Time::NEVER`] if it is off.
    pub rto_at: Time,
    /// The reordering timer, [`Time::NEVER`] if it is off.
    pub reorder_at: Time,
    /// A probe is to be sent, whatever the window says.
    pub probe: bool,
    /// Transmissions there had been when the last recovery began.
    pub began: u32,
}

/// What was found lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Something was.
    pub any: bool,
    /// A segment was that had been sent again since the recovery began.
    pub again: bool,
}

impl Found {
    /// A segment was found lost, in a recovery that began after `began` transmissions.
    pub fn note(&mut self, record: &Record, began: u32) {
        self.any = true;
        self.again |= record.again && record.order > began;
    }
}

impl Default for Tracker {
    fn default() -> Tracker {
        Tracker {
            out: Outstanding::default(),
            rack: Rack::default(),
            tlp: Tlp::default(),
            prr: None,
            rate: Rate::default(),
            rto_at: Time::NEVER,
            reorder_at: Time::NEVER,
            probe: false,
            began: 0,
        }
    }
}

impl Tracker {
    /// That of a new connection on the same flow: what is outstanding remains so.
    pub fn renewed(self) -> Tracker {
        Tracker { out: self.out, rate: self.rate.renewed(), ..Tracker::default() }
    }

    /// The earliest timer.
    pub fn deadline(&self) -> Time {
        self.rto_at.min(self.reorder_at).min(self.tlp.at)
    }

    /// Files what an acknowledgement says to have arrived; gives how many segments that newly are, and the round-trip time
    /// of the last of them that was sent once.
    pub fn take(&mut self, ack: &Ack, now: Time) -> (u32, Option<Span>) {
        let Tracker { out, rack, rate, .. } = self;
        rate.begin();
        let before = rate.delivered();
        let mut latest = None;
        let mut delivered = |seq, record: &Record| {
            if !record.again && latest.is_none_or(|(order, _)| order < record.order) {
                latest = Some((record.order, now - record.sent));
            }
            rate.on_delivered(record, now);
            rack.on_delivered(seq, record, now);
        };
        out.advance(ack.ack, &mut delivered);
        for block in ack.blocks.unwrap_or_default() {
            out.file(block, &mut delivered);
        }
        (rate.delivered() - before, latest.map(|(_, rtt)| rtt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_and_its_records_are_no_larger_than_said() {
        assert!(size_of::<Tracker>() <= 320, "{}", size_of::<Tracker>());
        assert_eq!(size_of::<Record>(), 56);
    }
}
