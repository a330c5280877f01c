//! Delivery-rate samples (draft-ietf-ccwg-bbr, section "Delivery Rate Samples", earlier
//! draft-cheng-iccrg-delivery-rate-estimation): how fast the network delivered the last flight.
//!
//! | draft | here |
//! | --- | --- |
//! | `C.delivered`, `C.delivered_time`, `C.first_send_time`, `C.lost`, `C.app_limited` | [`DeliveryCounts`] |
//! | `P.delivered`, `P.delivered_time`, `P.first_send_time` | [`DeliveryState`] |
//! | `P.lost`, `P.tx_in_flight`, `P.is_app_limited` | [`DeliveryState`] |
//! | `RS` | [`RateSample`] |
//!
//! Amounts are segments instead of bytes.

use aqm::{Span, Time};

use super::cc::LostSegment;
use super::transmissions::{Transmission, Transmissions};

/// The connection's delivery state when a segment was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryState {
    /// Segments delivered.
    pub delivered: u32,
    /// Segments found lost.
    pub lost: u32,
    /// Segments in flight, this one included.
    pub in_flight: u32,
    /// The application had supplied too little data to fill the window.
    pub app_limited: bool,
    /// When the last segment was delivered.
    delivered_at: Time,
    /// When the first segment of the sample was sent.
    first_sent: Time,
}

/// The measurement of one acknowledgement, for the most recently sent segment that it newly acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Segments delivered over `interval`.
    pub delivered: u32,
    /// The longer of the segments' send time and acknowledgement time; `None` if it is below the minimum round-trip
    /// time: the sample is then invalid.
    pub interval: Option<Span>,
    /// The round-trip time of the segment's last transmission.
    pub rtt: Span,
    /// The segment was retransmitted: it is unknown which transmission arrived.
    pub retransmitted: bool,
    /// The delivery state when the segment was sent; [`DeliveryState::in_flight`] is the draft's `RS.tx_in_flight`.
    pub at_send: DeliveryState,
    /// Segments delivered since the connection began, including this acknowledgement (`C.delivered`).
    pub total_delivered: u32,
    /// Segments newly delivered by this acknowledgement.
    pub newly_delivered: u32,
    /// Segments found lost since the segment was sent.
    pub lost: u32,
    /// Segments found lost by this acknowledgement.
    pub newly_lost: u32,
    /// Segments in flight before the acknowledgement.
    pub in_flight_before: u32,
    /// Segments in flight after it.
    pub in_flight: u32,
    /// When the acknowledgement arrived.
    pub at: Time,
    /// The window was full at some time in the last round trip (`C.is_cwnd_limited`).
    pub window_full: bool,
}

impl RateSample {
    /// The round-trip time, unless the segment was retransmitted (Karn's algorithm).
    pub fn round_trip(&self) -> Option<Span> {
        (!self.retransmitted).then_some(self.rtt)
    }

    /// The delivery rate in segments per second.
    pub fn rate(&self) -> Option<f64> {
        let interval = self.interval?.as_secs_f64();
        (interval > 0.0).then(|| f64::from(self.delivered) / interval)
    }
}

/// The delivery counts of a connection.
#[derive(Clone, Debug)]
pub struct DeliveryCounts {
    delivered: u32,
    delivered_at: Time,
    first_sent: Time,
    lost: u32,
    /// Samples are application-limited while `delivered` is at most this; 0 before the first time.
    app_limited_until: u32,
    /// The window was full in the last round trip until `delivered` exceeds this.
    full_until: u32,
    /// `delivered` and `lost` before the current acknowledgement.
    before_ack: (u32, u32),
}

impl Default for DeliveryCounts {
    fn default() -> DeliveryCounts {
        DeliveryCounts {
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            app_limited_until: 0,
            full_until: 0,
            before_ack: (0, 0),
        }
    }
}

impl DeliveryCounts {
    /// The state for a new connection on the same flow. Keeps the counts, and forgets when the window was full or
    /// unfilled.
    pub fn for_new_connection(self) -> DeliveryCounts {
        DeliveryCounts { app_limited_until: 0, full_until: 0, ..self }
    }

    /// Records the sending of a segment with `in_flight` others in flight (OnPacketSent).
    pub fn on_send(&mut self, in_flight: u32, now: Time) -> DeliveryState {
        if in_flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        DeliveryState {
            delivered: self.delivered,
            lost: self.lost,
            in_flight: in_flight + 1,
            app_limited: self.app_limited(),
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
        }
    }

    /// Nothing to send, although the window has room beyond the `in_flight` segments (MarkConnectionAppLimited).
    pub fn set_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// Whether the application left the window unfilled, and no segment sent after that has been delivered.
    pub fn app_limited(&self) -> bool {
        self.app_limited_until > 0 && self.delivered <= self.app_limited_until
    }

    /// The window is full with the `in_flight` segments.
    pub fn set_window_full(&mut self, in_flight: u32) {
        self.full_until = self.delivered + in_flight;
    }

    /// Begins the processing of an acknowledgement.
    pub fn begin_ack(&mut self) {
        self.before_ack = (self.delivered, self.lost);
    }

    /// Counts a newly acknowledged segment (UpdateRateSample).
    pub fn on_delivered(&mut self, now: Time) {
        self.delivered += 1;
        self.delivered_at = now;
    }

    /// Records a lost segment; returns its report.
    pub fn record_loss(&mut self, sent: &Transmissions, seq: u32, now: Time) -> LostSegment {
        self.lost += 1;
        let (at_send, order) = (sent.delivery_state(seq), sent.transmission(seq).order);
        LostSegment { now, at_send, order, delivered: self.delivered, lost: self.lost }
    }

    /// The acknowledgement's sample (GenerateRateSample). `newest` is the latest transmission it newly acknowledges,
    /// `at_send` the delivery state at its sending, `flights` the segments in flight before and after.
    pub fn sample(
        &mut self,
        (newest, at_send): (Transmission, DeliveryState),
        flights: (u32, u32),
        min_rtt: Span,
        now: Time,
    ) -> RateSample {
        self.first_sent = newest.sent;
        let interval = (newest.sent - at_send.first_sent).max(self.delivered_at - at_send.delivered_at);
        RateSample {
            delivered: self.delivered - at_send.delivered,
            interval: (interval >= min_rtt).then_some(interval),
            rtt: now - newest.sent,
            retransmitted: newest.retransmitted,
            at_send,
            total_delivered: self.delivered,
            newly_delivered: self.delivered - self.before_ack.0,
            lost: self.lost - at_send.lost,
            newly_lost: self.lost - self.before_ack.1,
            in_flight_before: flights.0,
            in_flight: flights.1,
            at: now,
            window_full: self.delivered <= self.full_until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Ack;
    use crate::tcp::scoreboard::Scoreboard;
    use crate::tcp::transmissions::LossDecision;

    fn at(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
    }

    /// A connection driven by hand, in milliseconds.
    #[derive(Default)]
    struct Line {
        rate: DeliveryCounts,
        scoreboard: Scoreboard,
        sent: Transmissions,
        next_new: u32,
    }

    impl Line {
        fn send(&mut self, seq: u32, now: u64) {
            let at_send = self.rate.on_send(self.scoreboard.pipe(self.next_new), at(now));
            self.sent.record_send(seq, at(now), Some(at_send));
            self.next_new = self.next_new.max(seq + 1);
        }

        /// The oldest segment in flight is lost.
        fn record_loss(&mut self, now: u64) -> LostSegment {
            let mut lost = None;
            self.sent.scan_in_flight(|sent, seq| match lost {
                None => {
                    self.scoreboard.record_loss(seq);
                    lost = Some(self.rate.record_loss(sent, seq, at(now)));
                    LossDecision::Lost
                }
                Some(_) => LossDecision::Stop,
            });
            lost.expect("one is in flight")
        }

        /// Returns the latest transmission that `ack` newly acknowledges.
        fn on_ack(&mut self, ack: &Ack, now: u64) -> Option<(Transmission, DeliveryState)> {
            let mut newest: Option<(Transmission, DeliveryState)> = None;
            self.scoreboard.on_ack(ack, self.next_new, |seq| {
                let record = self.sent.record_arrival(seq).expect("each arrives once");
                self.rate.on_delivered(at(now));
                let this = (record, self.sent.delivery_state(seq));
                newest = newest.filter(|(newest, _)| newest.order > record.order).or(Some(this));
            });
            self.sent.advance(ack.ack);
            newest
        }

        fn ack(&mut self, una: u32, now: u64) -> Option<RateSample> {
            self.rate.begin_ack();
            let before_ack = self.scoreboard.pipe(self.next_new);
            let newest = self.on_ack(&Ack { ack: una, ..Ack::default() }, now)?;
            Some(self.rate.sample(
                newest,
                (before_ack, self.scoreboard.pipe(self.next_new)),
                Span::from_millis(20),
                at(now),
            ))
        }
    }

    #[test]
    fn the_rate_is_that_at_which_the_bottleneck_delivers() {
        // Ten segments are sent at once. ACKs arrive 5 ms apart, each releases a segment, and a round trip takes 100
        // ms. The rate is ten segments a round trip: 100 a second.
        let mut line = Line::default();
        (0..10).for_each(|seq| line.send(seq, 0));
        for seq in 0..30 {
            let now = 100 * u64::from(1 + seq / 10) + 5 * u64::from(seq % 10);
            let sample = line.ack(seq + 1, now).unwrap();
            let rtt = if seq < 10 { now } else { 100 };
            assert_eq!((sample.rtt, sample.in_flight_before, sample.in_flight), (Span::from_millis(rtt), 10, 9));
            line.send(10 + seq, now);
            let expected = match seq {
                // The count starts with the sending of the first segment.
                0..10 => (seq + 1, now),
                // The first ten were sent at once, the others as ACKs arrived: sending takes longer than delivery.
                10..20 => (10, 100 + 5 * u64::from(seq - 10)),
                _ => (10, 100),
            };
            assert_eq!((sample.delivered, sample.interval), (expected.0, Some(Span::from_millis(expected.1))), "{seq}");
        }
    }

    #[test]
    fn a_burst_of_acks_does_not_raise_the_rate() {
        // Sent 5 ms apart, acknowledged together: the send interval is the longer one. Ten segments were sent in 45 ms.
        // The sample of the last one starts at the sending of the first.
        let mut line = Line::default();
        (0..10).for_each(|seq| line.send(seq, 5 * u64::from(seq)));
        line.ack(1, 100);
        let sample = line.ack(10, 101).unwrap();
        assert_eq!((sample.delivered, sample.newly_delivered, sample.total_delivered), (10, 9, 10));
        assert_eq!(sample.interval, Some(Span::from_millis(101)), "since 0 was sent, when delivery began to count");
        // The next flight counts from the sending of 9, at 45 ms, if that is longer ago than delivery took.
        (10..20).for_each(|seq| line.send(seq, 150));
        assert_eq!(line.ack(20, 250).unwrap().interval, Some(Span::from_millis(100)));
    }

    #[test]
    fn an_interval_shorter_than_any_round_trip_is_none() {
        let mut line = Line::default();
        line.send(0, 0);
        line.send(1, 1);
        assert_eq!(line.ack(1, 10).unwrap().rate(), None);
        assert_eq!(line.ack(1, 11), None, "nothing new");
    }

    #[test]
    fn samples_of_an_application_limited_flight_are_flagged() {
        // Two segments in a larger window: samples are limited for these and for all sent before they arrive.
        let mut line = Line::default();
        line.send(0, 0);
        line.send(1, 0);
        line.rate.set_app_limited(2);
        line.send(2, 10);
        assert!(!line.ack(1, 100).unwrap().at_send.app_limited);
        assert!(!line.ack(2, 100).unwrap().at_send.app_limited);
        assert!(line.ack(3, 110).unwrap().at_send.app_limited);
        line.send(3, 120);
        assert!(!line.ack(4, 220).unwrap().at_send.app_limited, "the limited flight has been delivered");
        line.rate.set_app_limited(0);
        assert!(
            line.rate.app_limited() && !line.rate.for_new_connection().app_limited(),
            "a new connection starts without a limit"
        );
    }

    #[test]
    fn losses_are_counted_from_the_sending_on() {
        let mut line = Line::default();
        line.send(0, 0);
        line.send(1, 0);
        let first = line.record_loss(40);
        assert_eq!((first.order, first.lost, first.at_send.lost, first.at_send.in_flight), (1, 1, 0, 1));
        line.send(2, 50);
        line.rate.begin_ack();
        line.record_loss(150);
        let newest = line.on_ack(&Ack { blocks: Some([(2, 3), (0, 0), (0, 0)]), ..Ack::default() }, 150).unwrap();
        let sample = line.rate.sample(newest, (2, 0), Span::ZERO, at(150));
        assert_eq!((sample.newly_lost, sample.lost, sample.at_send.lost, sample.at_send.in_flight), (1, 1, 1, 2));
    }
}
