//! The directions of a network's links.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use headgate_core::{Qdisc, Time};
use headgate_scenario::Scenario;

use crate::forward::queue::{FrameQueue, Onward};
use crate::forward::settings::{Anything, LaneSettings};
use crate::io::pool::Pool;
use crate::io::tap::Recorder;
use crate::run::account::{Account, Finding};

pub(super) struct Node {
    pub(super) queue: FrameQueue<Anything, Account>,
    /// Packets that came from hosts and other links, and packets that left.
    pub(super) came: u64,
    pub(super) out: u64,
    pub(super) recorder: Option<Recorder>,
}

impl Node {
    /// Reports a pending idle period to the discipline. Call before reading it.
    pub(super) fn settle(&mut self, now: Time, pool: &mut Pool) {
        self.queue.settle(now, &mut Onward { pool, recorder: self.recorder.as_ref(), receive: |_, _| {} });
    }
}

/// All directions of all links.
pub(super) fn nodes(
    scenario: &Arc<Scenario>,
    qdisc: &Qdisc,
    seed: u64,
    findings: &Sender<Finding>,
) -> io::Result<Vec<Node>> {
    let node = |hop| {
        let named = scenario.simplex(hop).qdisc.as_ref().unwrap_or(qdisc);
        let account = |discipline: &Anything, lane| Account::new((scenario, hop), discipline, lane, findings.clone());
        let mut queue = LaneSettings::at(scenario, hop, named).queue((seed, &scenario.label(hop)), account)?;
        // Time starts with the run.
        queue.medium_mut().begin(Time::NEVER);
        Ok(Node { queue, came: 0, out: 0, recorder: None })
    };
    scenario.hops().map(node).collect()
}
