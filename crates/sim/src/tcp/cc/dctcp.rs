//! DCTCP: reduces the window in proportion to the fraction of marked segments.
//!
//! The sender averages that fraction over windows of data (`alpha`, [`MarkFraction`]). Once a window, marks reduce
//! `cwnd` by `alpha` / 2: by half if all segments are marked, by little if few are. The mirrored echo (section 3.2) is
//! in the receiver. Windows grow (section 3.4) and react to loss (section 3.5) as in Reno.
//!
//! Source: S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert, G. Judd, *Data Center TCP (DCTCP)*, RFC 8257, 2017;
//! M. Alizadeh et al., *Data Center TCP (DCTCP)*, SIGCOMM 2010.

use super::mark_fraction::MarkFraction;
use super::reno::Reno;
use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

#[derive(Clone, Debug)]
pub struct Dctcp {
    mark_fraction: MarkFraction,
}

impl Dctcp {
    /// Section 3.3: alpha starts at 1, so that the first mark halves the window.
    pub fn new(_: &TcpSettings) -> Dctcp {
        Dctcp { mark_fraction: MarkFraction::new(1.0) }
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if self.mark_fraction.on_ack(ack) {
            self.mark_fraction.end_window(ack);
        }
        Reno.on_ack(ack, window, config);
    }

    /// Section 3.3, step 9.
    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        let less = window.cwnd() * (1.0 - self.mark_fraction.alpha() / 2.0);
        window.ssthresh = less.max(2.0);
        window.set_cwnd(less.max(1.0), ack.now);
    }

    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        Reno.on_loss(loss, window, config);
    }
}
