//! What is measured at one port beyond the counts: queueing delay by group, loss patterns, loss synchronisation.

use headgate_core::parts::Histogram;
use headgate_core::{Span, Time};

use super::loss::{Loss, LossPattern, Losses};
use super::synchrony::{Synchronisation, Synchrony};

/// A packet of data that leaves a port or is lost there, and what was counted of its flow up to and with it.
#[derive(Clone, Copy, Debug)]
pub struct Fate {
    /// The packet's flow.
    pub flow: usize,
    /// The flow's group.
    pub group: usize,
    /// When it arrived at the port.
    pub came: Time,
    /// Packets of the flow that arrived.
    pub arrived: u32,
    /// Packets of the flow that were sent, and not lost on the way.
    pub sent: u32,
    /// The flow slows down when it loses: TCP.
    pub responsive: bool,
}

/// The metrics of one port.
#[derive(Clone, Debug)]
pub struct PortMetrics {
    /// Time in the queue in nanoseconds of packets that were sent, by group, and last that of replies.
    delays: Vec<Histogram>,
    losses: Losses,
    synchrony: Synchrony,
    /// Responsive flows that have come so far.
    present: u32,
}

impl PortMetrics {
    /// Nothing yet, of `flows` flows in `groups` groups; a loss event lasts one `rtt`.
    pub fn new(flows: usize, groups: usize, rtt: Span) -> PortMetrics {
        PortMetrics {
            delays: vec![Histogram::default(); groups + 1],
            losses: Losses::new(flows, groups),
            synchrony: Synchrony::new(flows, rtt),
            present: 0,
        }
    }

    /// Begins anew.
    pub fn restart(&mut self) {
        self.delays.fill(Histogram::default());
        self.losses.restart();
        self.synchrony.restart();
        self.present = 0;
    }

    /// A packet arrives; `first_of_responsive` says what it says.
    #[inline]
    pub fn arrived(&mut self, first_of_responsive: bool) {
        self.present += u32::from(first_of_responsive);
    }

    /// A packet of data is sent after `nanos` in the queue.
    #[inline]
    pub fn sent(&mut self, group: usize, nanos: u64) {
        self.delays[group].record(nanos);
    }

    /// A packet that is no data, such as a reply, is sent after `nanos` in the queue.
    #[inline]
    pub fn sent_other(&mut self, nanos: u64) {
        let others = self.delays.len() - 1;
        self.delays[others].record(nanos);
    }

    /// A packet of data is dropped.
    pub fn lost(&mut self, fate: Fate, now: Time) {
        let Fate { flow, group, came, arrived, sent, responsive } = fate;
        self.losses.lost(Loss { flow, group, on_arrival: came == now, arrived, sent }, now);
        if responsive {
            self.synchrony.lost(flow, self.present, now);
        }
    }

    /// A packet of data is lost on the link behind the port. Its receiver cannot tell that from a drop; flows do not lose
    /// together for it, so that [`synchronisation`](PortMetrics::synchronisation) leaves it out.
    pub fn lost_on_the_way(&mut self, fate: Fate, now: Time) {
        let Fate { flow, group, arrived, sent, .. } = fate;
        self.losses.lost(Loss { flow, group, on_arrival: false, arrived, sent }, now);
    }

    /// Time in the queue of all packets that were sent, in nanoseconds.
    pub fn delay(&self) -> Histogram {
        let mut all = Histogram::default();
        self.delays.iter().for_each(|delays| all.merge(delays));
        all
    }

    /// The same by group, and last that of replies.
    pub fn delays(&self) -> &[Histogram] {
        &self.delays
    }

    /// The loss patterns by group; `group_of` gives the group of a flow.
    pub fn loss_patterns(&self, group_of: impl Fn(usize) -> usize) -> Vec<LossPattern> {
        self.losses.patterns(group_of)
    }

    /// Whether responsive flows lose together.
    pub fn synchronisation(&self) -> Synchronisation {
        self.synchrony.indices(self.present)
    }
}
