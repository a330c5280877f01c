//! Columns for values of the core: counts by reason, and queue contents.

use aqm::{Backlog, Counts, Why};

use crate::reasons::reasons;
use crate::table::{Column, FieldColumns, Unit};

/// Counts of packets: totals, then drops and marks by reason.
pub struct CountColumns;

impl FieldColumns<Counts> for CountColumns {
    fn columns<R: 'static>(&self, _: &str, meaning: &str, get: fn(&R) -> &Counts) -> Vec<Column<R>> {
        let packets = |name: &str, meaning: &str, count: fn(&Counts) -> u64| {
            Column::new(name, Unit::Packets, meaning, move |row| count(get(row)))
        };
        let mut all = vec![
            packets("arrived", &format!("Packets that arrived. {}", meaning.trim()), |counts| counts.arrived),
            packets("sent", "Packets that left the queue and were sent.", |counts| counts.sent),
            Column::new("sent_bytes", Unit::Bytes, "Bytes that left the queue and were sent.", move |row| {
                get(row).sent_bytes
            }),
            packets("dropped", "Packets dropped, for any reason.", Counts::dropped),
            packets("marked", "Packets marked (ECN), for any reason.", Counts::marked),
        ];
        let of_reason = |verb: &str, why: Why, count: fn(&Counts, Why) -> u64| {
            let meaning = format!("Packets {verb} for the reason `{why}`.");
            Column::new(&format!("{verb}_{why}"), Unit::Packets, &meaning, move |row| count(get(row), why))
                .only_for(why)
        };
        let reasons = reasons();
        all.extend(reasons.iter().map(|why| of_reason("dropped", *why, Counts::drops)));
        all.extend(reasons.iter().map(|why| of_reason("marked", *why, Counts::marks)));
        all
    }
}

/// Columns of a queue's contents.
pub struct BacklogColumns;

impl FieldColumns<Backlog> for BacklogColumns {
    fn columns<R: 'static>(&self, name: &str, meaning: &str, get: fn(&R) -> &Backlog) -> Vec<Column<R>> {
        vec![
            Column::new(&format!("{name}_packets"), Unit::Packets, meaning, move |row| get(row).packets),
            Column::new(
                &format!("{name}_bytes"),
                Unit::Bytes,
                "Bytes in the queue just after the event.",
                move |row| get(row).bytes,
            ),
        ]
    }
}
