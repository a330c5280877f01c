//! The functions. Each is one entry of `entered`, which checks the handle and stops panics.

use core::ffi::{CStr, c_char, c_void};
use core::panic::AssertUnwindSafe;
use std::ffi::CString;
use std::panic::catch_unwind;

use aqm::{Packet, Time};

use crate::error::fail;
use crate::handle::{Word, aqm_queue};
use crate::queue::{Callback, Host, Queue, described, stored};
use crate::types::aqm_status::{
    AQM_BUSY, AQM_DEFECT, AQM_DISCIPLINE, AQM_EMPTY, AQM_FREED, AQM_INVALID, AQM_NULL, AQM_OK,
};
use crate::types::{aqm_counts, aqm_link, aqm_on_gauge, aqm_on_packet, aqm_packet, aqm_status};

/// Runs `work` on the queue. Fails if the pointer is null or no live queue, a call is under way, or a call has panicked.
///
/// # Safety
/// `queue` is null or was made by `aqm_new`, and no other thread uses it.
unsafe fn entered(queue: *const aqm_queue, work: impl FnOnce(&mut Queue) -> aqm_status) -> aqm_status {
    if queue.is_null() {
        return fail(AQM_NULL, "the queue is null");
    }
    if !queue.is_aligned() {
        return fail(AQM_FREED, NOT_MADE);
    }
    // SAFETY: it is not null and aligned. The memory of a handle is never given back, and only shared references to it exist.
    let handle = unsafe { &*queue };
    match handle.word.get() {
        Word::READY => handle.word.set(Word::BUSY),
        Word::BUSY => return fail(AQM_BUSY, "a callback called the queue"),
        Word::BROKEN => return fail(AQM_DEFECT, "the queue is broken: free it"),
        Word::FREED => return fail(AQM_FREED, "the queue was freed"),
        _ => return fail(AQM_FREED, NOT_MADE),
    }
    // SAFETY: `BUSY` keeps any other call from here until the word is set again, so this is the only reference.
    let inside = unsafe { &mut *handle.inside.get() };
    let inside = inside.as_mut().expect("only a freed handle has no queue");
    let (word, status) = match catch_unwind(AssertUnwindSafe(|| work(inside))) {
        Ok(status) => (Word::READY, status),
        Err(_) => {
            (Word::BROKEN, fail(AQM_DEFECT, "a defect of the library: please report the discipline and the calls"))
        }
    };
    handle.word.set(word);
    status
}

const NOT_MADE: &str = "the pointer is no queue: aqm_new did not make it";

/// Sets one of the queue's callbacks.
///
/// # Safety
/// `queue` is null or a live queue that no other thread uses.
unsafe fn set_callback(
    queue: *const aqm_queue,
    place: impl FnOnce(&mut Host) -> &mut Callback,
    callback: Callback,
) -> aqm_status {
    // SAFETY: the caller promises a live queue.
    unsafe {
        entered(queue, |queue| {
            *place(&mut queue.host) = callback;
            AQM_OK
        })
    }
}

/// Sets the queue's time, which never goes back.
fn at(queue: &mut Queue, now: u64) -> Result<Time, aqm_status> {
    let time = Time::from_nanos(now);
    if time < queue.now || time == Time::NEVER {
        let last = queue.now.as_nanos();
        return Err(fail(AQM_INVALID, format!("time goes back or ends: {now} ns after {last} ns")));
    }
    queue.now = time;
    Ok(time)
}

/// The version of the library, such as "0.2.0".
#[unsafe(no_mangle)]
pub extern "C" fn aqm_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero bytes"),
    };
    VERSION.as_ptr()
}

/// Makes a queue with the discipline `qdisc`, such as "faba:limit=780p" (`headgate list` has all), and writes it to
/// `queue`. A discipline without a limit of its own holds 1000 packets.
///
/// # Safety
/// `qdisc` is a C string or null, `link` and `queue` are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_new(
    qdisc: *const c_char,
    link: *const aqm_link,
    queue: *mut *mut aqm_queue,
) -> aqm_status {
    if qdisc.is_null() || queue.is_null() {
        return fail(AQM_NULL, "the discipline or the place for the queue is null");
    }
    // SAFETY: the caller promises a C string, a link or null, and a place that can be written.
    let (text, link) = unsafe {
        *queue = core::ptr::null_mut();
        (CStr::from_ptr(qdisc).to_string_lossy(), link.as_ref())
    };
    let Some(link) = link else { return fail(AQM_NULL, "the link is null") };
    if link.rate == 0 || link.mean_packet == 0 {
        return fail(AQM_INVALID, "the link's rate and mean_packet must be above zero");
    }
    match catch_unwind(|| Queue::new(&text, link)) {
        Ok(Ok(made)) => {
            // SAFETY: as above.
            unsafe { *queue = aqm_queue::new(made) };
            AQM_OK
        }
        Ok(Err(words)) => fail(AQM_DISCIPLINE, words),
        Err(_) => fail(AQM_DEFECT, "a defect of the library: please report the discipline"),
    }
}

/// Frees a queue. Its packets go to the callback for drops, with the reason "freed". Null is ignored. Later calls with this
/// pointer return AQM_FREED, as long as fewer than 256 others were freed since.
///
/// # Safety
/// `queue` is null or was made by `aqm_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_free(queue: *mut aqm_queue) -> aqm_status {
    if queue.is_null() {
        return AQM_OK;
    }
    // SAFETY: the caller promises a live queue.
    let status = unsafe {
        entered(queue, |queue| {
            let now = queue.now;
            for packet in queue.port.drain(now, &mut |_| ()) {
                queue.host.tell(queue.host.on_drop, &described(&packet), "freed", now);
            }
            AQM_OK
        })
    };
    if status != AQM_BUSY && status != AQM_FREED {
        // SAFETY: its word tells that it is a queue, and no call is under way.
        unsafe { aqm_queue::free(queue) };
    }
    status
}

/// Calls `function` with `context` for every dropped packet from now on; null for no function. An arriving packet can be
/// dropped by its own aqm_enqueue.
///
/// # Safety
/// `queue` is null or a live queue, `function` can be called with `context` while the queue lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_set_on_drop(
    queue: *mut aqm_queue,
    function: aqm_on_packet,
    context: *mut c_void,
) -> aqm_status {
    // SAFETY: the caller promises a live queue.
    unsafe { set_callback(queue, |host| &mut host.on_drop, Callback { function, context }) }
}

/// Calls `function` with `context` for every marked packet from now on; null for no function.
///
/// # Safety
/// As for aqm_set_on_drop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_set_on_mark(
    queue: *mut aqm_queue,
    function: aqm_on_packet,
    context: *mut c_void,
) -> aqm_status {
    // SAFETY: the caller promises a live queue.
    unsafe { set_callback(queue, |host| &mut host.on_mark, Callback { function, context }) }
}

/// Offers a packet to the queue at `now` ns. Afterwards the queue holds it, or it was given to the callback for drops;
/// both are AQM_OK.
///
/// # Safety
/// `queue` is null or a live queue, `packet` null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_enqueue(queue: *mut aqm_queue, packet: *const aqm_packet, now: u64) -> aqm_status {
    // SAFETY: the caller promises a packet or null.
    let Some(packet) = (unsafe { packet.as_ref() }) else { return fail(AQM_NULL, "the packet is null") };
    if packet.bytes == 0 || packet.ecn > 3 {
        return fail(AQM_INVALID, "a packet has at least one byte, and an ecn of 0 to 3");
    }
    // SAFETY: the caller promises a live queue.
    unsafe {
        entered(queue, |queue| match at(queue, now) {
            Ok(now) => {
                queue.port.enqueue(stored(packet), now, &mut queue.host);
                AQM_OK
            }
            Err(status) => status,
        })
    }
}

/// Takes the next packet to send at `now` ns and writes it to `packet`; AQM_EMPTY if none may leave now. Call it
/// whenever the link is free, even if the queue is empty: disciplines detect idle periods by it.
///
/// # Safety
/// `queue` is null or a live queue, `packet` null or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_dequeue(queue: *mut aqm_queue, now: u64, packet: *mut aqm_packet) -> aqm_status {
    if packet.is_null() {
        return fail(AQM_NULL, "the place for the packet is null");
    }
    let mut taken: Option<Packet<_>> = None;
    // SAFETY: the caller promises a live queue.
    let status = unsafe {
        entered(queue, |queue| match at(queue, now) {
            Ok(now) => {
                taken = queue.port.dequeue(now, &mut queue.host);
                if taken.is_some() { AQM_OK } else { AQM_EMPTY }
            }
            Err(status) => status,
        })
    };
    if let Some(taken) = taken {
        // SAFETY: the caller promises a place for a packet.
        unsafe { packet.write(described(&taken)) };
    }
    status
}

/// Writes to `next` when to call aqm_dequeue again, in ns: `now` if a packet may leave now, later if the discipline
/// shapes, UINT64_MAX if the queue is empty.
///
/// # Safety
/// `queue` is null or a live queue, `next` null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_next_event(queue: *const aqm_queue, now: u64, next: *mut u64) -> aqm_status {
    if next.is_null() {
        return fail(AQM_NULL, "the place for the time is null");
    }
    // SAFETY: the caller promises a live queue and a place for a number.
    unsafe {
        entered(queue, |queue| {
            next.write(queue.port.ready_at(Time::from_nanos(now)).map_or(u64::MAX, Time::as_nanos));
            AQM_OK
        })
    }
}

/// Writes the queue's counts to `counts`.
///
/// # Safety
/// `queue` is null or a live queue, `counts` null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_count(queue: *const aqm_queue, counts: *mut aqm_counts) -> aqm_status {
    if counts.is_null() {
        return fail(AQM_NULL, "the place for the counts is null");
    }
    // SAFETY: the caller promises a live queue and a place for counts.
    unsafe {
        entered(queue, |queue| {
            let (seen, held) = (queue.port.totals().counts(), queue.port.backlog());
            counts.write(aqm_counts {
                arrived: seen.arrived,
                sent: seen.sent,
                sent_bytes: seen.sent_bytes,
                dropped: seen.dropped(),
                marked: seen.marked(),
                packets: held.packets,
                bytes: held.bytes,
            });
            AQM_OK
        })
    }
}

/// Calls `function` with `context` for every gauge of the discipline, such as an average queue or a probability.
///
/// # Safety
/// `queue` is null or a live queue, `function` can be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_gauges(
    queue: *const aqm_queue,
    function: aqm_on_gauge,
    context: *mut c_void,
) -> aqm_status {
    let Some(function) = function else { return fail(AQM_NULL, "the function is null") };
    // SAFETY: the caller promises a live queue, and a function that can be called with its context.
    unsafe {
        entered(queue, |queue| {
            for (name, value) in queue.port.gauges() {
                let name = CString::new(name).expect("a gauge's name has no zero bytes");
                function(context, name.as_ptr(), value);
            }
            AQM_OK
        })
    }
}

/// Writes to `flow` a hash of the `length` bytes at `bytes` that identify a flow, such as addresses, ports and protocol.
/// The hash is keyed by the queue's seed, so others cannot choose bytes that share a flow.
///
/// # Safety
/// `queue` is null or a live queue, `bytes` null or of that length, `flow` null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_flow(
    queue: *const aqm_queue,
    bytes: *const c_void,
    length: usize,
    flow: *mut u64,
) -> aqm_status {
    if bytes.is_null() || flow.is_null() {
        return fail(AQM_NULL, "the bytes or the place for the flow are null");
    }
    // SAFETY: the caller promises a live queue, bytes of that length, and a place for a number.
    unsafe {
        entered(queue, |queue| {
            flow.write(queue.flow(core::slice::from_raw_parts(bytes.cast(), length)));
            AQM_OK
        })
    }
}
