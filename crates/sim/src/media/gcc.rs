//! Google Congestion Control (GCC), as WebRTC's sender has it: the lower of two rates is the target.
//!
//! The delay-based rate rises until the delay of packets begins to grow, then falls below the rate at which packets
//! arrived. The loss-based rate falls while more than a tenth of the packets is lost.
//!
//! | draft-ietf-rmcat-gcc-02 | here |
//! | --- | --- |
//! | pre-filtering, d(i) (5.2) | `gcc/groups.rs` |
//! | arrival-time filter, over-use detector (5.3, 5.4) | `gcc/trend.rs` |
//! | rate control (5.5) | `gcc/rate_control.rs` |
//! | loss-based control (6) | `gcc/losses.rs` |
//!
//! WebRTC's code replaced the draft's Kalman filter by the slope of a line, and its rates of increase. This is the code's
//! algorithm, except: it has the draft's loss-based control (`SendSideBandwidthEstimation`) instead of
//! `LossBasedBweV2`, no bandwidth probes, and the receive rate of the draft instead of a Bayesian estimate.

mod bandwidth_use;
mod groups;
mod losses;
mod rate_control;
mod trend;

use aqm::Time;

use self::groups::Groups;
use self::losses::LossControl;
use self::rate_control::RateControl;
use self::trend::TrendDetector;
use super::receive_rate::ReceiveRate;
use super::{Feedback, PACING_FACTOR, RateBounds, RateController};

pub struct Gcc {
    bounds: RateBounds,
    groups: Groups,
    trend: TrendDetector,
    received: ReceiveRate,
    /// When the first packet arrived.
    began: Option<Time>,
    by_delay: RateControl,
    by_loss: LossControl,
}

impl Gcc {
    pub fn new(bounds: RateBounds) -> Gcc {
        Gcc {
            bounds,
            groups: Groups::default(),
            trend: TrendDetector::default(),
            received: ReceiveRate::default(),
            began: None,
            by_delay: RateControl::new(bounds),
            by_loss: LossControl::new(bounds.first()),
        }
    }
}

impl RateController for Gcc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, now: Time) {
        for packet in feedback.packets {
            let Some(arrived) = packet.arrived else { continue };
            self.began.get_or_insert(arrived);
            self.received.add(arrived, packet.bytes);
            if let Some(delta) = self.groups.add(packet.sent, arrived) {
                self.trend.update(&delta);
            }
        }
        let received = self.began.and_then(|began| self.received.bytes_per_second(began));
        if let Some(rtt) = feedback.rtt {
            self.by_delay.set_rtt(rtt);
            self.by_loss.set_rtt(rtt);
        }
        let by_delay = self.by_delay.update(self.trend.bandwidth_use(), received, now);
        let lost = feedback.packets.iter().filter(|packet| packet.arrived.is_none()).count();
        self.by_loss.update([lost, feedback.packets.len()], by_delay, now);
    }

    fn target(&self) -> f64 {
        self.bounds.clamp(self.by_loss.rate())
    }

    fn pacing_rate(&self) -> f64 {
        PACING_FACTOR * self.target()
    }
}
