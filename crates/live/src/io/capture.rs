//! Records of captured packets in a pcapng file.

use headgate_measure::pcapng::{Blocks, Captured, LinkType};

use crate::io::recorded_end::{FrameEvent, FrameRecord, KEPT_BYTES};

/// The capture interfaces of an end, with their descriptions.
const INTERFACES: [(&str, &str); 3] = [
    ("in", "packets that this host sent, before the link's queue"),
    ("out", "packets that the link delivered to this host"),
    ("drops", "this host's packets that were dropped or lost on the link, with the reason"),
];

/// Adds the interface descriptions of the end called `end`.
pub(crate) fn describe(blocks: &mut Blocks, end: &str) {
    for (name, what) in INTERFACES {
        blocks.interface(&format!("{end} {name}"), what, LinkType::Raw, KEPT_BYTES as u32);
    }
}

/// Writes the packet of `record` at `nanos`, for end number `end` of the file. `remark` is added to its comment.
pub(crate) fn write(blocks: &mut Blocks, (end, record): (usize, &FrameRecord), nanos: u64, remark: &str) {
    let (interface, [what, why]) = match record.event {
        FrameEvent::In => (0, ["", ""]),
        FrameEvent::Out => (1, ["", ""]),
        FrameEvent::Dropped(why) => (2, ["dropped: ", why.name()]),
        FrameEvent::Lost => (2, ["lost: ", "link_loss"]),
    };
    let and = if what.is_empty() || remark.is_empty() { "" } else { "; " };
    let comment = [what, why, and, remark];
    let comment = if comment.iter().all(|part| part.is_empty()) { &[][..] } else { &comment };
    let interface = (INTERFACES.len() * end + interface) as u32;
    blocks.packet(&Captured { interface, nanos, length: record.length, bytes: record.bytes(), comment });
}
