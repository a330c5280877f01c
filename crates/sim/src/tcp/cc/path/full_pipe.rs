//! Detects a full pipe: three rounds in which the delivery rate grew by less than a quarter (draft-ietf-ccwg-bbr-06,
//! section 5.3.1.2).

/// A rate that grows by at least this factor restarts the count of rounds.
const GROWTH: f64 = 1.25;
/// The pipe is full after this many rounds below that growth. A full receive window also stops growth: within three
/// rounds the receiver widens it, the sender fills it, and the rate rises.
const ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// A search that begins at `rate`.
    pub fn from(rate: f64) -> FullPipe {
        FullPipe { baseline: rate, rounds: 0 }
    }

    /// Processes the delivery rate of a round that the application did not limit. Returns whether the pipe is full.
    pub fn on_round(&mut self, rate: f64) -> bool {
        if self.is_full() {
            return true;
        }
        if rate >= self.baseline * GROWTH {
            *self = FullPipe::from(rate);
        } else {
            self.rounds += 1;
        }
        self.is_full()
    }

    pub fn is_full(&self) -> bool {
        self.rounds >= ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_with_less_than_a_quarter_more_fill_the_pipe() {
        let mut pipe = FullPipe::default();
        let full: Vec<bool> = [10.0, 20.0, 24.9, 24.9, 24.9].into_iter().map(|rate| pipe.on_round(rate)).collect();
        assert_eq!(full, [false, false, false, false, true]);
    }

    #[test]
    fn growth_restarts_the_count_of_rounds() {
        let mut pipe = FullPipe::default();
        let full: Vec<bool> =
            [10.0, 10.0, 10.0, 12.5, 12.5, 12.5].into_iter().map(|rate| pipe.on_round(rate)).collect();
        assert_eq!(full, [false; 6]);
        assert!(pipe.on_round(15.6), "the third without a quarter more than 12.5");
    }
}
