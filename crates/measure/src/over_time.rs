//! Metrics of links and groups over time, one value per interval.

use aqm::{Span, Time};

use crate::table::{GROUP_NAME, LINK, NoColumns, Unit, rows};

/// A metric over time.
#[derive(Debug, PartialEq, Eq)]
pub struct OverTimeMetric {
    /// Its name.
    pub name: &'static str,
    /// Its subject: `link`, `group`, or either.
    pub of: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its meaning, in a sentence.
    pub meaning: &'static str,
}

/// Declares metrics over time: meaning, constant, name in tables, subject, unit.
macro_rules! metrics {
    ($($(#[doc = $meaning:literal])+ $metric:ident = $name:literal, of $of:literal in $unit:ident;)+) => {
        impl OverTimeMetric {
            $($(#[doc = $meaning])+ pub const $metric: &OverTimeMetric =
                &OverTimeMetric { name: $name, of: $of, unit: Unit::$unit, meaning: concat!($($meaning),+) };)+
            /// Every metric, in the order in which they are documented.
            pub const ALL: &[&OverTimeMetric] = &[$(OverTimeMetric::$metric),+];
        }
    };
}

metrics! {
    /// Packets in the queue, averaged over the interval.
    QUEUE_PACKETS = "queue_packets", of "link" in Packets;
    /// Bytes in the queue, averaged over the interval.
    QUEUE_BYTES = "queue_bytes", of "link" in Bytes;
    /// Bits sent over the bits that the link could have carried in the interval. No row if it could carry none.
    UTILIZATION = "utilization", of "link" in Share;
    /// Ambient drop rate as in `links`: the interval's drops over its arrivals. No row if none arrived.
    AMBIENT_DROP_RATE = "ambient_drop_rate", of "link" in Share;
    /// Useful bits delivered per second, averaged over the interval.
    GOODPUT_BPS = "goodput_bps", of "group" in BitsPerSecond;
    /// Data packets dropped. In `intervals.parquet` of a running link, packets of any kind.
    DROPS = "drops", of "group or link" in Packets;
    /// Data packets marked (ECN). In `intervals.parquet` of a running link, packets of any kind.
    MARKS = "marks", of "group or link" in Packets;
    /// Bits sent per second, averaged over the interval. Running links only.
    SENT_BPS = "sent_bps", of "link" in BitsPerSecond;
    /// Packets lost by the emulated medium. Running links only.
    LINK_LOSSES = "link_losses", of "link" in Packets;
}

/// The quantity of a row over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalQuantity {
    /// A metric.
    Metric(&'static OverTimeMetric),
    /// A gauge of the link's discipline, by its name, at the interval's end.
    Gauge(&'static str),
}

impl IntervalQuantity {
    /// The metric's name, or the gauge's.
    pub fn name(self) -> &'static str {
        match self {
            IntervalQuantity::Metric(metric) => metric.name,
            IntervalQuantity::Gauge(name) => name,
        }
    }

    /// The name in tables.
    pub fn table_name(self) -> String {
        match self {
            IntervalQuantity::Metric(metric) => metric.name.to_string(),
            IntervalQuantity::Gauge(name) => format!("gauge:{name}"),
        }
    }
}

rows! {
    /// One metric over one interval, of a link or of a group.
    pub struct IntervalRow derives Clone Debug PartialEq {
        /// The interval's end.
        time_s: f64 as Unit::Seconds,
        /// The measured quantity.
        metric: IntervalQuantity as NoColumns,
        /// The link; null where the metric is of a group.
        link: Option<u16> as LINK,
        /// The group; null where the metric is of a link.
        group: Option<u32> as GROUP_NAME,
        /// The metric's value.
        value: f64 as Unit::None,
    } also {
        /// Name of the metric ([below](#metrics-over-time)), or `gauge:NAME` for a gauge of the link's discipline.
        metric as Unit::None, after "time_s": |row: &IntervalRow| row.metric.table_name();
    }
}

impl IntervalRow {
    /// The row of a link for the interval that ends at `now`.
    pub fn of_link(now: Time, link: u16, metric: IntervalQuantity, value: f64) -> IntervalRow {
        IntervalRow { time_s: now.as_secs_f64(), metric, link: Some(link), group: None, value }
    }
}

/// A link's rows for the interval that ends at `now`: queue means, utilization and ambient drop rate.
pub fn queue_rows(
    now: Time,
    link: u16,
    (packets, bytes, utilization): (f64, f64, Option<f64>),
    (arrived, dropped): (u64, u64),
) -> impl Iterator<Item = IntervalRow> {
    let means = [(OverTimeMetric::QUEUE_PACKETS, packets), (OverTimeMetric::QUEUE_BYTES, bytes)];
    let utilization = utilization.map(|share| (OverTimeMetric::UTILIZATION, share));
    let ambient = (arrived > 0).then(|| (OverTimeMetric::AMBIENT_DROP_RATE, dropped as f64 / arrived as f64));
    let row = move |(metric, value)| IntervalRow::of_link(now, link, IntervalQuantity::Metric(metric), value);
    means.into_iter().chain(utilization).chain(ambient).map(row)
}

/// A group's rows for an interval of `length` that ends at `now`: useful bytes delivered, packets dropped and marked.
pub fn group_rows((now, length): (Time, Span), group: u32, bytes: u64, (drops, marks): (u64, u64)) -> [IntervalRow; 3] {
    let (time_s, goodput) = (now.as_secs_f64(), bytes as f64 * 8.0 / length.as_secs_f64());
    let metrics = [
        (OverTimeMetric::GOODPUT_BPS, goodput),
        (OverTimeMetric::DROPS, drops as f64),
        (OverTimeMetric::MARKS, marks as f64),
    ];
    metrics.map(|(metric, value)| IntervalRow {
        time_s,
        metric: IntervalQuantity::Metric(metric),
        link: None,
        group: Some(group),
        value,
    })
}

/// Two counters at the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampledCounters(u64, u64);

impl SampledCounters {
    /// Returns the increments since the last sample and takes a new one.
    pub fn increments(&mut self, now: (u64, u64)) -> (u64, u64) {
        let SampledCounters(first, second) = std::mem::replace(self, SampledCounters(now.0, now.1));
        (now.0.wrapping_sub(first), now.1.wrapping_sub(second))
    }

    /// Adapts to counters that restart from 0 after they reached `now`. The next increments still include the counts
    /// before the restart, because the stored values wrap below 0.
    pub fn restart(&mut self, now: (u64, u64)) {
        *self = SampledCounters(self.0.wrapping_sub(now.0), self.1.wrapping_sub(now.1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_before_a_restart_are_part_of_the_next_increments() {
        let mut counters = SampledCounters::default();
        assert_eq!(counters.increments((10, 1)), (10, 1));
        counters.restart((17, 3));
        assert_eq!(counters.increments((5, 0)), (12, 2), "7 and 2 before, 5 and 0 after");
        assert_eq!(counters.increments((6, 4)), (1, 4));
    }
}
