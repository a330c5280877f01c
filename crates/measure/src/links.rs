//! The table of links: counts, queue length and utilization of each direction.

use aqm::Counts;
use headgate_scenario::Direction;

use crate::core_columns::CountColumns;
use crate::metrics::PortRow;
use crate::table::{NoColumns, RowColumns, Unit, rows};

rows! {
    /// One direction of a link.
    pub struct LinkRow derives Clone Debug Default PartialEq {
        /// The link's name; `bottleneck` in a dumbbell.
        link: String as Unit::None,
        /// Direction of the link: `forward` or `reverse`.
        direction: Direction as Unit::None,
        /// Whether this direction runs the compared disciplines. Only such a direction has intervals and events.
        compared: bool as Unit::None,
        /// Counted for all packets, data or not.
        counts: Counts as CountColumns,
        /// Packets lost by the emulated medium after they were sent.
        link_losses: u64 as Unit::Packets,
        /// Copies of packets that the emulated medium made: with them, packets arrive twice.
        link_duplicates: u64 as Unit::Packets,
        /// Packets whose ECN field or DSCP the emulated medium changed after they were sent.
        link_remarks: u64 as Unit::Packets,
        /// Packets queued when counting began, and at the end.
        queued: [u64; 2] as NoColumns,
        /// Bits sent over the bits that the link could have carried. At a constant rate this is the share of the time in
        /// which it was sending. Null if it could carry none. RFC 5166, section 2.1.1.
        utilization: Option<f64> as Unit::Share,
        /// Queue length in packets, averaged over time.
        queue_packets_mean: f64 as Unit::Packets,
        /// Queue length in bytes, averaged over time.
        queue_bytes_mean: f64 as Unit::Bytes,
        /// Measurements at the link's port besides the counts.
        port: PortRow as RowColumns,
        /// Packets that compared disciplines sent in the whole run. Only the first such row of a run has the number.
        packets: Option<u64> as Unit::Packets,
        /// Events of the simulator in the whole run, in the same row.
        events: Option<u64> as Unit::Count,
    } also {
        /// Drops over arrivals. Packets dropped for a reason that targets identified flows count as neither; null without
        /// other packets. R. Mahajan, S. Floyd, D. Wetherall, "Controlling high-bandwidth flows at the congested router", ICNP 2001, section 1.
        ambient_drop_rate as Unit::Share, after "queue_delay_ms_max": |row: &LinkRow| {
            let (arrived, dropped) = row.counts.ambient();
            (arrived > 0).then(|| dropped as f64 / arrived as f64)
        };
    }
}

impl LinkRow {
    /// Whether packets are conserved: arrivals plus initial queue equal sent plus dropped plus final queue.
    pub fn conserves(&self) -> bool {
        let [before, after] = self.queued;
        self.counts.arrived + before == self.counts.sent + self.counts.dropped() + after
    }
}

/// Records counts of the whole run in a single row, so that column sums are right.
pub fn record_run_totals(links: &mut [LinkRow], packets: u64, events: u64) {
    if let Some(first) = links.iter_mut().find(|link| link.compared) {
        (first.packets, first.events) = (Some(packets), Some(events));
    }
}
