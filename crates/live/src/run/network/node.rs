//! The directions of a network's links.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use headgate_core::{Qdisc, Time};
use headgate_scenario::Scenario;

use crate::build::{Anything, WireSettings};
use crate::egress::{Egress, Onward};
use crate::io::tap::Pen;
use crate::pool::Pool;
use crate::run::account::{Account, Post};

/// One direction of a link.
pub(super) struct Node {
    pub(super) egress: Egress<Anything, Account>,
    /// Packets that came, from hosts and from other links, and that came out again.
    pub(super) came: u64,
    pub(super) out: u64,
    /// Notes packets that are dropped or lost.
    pub(super) pen: Option<Pen>,
}

impl Node {
    /// Tells the discipline that the link went idle, if it did, before it is looked at.
    pub(super) fn settle(&mut self, now: Time, pool: &mut Pool) {
        self.egress.settle(now, &mut Onward { pool, pen: self.pen.as_ref(), receive: |_, _| {} });
    }
}

/// Every direction of every link.
///
/// # Errors
/// What is wrong with a discipline.
pub(super) fn nodes(scenario: &Arc<Scenario>, qdisc: &Qdisc, seed: u64, posts: &Sender<Post>) -> io::Result<Vec<Node>> {
    let classes = scenario.shares();
    let node = |hop| {
        let (simplex, label) = (scenario.simplex(hop), scenario.label(hop));
        let settings = WireSettings {
            simplex,
            qdisc: simplex.qdisc.as_ref().unwrap_or(qdisc),
            delay: scenario.links[usize::from(hop.link)].delay,
            mean_rate: scenario.mean_rate(hop),
            mean_packet: scenario.mean_packet(),
            overhead: 0,
            classes: &classes,
            slots: 0,
            slot_bytes: Pool::SLOT,
            seed,
            label: &label,
        };
        let egress = settings.egress(|discipline, wire| Account::new((scenario, hop), discipline, wire, posts.clone()));
        let refused = |error: headgate_core::BuildError| io::Error::new(io::ErrorKind::InvalidInput, error.to_string());
        let mut egress = egress.map_err(refused)?;
        // Not before the run begins.
        egress.medium_mut().origin = Time::NEVER;
        Ok(Node { egress, came: 0, out: 0, pen: None })
    };
    scenario.hops().map(node).collect()
}
