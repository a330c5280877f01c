//! Writes recorded elsewhere: who wrote how much when, from lines of text or from captured packets.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use headgate_core::Span;

/// The writes of a file, flow by flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// When, and how many bytes; each flow's in order of time, one flow after the other.
    writes: Vec<(Span, u32)>,
    /// Where each flow's writes end. Flows are in the order in which they first wrote.
    ends: Vec<u32>,
}

/// Why a file is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceError {
    /// It begins like neither a capture nor a line of numbers.
    NotATrace,
    /// It ends in the middle of a packet, or of what stands before packets.
    CutOff {
        /// Whole packets before the end.
        packets: u64,
    },
    /// It is a capture, but what follows so many packets makes no sense.
    Damaged {
        /// Whole packets before the fault.
        packets: u64,
    },
    /// It is a capture of a kind of link that is not known.
    Link {
        /// The link type's number (<https://www.tcpdump.org/linktypes.html>).
        number: i32,
    },
    /// One line of a CSV file is wrong.
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// A packet was captured before the one that stands before it.
    TimeGoesBack {
        /// The packet's number, from 1.
        packet: u64,
    },
    /// More flows than a scenario may have.
    TooManyFlows,
    /// More writes than can be counted.
    TooLong,
    /// Nobody writes anything in it.
    Empty,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::NotATrace => {
                f.write_str("neither a capture (pcap, pcapng) nor a CSV file with lines of time,flow,bytes")
            }
            TraceError::CutOff { packets: 0 } => f.write_str("the capture is cut off before its first packet ends"),
            TraceError::CutOff { packets } => write!(f, "the capture is cut off in packet {}", packets + 1),
            TraceError::Damaged { packets } => write!(f, "the capture is damaged at packet {}", packets + 1),
            TraceError::Link { number } => {
                write!(
                    f,
                    "the capture is of link type {number}; known are Ethernet (1), raw IP (101, 228, 229), loopback (0)"
                )
            }
            TraceError::Line { line, what } => write!(f, "line {line}: {what}"),
            TraceError::TimeGoesBack { packet } => write!(f, "packet {packet} is earlier than the one before it"),
            TraceError::TooManyFlows => write!(f, "more than {MOST_FLOWS} flows"),
            TraceError::TooLong => write!(f, "more than {MOST_WRITES} writes"),
            TraceError::Empty => f.write_str("nobody writes anything in it"),
        }
    }
}

impl std::error::Error for TraceError {}

/// As many as a scenario may have.
const MOST_FLOWS: u32 = 1_000_000;
/// 8 GB of them.
const MOST_WRITES: usize = 500_000_000;

impl Trace {
    /// How many flows there are.
    pub fn flows(&self) -> u32 {
        self.ends.len() as u32
    }

    /// All bytes written.
    pub fn bytes(&self) -> u64 {
        self.writes.iter().map(|(_, bytes)| u64::from(*bytes)).sum()
    }

    /// Which writes are those of flow number `flow`, from 0; none if there is no such flow.
    pub fn writes_of(&self, flow: u32) -> Range<u32> {
        let flow = flow as usize;
        let start = flow.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end);
        self.ends.get(flow).map_or(0..0, |end| start..*end)
    }

    /// Write number `index` of all: when, from the beginning of the trace, and how many bytes.
    pub fn write(&self, index: u32) -> (Span, u32) {
        self.writes[index as usize]
    }
}

/// Collects writes in the order of the file.
pub(crate) struct Collector<K> {
    numbers: BTreeMap<K, u32>,
    writes: Vec<(u32, Span, u32)>,
}

impl<K: Ord> Collector<K> {
    pub(crate) fn new() -> Self {
        Collector { numbers: BTreeMap::new(), writes: Vec::new() }
    }

    /// A write of the flow `key`, not before the last one that was added.
    pub(crate) fn add(&mut self, key: K, at: Span, bytes: u32) -> Result<(), TraceError> {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number >= MOST_FLOWS {
            return Err(TraceError::TooManyFlows);
        }
        if self.writes.len() >= MOST_WRITES {
            return Err(TraceError::TooLong);
        }
        self.writes.push((number, at, bytes));
        Ok(())
    }

    /// The trace; times count from `beginning`.
    pub(crate) fn trace(self, beginning: Span) -> Result<Trace, TraceError> {
        if self.writes.is_empty() {
            return Err(TraceError::Empty);
        }
        let mut counts = vec![0_u32; self.numbers.len()];
        self.writes.iter().for_each(|(flow, ..)| counts[*flow as usize] += 1);
        let mut next: Vec<u32> = counts
            .iter()
            .scan(0, |sum, count| {
                *sum += count;
                Some(*sum - count)
            })
            .collect();
        let mut writes = vec![(Span::ZERO, 0); self.writes.len()];
        for (flow, at, bytes) in self.writes {
            let place = &mut next[flow as usize];
            writes[*place as usize] = (at - beginning, bytes);
            *place += 1;
        }
        Ok(Trace { writes, ends: next })
    }
}
