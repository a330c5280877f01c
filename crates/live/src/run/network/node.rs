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

/// One direction of a link.
pub(super) struct Node {
    pub(super) queue: FrameQueue<Anything, Account>,
    /// Packets that came, from hosts and from other links, and that came out again.
    pub(super) came: u64,
    pub(super) out: u64,
    /// Notes packets that are dropped or lost.
    pub(super) recorder: Option<Recorder>,
}

impl Node {
    /// Tells the discipline that the link went idle, if it did, before it is looked at.
    pub(super) fn settle(&mut self, now: Time, pool: &mut Pool) {
        self.queue.settle(now, &mut Onward { pool, recorder: self.recorder.as_ref(), receive: |_, _| {} });
    }
}

/// Every direction of every link.
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
        // Not before the run begins.
        queue.medium_mut().begin(Time::NEVER);
        Ok(Node { queue, came: 0, out: 0, recorder: None })
    };
    scenario.hops().map(node).collect()
}
