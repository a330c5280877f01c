//! How values of the core are shown in tables: counts by reason, and what a queue holds.

use headgate_core::{Backlog, Counts, Why};

use crate::table::{Column, Shows, Unit};

/// Counts of packets: totals, then drops and marks by reason.
pub struct PacketCounts;

impl Shows<Counts> for PacketCounts {
    fn columns<R: 'static>(&self, _: &str, meaning: &str, get: fn(&R) -> &Counts) -> Vec<Column<R>> {
        let packets = |name: &str, meaning: &str, count: fn(&Counts) -> u64| {
            Column::new(name, Unit::Packets, meaning, move |row| count(get(row)))
        };
        let mut all = vec![
            packets("arrived", &format!("Packets that arrived. {}", meaning.trim()), |counts| counts.arrived),
            packets("sent", "Packets that left the queue to be sent.", |counts| counts.sent),
            Column::new("sent_bytes", Unit::Bytes, "Bytes that left the queue to be sent.", move |row| {
                get(row).sent_bytes
            }),
            packets("dropped", "Packets dropped, for whatever reason.", Counts::dropped),
            packets("marked", "Packets marked (ECN), for whatever reason.", Counts::marked),
        ];
        let reason = |name: String, meaning: String, count: Box<dyn Fn(&Counts) -> u64>| {
            Column::new(&name, Unit::Packets, &meaning, move |row| count(get(row)))
        };
        all.extend(Why::ALL.map(|why| {
            let count = Box::new(move |counts: &Counts| counts.drops[why as usize]);
            reason(format!("dropped_{why}"), format!("Packets dropped for the reason `{why}`."), count)
        }));
        all.extend(Why::ALL.map(|why| {
            let count = Box::new(move |counts: &Counts| counts.marks[why as usize]);
            reason(format!("marked_{why}"), format!("Packets marked for the reason `{why}`."), count)
        }));
        all
    }
}

/// What a queue holds.
pub struct Held;

impl Shows<Backlog> for Held {
    fn columns<R: 'static>(&self, name: &str, meaning: &str, get: fn(&R) -> &Backlog) -> Vec<Column<R>> {
        vec![
            Column::new(&format!("{name}_packets"), Unit::Packets, meaning, move |row| get(row).packets),
            Column::new(
                &format!("{name}_bytes"),
                Unit::Bytes,
                "Bytes that wait in the queue just after.",
                move |row| get(row).bytes,
            ),
        ]
    }
}
