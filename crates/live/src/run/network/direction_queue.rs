//! The directions of a network's links.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use aqm::{Qdisc, Time};
use headgate_scenario::Scenario;

use crate::error::LiveResult;
use crate::forward::queue::{FrameQueue, FrameSink};
use crate::forward::settings::{FrameDiscipline, LaneSettings};
use crate::io::pool::Pool;
use crate::io::recorded_end::Recorder;
use crate::run::kernel::path::KernelPath;
use crate::run::meter::{DirectionRecorder, LoopRecord};

pub(super) struct DirectionQueue {
    pub(super) queue: FrameQueue<FrameDiscipline, DirectionRecorder>,
    /// Packets received from hosts and other links.
    pub(super) offered: u64,
    /// Packets that the next link or the host took, and packets that the host refused.
    pub(super) delivered: u64,
    pub(super) refused: u64,
    pub(super) recorder: Option<Recorder>,
}

impl DirectionQueue {
    /// Reports a pending idle period to the discipline. Call before reading it.
    pub(super) fn report_idle(&mut self, now: Time, pool: &mut Pool) {
        self.queue.report_idle(now, &mut FrameSink { pool, recorder: self.recorder.as_ref(), receive: |_, _| {} });
    }
}

/// All directions of all links. The queue of `kernel`'s direction is in the kernel.
pub(super) fn directions(
    scenario: &Arc<Scenario>,
    qdisc: &Qdisc,
    kernel: Option<&KernelPath>,
    seed: u64,
    records: &Sender<LoopRecord>,
) -> LiveResult<Vec<DirectionQueue>> {
    let direction_queue = |hop| {
        let named = scenario.direction_settings(hop).qdisc.as_ref().unwrap_or(qdisc);
        let account = |discipline: &FrameDiscipline, lane| {
            DirectionRecorder::new((scenario, hop), discipline, lane, records.clone())
        };
        let (settings, label) = (LaneSettings::for_hop(scenario, hop, named), scenario.label(hop));
        let mut queue = match kernel.filter(|kernel| kernel.direction == hop.number()) {
            Some(kernel) => settings.queue_with(kernel.discipline(), (seed, &label), account),
            None => settings.queue((seed, &label), account)?,
        };
        // Time starts with the run.
        queue.medium_mut().begin(Time::NEVER);
        Ok(DirectionQueue { queue, offered: 0, delivered: 0, refused: 0, recorder: None })
    };
    scenario.hops().map(direction_queue).collect()
}
