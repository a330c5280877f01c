//! What is measured at one port beyond the counts: queueing delay by group, loss patterns, loss synchronisation.

use headgate_core::parts::Histogram;
use headgate_core::{Span, Time};

use crate::table::{Column, Hidden, Nested, Shows, Unit, quantiles, rows};

use super::loss::{Loss, LossPattern, Losses};
use super::synchrony::{Synchronisation, Synchrony};

/// Queueing delay, kept in nanoseconds: mean and quantiles in milliseconds. The least and the greatest are the middles of
/// the outermost bins.
struct Delays;

impl Shows<Histogram> for Delays {
    fn columns<R: 'static>(&self, name: &str, _: &str, get: fn(&R) -> &Histogram) -> Vec<Column<R>> {
        let delay = (&*format!("{name}_ms"), Unit::Milliseconds, "Queueing delay of the packets that were sent");
        let shares =
            [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)].map(|(part, share)| (part, Some(share)));
        let parts: Vec<_> = [("mean", None), ("min", Some(0.0))].into_iter().chain(shares).collect();
        quantiles(delay, &parts, get)
    }
}

rows! {
    /// What was measured at one port.
    pub struct PortRow derives Clone Debug Default PartialEq {
        /// Time in the queue of all packets that were sent, in nanoseconds.
        delay: Histogram as Delays,
        /// The same by group, and last that of replies (acknowledgements).
        delays: Vec<Histogram> as Hidden,
        /// How losses of data follow each other, by group.
        losses: Vec<LossPattern> as Hidden,
        /// Whether TCP flows lose together.
        synchronisation: Synchronisation as Nested,
    }
}

/// The metrics of one port, as they grow.
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

    /// A packet of data is dropped, of a flow that is `responsive` or not: TCP slows down when it loses.
    pub fn lost(&mut self, loss: Loss, responsive: bool, now: Time) {
        self.losses.lost(loss, now);
        if responsive {
            self.synchrony.lost(loss.flow, self.present, now);
        }
    }

    /// A packet of data is lost on the link behind the port. Its receiver cannot tell that from a drop; flows do not lose
    /// together for it, so that [`PortRow::synchronisation`] leaves it out.
    pub fn lost_on_the_way(&mut self, loss: Loss, now: Time) {
        self.losses.lost(loss, now);
    }

    /// What was measured; `group_of` gives the group of a flow.
    pub fn row(&self, group_of: impl Fn(usize) -> usize) -> PortRow {
        let mut delay = Histogram::default();
        self.delays.iter().for_each(|delays| delay.merge(delays));
        PortRow {
            delay,
            delays: self.delays.clone(),
            losses: self.losses.patterns(group_of),
            synchronisation: self.synchrony.indices(self.present),
        }
    }
}
