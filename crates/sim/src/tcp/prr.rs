//! Proportional rate reduction (PRR, RFC 9937, which obsoletes RFC 6937).
//!
//! A recovery must bring the flight down to the `ssthresh` that the congestion control chose. PRR spreads that
//! reduction over the recovery: for each delivered segment it sends `ssthresh` / `recover_fs` segments. If losses
//! already took the flight below `ssthresh`, it lets the flight grow back, at most as fast as slow start.
//!
//! The RFC calls the state prr_delivered, prr_out and RecoverFS, the arguments of [`Prr::on_ack`] DeliveredData,
//! inflight and safeACK, and its result SndCnt.

/// Segments delivered and sent since one recovery began, and in flight at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prr {
    delivered: u32,
    out: u32,
    recover_fs: u32,
}

impl Prr {
    /// Begins a recovery. `recover_fs` segments were neither acknowledged nor known to have arrived before the
    /// acknowledgement that triggered it. With `reduce_cwnd` it is the `cwnd` before the recovery, as in Linux.
    pub fn new(recover_fs: u32) -> Prr {
        Prr { delivered: 0, out: 0, recover_fs: recover_fs.max(1) }
    }

    pub fn on_send(&mut self) {
        self.out += 1;
    }

    /// Segments to send for an acknowledgement that newly delivers `delivered` and leaves `in_flight`; `None` keeps the
    /// window. `safe_ack`: the acknowledgement covers new data and reports no further loss.
    pub fn on_ack(&mut self, delivered: u32, in_flight: u32, ssthresh: f64, safe_ack: bool) -> Option<u32> {
        let first = self.out == 0;
        if delivered == 0 && !first {
            return None;
        }
        self.delivered += delivered;
        let target = ssthresh as u32;
        let send = if in_flight > target {
            let share = f64::from(self.delivered) * ssthresh / f64::from(self.recover_fs);
            (share.ceil() as u32).saturating_sub(self.out)
        } else {
            // The conservative bound, or slow start's while recovery makes progress (PRR-CRB, PRR-SSRB).
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + u32::from(safe_ack);
            bound.min(target - in_flight)
        };
        // The first segment is retransmitted at once.
        Some(if first { send.max(1) } else { send })
    }
}
