//! Writes recorded elsewhere: who wrote how much when, from lines of text or from captured packets.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use headgate_core::Span;

use crate::capture;

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
/// Thirty years, in seconds: a time that was meant otherwise.
const LATEST: f64 = 1e9;

impl Trace {
    /// Reads a capture or a CSV file. `name` decides by its extension, `.csv`; otherwise the first bytes do.
    ///
    /// # Errors
    /// The first fault found.
    pub fn read(bytes: &[u8], name: &str) -> Result<Trace, TraceError> {
        let named = |extension: &str| name.to_ascii_lowercase().ends_with(extension);
        if !named(".csv") && capture::begins(bytes) {
            return capture::read(bytes);
        }
        let is_text = !bytes.is_empty() && std::str::from_utf8(bytes).is_ok();
        if !is_text || [".pcap", ".pcapng", ".cap"].into_iter().any(named) {
            return Err(TraceError::NotATrace);
        }
        csv(bytes)
    }

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

/// Lines of time in seconds, any name of a flow, and bytes; a first line that has no number for a time is a heading,
/// and what begins with `#` a comment.
fn csv(bytes: &[u8]) -> Result<Trace, TraceError> {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader =
        reader.has_headers(false).flexible(true).trim(csv::Trim::All).comment(Some(b'#')).from_reader(bytes);
    let (mut collected, mut latest, mut first) = (Collector::new(), Span::ZERO, true);
    let mut record = csv::StringRecord::new();
    loop {
        let wrong = |line, what: String| Err(TraceError::Line { line, what });
        match reader.read_record(&mut record) {
            Ok(false) => return collected.trace(Span::ZERO),
            Ok(true) => {}
            Err(error) => return wrong(line_of(bytes, error.position()), "this is no line of CSV".to_string()),
        }
        let heading = std::mem::replace(&mut first, false) && record.len() == 3 && record[0].parse::<f64>().is_err();
        if heading {
            continue;
        }
        let (at, flow, written) = match fields(&record) {
            Ok(fields) => fields,
            Err(what) => return wrong(line_of(bytes, record.position()), what),
        };
        if at < latest {
            return wrong(line_of(bytes, record.position()), format!("the time goes back, from {latest} to {at}"));
        }
        latest = at;
        if written > 0 {
            collected.add(flow.to_string(), at, written)?;
        }
    }
}

/// The line, from 1, of the record at `position`. The reader counts blank lines and comments before a record to it.
fn line_of(bytes: &[u8], position: Option<&csv::Position>) -> u64 {
    let (line, byte) = position.map_or((1, 0), |position| (position.line(), position.byte()));
    let rest = bytes.get(usize::try_from(byte).unwrap_or(usize::MAX)..).unwrap_or_default();
    let lines = rest.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    line + lines.take_while(|line| line.is_empty() || line.starts_with(b"#")).count() as u64
}

/// The three fields of a line.
fn fields(record: &csv::StringRecord) -> Result<(Span, &str, u32), String> {
    let [time, flow, bytes] = record.iter().collect::<Vec<_>>()[..] else {
        return Err(format!("expected time,flow,bytes, found {} fields", record.len()));
    };
    let seconds: Option<f64> = time.parse().ok().filter(|seconds| (0.0..=LATEST).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("expected a time in seconds from 0 to {LATEST}, found {time:?}"))?;
    let bytes = bytes.parse().map_err(|_| format!("expected bytes, a whole number below 2^32, found {bytes:?}"))?;
    Ok((Span::from_secs_f64(seconds), flow, bytes))
}
