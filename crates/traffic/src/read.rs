//! Reads a trace from a CSV file or a capture.

use aqm::Span;

use crate::capture;
use crate::trace::{TraceBuilder, TraceError, TrafficTrace};

/// Thirty years in seconds: a later time is an error.
const LATEST: f64 = 1e9;

impl TrafficTrace {
    /// Reads a capture or a CSV file: CSV if `name` ends in `.csv`, otherwise by the first bytes.
    ///
    /// # Errors
    /// The first fault found.
    pub fn read(bytes: &[u8], name: &str) -> Result<TrafficTrace, TraceError> {
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
}

/// Parses lines of time in seconds, flow name and bytes. A first line without a numeric time is a heading. Lines that
/// begin with `#` are comments. Messages repeat nothing from the file.
fn csv(bytes: &[u8]) -> Result<TrafficTrace, TraceError> {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader =
        reader.has_headers(false).flexible(true).trim(csv::Trim::All).comment(Some(b'#')).from_reader(bytes);
    let (mut collected, mut latest, mut first) = (TraceBuilder::new(), Span::ZERO, true);
    let mut record = csv::StringRecord::new();
    loop {
        let wrong = |line, what: String| Err(TraceError::Line { line, what });
        match reader.read_record(&mut record) {
            Ok(false) => return collected.trace(Span::ZERO),
            Ok(true) => {}
            Err(error) => return wrong(line_of(bytes, error.position()), "not a line of CSV".to_string()),
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
            return wrong(line_of(bytes, record.position()), "times must not decrease".to_string());
        }
        latest = at;
        if written > 0 {
            collected.add(flow.to_string(), at, written)?;
        }
    }
}

/// The line number, from 1, of the record at `position`. The position is before any blank lines and comments that
/// precede the record.
fn line_of(bytes: &[u8], position: Option<&csv::Position>) -> u64 {
    let (line, byte) = position.map_or((1, 0), |position| (position.line(), position.byte()));
    let rest = bytes.get(usize::try_from(byte).unwrap_or(usize::MAX)..).unwrap_or_default();
    let lines = rest.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    line + lines.take_while(|line| line.is_empty() || line.starts_with(b"#")).count() as u64
}

fn fields(record: &csv::StringRecord) -> Result<(Span, &str, u32), String> {
    let [time, flow, bytes] = record.iter().collect::<Vec<_>>()[..] else {
        return Err(format!("expected time,flow,bytes, found {} fields", record.len()));
    };
    let seconds: Option<f64> = time.parse().ok().filter(|seconds| (0.0..=LATEST).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("field 1: expected a time in seconds from 0 to {LATEST}"))?;
    let bytes = bytes.parse().map_err(|_| "field 3: expected bytes, a whole number below 2^32".to_string())?;
    Ok((Span::from_secs_f64(seconds), flow, bytes))
}
