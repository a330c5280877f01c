//! Replays a recorded trace.

use aqm::{BuildError, Rng, Span};

use crate::model::{FileLoader, SenderInfo, SourceModel};
use crate::trace::{TraceError, TrafficTrace};
use crate::values::FileName;
use crate::write::{SourceWrite, WriteAmount};

aqm::params! {
    /// Settings of [`Replay`].
    pub struct ReplayConfig {
        /// A capture (pcap or pcapng), or a CSV file with lines of `time,flow,bytes`: seconds, any name, bytes of data.
        file: FileName = FileName::default();
    }
    presets {
        "default" "the file's times and sizes (the defaults)" {}
    }
}

/// The writes of a file: flow number i of the group is the i-th flow of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    trace: TrafficTrace,
}

/// A flow's position among its writes.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayState {
    next: u32,
    end: u32,
    /// Time of the previous write since the beginning of the trace.
    at: Span,
}

impl SourceModel for Replay {
    type Config = ReplayConfig;
    type State = ReplayState;

    fn new(config: ReplayConfig, _: &SenderInfo, files: &mut FileLoader<'_>) -> Result<Replay, BuildError> {
        let name = config.file.0.as_str();
        if name.is_empty() {
            return Err(BuildError::Conflict("`file` is missing: name a capture or a CSV file".to_string()));
        }
        let bytes = files(name).map_err(BuildError::Conflict)?;
        let trace = TrafficTrace::read(&bytes, name)
            .map_err(|error: TraceError| BuildError::Conflict(format!("{name}: {error}")))?;
        Ok(Replay { trace })
    }

    fn start(&self, flow: u32) -> ReplayState {
        let writes = self.trace.writes_of(flow);
        ReplayState { next: writes.start, end: writes.end, at: Span::ZERO }
    }

    #[inline]
    fn next(&self, flow: &mut ReplayState, _: &mut Rng) -> Option<SourceWrite> {
        if flow.next == flow.end {
            return None;
        }
        let (at, bytes) = self.trace.write(flow.next);
        let gap = at - flow.at;
        (flow.next, flow.at) = (flow.next + 1, at);
        Some(SourceWrite::after_start(gap, WriteAmount::Bytes(bytes.into())))
    }

    fn mean_bytes(&self) -> Option<f64> {
        Some(self.trace.bytes() as f64 / f64::from(self.trace.flows().max(1)))
    }

    fn flows(&self) -> Option<u32> {
        Some(self.trace.flows())
    }
}
