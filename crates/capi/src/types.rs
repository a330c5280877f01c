//! What C sees.

use core::ffi::{c_char, c_void};

/// What a call returns. Zero is success, a negative number a mistake of the caller or a failure.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum aqm_status {
    /// Done.
    AQM_OK = 0,
    /// No packet may leave now.
    AQM_EMPTY = 1,
    /// A pointer that must not be null is null.
    AQM_NULL = -1,
    /// An argument has a value that it cannot have.
    AQM_INVALID = -2,
    /// The discipline or one of its settings is unknown or wrong.
    AQM_DISCIPLINE = -3,
    /// A callback of the queue called the queue.
    AQM_BUSY = -4,
    /// A defect of the library. The queue can only be freed.
    AQM_DEFECT = -5,
    /// The queue was freed, or the pointer is none that aqm_new made.
    AQM_FREED = -6,
}

/// A packet. The queue stores a copy of this descriptor, never the packet's data.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aqm_packet {
    /// Its flow: a number of yours, or a hash from aqm_flow.
    pub flow: u64,
    /// Your reference to the packet. The queue never follows it.
    pub user: *mut c_void,
    /// Its size in bytes, headers included; above zero.
    pub bytes: u32,
    /// Its class, for disciplines with classes; else 0.
    pub traffic_class: u16,
    /// The ECN field of its IP header, 0 to 3: 3 if it is marked.
    pub ecn: u8,
}

/// The link behind the queue.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aqm_link {
    /// Its rate in bit/s; above zero.
    pub rate: u64,
    /// The size of a typical packet in bytes; above zero.
    pub mean_packet: u32,
    /// The start of all random decisions: the same seed and the same calls give the same decisions.
    pub seed: u64,
}

/// Counts of a queue since it was made, and what it holds now.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct aqm_counts {
    /// Packets offered.
    pub arrived: u64,
    /// Packets that left.
    pub sent: u64,
    /// Bytes that left.
    pub sent_bytes: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked with ECN's codepoint 3.
    pub marked: u64,
    /// Packets held.
    pub packets: u32,
    /// Bytes held.
    pub bytes: u64,
}

/// Receives a dropped or marked packet. `reason` is a word such as "early", `now` the time of the call in nanoseconds.
/// It must not call the queue, and must not throw.
pub type aqm_on_packet =
    Option<unsafe extern "C" fn(context: *mut c_void, packet: *const aqm_packet, reason: *const c_char, now: u64)>;

/// Receives a gauge, such as "average". It must not call the queue, and must not throw.
pub type aqm_on_gauge = Option<unsafe extern "C" fn(context: *mut c_void, name: *const c_char, value: f64)>;
