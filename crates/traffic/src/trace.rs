//! Recorded writes: time, flow and bytes, from CSV or packet captures.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use aqm::Span;

/// The writes of a trace, by flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficTrace {
    /// Time and bytes, sorted by flow and then by time.
    writes: Vec<(Span, u32)>,
    /// The index after each flow's last write. Flows are in the order of their first write.
    ends: Vec<u32>,
}

/// Why a file is not a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceError {
    /// Neither a capture nor lines of numbers.
    NotATrace,
    /// The file ends within a packet or a header.
    CutOff {
        /// Complete packets before the end.
        packets: u64,
    },
    /// A capture with malformed data.
    Damaged {
        /// Complete packets before the error.
        packets: u64,
    },
    /// A capture with an unknown link type.
    Link {
        /// The link type's number (<https://www.tcpdump.org/linktypes.html>).
        number: i32,
    },
    /// An invalid line in a CSV file.
    Line {
        /// Line number, from 1.
        line: u64,
        /// The error.
        what: String,
    },
    /// A packet captured before the previous packet.
    TimeGoesBack {
        /// Packet number, from 1.
        packet: u64,
    },
    /// More flows than a scenario may have.
    TooManyFlows,
    /// Too many writes.
    TooLong,
    /// No writes.
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
            TraceError::TooManyFlows => write!(f, "more than {MAX_FLOWS} flows"),
            TraceError::TooLong => write!(f, "more than {MAX_WRITES} writes"),
            TraceError::Empty => f.write_str("it contains no writes"),
        }
    }
}

impl std::error::Error for TraceError {}

/// A scenario's limit on flows.
const MAX_FLOWS: u32 = 1_000_000;
/// The writes then take 8 GB of memory.
const MAX_WRITES: usize = 500_000_000;

impl TrafficTrace {
    /// The number of flows.
    pub fn flows(&self) -> u32 {
        self.ends.len() as u32
    }

    /// All bytes written.
    pub fn bytes(&self) -> u64 {
        self.writes.iter().map(|(_, bytes)| u64::from(*bytes)).sum()
    }

    /// The indexes of the writes of flow number `flow` (from 0); empty for an unknown flow.
    pub fn writes_of(&self, flow: u32) -> Range<u32> {
        let flow = flow as usize;
        let start = flow.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end);
        self.ends.get(flow).map_or(0..0, |end| start..*end)
    }

    /// Write number `index`: its time since the beginning of the trace, and its bytes.
    pub fn write(&self, index: u32) -> (Span, u32) {
        self.writes[index as usize]
    }
}

pub(crate) struct TraceBuilder<K> {
    numbers: BTreeMap<K, u32>,
    writes: Vec<(u32, Span, u32)>,
}

impl<K: Ord> TraceBuilder<K> {
    pub(crate) fn new() -> Self {
        TraceBuilder { numbers: BTreeMap::new(), writes: Vec::new() }
    }

    /// Adds a write of flow `key`, not before the last write added.
    pub(crate) fn add(&mut self, key: K, at: Span, bytes: u32) -> Result<(), TraceError> {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number >= MAX_FLOWS {
            return Err(TraceError::TooManyFlows);
        }
        if self.writes.len() >= MAX_WRITES {
            return Err(TraceError::TooLong);
        }
        self.writes.push((number, at, bytes));
        Ok(())
    }

    /// The trace, with times relative to `beginning`.
    pub(crate) fn trace(self, beginning: Span) -> Result<TrafficTrace, TraceError> {
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
        Ok(TrafficTrace { writes, ends: next })
    }
}
