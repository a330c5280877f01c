//! Sends frames by AF_XDP (Documentation/networking/af_xdp.rst), in copy mode, which any interface supports. There is
//! no receiving side and no XDP program.
//!
//! Two rings are shared with the kernel. To send, frames are copied to chunks of registered memory, and their
//! descriptors are put on the *transmit* ring. One system call then sends the whole ring. The kernel returns the chunks
//! of sent frames on the *completion* ring.
//!
//! The kernel may leave descriptors on the transmit ring if the driver is full. They would be sent by the next call, so
//! the ring would be a second, hidden queue. Such descriptors are therefore withdrawn, and their frames count as
//! refused.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use aqm::Span;
use rustix::event::poll;
use rustix::io::Errno;
use rustix::net::xdp::{SocketAddrXdp, SocketAddrXdpFlags, XdpRingOffset, XdpUmemReg, XdpUmemRegFlags};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, socket_with, sockopt};

use super::mapping::Mapping;
use super::request::Request;
use crate::error::{LiveError, LiveResult};
use crate::io::clock::timespec;

/// Frames per call. The kernel takes at most 32 (`TX_BATCH_SIZE` in Linux' net/xdp/xsk.c; 16 before 5.11).
const MOST_AT_ONCE: usize = 32;
/// Frames in flight between this socket and their release by the kernel.
const CHUNKS: usize = 1024;
/// Room for released and withdrawn frames.
const COMPLETION_ENTRIES: usize = 2 * CHUNKS;
/// Consecutive calls without progress before the remaining frames are withdrawn. More than one, because an older kernel
/// ends a call after 16 frames.
const MOST_TRIES: usize = 3;
/// Mapping offsets of the rings (linux/if_xdp.h).
const TRANSMIT_RING_OFFSET: u64 = 0x8000_0000;
const COMPLETION_RING_OFFSET: u64 = 0x1_8000_0000;
/// Least and greatest size of a frame's chunk in the registered memory.
const LEAST_CHUNK: usize = 2048;
const MOST_CHUNK: usize = 4096;
/// An Ethernet header. Drivers do not expect shorter frames.
const HEADER: usize = 14;

/// Result of a send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct XdpSendResult {
    /// Frames from the start of the batch that were sent or refused. The frame after them found no free chunk.
    pub(super) consumed: usize,
    /// Refused frames among them.
    pub(super) refused: usize,
}

/// An AF_XDP socket that only sends.
#[derive(Debug)]
pub(super) struct XdpSender {
    /// Transmit ring: descriptors for the kernel.
    transmit: XdpRing,
    /// Completion ring: addresses released by the kernel.
    completed: XdpRing,
    /// Registered memory, divided into chunks of equal size. A chunk is identified by its offset.
    frames: Mapping,
    free: Vec<u64>,
    /// Chunks of the last call's frames.
    submitted: Vec<u64>,
    /// Bytes of a chunk.
    chunk: usize,
    /// Whether frames of the last call were withdrawn and the kernel has not yet skipped them.
    withdrawn: bool,
    /// The kernel's count of skipped descriptors.
    skipped: u64,
    socket: OwnedFd,
}

impl XdpSender {
    /// Opens a socket on the first queue of `interface`, which has number `index`, for Ethernet frames with packets up to `mtu` bytes.
    ///
    /// # Errors
    /// `EBUSY` if the queue has another socket. `EPERM` without `CAP_NET_RAW`. `ENOBUFS` if memory may not be locked.
    /// `Unsupported` if frames exceed a page or the kernel is older than 5.9.
    pub(super) fn open(interface: &str, index: u32, mtu: usize) -> LiveResult<XdpSender> {
        let longest = mtu + HEADER;
        let chunk = longest.next_power_of_two().max(LEAST_CHUNK);
        if chunk > MOST_CHUNK {
            let what =
                format!("{interface}: no AF_XDP: frames of {longest} bytes do not fit the {MOST_CHUNK} of a page");
            return Err(LiveError::Unsupported(what));
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = Request::XdpSocket
            .ask_about(interface, || socket_with(AddressFamily::XDP, SocketType::RAW, flags, None))?;
        let frames = Request::XdpMemory.ask_about(interface, || register_memory(&socket, chunk))?;
        let [transmit, completed] = Request::XdpRings.ask_about(interface, || make_rings(&socket))?;
        let address = SocketAddrXdp::new(SocketAddrXdpFlags::XDP_COPY, index, 0);
        Request::XdpBind.ask_about(interface, || bind_with_retries(&socket, &address))?;
        // A stack, so that few chunks are in use and stay in the cache.
        let free = (0..CHUNKS).rev().map(|n| (n * chunk) as u64).collect();
        let submitted = Vec::with_capacity(MOST_AT_ONCE);
        Ok(XdpSender { transmit, completed, frames, free, submitted, chunk, withdrawn: false, skipped: 0, socket })
    }

    /// Sends up to [`MOST_AT_ONCE`] of `frames`, as many as one call takes, up to a frame of more than `longest` bytes;
    /// `ENXIO` if the interface is gone.
    pub(super) fn send<'a>(
        &mut self,
        longest: usize,
        frames: impl Iterator<Item = &'a [u8]>,
    ) -> io::Result<XdpSendResult> {
        self.completed.drain(&mut self.free, self.frames.bytes() as u64);
        if self.withdrawn && self.skip_withdrawn()?.is_none() {
            return Ok(XdpSendResult::default());
        }
        self.submitted.clear();
        for frame in frames.take(MOST_AT_ONCE) {
            if !(HEADER..=longest.min(self.chunk)).contains(&frame.len()) {
                break;
            }
            let Some(at) = self.free.pop() else { break };
            self.frames.write(at as usize, frame);
            self.transmit.put(self.submitted.len(), at, frame.len() as u32);
            self.submitted.push(at);
        }
        let consumed = self.submitted.len();
        self.transmit.submit(consumed);
        let refused = if consumed == 0 { 0 } else { self.send_ring()? };
        Ok(XdpSendResult { consumed, refused })
    }

    /// Makes the kernel send the ring; returns the number of frames that it refused.
    fn send_ring(&mut self) -> io::Result<usize> {
        let (all, mut refused, mut idle) = (self.submitted.len(), 0, 0);
        while refused < all && idle < MOST_TRIES {
            match send(&self.socket, &[], SendFlags::DONTWAIT) {
                Ok(_) if self.transmit.is_empty() => return Ok(refused),
                // The driver dropped one frame (`NET_XMIT_DROP`). The frames behind it are still on the ring.
                Err(Errno::BUSY) => refused += 1,
                Err(Errno::INTR) => {}
                Err(error @ (Errno::NXIO | Errno::NODEV)) => return Err(error.into()),
                Err(Errno::NETDOWN) => break,
                // The driver or the socket is full, or this call has sent as many frames as it may.
                Ok(_) | Err(_) => idle += 1,
            }
        }
        self.withdraw();
        // While the interface is down, the kernel skips nothing: then all frames were refused.
        Ok(self.skip_withdrawn()?.map_or(all, |left| (refused + left).min(all)))
    }

    /// Withdraws the ring's frames: redirects their descriptors beyond the registered memory, so that the kernel skips
    /// them. The producer index cannot be reset, because the kernel caches it.
    fn withdraw(&mut self) {
        for n in 0..self.submitted.len() {
            self.transmit.replace(self.submitted.len() - n, self.frames.bytes() as u64, 1);
        }
        self.withdrawn = true;
    }

    /// Makes the kernel skip withdrawn descriptors and returns their number; `None` while it does not process the ring.
    fn skip_withdrawn(&mut self) -> io::Result<Option<usize>> {
        // Newer kernels skip one descriptor per call and report it with the next call.
        for _ in 0..=2 * MOST_AT_ONCE {
            if self.transmit.is_empty() {
                break;
            }
            match send(&self.socket, &[], SendFlags::DONTWAIT) {
                Err(error @ (Errno::NXIO | Errno::NODEV)) => return Err(error.into()),
                Err(Errno::NETDOWN) => return Ok(None),
                Ok(_) | Err(_) => {}
            }
        }
        if !self.transmit.is_empty() {
            return Ok(None);
        }
        self.withdrawn = false;
        let all = sockopt::xdp_statistics(self.socket.as_fd())?.tx_invalid_descs;
        let left = ((all - self.skipped) as usize).min(self.submitted.len());
        self.skipped = all;
        // The kernel works in order, so the skipped descriptors are the last ones. It releases the others itself.
        self.free.extend(self.submitted.drain(self.submitted.len() - left..));
        Ok(Some(left))
    }
}

/// Shares memory of [`CHUNKS`] chunks with the kernel.
fn register_memory(socket: &OwnedFd, chunk: usize) -> io::Result<Mapping> {
    let frames = Mapping::anonymous(CHUNKS * chunk)?;
    let memory = XdpUmemReg {
        addr: frames.address().as_ptr().addr() as u64,
        len: frames.bytes() as u64,
        chunk_size: chunk as u32,
        headroom: 0,
        flags: XdpUmemRegFlags::empty(),
        tx_metadata_len: 0,
    };
    sockopt::set_xdp_umem_reg(socket, memory)?;
    Ok(frames)
}

/// The transmit ring and the completion ring.
fn make_rings(socket: &OwnedFd) -> io::Result<[XdpRing; 2]> {
    // The kernel requires this ring although nothing is received.
    sockopt::set_xdp_umem_fill_ring_size(socket, 1)?;
    sockopt::set_xdp_umem_completion_ring_size(socket, COMPLETION_ENTRIES as u32)?;
    sockopt::set_xdp_tx_ring_size(socket, MOST_AT_ONCE as u32)?;
    let offsets = sockopt::xdp_mmap_offsets(socket)?;
    // Older than 5.9.
    if sockopt::xdp_statistics(socket)?.tx_ring_empty_descs.is_none() {
        return Err(Errno::OPNOTSUPP.into());
    }
    Ok([
        XdpRing::map(socket, MOST_AT_ONCE, 16, offsets.tx, TRANSMIT_RING_OFFSET)?,
        XdpRing::map(socket, COMPLETION_ENTRIES, 8, offsets.cr, COMPLETION_RING_OFFSET)?,
    ])
}

/// Binds the socket, with retries: the kernel releases the queue of a closed socket late (`xp_put_pool` in Linux'
/// net/xdp/xsk_buff_pool.c).
fn bind_with_retries(socket: &OwnedFd, address: &SocketAddrXdp) -> io::Result<()> {
    for _ in 0..20 {
        match bind(socket, address) {
            Err(Errno::BUSY) => drop(poll(&mut [], Some(&timespec(Span::from_millis(5))))),
            bound => return bound.map_err(io::Error::from),
        }
    }
    Ok(bind(socket, address)?)
}

/// A ring shared with the kernel: producer count, consumer count, and entries.
#[derive(Debug)]
struct XdpRing {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    /// Number of entries, a power of two.
    size: usize,
    /// Our count.
    count: u32,
}

impl XdpRing {
    fn map(socket: &OwnedFd, size: usize, entry: usize, at: XdpRingOffset, offset: u64) -> io::Result<XdpRing> {
        let [producer, consumer, entries] = [at.producer, at.consumer, at.desc].map(|at| at as usize);
        let memory = Mapping::of(socket.as_fd(), entries + size * entry, offset)?;
        Ok(XdpRing { memory, producer, consumer, entries, size, count: 0 })
    }

    /// Whether the kernel has taken all entries.
    #[inline]
    fn is_empty(&self) -> bool {
        self.memory.word(self.consumer).load(Ordering::Acquire) == self.count
    }

    /// Writes the descriptor (`struct xdp_desc`) `ahead` of our count.
    #[inline]
    fn put(&self, ahead: usize, address: u64, length: u32) {
        self.write(self.count.wrapping_add(ahead as u32), address, length);
    }

    /// Overwrites the descriptor `back` behind our count.
    fn replace(&self, back: usize, address: u64, length: u32) {
        self.write(self.count.wrapping_sub(back as u32), address, length);
    }

    #[inline]
    fn write(&self, number: u32, address: u64, length: u32) {
        let at = self.entries + (number as usize & (self.size - 1)) * 16;
        self.memory.long(at).store(address, Ordering::Relaxed);
        self.memory.word(at + 8).store(length, Ordering::Relaxed);
        self.memory.word(at + 12).store(0, Ordering::Relaxed);
    }

    /// Publishes `more` descriptors to the kernel.
    #[inline]
    fn submit(&mut self, more: usize) {
        self.count = self.count.wrapping_add(more as u32);
        self.memory.word(self.producer).store(self.count, Ordering::Release);
    }

    /// Moves released addresses to `free`, except those beyond `end`: newer kernels also release withdrawn descriptors.
    #[inline]
    fn drain(&mut self, free: &mut Vec<u64>, end: u64) {
        let all = self.memory.word(self.producer).load(Ordering::Acquire);
        while self.count != all {
            let at = self.entries + (self.count as usize & (self.size - 1)) * 8;
            let address = self.memory.long(at).load(Ordering::Relaxed);
            free.extend((address < end).then_some(address));
            self.count = self.count.wrapping_add(1);
        }
        self.memory.word(self.consumer).store(all, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
