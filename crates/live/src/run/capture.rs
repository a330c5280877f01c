//! Captures the packets at both ends of a run's link, in the run's time.

use aqm::{Span, Time};
use headgate_measure::RunObserver;
use headgate_measure::pcapng::Blocks;
use headgate_scenario::Scenario;

use crate::io::capture;
use crate::io::recorded_end::{FrameRecord, FrameRecords, Recorder, recorders};

/// Names of the ends, as on their interfaces.
const ENDS: [&str; 2] = ["near", "far"];

/// Captures are limited to scenarios with one link.
const LINK: u16 = 0;

const BEFORE_RUN_REMARK: &str = "before the run begins";

pub(super) struct RunCapture {
    records: [FrameRecords; 2],
    blocks: Blocks,
    /// Records not written yet, with their end.
    pending: Vec<(usize, FrameRecord)>,
    /// Later records do not belong to the run.
    duration: Span,
    written: u64,
}

impl RunCapture {
    /// The capture of `scenario`'s only link, if requested, and the recorders for its ends.
    pub(super) fn of(scenario: &Scenario) -> (Option<RunCapture>, [Option<Recorder>; 2]) {
        let Some(link) = scenario.record.capture.first().map(|link| &scenario.links[usize::from(*link)]) else {
            return (None, [None, None]);
        };
        let (recorders, records) = recorders();
        let mut blocks = Blocks::default();
        blocks.section();
        ENDS.iter().for_each(|end| capture::describe(&mut blocks, &format!("{} {end}", link.name)));
        let duration = scenario.duration;
        (records.map(|records| RunCapture { records, blocks, pending: Vec::new(), duration, written: 0 }), recorders)
    }

    /// Writes records from before `now`, for a run that began at `begin`, both by the loop's clock.
    pub(super) fn take(&mut self, (begin, now): (Time, Time), watch: &mut dyn RunObserver) {
        for (end, records) in self.records.iter().enumerate() {
            self.pending.extend(records.inbox.try_iter().map(|record| (end, record)));
        }
        self.pending.sort_by_key(|(_, record)| record.at);
        let later = self.pending.partition_point(|(_, record)| record.at < now);
        for (end, record) in self.pending.drain(..later) {
            let since = record.at - begin;
            if since < self.duration {
                // Connections are set up before the run: readers need their handshakes, at the start of the file.
                let remark = if record.at < begin { BEFORE_RUN_REMARK } else { "" };
                capture::write(&mut self.blocks, (end, &record), since.as_nanos(), remark);
                self.written += 1;
            }
        }
        watch.captured(LINK, self.blocks.bytes());
        self.blocks.clear();
    }

    /// A sentence about missing packets, if any.
    pub(super) fn missing(&self) -> Option<String> {
        let missed: u64 = self.records.iter().map(FrameRecords::missed).sum();
        let all = missed + self.written;
        (missed > 0).then(|| format!("{missed} of {all} packets are missing from the capture: the writer was too slow"))
    }
}
