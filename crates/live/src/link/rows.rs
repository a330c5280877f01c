//! Rows of the `intervals` table of a real link, from successive views.

use aqm::{Span, Time};
use headgate_measure::{IntervalQuantity, IntervalRow, OverTimeMetric, queue_rows};

use crate::forward::view::{LaneView, View};

#[derive(Debug)]
pub(crate) struct IntervalRows {
    interval: Span,
    /// View at the end of the previous interval.
    before: View,
}

impl IntervalRows {
    /// Creates rows for intervals of `interval`, accurate to the period of views
    /// ([`PUBLISH_INTERVAL`](crate::PUBLISH_INTERVAL)).
    pub(crate) fn new(interval: Span) -> IntervalRows {
        IntervalRows { interval, before: View::default() }
    }

    /// Takes the next view. Returns the rows of an interval if the view ends one. With `last`, the view also ends an
    /// incomplete interval.
    pub(crate) fn rows_until(&mut self, view: &View, last: bool) -> Vec<IntervalRow> {
        let number = |at: Time| at.as_nanos() / self.interval.as_nanos();
        let mut rows = Vec::new();
        if view.at > self.before.at && (last || number(view.at) > number(self.before.at)) {
            for (link, (before, now)) in (0..).zip(self.before.lanes.iter().zip(&view.lanes)) {
                add_rows(&mut rows, link, view.at, view.at - self.before.at, (before, now));
            }
            self.before = view.clone();
        }
        rows
    }
}

fn add_rows(rows: &mut Vec<IntervalRow>, link: u16, at: Time, length: Span, (before, now): (&LaneView, &LaneView)) {
    let (old, new) = (before.totals.counts(), now.totals.counts());
    let ((arrived, dropped), (arrived_before, dropped_before)) = (new.ambient(), old.ambient());
    let means = now.occupancy.means_since(&before.occupancy);
    rows.extend(queue_rows(at, link, means, (arrived - arrived_before, dropped - dropped_before)));
    let counts = [
        (OverTimeMetric::SENT_BPS, (new.sent_bytes - old.sent_bytes) as f64 * 8.0 / length.as_secs_f64()),
        (OverTimeMetric::DROPS, (new.dropped() - old.dropped()) as f64),
        (OverTimeMetric::MARKS, (new.marked() - old.marked()) as f64),
        (OverTimeMetric::LINK_LOSSES, (now.counts.lost - before.counts.lost) as f64),
    ];
    let counts = counts.map(|(metric, value)| (IntervalQuantity::Metric(metric), value));
    let gauges = now.gauges.iter().map(|(name, value)| (IntervalQuantity::Gauge(name), *value));
    rows.extend(counts.into_iter().chain(gauges).map(|(what, value)| IntervalRow::of_link(at, link, what, value)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(rows: &[IntervalRow], metric: &str, link: u16) -> f64 {
        rows.iter().find(|row| row.metric.name() == metric && row.link == Some(link)).unwrap().value
    }

    #[test]
    fn each_interval_has_one_set_of_rows_about_its_own_packets() {
        let mut rows = IntervalRows::new(Span::from_millis(100));
        let view = |ms: u64, lost: u64| {
            let mut view = View { at: Time::ZERO + Span::from_millis(ms), ..View::default() };
            view.lanes[1].counts.lost = lost;
            view
        };
        assert_eq!(rows.rows_until(&view(50, 1), false), []);
        let first = rows.rows_until(&view(101, 3), false);
        assert_eq!(
            (value(&first, "link_losses", 1), value(&first, "link_losses", 0), first[0].time_s),
            (3.0, 0.0, 0.101)
        );
        assert!(first.iter().all(|row| row.metric.name() != "ambient_drop_rate"), "a drop rate needs arrivals");
        assert_eq!(rows.rows_until(&view(151, 4), false), []);
        // A late view ends all intervals before it.
        assert_eq!(value(&rows.rows_until(&view(420, 9), false), "link_losses", 1), 6.0);
        assert_eq!(value(&rows.rows_until(&view(430, 10), true), "link_losses", 1), 1.0);
        assert_eq!(rows.rows_until(&view(430, 10), true), []);
    }
}
