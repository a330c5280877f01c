//! Collects the loop's records during a run.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use aqm::parts::Histogram;
use aqm::{Span, Time};
use headgate_measure::{EventBatch, ReorderingMeter, RunObserver};
use headgate_scenario::Scenario;

use super::error::LiveRunError;
use super::meter::{DirectionTotals, IntervalSample, LoopRecord};
use crate::error::LiveError;

/// Longest time between two calls of the observer.
const OBSERVER_INTERVAL: Duration = Duration::from_millis(50);
/// Longest wait for the loop's last records, which normally arrive within `PUBLISH_INTERVAL` of the end. The results of
/// a machine that is later than this are useless.
const LONGEST_WAIT: Span = Span::from_secs(5);

pub(super) struct RunRecords {
    /// By time; one per direction of each link.
    pub(super) samples: BTreeMap<Time, Vec<IntervalSample>>,
    /// By number of the direction.
    pub(super) totals: Vec<DirectionTotals>,
    /// By group: one-way delay of data, less that of a full packet without queues.
    pub(super) excess: Vec<Histogram>,
    /// By flow: data packets reordered between the hosts' devices.
    pub(super) reordering: ReorderingMeter,
}

impl RunRecords {
    /// Collects all records and informs the observer. `report` passes on traces and captures, and returns the time.
    pub(super) fn collect(
        inbox: &Receiver<LoopRecord>,
        scenario: &Scenario,
        report: &mut dyn FnMut(&mut dyn RunObserver) -> Time,
        watch: &mut dyn RunObserver,
    ) -> Result<RunRecords, LiveRunError> {
        let end = Time::ZERO + scenario.duration;
        let mut records = RunRecords {
            samples: BTreeMap::new(),
            totals: Vec::new(),
            excess: Vec::new(),
            reordering: ReorderingMeter::default(),
        };
        let mut ended = false;
        loop {
            let received = inbox.recv_timeout(OBSERVER_INTERVAL);
            let now = report(watch);
            match received {
                Ok(LoopRecord::IntervalSample(sample)) => records.add_sample(sample, 2 * scenario.links.len(), watch),
                Ok(LoopRecord::DirectionTotals(total)) => records.totals.push(*total),
                Ok(LoopRecord::End(excess, reordering)) => {
                    (records.excess, records.reordering, ended) = (excess, reordering, true);
                }
                Err(RecvTimeoutError::Timeout) if now < end + LONGEST_WAIT => {}
                Err(_) => return Err(LiveError::Ended("the loop ended before the run".to_string()).into()),
            }
            if !watch.should_continue(now.min(end)) {
                return Err(LiveRunError::Stopped);
            }
            if ended {
                records.totals.sort_by_key(|total| total.link);
                return Ok(records);
            }
        }
    }

    /// Keeps a sample. Once all `directions` have sent theirs for an interval, the observer gets its events.
    fn add_sample(&mut self, sample: IntervalSample, directions: usize, watch: &mut dyn RunObserver) {
        let samples = self.samples.entry(sample.at).or_default();
        samples.push(sample);
        if samples.len() < directions {
            return;
        }
        samples.sort_by_key(|sample| sample.link);
        let mut events = EventBatch::default();
        for sample in
            samples.iter_mut().filter(|sample| !sample.events.gauges.is_empty() || !sample.events.rows.is_empty())
        {
            events.gauges.clone_from(&sample.events.gauges);
            events.rows.append(&mut sample.events.rows);
            events.values.append(&mut sample.events.values);
        }
        events.sort();
        if !events.rows.is_empty() {
            watch.events(&events);
        }
    }
}
