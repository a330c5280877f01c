//! Metrics of one port beyond counts: queueing delay by group, loss patterns, loss synchronization.

use aqm::parts::Histogram;
use aqm::{Span, Time};

use crate::table::{Column, FieldColumns, NoColumns, RowColumns, Unit, quantiles, rows};

use super::loss::{Loss, LossMeter, LossPattern};
use super::synchronization::{LossSynchronization, SynchronizationMeter};

/// Columns of a queueing delay in ms, which is stored in ns. Minimum and maximum are the middles of the outermost bins.
struct DelayColumns;

impl FieldColumns<Histogram> for DelayColumns {
    fn columns<R: 'static>(&self, name: &str, _: &str, get: fn(&R) -> &Histogram) -> Vec<Column<R>> {
        let delay = (&*format!("{name}_ms"), Unit::Milliseconds, "Queueing delay of the packets that were sent");
        let shares =
            [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)].map(|(part, share)| (part, Some(share)));
        let parts: Vec<_> = [("mean", None), ("min", Some(0.0))].into_iter().chain(shares).collect();
        quantiles(delay, &parts, get)
    }
}

rows! {
    /// Measurements at one port.
    pub struct PortRow derives Clone Debug Default PartialEq {
        /// Queueing delay of all packets that were sent, in nanoseconds.
        queue_delay: Histogram as DelayColumns,
        /// The same by group, and last that of replies (acknowledgements).
        delays: Vec<Histogram> as NoColumns,
        /// Loss patterns of data, by group.
        losses: Vec<LossPattern> as NoColumns,
        /// Synchronization of the losses of TCP flows.
        synchronization: LossSynchronization as RowColumns,
    }
}

/// The metrics of one port, in progress.
#[derive(Clone, Debug)]
pub struct PortMetrics {
    /// Queueing delay of sent packets in nanoseconds, by group; replies last.
    delays: Vec<Histogram>,
    losses: LossMeter,
    synchronization: SynchronizationMeter,
    /// Responsive flows seen so far.
    responsive_seen: u32,
}

impl PortMetrics {
    /// Empty metrics of `flows` flows in `groups` groups; a loss event lasts one `rtt`.
    pub fn new(flows: usize, groups: usize, rtt: Span) -> PortMetrics {
        PortMetrics {
            delays: vec![Histogram::default(); groups + 1],
            losses: LossMeter::new(flows, groups),
            synchronization: SynchronizationMeter::new(flows, rtt),
            responsive_seen: 0,
        }
    }

    /// Discards all measurements.
    pub fn restart(&mut self) {
        self.delays.fill(Histogram::default());
        self.losses.restart();
        self.synchronization.restart();
        self.responsive_seen = 0;
    }

    /// A packet arrives, perhaps the first of a responsive flow.
    #[inline]
    pub fn arrived(&mut self, first_of_responsive: bool) {
        self.responsive_seen += u32::from(first_of_responsive);
    }

    /// A data packet is sent after `nanos` in the queue.
    #[inline]
    pub fn sent(&mut self, group: usize, nanos: u64) {
        self.delays[group].record(nanos);
    }

    /// Another packet, such as a reply, is sent after `nanos` in the queue.
    #[inline]
    pub fn sent_other(&mut self, nanos: u64) {
        let others = self.delays.len() - 1;
        self.delays[others].record(nanos);
    }

    /// A data packet of a `responsive` or an unresponsive flow is dropped.
    pub fn dropped(&mut self, loss: Loss, responsive: bool, now: Time) {
        self.losses.record(loss, now);
        if responsive {
            self.synchronization.record_drop(loss.flow, now);
        }
    }

    /// A data packet is lost on the link: a loss to its receiver, but not part of [`PortRow::synchronization`].
    pub fn record_link_loss(&mut self, loss: Loss, now: Time) {
        self.losses.record(loss, now);
    }

    /// The results; `group_of` maps a flow to its group.
    pub fn row(&self, group_of: impl Fn(usize) -> usize) -> PortRow {
        let mut queue_delay = Histogram::default();
        self.delays.iter().for_each(|delays| queue_delay.merge(delays));
        PortRow {
            queue_delay,
            delays: self.delays.clone(),
            losses: self.losses.patterns(group_of),
            synchronization: self.synchronization.indices(self.responsive_seen),
        }
    }
}
