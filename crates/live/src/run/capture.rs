//! Captures the packets at both ends of a run's link, in the run's time.

use headgate_core::{Span, Time};
use headgate_measure::Watch;
use headgate_measure::pcapng::Blocks;
use headgate_scenario::Scenario;

use crate::io::capture;
use crate::io::tap::{FrameRecord, FrameRecords, Recorder, recorders};

/// Names of the ends, as on their interfaces.
const ENDS: [&str; 2] = ["near", "far"];

/// Captures are limited to scenarios with one link.
const LINK: u16 = 0;

const BEFORE: &str = "before the run begins";

pub(super) struct RunCapture {
    notes: [FrameRecords; 2],
    blocks: Blocks,
    /// Records not written yet, with their end.
    waiting: Vec<(usize, FrameRecord)>,
    /// Later notes do not belong to the run.
    lasts: Span,
    written: u64,
}

impl RunCapture {
    /// The capture of `scenario`'s only link, if requested, and the recorders for its ends.
    pub(super) fn of(scenario: &Scenario) -> (Option<RunCapture>, [Option<Recorder>; 2]) {
        let Some(link) = scenario.record.capture.first().map(|link| &scenario.links[usize::from(*link)]) else {
            return (None, [None, None]);
        };
        let (recorders, notes) = recorders();
        let mut blocks = Blocks::default();
        blocks.section();
        ENDS.iter().for_each(|end| capture::describe(&mut blocks, &format!("{} {end}", link.name)));
        let lasts = scenario.duration;
        (notes.map(|notes| RunCapture { notes, blocks, waiting: Vec::new(), lasts, written: 0 }), recorders)
    }

    /// Writes notes from before `now`, for a run that began at `begin`, both by the loop's clock.
    pub(super) fn take(&mut self, (begin, now): (Time, Time), watch: &mut dyn Watch) {
        for (end, notes) in self.notes.iter().enumerate() {
            self.waiting.extend(notes.inbox.try_iter().map(|note| (end, note)));
        }
        self.waiting.sort_by_key(|(_, note)| note.at);
        let later = self.waiting.partition_point(|(_, note)| note.at < now);
        for (end, note) in self.waiting.drain(..later) {
            let since = note.at - begin;
            if since < self.lasts {
                // Connections are set up before the run: readers need their handshakes, at the start of the file.
                let further = if note.at < begin { BEFORE } else { "" };
                capture::write(&mut self.blocks, (end, &note), since.as_nanos(), further);
                self.written += 1;
            }
        }
        watch.captured(LINK, self.blocks.bytes());
        self.blocks.clear();
    }

    /// A sentence about missing packets, if any.
    pub(super) fn missing(&self) -> Option<String> {
        let missed: u64 = self.notes.iter().map(FrameRecords::missed).sum();
        let all = missed + self.written;
        (missed > 0)
            .then(|| format!("{missed} of {all} packets are not in the capture: there was no time to write them"))
    }
}
