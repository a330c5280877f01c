//! Tail loss probes (TLP, RFC 8985, section 7).
//!
//! If the last segments of a flight are lost, no later arrival shows the loss. After two round-trip times without an
//! acknowledgement, the sender therefore sends one more segment: new data, or the last segment again. Its
//! acknowledgement lets RACK detect the losses, long before the retransmission timer.
//!
//! If the probe itself repaired the loss, the acknowledgement shows no loss at all. [`Tlp::on_ack`] detects this case,
//! and the window is reduced as for any loss (section 7.4).

use aqm::{Span, Time};

use crate::segment::SackBlock;

#[derive(Clone, Copy, Debug)]
pub struct Tlp {
    /// The probe timer; [`Time::NEVER`] if it is off.
    pub deadline: Time,
    /// The first unsent segment after the last probe, until the probe is acknowledged (TLP.end_seq); 0 if there is
    /// none.
    end: u32,
    /// Whether the probe was a retransmission (TLP.is_retrans).
    retransmitted: bool,
    /// A round-trip time was measured since the last probe or the start.
    sampled: bool,
}

impl Default for Tlp {
    fn default() -> Tlp {
        Tlp { deadline: Time::NEVER, end: 0, retransmitted: false, sampled: false }
    }
}

impl Tlp {
    /// The probe timeout (PTO) with `flight` segments outstanding (section 7.2). The acknowledgement of a single
    /// segment may be delayed by `ack_delay`.
    pub fn timeout(srtt: Span, flight: u32, ack_delay: Span) -> Span {
        srtt * 2 + if flight == 1 { ack_delay } else { Span::ZERO }
    }

    /// A recovery begins: cancels the probe (section 7.1).
    pub fn clear(&mut self) {
        (self.deadline, self.end, self.retransmitted) = (Time::NEVER, 0, false);
    }

    pub fn on_sample(&mut self, sampled: bool) {
        self.sampled |= sampled;
    }

    /// Whether a probe may be sent: one at a time, and only with a round-trip sample since the last (section 7.3).
    pub fn may_probe(&self) -> bool {
        self.end == 0 && self.sampled
    }

    /// Records a probe; `end` is the number after the last segment sent.
    pub fn on_probe(&mut self, end: u32, retransmitted: bool) {
        (self.end, self.retransmitted, self.sampled) = (end, retransmitted, false);
    }

    /// Processes an acknowledgement of all segments before `ack`; it reports the segments `duplicate` as received
    /// twice. Returns whether the probe repaired a loss, to which congestion control must react (section 7.4). The
    /// simulated receivers report duplicates (DSACK), so the section's rule for receivers without DSACK is left out.
    pub fn on_ack(&mut self, ack: u32, duplicate: Option<SackBlock>) -> bool {
        if self.end == 0 || ack < self.end {
            return false;
        }
        let spurious = duplicate.is_some_and(|(_, dup_end)| dup_end == self.end);
        let done = !self.retransmitted || spurious || ack > self.end;
        let repaired = self.retransmitted && !spurious && ack > self.end;
        if done {
            self.end = 0;
        }
        repaired
    }
}
