//! What a sender keeps that goes by single segments: when each was sent, and what reads it.

use headgate_core::{Span, Time};

use super::outstanding::Outstanding;
use super::prr::Prr;
use super::rack::Rack;
use super::rate_sample::{Rate, RateSample, Snapshot};
use super::tlp::Tlp;
use super::transmissions::{Record, Transmissions};
use super::{Ack, Config};

/// 192 bytes of a flow, and 24 for each segment outstanding. Where the controller samples rates, 40 bytes more, and
/// 32 for each segment.
#[derive(Clone, Debug)]
pub struct Tracker {
    /// When each segment outstanding was sent.
    pub sent: Transmissions,
    /// Losses by time, round-trip times.
    pub rack: Rack,
    /// Tail loss probes.
    pub tlp: Tlp,
    /// The recovery in progress, if it reduces in proportion.
    pub prr: Option<Prr>,
    /// Delivery rates, if the controller asks for them.
    pub rate: Option<Box<Rate>>,
    /// The reordering timer, [`Time::NEVER`] if it is off.
    pub reorder_at: Time,
    /// A probe is to be sent, whatever the window says.
    pub probe: bool,
    /// Transmissions there had been when the last recovery began.
    pub began: u32,
}

/// What an acknowledgement said to have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// How many segments newly have.
    pub delivered: u32,
    /// Its blocks told something new.
    pub news: bool,
    /// The round-trip time of the last of these segments that was sent once.
    pub rtt: Option<Span>,
    /// The last transmission of them and where delivery stood then, for a sample of the delivery rate.
    pub newest: Option<(Record, Snapshot)>,
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

impl Tracker {
    /// That of a flow that has sent nothing.
    pub fn new(config: &Config) -> Tracker {
        Tracker {
            sent: Transmissions::default(),
            rack: Rack::default(),
            tlp: Tlp::default(),
            prr: None,
            rate: config.models().then(Box::default),
            reorder_at: Time::NEVER,
            probe: false,
            began: 0,
        }
    }

    /// That of a new connection on the same flow: what is outstanding remains so.
    pub fn renewed(self, config: &Config) -> Tracker {
        let rate = self.rate.map(|rate| Box::new(rate.renewed()));
        Tracker { sent: self.sent, rate, ..Tracker::new(config) }
    }

    /// `seq` is sent while `in_flight` others are.
    pub fn on_send(&mut self, seq: u32, in_flight: u32, now: Time) {
        let snapshot = self.rate.as_mut().map(|rate| rate.on_send(in_flight, now));
        self.sent.transmit(seq, now, snapshot);
        if let Some(prr) = &mut self.prr {
            prr.on_send();
        }
    }

    /// The rate that an acknowledgement measured, with segments in flight before it and after it.
    pub fn sample(&mut self, newest: (Record, Snapshot), flights: (u32, u32), now: Time) -> Option<RateSample> {
        Some(self.rate.as_mut()?.sample(newest, flights, self.rack.min_rtt(), now))
    }

    /// The earlier of the reordering timer and the probe's.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.reorder_at.min(self.tlp.at)
    }

    /// Takes what an acknowledgement says of the segments before `max`.
    pub fn take(&mut self, out: &mut Outstanding, ack: &Ack, max: u32, now: Time) -> Heard {
        let Tracker { sent, rack, rate, .. } = self;
        if let Some(rate) = rate {
            rate.begin();
        }
        let (mut count, mut latest, mut newest) = (0, None, None::<(u32, Record)>);
        let delivered = |seq| {
            let Some(record) = sent.arrive(seq) else { return };
            count += 1;
            if !record.again && latest.is_none_or(|(order, _)| order < record.order) {
                latest = Some((record.order, now - record.sent));
            }
            if let Some(rate) = rate {
                rate.on_delivered(now);
                newest = newest.filter(|(_, newest)| newest.order > record.order).or(Some((seq, record)));
            }
            rack.on_delivered(seq, &record, now);
        };
        let news = out.take(ack, max, delivered);
        let newest = newest.map(|(seq, record)| (record, sent.snapshot(seq)));
        sent.advance(ack.ack);
        Heard { delivered: count, news, rtt: latest.map(|(_, rtt)| rtt), newest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_is_as_large_as_said() {
        assert_eq!((size_of::<Tracker>(), size_of::<Rate>()), (192, 40));
    }
}
