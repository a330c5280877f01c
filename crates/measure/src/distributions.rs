//! Histogram tables: one row per non-empty bin.

use aqm::parts::Histogram;

use crate::outcome::Outcome;
use crate::table::{GROUP, LINK, Unit, milliseconds, rows};

rows! {
    /// One bin of a histogram of delay.
    pub struct DelayRow derives Clone Copy Debug PartialEq {
        /// `queue_delay`: queueing delay at a link with compared disciplines. `one_way_delay`: time from sender to
        /// receiver.
        measure: &'static str as Unit::None,
        /// The link; null for `one_way_delay`.
        link: Option<u16> as LINK,
        /// The group; null for the queueing delay of acknowledgements.
        group: Option<u32> as GROUP,
        /// Middle of the bin, off by at most 0.8 % of the queueing delay.
        delay_ms: f64 as Unit::Milliseconds,
        /// Packets in the bin.
        count: u64 as Unit::Count,
    }
}

rows! {
    /// One bin of a histogram of loss patterns at a link with compared disciplines.
    pub struct LossRow derives Clone Copy Debug PartialEq {
        /// `run_packets`: packets of a flow lost in a row. `distance_packets`: from one loss of a flow to its next, in
        /// packets of the flow. `interval_ms`: the same in time.
        measure: &'static str as Unit::None,
        /// The link.
        link: Option<u16> as LINK,
        /// The group.
        group: Option<u32> as GROUP,
        /// Middle of the bin: exact below 128 packets, else off by at most 0.8 %.
        value: f64 as Unit::None,
        /// Losses in the bin.
        count: u64 as Unit::Count,
    }
}

impl Outcome {
    /// Queueing delays at links with compared disciplines, and one-way delays.
    pub fn delays(&self) -> Vec<DelayRow> {
        let queueing = self.compared().flat_map(|(number, link)| {
            // The last histogram holds replies, which belong to no group.
            let replies = link.port.delays.len() - 1;
            link.port.delays.iter().enumerate().flat_map(move |(group, delays)| {
                let group = (group < replies).then_some(group as u32);
                let row = move |(nanos, count)| DelayRow {
                    measure: "queue_delay",
                    link: Some(number as u16),
                    group,
                    delay_ms: nanos / 1e6,
                    count,
                };
                delays.iter().map(row)
            })
        });
        let one_way = (0..).zip(&self.one_way).flat_map(|(group, way)| {
            let row = move |(nanos, count)| {
                let delay_ms = milliseconds(way.base) + nanos / 1e6;
                DelayRow { measure: "one_way_delay", link: None, group: Some(group), delay_ms, count }
            };
            way.excess.iter().map(row)
        });
        queueing.chain(one_way).collect()
    }

    /// Loss patterns at links with compared disciplines.
    pub fn losses(&self) -> Vec<LossRow> {
        let mut rows = Vec::new();
        for (number, link) in self.compared() {
            for (group, pattern) in (0..).zip(&link.port.losses) {
                let mut add = |measure, histogram: &Histogram, scale| {
                    let place = (Some(number as u16), Some(group));
                    let row = |(middle, count)| LossRow {
                        measure,
                        link: place.0,
                        group: place.1,
                        value: middle / scale,
                        count,
                    };
                    rows.extend(histogram.iter().map(row));
                };
                add("run_packets", &pattern.runs, 1.0);
                add("distance_packets", &pattern.distances, 1.0);
                add("interval_ms", &pattern.intervals, 1e6);
            }
        }
        rows
    }
}
