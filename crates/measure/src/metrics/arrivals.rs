//! Useful bytes by the time at which they reach their receiver: goodput of flows, and of groups over time.
//!
//! A packet is processed when it leaves its last queue, and its arrival lies ahead. Nothing that arrives after the end
//! counts.

use std::collections::VecDeque;

use aqm::{Span, Time};

/// The part of a run in which something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    WarmUp,
    /// From the end of the warm-up on, and before the end.
    Measured,
    /// At the end or later.
    AfterEnd,
}

/// Useful bytes of every flow before and after the end of the warm-up, and of every group in each interval.
pub struct Arrivals {
    warmup_end: Time,
    end: Time,
    /// By flow: before the end of the warm-up, and after it.
    flows: Vec<[u64; 2]>,
    intervals: ArrivalsByInterval,
}

/// Bytes by group in the present interval, and in those to come.
struct ArrivalsByInterval {
    length: Span,
    /// The end of the present interval, and its bytes.
    ends: Time,
    bytes: Vec<u64>,
    ahead: VecDeque<Vec<u64>>,
}

impl Arrivals {
    /// No bytes yet. The measured window begins at `warmup_end`.
    pub fn new([warmup_end, end]: [Time; 2], interval: Span, [flows, groups]: [usize; 2]) -> Arrivals {
        let (ends, ahead) = (Time::ZERO + interval, VecDeque::new());
        let intervals = ArrivalsByInterval { length: interval, ends, bytes: vec![0; groups], ahead };
        Arrivals { warmup_end, end, flows: vec![[0; 2]; flows], intervals }
    }

    /// When `at` is.
    #[inline(always)]
    pub fn phase(&self, at: Time) -> RunPhase {
        if at >= self.end {
            RunPhase::AfterEnd
        } else if at >= self.warmup_end {
            RunPhase::Measured
        } else {
            RunPhase::WarmUp
        }
    }

    /// `bytes` of a flow (flow, group) arrive at `at`, which is in `phase`.
    #[inline(always)]
    pub fn add(&mut self, (flow, group): (usize, usize), bytes: u64, (at, phase): (Time, RunPhase)) {
        if phase != RunPhase::AfterEnd {
            self.flows[flow][usize::from(phase == RunPhase::Measured)] += bytes;
            self.intervals.add(group, bytes, at);
        }
    }

    /// The bytes of `flow` after the warm-up.
    pub fn measured(&self, flow: usize) -> u64 {
        self.flows[flow][1]
    }

    /// The bytes of every flow since the start.
    pub fn by_flow(&self) -> impl Iterator<Item = u64> {
        self.flows.iter().map(|[before, after]| before + after)
    }

    /// Ends an interval: its bytes by group. No packet that arrives in it may follow.
    pub fn take_interval(&mut self) -> Vec<u64> {
        self.intervals.take()
    }
}

impl ArrivalsByInterval {
    #[inline(always)]
    fn add(&mut self, group: usize, bytes: u64, at: Time) {
        if at < self.ends {
            self.bytes[group] += bytes;
        } else {
            self.add_ahead(group, bytes, at);
        }
    }

    #[inline(never)]
    fn add_ahead(&mut self, group: usize, bytes: u64, at: Time) {
        let later = ((at - self.ends).as_nanos() / self.length.as_nanos()) as usize;
        if self.ahead.len() <= later {
            self.ahead.resize(later + 1, vec![0; self.bytes.len()]);
        }
        self.ahead[later][group] += bytes;
    }

    fn take(&mut self) -> Vec<u64> {
        self.ends += self.length;
        let next = self.ahead.pop_front().unwrap_or_else(|| vec![0; self.bytes.len()]);
        std::mem::replace(&mut self.bytes, next)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    proptest! {
        /// However arrivals lie ahead, each counts in its interval and on its side of the warm-up's end.
        #[test]
        fn sums_over_any_partition_of_the_run_agree(
            arrivals in prop::collection::vec((0usize..3, 1u64..2000, 0u64..40), 0..200),
            warmup in 0u64..1000,
            interval in 1u64..300,
        ) {
            let mut met = Arrivals::new([at(warmup), at(1000)], Span::from_millis(interval), [3, 3]);
            let (mut now, mut rows, mut taken) = (0, Vec::new(), 0);
            let mut expected = vec![[0; 3]; 1000 / interval as usize + 1];
            let mut window = [0; 3];
            for (flow, bytes, ahead) in arrivals {
                now += 7;
                while (taken + 1) * interval <= now.min(999) {
                    rows.push(met.take_interval());
                    taken += 1;
                }
                let arrives = now + ahead * 10;
                let phase = met.phase(at(arrives));
                prop_assert_eq!(phase == RunPhase::AfterEnd, arrives >= 1000);
                met.add((flow, flow), bytes, (at(arrives), phase));
                if arrives < 1000 && now < 1000 {
                    expected[(arrives / interval) as usize][flow] += bytes;
                    window[flow] += if arrives >= warmup { bytes } else { 0 };
                }
            }
            while rows.len() < expected.len() {
                rows.push(met.take_interval());
            }
            prop_assert_eq!(rows, expected.iter().map(|row| row.to_vec()).collect::<Vec<_>>());
            prop_assert_eq!([0, 1, 2].map(|flow| met.measured(flow)), window);
            prop_assert_eq!(met.by_flow().sum::<u64>(), expected.iter().flatten().sum::<u64>());
        }
    }
}
