//! Congestion control of calls: controllers that turn reports about packets into a rate for the encoder.
//!
//! A call sends frames of video in packets. Its receiver reports the arrival time and the mark of every packet (RFC 8888).
//! The sender's controller turns a report into a target rate, and the encoder follows it after its lag.
//!
//! | part | file |
//! | --- | --- |
//! | packets sent, their reports (RFC 8888) | `packet_history.rs` |
//! | frames at the receiver | `frames.rs` |
//! | GCC: delay trend, rate control, losses | `gcc.rs`, `gcc/` |
//! | NADA (RFC 8698) | `nada.rs`, `congestion_signal.rs` |
//! | SCReAM version 2 | `scream.rs`, `queue_delay.rs` |
//!
//! Rates are in bytes per second and count whole packets on the wire. A controller knows nothing of the network or of
//! the events of a run: calls drive it, as they drive [`tcp`](crate::tcp).

mod congestion_signal;
mod frames;
mod gcc;
mod nada;
mod packet_history;
mod queue_delay;
mod receive_rate;
mod scream;

use aqm::{Span, Time};
use headgate_scenario::UdpCc;

pub use frames::Frames;
pub use gcc::Gcc;
pub use nada::Nada;
pub use packet_history::{MediaReport, PacketHistory, report_bytes};
pub use scream::Scream;

/// The rates that a call may use, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateBounds {
    pub least: f64,
    pub most: f64,
}

/// The first rate of a call: WebRTC's `kDefaultStartBitrate`, 300 kbit/s.
const FIRST_RATE: f64 = 300_000.0 / 8.0;

/// Packets leave at this multiple of the target rate (WebRTC's `kDefaultPaceMultiplier`): a frame takes less than half of
/// its interval.
const PACING_FACTOR: f64 = 2.5;

impl RateBounds {
    /// The first rate of a call.
    pub fn first(self) -> f64 {
        self.clamp(FIRST_RATE)
    }

    /// The allowed rate nearest to `rate`.
    pub fn clamp(self, rate: f64) -> f64 {
        rate.max(self.least).min(self.most)
    }
}

/// What a report tells of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketReport {
    pub sent: Time,
    /// Its size on the wire.
    pub bytes: u32,
    /// When it reached the receiver; `None` if it is lost.
    pub arrived: Option<Time>,
    /// It arrived with a mark (CE).
    pub marked: bool,
}

/// A report as the sender's controller gets it.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// Packets in the order of sending, each in one report only.
    pub packets: &'a [PacketReport],
    /// Round-trip time of the newest packet that arrived, without its wait for the report. `None` if none arrived.
    pub rtt: Option<Span>,
    /// Bytes sent of which no report has told.
    pub in_flight: u64,
}

/// A congestion controller of a call.
pub trait RateController: Send {
    /// Processes a report that arrives at `now`.
    fn on_feedback(&mut self, feedback: &Feedback<'_>, now: Time);

    /// The target rate, within the bounds.
    fn target(&self) -> f64;

    /// The rate at which packets leave the sender.
    fn pacing_rate(&self) -> f64;

    /// Bytes that may be in flight; `None` without a window.
    fn window(&self) -> Option<u64> {
        None
    }
}

/// Makes a controller with a call's bounds. The flag: packets bear ECT(1), so that marks are frequent and mild (L4S).
type NewController = fn(RateBounds, bool) -> Box<dyn RateController>;

/// Every controller of calls.
pub static CONTROLLERS: &[(UdpCc, NewController)] = &[
    (UdpCc::Gcc, |bounds, _| Box::new(Gcc::new(bounds))),
    (UdpCc::Nada, |bounds, _| Box::new(Nada::new(bounds))),
    (UdpCc::Scream, |bounds, l4s| Box::new(Scream::new(bounds, l4s))),
];

/// The controller called `cc` in a scenario.
pub fn new_controller(cc: UdpCc, bounds: RateBounds, l4s: bool) -> Box<dyn RateController> {
    let (_, new) = CONTROLLERS.iter().find(|(known, _)| *known == cc).expect("every control of media has a row");
    new(bounds, l4s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_control_of_media_has_a_row() {
        let rows: Vec<UdpCc> = CONTROLLERS.iter().map(|(cc, _)| *cc).collect();
        let media: Vec<UdpCc> = UdpCc::ALL.iter().copied().filter(|cc| cc.traits().media).collect();
        assert_eq!(rows, media);
    }

    /// Packets of one report: the interval between them and the delay in microseconds, bytes, and whether each is lost or
    /// marked.
    type Report = Vec<(u64, u64, u32, bool, bool)>;

    proptest! {
        #[test]
        fn whatever_reports_say_the_rates_are_within_their_bounds_and_repeat(
            reports in proptest::collection::vec(
                proptest::collection::vec((0u64..40_000, 0u64..2_000_000, 1u32..9000, any::<bool>(), any::<bool>()), 0..20),
                1..60,
            ),
            (least, most) in (1e3..1e6_f64, 1.0..1000.0_f64),
        ) {
            let bounds = RateBounds { least, most: least * most };
            for (_, new) in CONTROLLERS {
                for l4s in [false, true] {
                    let (first, again) = (rates(&mut *new(bounds, l4s), &reports), rates(&mut *new(bounds, l4s), &reports));
                    for rate in &first {
                        prop_assert!((bounds.least..=bounds.most).contains(rate), "{rate} outside {bounds:?}");
                    }
                    prop_assert_eq!(first, again);
                }
            }
        }
    }

    /// The target rate before and after each report.
    fn rates(controller: &mut dyn RateController, reports: &[Report]) -> Vec<f64> {
        let (mut sent, mut now, mut rates) = (Time::ZERO, Time::ZERO, vec![controller.target()]);
        for report in reports {
            let packets: Vec<PacketReport> = report
                .iter()
                .map(|&(gap, delay, bytes, lost, marked)| {
                    sent += Span::from_micros(gap);
                    let arrived = (!lost).then(|| sent + Span::from_micros(delay));
                    PacketReport { sent, bytes, arrived, marked: marked && !lost }
                })
                .collect();
            let mut arrivals = packets.iter().filter_map(|packet| packet.arrived);
            now = arrivals.clone().max().unwrap_or(sent).max(now) + Span::from_millis(1);
            let rtt = arrivals.next_back().map(|arrived| now - arrived + Span::from_millis(1));
            controller.on_feedback(&Feedback { packets: &packets, rtt, in_flight: 10_000 }, now);
            assert!(controller.pacing_rate() >= controller.target());
            rates.push(controller.target());
        }
        rates
    }
}
