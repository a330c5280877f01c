//! The table of links: counts, queue length and utilization of each direction.

use headgate_core::Counts;
use headgate_scenario::Direction;

use crate::metrics::PortRow;
use crate::shown::PacketCounts;
use crate::table::{Hidden, Nested, Unit, rows};

rows! {
    /// One direction of a link.
    pub struct LinkRow derives Clone Debug Default PartialEq {
        /// The link's name; `bottleneck` in a dumbbell.
        link: String as Unit::None,
        /// Which way along the link: `forward` or `reverse`.
        direction: Direction as Unit::None,
        /// Whether disciplines are compared there: intervals, events and the unit of cost are of such links.
        compared: bool as Unit::None,
        /// All packets, data or not.
        counts: Counts as PacketCounts,
        /// Packets that were sent and lost on the way.
        link_losses: u64 as Unit::Packets,
        /// Packets that waited when counting began, and at the end.
        queued: [u64; 2] as Hidden,
        /// Share of the time in which the link was sending.
        utilization: f64 as Unit::Share,
        /// Queue averaged over time, in packets.
        queue_packets_mean: f64 as Unit::Packets,
        /// Queue averaged over time, in bytes.
        queue_bytes_mean: f64 as Unit::Bytes,
        /// What is measured at the link's port beyond the counts.
        port: PortRow as Nested,
        /// Packets sent in the whole run where disciplines are compared, in the first row of such a link.
        packets: Option<u64> as Unit::Packets,
        /// The simulator's events in the whole run, in the same row.
        events: Option<u64> as Unit::Count,
    } also {
        /// Packets dropped over packets that arrived, without those that a discipline dropped since it had singled their
        /// flow out; null if none arrived. R. Mahajan, S. Floyd, D. Wetherall, "Controlling high-bandwidth flows at the
        /// congested router", ICNP 2001, section 1.
        ambient_drop_rate as Unit::Share, after "queue_delay_ms_max": |row: &LinkRow| {
            let (came, dropped) = row.counts.ambient();
            (came > 0).then(|| dropped as f64 / came as f64)
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
pub fn note_run(links: &mut [LinkRow], packets: u64, events: u64) {
    if let Some(first) = links.iter_mut().find(|link| link.compared) {
        (first.packets, first.events) = (Some(packets), Some(events));
    }
}
