//! Round trips timed by packets: a round ends when a segment sent after its start is acknowledged
//! (draft-ietf-ccwg-bbr-06, section 5.5.1).

/// Counts round trips. A round's beginning is stored as the number of segments delivered by then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Segments delivered when the round began: a segment sent later ends it.
    began: u32,
    count: u32,
    started: bool,
}

impl Rounds {
    /// Processes the acknowledgement of a segment. `sent_after` segments had been delivered when it was sent, and
    /// `delivered` have been by now.
    #[inline]
    pub fn on_ack(&mut self, sent_after: u32, delivered: u32) {
        self.started = sent_after >= self.began;
        if self.started {
            self.count += 1;
            self.restart(delivered);
        }
    }

    /// Begins a round without counting it.
    pub fn restart(&mut self, delivered: u32) {
        self.began = delivered;
    }

    /// Rounds begun so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether the last acknowledgement began a round.
    pub fn started(&self) -> bool {
        self.started
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_the_first_segment_sent_in_it() {
        let mut rounds = Rounds::default();
        // Ten segments leave at once; each acknowledgement releases another.
        let started: Vec<u32> = (0..40u32)
            .filter(|seq| {
                let sent_after = seq.saturating_sub(9);
                rounds.on_ack(sent_after, seq + 1);
                rounds.started()
            })
            .collect();
        // Segment 0 begins a round with 1 delivered; the first sent after that is 10, and so on.
        assert_eq!(started, [0, 10, 20, 30]);
        assert_eq!(rounds.count(), 4);
    }
}
