//! The per-segment state of a SACK sender: send times, and the algorithms that use them (RACK, TLP, PRR, rate
//! samples).

use headgate_core::{Span, Time};

use super::outstanding::Outstanding;
use super::prr::Prr;
use super::rack::Rack;
use super::rate_sample::{DeliveryCounts, DeliveryState, RateSample};
use super::tlp::Tlp;
use super::transmissions::{Transmission, Transmissions};
use super::{Ack, TcpSettings};

/// 184 bytes per flow, and 24 per outstanding segment. With rate samples, 40 more per flow and 32 more per segment.
#[derive(Clone, Debug)]
pub struct Tracker {
    pub sent: Transmissions,
    /// Loss detection by time, and round-trip times.
    pub rack: Rack,
    pub tlp: Tlp,
    /// PRR's state of the current recovery, if the sender uses PRR.
    pub prr: Option<Prr>,
    /// Delivery rates, if the congestion control needs them.
    pub delivery: Option<Box<DeliveryCounts>>,
    /// The reordering timer, [`Time::NEVER`] if it is off.
    pub reorder_at: Time,
    /// Send a probe, even if the window is full.
    pub probe: bool,
    /// The number of transmissions when the last recovery began.
    pub recovery_began: u32,
}

/// The arrivals reported by an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct NewArrivals {
    /// Segments newly delivered.
    pub delivered: u32,
    /// Its SACK blocks report new arrivals.
    pub new_blocks: bool,
    /// Round-trip time of the latest delivered segment that was sent once.
    pub rtt: Option<Span>,
    /// The latest transmission among them and its delivery state, for a rate sample.
    pub newest: Option<(Transmission, DeliveryState)>,
}

/// The losses found by an acknowledgement or a timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetectedLosses {
    /// A segment was lost.
    pub any: bool,
    /// A segment was lost that had been retransmitted in this recovery.
    pub retransmitted: bool,
}

impl DetectedLosses {
    /// Records a loss, in a recovery that began after `recovery_began` transmissions.
    pub fn record(&mut self, record: &Transmission, recovery_began: u32) {
        self.any = true;
        self.retransmitted |= record.retransmitted && record.order > recovery_began;
    }
}

impl Tracker {
    pub fn new(config: &TcpSettings) -> Tracker {
        Tracker {
            sent: Transmissions::default(),
            rack: Rack::default(),
            tlp: Tlp::default(),
            prr: None,
            delivery: config.models().then(Box::default),
            reorder_at: Time::NEVER,
            probe: false,
            recovery_began: 0,
        }
    }

    /// For a new connection on the same flow: outstanding segments remain.
    pub fn for_new_connection(self, config: &TcpSettings) -> Tracker {
        let delivery = self.delivery.map(|delivery| Box::new(delivery.for_new_connection()));
        Tracker { sent: self.sent, delivery, ..Tracker::new(config) }
    }

    /// Records the sending of `seq` with `in_flight` others in flight.
    pub fn on_send(&mut self, seq: u32, in_flight: u32, now: Time) {
        let delivery_state = self.delivery.as_mut().map(|delivery| delivery.on_send(in_flight, now));
        self.sent.record_send(seq, now, delivery_state);
        if let Some(prr) = &mut self.prr {
            prr.on_send();
        }
    }

    /// The rate sample of an acknowledgement, with the segments in flight before and after it.
    pub fn sample(
        &mut self,
        newest: (Transmission, DeliveryState),
        flights: (u32, u32),
        now: Time,
    ) -> Option<RateSample> {
        Some(self.delivery.as_mut()?.sample(newest, flights, self.rack.min_rtt(), now))
    }

    /// The earlier of the reordering timer and the probe's.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.reorder_at.min(self.tlp.at)
    }

    /// Applies an acknowledgement to the segments before `max`.
    pub fn on_ack(&mut self, scoreboard: &mut Outstanding, ack: &Ack, max: u32, now: Time) -> NewArrivals {
        let Tracker { sent, rack, delivery, .. } = self;
        if let Some(delivery) = delivery {
            delivery.begin_ack();
        }
        let (mut count, mut latest, mut newest) = (0, None, None::<(u32, Transmission)>);
        let delivered = |seq| {
            let Some(record) = sent.record_arrival(seq) else { return };
            count += 1;
            if !record.retransmitted && latest.is_none_or(|(order, _)| order < record.order) {
                latest = Some((record.order, now - record.sent));
            }
            if let Some(delivery) = delivery {
                delivery.on_delivered(now);
                newest = newest.filter(|(_, newest)| newest.order > record.order).or(Some((seq, record)));
            }
            rack.on_delivered(seq, &record, now);
        };
        let new_blocks = scoreboard.on_ack(ack, max, delivered);
        let newest = newest.map(|(seq, record)| (record, sent.delivery_state(seq)));
        sent.advance(ack.ack);
        NewArrivals { delivered: count, new_blocks, rtt: latest.map(|(_, rtt)| rtt), newest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_is_as_large_as_said() {
        assert_eq!((size_of::<Tracker>(), size_of::<DeliveryCounts>()), (184, 40));
    }
}
