//! The log of a running link: packet headers at both ends as pcapng files, and interval rows.
//!
//! A separate thread writes it. The loop never waits for that thread: records that do not fit are counted. If the disk
//! fails, the log ends and the link continues.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aqm::Span;
use headgate_measure::IntervalRow;
use headgate_measure::pcapng::Blocks;

use crate::error::LiveResult;
use crate::forward::view::SharedView;
use crate::io::recorded_end::FrameRecords;
use crate::io::request::Request;
use crate::io::{capture, clock};
use crate::link::rows::IntervalRows;
use crate::threads;

/// Interval of the rows.
pub const INTERVAL: Span = Span::from_millis(100);

/// Pause of the thread when there was nothing to write.
const IDLE_PAUSE: Duration = Duration::from_millis(5);

/// Records written at a time.
const MOST_AT_ONCE: usize = 4096;

/// Rows kept until they are taken: an hour of both directions, with ten gauges each.
const MOST_ROWS: usize = 36_000 * 2 * 20;

/// Counts of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// Packet records in the captures.
    pub packets: u64,
    /// Packets missing from them: no room for a record, or the log had ended.
    pub missed: u64,
    /// Rows discarded because the caller did not take them in time.
    pub rows_missed: u64,
    /// The error that ended the log before the link.
    pub failed: Option<String>,
}

/// A log that is being written.
#[derive(Debug)]
pub struct LinkLog {
    shared: Arc<LogShared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct LogShared {
    stop: AtomicBool,
    rows: Mutex<Vec<IntervalRow>>,
    counts: Mutex<LogCounts>,
}

impl LinkLog {
    /// Creates `near.pcapng` and `far.pcapng` in the folder `dir` from the ends' `records`, and interval rows from the
    /// views in `views`.
    ///
    /// # Errors
    /// These files exist, which stay unchanged, or cannot be written.
    pub fn start(
        dir: &Path,
        records: [FrameRecords; 2],
        clock: clock::Monotonic,
        views: SharedView,
    ) -> LiveResult<LinkLog> {
        let [near, far] = records;
        let unix_start = clock.unix_nanos();
        let captures = [EndCapture::new(dir, "near", near, unix_start)?, EndCapture::new(dir, "far", far, unix_start)?];
        let shared = Arc::<LogShared>::default();
        let writer = LogWriter { captures, rows: IntervalRows::new(INTERVAL), views, shared: Arc::clone(&shared) };
        let thread = threads::start("log", move || writer.run())?;
        Ok(LinkLog { shared, thread: Some(thread) })
    }

    /// Takes the rows added since the last call.
    pub fn take_rows(&self) -> Vec<IntervalRow> {
        std::mem::take(&mut *lock(&self.shared.rows))
    }

    /// Counts so far.
    pub fn counts(&self) -> LogCounts {
        lock(&self.shared.counts).clone()
    }

    /// Writes the remaining records. Call it after the loop has stopped.
    pub(crate) fn finish(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            lock(&self.shared.counts).failed = Some("the log's thread panicked".to_string());
        }
    }
}

impl Drop for LinkLog {
    fn drop(&mut self) {
        self.finish();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct LogWriter {
    captures: [EndCapture; 2],
    rows: IntervalRows,
    views: SharedView,
    shared: Arc<LogShared>,
}

impl LogWriter {
    fn run(mut self) {
        loop {
            // Read before draining: all records of a stopped loop are then visible.
            let last = self.shared.stop.load(Ordering::Relaxed);
            let taken = self.captures.iter_mut().fold(0, |taken, capture| taken + capture.write());
            self.publish(last);
            if taken == 0 && last {
                return;
            }
            if taken == 0 {
                thread::park_timeout(IDLE_PAUSE);
            }
        }
    }

    fn publish(&mut self, last: bool) {
        let new = self.rows.rows_until(&self.views.latest(), last);
        let (mut rows, mut counts) = (lock(&self.shared.rows), lock(&self.shared.counts));
        if rows.len() + new.len() <= MOST_ROWS {
            rows.extend(new);
        } else {
            counts.rows_missed += new.len() as u64;
        }
        let sum = |of: fn(&EndCapture) -> u64| self.captures.iter().map(of).sum();
        (counts.packets, counts.missed) = (sum(|capture| capture.packets), sum(EndCapture::missed));
        counts.failed = self.captures.iter().find_map(|capture| capture.failed.clone());
    }
}

struct EndCapture {
    path: PathBuf,
    file: File,
    records: FrameRecords,
    blocks: Blocks,
    /// File length up to the last complete block.
    complete_length: u64,
    /// Unix time of the loop clock's zero, in nanoseconds.
    unix_start: u64,
    packets: u64,
    /// Records that could not be written.
    unwritten: u64,
    failed: Option<String>,
}

impl EndCapture {
    fn new(dir: &Path, end: &str, records: FrameRecords, unix_start: u64) -> LiveResult<EndCapture> {
        let path = dir.join(format!("{end}.pcapng"));
        let file = Request::CaptureFile
            .ask_about(path.display(), || OpenOptions::new().write(true).create_new(true).open(&path))?;
        let mut blocks = Blocks::default();
        blocks.section();
        capture::describe(&mut blocks, end);
        let mut capture = EndCapture {
            path,
            file,
            records,
            blocks,
            complete_length: 0,
            unix_start,
            packets: 0,
            unwritten: 0,
            failed: None,
        };
        let name = capture.path.display().to_string();
        Request::CaptureFile.ask_about(name, || capture.flush())?;
        Ok(capture)
    }

    /// Writes the pending records and returns their number.
    fn write(&mut self) -> usize {
        let mut taken = 0;
        for record in self.records.inbox.try_iter().take(MOST_AT_ONCE) {
            taken += 1;
            let nanos = self.unix_start + record.at.as_nanos();
            capture::write(&mut self.blocks, (0, &record), nanos, "");
        }
        match self.failed {
            None if taken > 0 => match self.flush() {
                Ok(()) => self.packets += taken as u64,
                Err(error) => self.fail(error, taken as u64),
            },
            None => {}
            Some(_) => self.unwritten += taken as u64,
        }
        self.blocks.clear();
        taken
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(self.blocks.bytes())?;
        self.complete_length += self.blocks.bytes().len() as u64;
        self.blocks.clear();
        Ok(())
    }

    /// Truncates the capture after its last complete block, so that it stays readable.
    fn fail(&mut self, error: io::Error, unwritten: u64) {
        let cut = self
            .file
            .set_len(self.complete_length)
            .and_then(|()| self.file.seek(SeekFrom::Start(self.complete_length)));
        let also = cut.err().map(|error| format!("; its last packet is cut off: {error}")).unwrap_or_default();
        let name = self.path.display().to_string();
        self.failed = Some(format!("{}{also}", Request::CaptureFile.refused_about(&name, error)));
        self.unwritten += unwritten;
    }

    fn missed(&self) -> u64 {
        self.records.missed() + self.unwritten
    }
}
