//! The per-segment state of a SACK sender: send times, and the algorithms that use them (RACK, TLP, PRR, rate
//! samples).

use aqm::{Span, Time};

use super::prr::Prr;
use super::rack::Rack;
use super::rate_sample::{DeliveryCounts, DeliveryState, RateSample};
use super::scoreboard::Scoreboard;
use super::tlp::Tlp;
use super::transmissions::{Transmission, Transmissions};
use super::{Ack, TcpSettings};

/// 184 bytes per flow, and 24 per outstanding segment. With rate samples, 40 more per flow and 32 more per segment.
#[derive(Clone, Debug)]
pub struct SegmentTracker {
    pub transmissions: Transmissions,
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
    pub probe_due: bool,
    /// The number of transmissions when the last recovery began.
    pub sends_before_recovery: u32,
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
    /// Round-trip time of the first delivered segment that was sent once (`rtt_per_ack`): of the acknowledged ones, or,
    /// if these include a retransmission, of the selectively acknowledged ones.
    pub first_rtt: Option<Span>,
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
    /// Records a loss, in a recovery that began after `sends_before_recovery` transmissions.
    pub fn record(&mut self, record: &Transmission, sends_before_recovery: u32) {
        self.any = true;
        self.retransmitted |= record.retransmitted && record.order > sends_before_recovery;
    }
}

impl SegmentTracker {
    pub fn new(config: &TcpSettings) -> SegmentTracker {
        SegmentTracker {
            transmissions: Transmissions::default(),
            rack: Rack::default(),
            tlp: Tlp::default(),
            prr: None,
            delivery: config.models().then(Box::default),
            reorder_at: Time::NEVER,
            probe_due: false,
            sends_before_recovery: 0,
        }
    }

    /// The state for a new connection on the same flow. Outstanding segments remain.
    pub fn for_new_connection(self, config: &TcpSettings) -> SegmentTracker {
        let delivery = self.delivery.map(|delivery| Box::new(delivery.for_new_connection()));
        SegmentTracker { transmissions: self.transmissions, delivery, ..SegmentTracker::new(config) }
    }

    /// Records the sending of `seq` with `in_flight` others in flight.
    pub fn on_send(&mut self, seq: u32, in_flight: u32, now: Time) {
        let delivery_state = self.delivery.as_mut().map(|delivery| delivery.on_send(in_flight, now));
        self.transmissions.record_send(seq, now, delivery_state);
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

    /// Takes back all losses: the segments are in flight again.
    pub fn forget_losses(&mut self) {
        self.transmissions.restore_lost();
        (self.prr, self.reorder_at) = (None, Time::NEVER);
    }

    /// The earlier of the reordering timer and the probe's.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.reorder_at.min(self.tlp.deadline)
    }

    /// Applies an acknowledgement to the segments before `next_new`.
    pub fn on_ack(&mut self, scoreboard: &mut Scoreboard, ack: &Ack, next_new: u32, now: Time) -> NewArrivals {
        let SegmentTracker { transmissions, rack, delivery, .. } = self;
        if let Some(delivery) = delivery {
            delivery.begin_ack();
        }
        let (mut count, mut latest, mut newest) = (0, None, None::<(u32, Transmission)>);
        let mut least_rtt = None;
        let (mut acked_again, mut first_acked, mut first_sacked) = (false, None, None);
        let delivered = |seq| {
            let Some(record) = transmissions.record_arrival(seq) else { return };
            count += 1;
            if !record.retransmitted && latest.is_none_or(|(order, _)| order < record.order) {
                latest = Some((record.order, now - record.sent));
            }
            match seq < ack.ack {
                true if record.retransmitted => acked_again = true,
                true => first_acked = first_acked.or(Some(now - record.sent)),
                false if record.retransmitted => {}
                false => first_sacked = first_sacked.or(Some(now - record.sent)),
            }
            if let Some(delivery) = delivery {
                delivery.on_delivered(now);
                newest = newest.filter(|(_, newest)| newest.order > record.order).or(Some((seq, record)));
            }
            if let Some(rtt) = rack.on_delivered(seq, &record, ack.echo, now) {
                least_rtt = Some(least_rtt.map_or(rtt, |least: Span| least.min(rtt)));
            }
        };
        let new_blocks = scoreboard.on_ack(ack, next_new, delivered);
        rack.update_rtt(least_rtt);
        let newest = newest.map(|(seq, record)| (record, transmissions.delivery_state(seq)));
        transmissions.advance(ack.ack);
        let first_rtt = first_acked.filter(|_| !acked_again).or(first_sacked);
        NewArrivals { delivered: count, new_blocks, rtt: latest.map(|(_, rtt)| rtt), first_rtt, newest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_fills_184_bytes_and_delivery_counts_fill_40() {
        assert_eq!((size_of::<SegmentTracker>(), size_of::<DeliveryCounts>()), (184, 40));
    }
}
