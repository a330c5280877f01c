//! Tail loss probes (RFC 8985, section 7): when the last segments of a flight bring no acknowledgement, one more segment
//! asks for one, and RACK sees from the answer what was lost.

use headgate_core::{Span, Time};

use crate::segment::Block;

/// The state of section 5.3, and the timer.
#[derive(Clone, Copy, Debug)]
pub struct Tlp {
    /// The probe timer; [`Time::NEVER`] if it is off.
    pub at: Time,
    /// SND.NXT as the last probe was sent, until its acknowledgement (TLP.end_seq); 0 if there is none.
    end: u32,
    /// The probe was a retransmission (TLP.is_retrans).
    again: bool,
    /// A round-trip time was measured since the last probe, or the connection began.
    sampled: bool,
}

impl Default for Tlp {
    fn default() -> Tlp {
        Tlp { at: Time::NEVER, end: 0, again: false, sampled: false }
    }
}

impl Tlp {
    /// How long to wait for an acknowledgement before a probe, of `flight` segments outstanding (section 7.2); the
    /// receiver may hold the acknowledgement of a lone one back for `ack_delay`.
    pub fn timeout(srtt: Span, flight: u32, ack_delay: Span) -> Span {
        srtt * 2 + if flight == 1 { ack_delay } else { Span::ZERO }
    }

    /// A recovery begins: there is no probe (section 7.1).
    pub fn clear(&mut self) {
        (self.at, self.end, self.again) = (Time::NEVER, 0, false);
    }

    /// An acknowledgement came; `sampled` if it measured a round-trip time.
    pub fn on_sample(&mut self, sampled: bool) {
        self.sampled |= sampled;
    }

    /// Whether a probe may be sent (section 7.3): one at a time, and a measurement between two.
    pub fn may_probe(&self) -> bool {
        self.end == 0 && self.sampled
    }

    /// A probe was sent; `end` is the number after the last segment sent.
    pub fn on_probe(&mut self, end: u32, again: bool) {
        (self.end, self.again, self.sampled) = (end, again, false);
    }

    /// An acknowledgement of all before `ack`, which says that the segments of `duplicate` arrived twice. Whether the
    /// probe has repaired a loss, to which congestion control must react (section 7.4). The receiver reports duplicates,
    /// so the section's rule for those that do not is left out.
    pub fn on_ack(&mut self, ack: u32, duplicate: Option<Block>) -> bool {
        if self.end == 0 || ack < self.end {
            return false;
        }
        let spurious = duplicate.is_some_and(|(_, dup_end)| dup_end == self.end);
        let done = !self.again || spurious || ack > self.end;
        let repaired = self.again && !spurious && ack > self.end;
        if done {
            self.end = 0;
        }
        repaired
    }
}
