//! The receiving side of TFRC: measures losses and the receive rate, and reports them (RFC 5348, section 6).
//!
//! A report leaves once a round trip, when the feedback timer expires. It leaves at once in three cases: the loss event
//! rate rises, nothing arrived before the last expiry, or the sender does not yet know the round-trip time.

use aqm::{Span, Time};

use super::loss_detector::LossDetector;
use super::{LossHistory, TfrcSettings, loss_event_rate};

/// The contents of a data packet (section 3.2.1). As in DCCP's CCID 3 (RFC 4342), the sender keeps the send times
/// instead of writing them into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TfrcData {
    /// Its sequence number, from 0.
    pub seq: u32,
    /// The sender's estimate of the round-trip time; zero before it has one.
    pub rtt: Span,
}

/// The contents of a report (section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcReport {
    /// The highest packet number that arrived. The RFC reports the last arrival, which differs only with reordering.
    pub seq: u32,
    /// How long ago it arrived (`t_delay`).
    pub delay: Span,
    /// The receive rate in bytes per second (`X_recv`).
    pub rate: f64,
    /// The loss event rate `p`.
    pub loss: f64,
}

/// The receiving side of one flow.
#[derive(Clone, Debug)]
pub struct TfrcReceiver {
    detector: LossDetector,
    losses: LossHistory,
    /// The sender's latest estimate of the round-trip time; zero before it had one.
    rtt: Span,
    /// When the feedback timer expires; [`Time::NEVER`] if nothing had arrived at its last expiry, or no round-trip
    /// time is known. The next packet is then reported at once.
    timer: Time,
    /// Arrivals since the last report, and between the last two reports.
    current: ArrivalPeriod,
    before: ArrivalPeriod,
    /// The greatest receive rate so far, in bytes per second.
    max_rate: f64,
}

/// Arrivals since some moment.
#[derive(Clone, Copy, Debug, Default)]
struct ArrivalPeriod {
    since: Time,
    packets: u32,
}

impl Default for TfrcReceiver {
    fn default() -> TfrcReceiver {
        TfrcReceiver {
            detector: LossDetector::default(),
            losses: LossHistory::default(),
            rtt: Span::ZERO,
            timer: Time::NEVER,
            current: ArrivalPeriod::default(),
            before: ArrivalPeriod::default(),
            max_rate: 0.0,
        }
    }
}

impl TfrcReceiver {
    /// When the feedback timer expires: call [`on_timer`](TfrcReceiver::on_timer) then.
    pub fn deadline(&self) -> Option<Time> {
        (self.timer != Time::NEVER).then_some(self.timer)
    }

    /// The loss event rate `p`.
    pub fn loss_event_rate(&self) -> f64 {
        self.losses.rate(self.detector.next())
    }

    /// Processes a data packet; returns a report if one must be sent before the timer expires (section 6.1; the module
    /// lists the reasons).
    pub fn on_data(&mut self, data: TfrcData, marked: bool, config: &TfrcSettings, now: Time) -> Option<TfrcReport> {
        if data.rtt != Span::ZERO {
            self.rtt = data.rtt;
        }
        if self.detector.next() == 0 {
            self.current.since = now;
        }
        self.current.packets = self.current.packets.saturating_add(1);
        let rose = self.record_packet(data.seq, marked, config, now);
        (rose || self.timer == Time::NEVER).then(|| self.report(config, now))
    }

    /// The due report, if anything arrived since the last one (section 6.2). Otherwise the timer stops, and the next
    /// packet is reported on arrival.
    pub fn on_timer(&mut self, config: &TfrcSettings, now: Time) -> Option<TfrcReport> {
        if now < self.timer {
            return None;
        }
        if self.current.packets > 0 {
            return Some(self.report(config, now));
        }
        self.timer = Time::NEVER;
        self.begin_period(now);
        None
    }

    /// Accounts for a packet and the losses that its arrival shows. A mark counts as an immediate loss (section 5.1).
    /// Returns whether the loss event rate rose.
    fn record_packet(&mut self, seq: u32, marked: bool, config: &TfrcSettings, now: Time) -> bool {
        if !marked && !self.detector.has_gaps() {
            self.detector.arrive(seq, now, |_, _| unreachable!("nothing was missing"));
            return false;
        }
        let before = self.loss_event_rate();
        let target = if self.losses.has_losses() { 0.0 } else { self.max_packets_a_round_trip(config, now) };
        let TfrcReceiver { detector, losses, rtt, .. } = self;
        let mut record_loss = |seq, at| losses.on_loss(seq, at, *rtt, || first_interval(seq, target));
        let mut new_event = marked && record_loss(seq, now);
        detector.arrive(seq, now, |seq, at| new_event |= record_loss(seq, at));
        new_event && self.loss_event_rate() > before
    }

    /// The greatest receive rate so far in packets a round trip.
    fn max_packets_a_round_trip(&mut self, config: &TfrcSettings, now: Time) -> f64 {
        self.max_rate = self.max_rate.max(self.receive_rate(config, now));
        self.max_rate * self.rtt.as_secs_f64() / f64::from(config.segment)
    }

    fn report(&mut self, config: &TfrcSettings, now: Time) -> TfrcReport {
        let rate = self.receive_rate(config, now);
        self.max_rate = self.max_rate.max(rate);
        self.begin_period(now);
        self.timer = if self.rtt == Span::ZERO { Time::NEVER } else { now + self.rtt };
        let delay = now - self.detector.newest_at();
        TfrcReport { seq: self.detector.next() - 1, delay, rate, loss: self.loss_event_rate() }
    }

    fn begin_period(&mut self, now: Time) {
        self.before = std::mem::replace(&mut self.current, ArrivalPeriod { since: now, packets: 0 });
    }

    /// Bytes per second over at least a round-trip time up to `now` (section 6.2, step 2). If a loss brought this
    /// report forward, the period before the last report counts too. At least a packet a round trip; 0 before a
    /// round-trip time is known (section 6.3).
    fn receive_rate(&self, config: &TfrcSettings, now: Time) -> f64 {
        if self.rtt == Span::ZERO {
            return 0.0;
        }
        let ArrivalPeriod { mut since, mut packets } = self.current;
        if now - since < self.rtt {
            (since, packets) = (self.before.since, packets.saturating_add(self.before.packets));
        }
        let one = f64::from(config.segment) / self.rtt.as_secs_f64();
        let over = (now - since).max(self.rtt).as_secs_f64();
        (f64::from(packets) * f64::from(config.segment) / over).max(one)
    }
}

/// The length of the loss interval before the first loss event, at packet `seq`. With it the equation gives the rate
/// that slow start reached, `target` packets a round trip (section 6.3.1). At least half a packet, also if the first
/// packet is lost or marked.
fn first_interval(seq: u32, target: f64) -> f64 {
    let target = if seq == 0 { 0.5 } else { target.max(0.5) };
    1.0 / loss_event_rate(target)
}

#[cfg(test)]
mod tests {
    use super::super::packets_a_round_trip;
    use super::*;

    const CONFIG: TfrcSettings = TfrcSettings { segment: 1000 };
    const RTT: Span = Span::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A receiver that has reported packet 0 at 0 ms; the round-trip time is 100 ms.
    fn started() -> TfrcReceiver {
        let mut receiver = TfrcReceiver::default();
        assert!(receive(&mut receiver, 0, 0).is_some());
        receiver
    }

    fn receive(receiver: &mut TfrcReceiver, seq: u32, ms: u64) -> Option<TfrcReport> {
        receiver.on_data(TfrcData { seq, rtt: RTT }, false, &CONFIG, at(ms))
    }

    #[test]
    fn every_packet_is_reported_until_the_sender_knows_the_round_trip_time() {
        let mut receiver = TfrcReceiver::default();
        for seq in 0..3 {
            let data = TfrcData { seq, rtt: Span::ZERO };
            let report = receiver.on_data(data, false, &CONFIG, at(1000 * u64::from(seq)));
            assert_eq!(report, Some(TfrcReport { seq, delay: Span::ZERO, rate: 0.0, loss: 0.0 }));
            assert_eq!(receiver.deadline(), None);
        }
        assert!(receive(&mut receiver, 3, 2050).is_some());
        assert_eq!(receiver.deadline(), Some(at(2150)));
        assert_eq!(receive(&mut receiver, 4, 2060), None);
    }

    #[test]
    fn a_report_leaves_each_round_trip() {
        let mut receiver = started();
        assert_eq!(receiver.deadline(), Some(at(100)));
        for n in 1..5 {
            assert_eq!(receive(&mut receiver, n, 20 * u64::from(n)), None);
        }
        assert_eq!(receiver.on_timer(&CONFIG, at(99)), None);
        // Four packets in 100 ms; the newest arrived 20 ms ago.
        let report = TfrcReport { seq: 4, delay: Span::from_millis(20), rate: 40_000.0, loss: 0.0 };
        assert_eq!(receiver.on_timer(&CONFIG, at(100)), Some(report));
        assert_eq!(receiver.deadline(), Some(at(200)));
    }

    #[test]
    fn after_a_silent_round_trip_the_next_packet_is_reported_at_once() {
        let mut receiver = started();
        assert_eq!(receiver.on_timer(&CONFIG, at(100)), None);
        assert_eq!(receiver.deadline(), None);
        // Never less than a packet a round trip (section 6.2): 1000 bytes in 100 ms.
        let report = receive(&mut receiver, 1, 730).unwrap();
        assert_eq!((report.seq, report.rate), (1, 10_000.0));
        assert_eq!(receiver.deadline(), Some(at(830)));
    }

    #[test]
    fn a_loss_is_reported_when_three_later_packets_show_it() {
        let mut receiver = started();
        let reports: Vec<_> = [1, 2, 4, 5, 6].map(|seq| receive(&mut receiver, seq, 10 * u64::from(seq))).into();
        assert_eq!(reports.iter().position(Option::is_some), Some(4));
        assert!(reports[4].unwrap().loss > 0.0);
        // A second loss in the same round trip belongs to the same event and needs no report.
        assert!([8, 9, 10].iter().all(|&seq| receive(&mut receiver, seq, 10 * u64::from(seq)).is_none()));
    }

    #[test]
    fn a_mark_is_reported_at_once() {
        let mut receiver = started();
        assert_eq!(receive(&mut receiver, 1, 10), None);
        let report = receiver.on_data(TfrcData { seq: 2, rtt: RTT }, true, &CONFIG, at(20)).unwrap();
        assert!(report.loss > 0.0);
    }

    #[test]
    fn the_first_loss_gives_the_rate_that_slow_start_has_reached() {
        let mut receiver = started();
        (1..=10).for_each(|seq| assert_eq!(receive(&mut receiver, seq, 10 * u64::from(seq)), None));
        assert_eq!(receiver.on_timer(&CONFIG, at(100)).unwrap().rate, 100_000.0);
        // Ten packets a round trip so far; then packet 11 is lost.
        let report = [12, 13, 14].map(|seq| receive(&mut receiver, seq, 10 * u64::from(seq)))[2].unwrap();
        assert!((packets_a_round_trip(report.loss) - 10.0).abs() < 1e-6);
    }

    #[test]
    fn a_report_brought_forward_measures_over_a_whole_round_trip() {
        let mut receiver = started();
        (1..=10).for_each(|seq| assert_eq!(receive(&mut receiver, seq, 10 * u64::from(seq)), None));
        receiver.on_timer(&CONFIG, at(100)).unwrap();
        let report = [12, 13, 14].map(|seq| receive(&mut receiver, seq, 10 * u64::from(seq)))[2].unwrap();
        // Thirteen packets since the report at 0 ms; the last report was 40 ms ago.
        assert!((report.rate - 13_000.0 / 0.14).abs() < 1e-6);
    }

    #[test]
    fn a_flow_whose_first_packet_is_lost_sends_half_a_packet_a_round_trip() {
        let mut receiver = TfrcReceiver::default();
        (1..30).for_each(|seq| {
            receive(&mut receiver, seq, 10 * u64::from(seq));
        });
        assert!((packets_a_round_trip(receiver.losses.rate(1)) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_marked_first_packet_counts_as_a_lost_one() {
        let mut receiver = TfrcReceiver::default();
        let report = receiver.on_data(TfrcData { seq: 0, rtt: Span::ZERO }, true, &CONFIG, at(0)).unwrap();
        assert!((packets_a_round_trip(report.loss) - 0.5).abs() < 1e-6);
    }
}
