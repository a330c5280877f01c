//! Frames out by AF_XDP (Documentation/networking/af_xdp.rst): a socket that has no receiving side and needs no program, in
//! copy mode, which any interface has.
//!
//! Frames are copied to memory that the kernel knows, a descriptor of each goes to a ring, and one call sends what the
//! ring has. What the kernel did not take then is taken back: it would go out with the next call, and be a second queue that
//! nobody sees.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use headgate_core::Span;
use rustix::event::poll;
use rustix::io::Errno;
use rustix::net::xdp::{SocketAddrXdp, SocketAddrXdpFlags, XdpRingOffset, XdpUmemReg, XdpUmemRegFlags};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, socket_with, sockopt};

use super::mapping::Mapping;
use crate::io::clock::timespec;

/// Frames that one call sends. The kernel takes 32 of them at most (`TX_BATCH_SIZE` in Linux' net/xdp/xsk.c; 16 before 5.11).
const AT_ONCE: usize = 32;
/// Frames that may be on their way, from here to where the kernel lets go of them.
const ROOM: usize = 1024;
/// Room for what the kernel has let go of, and for what was taken back.
const DONE: usize = 2 * ROOM;
/// Calls in a row that may take nothing before what is left is taken back. The first may have ended at 16 frames.
const TRIES: usize = 3;
/// Offsets at which the rings are mapped (linux/if_xdp.h).
const SENT_AT: u64 = 0x8000_0000;
const DONE_AT: u64 = 0x1_8000_0000;
/// The least and the most that a frame's place may have.
const LEAST: usize = 2048;
const MOST: usize = 4096;
/// An Ethernet header. Of anything shorter no driver expects to be asked to send it.
const HEADER: usize = 14;

/// What became of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// These many, the first ones, were sent or refused. For the next there was no place here.
    pub(super) dealt: usize,
    /// These many of them were refused.
    pub(super) refused: usize,
}

/// A socket that sends.
#[derive(Debug)]
pub(super) struct XdpSender {
    /// Descriptors of frames, from us to the kernel.
    sent: Ring,
    /// Addresses of frames that the kernel has let go of.
    done: Ring,
    /// The frames: places of one size, known by where they begin.
    frames: Mapping,
    /// Places that hold no frame.
    free: Vec<u64>,
    /// The places of the frames that the last call was to send.
    last: Vec<u64>,
    /// The longest frame that may be sent.
    longest: usize,
    /// The last call's frames were taken back, and the kernel has yet to pass over them.
    withdrawn: bool,
    /// What the kernel has passed over.
    passed_over: u64,
    socket: OwnedFd,
}

impl XdpSender {
    /// A socket on the first queue of interface number `index`, for frames with an Ethernet header whose packets have up to
    /// `mtu` bytes.
    ///
    /// # Errors
    /// What the system says: `EBUSY` if another socket has that queue, `EPERM` without `CAP_NET_RAW`, `ENOBUFS` where
    /// memory may not be locked. `Unsupported` if such frames do not fit a page, or the kernel is older than 5.9.
    pub(super) fn open(index: u32, mtu: usize) -> io::Result<XdpSender> {
        let longest = mtu + HEADER;
        let place = longest.next_power_of_two().max(LEAST);
        if place > MOST {
            let what = format!("frames of {longest} bytes do not fit the {MOST} of a page");
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
        let frames = Mapping::anonymous(ROOM * place)?;
        let kind = SocketType::RAW;
        let socket = socket_with(AddressFamily::XDP, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
        let memory = XdpUmemReg {
            addr: frames.address().as_ptr().addr() as u64,
            len: frames.bytes() as u64,
            chunk_size: place as u32,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        sockopt::set_xdp_umem_reg(&socket, memory)?;
        // Nothing is received, but the kernel wants the ring.
        sockopt::set_xdp_umem_fill_ring_size(&socket, 1)?;
        sockopt::set_xdp_umem_completion_ring_size(&socket, DONE as u32)?;
        sockopt::set_xdp_tx_ring_size(&socket, AT_ONCE as u32)?;
        let places = sockopt::xdp_mmap_offsets(&socket)?;
        if sockopt::xdp_statistics(&socket)?.tx_ring_empty_descs.is_none() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel is older than 5.9"));
        }
        let sent = Ring::map(&socket, AT_ONCE, 16, places.tx, SENT_AT)?;
        let done = Ring::map(&socket, DONE, 8, places.cr, DONE_AT)?;
        bound(&socket, &SocketAddrXdp::new(SocketAddrXdpFlags::XDP_COPY, index, 0))?;
        // The last is taken first, so that few places are in use, and stay in the processor's cache.
        let free = (0..ROOM).rev().map(|n| (n * place) as u64).collect();
        let last = Vec::with_capacity(AT_ONCE);
        Ok(XdpSender { sent, done, frames, free, last, longest, withdrawn: false, passed_over: 0, socket })
    }

    /// Sends `frames`, one call's worth of them at most; `ENXIO` if the interface is gone.
    pub(super) fn send<'a>(&mut self, frames: impl Iterator<Item = &'a [u8]>) -> io::Result<Sent> {
        self.done.drain(&mut self.free, self.frames.bytes() as u64);
        if self.withdrawn && self.pass_over()?.is_none() {
            return Ok(Sent::default());
        }
        self.last.clear();
        for frame in frames.take(AT_ONCE) {
            if !(HEADER..=self.longest).contains(&frame.len()) {
                break;
            }
            let Some(at) = self.free.pop() else { break };
            self.frames.write(at as usize, frame);
            self.sent.put(self.last.len(), at, frame.len() as u32);
            self.last.push(at);
        }
        let dealt = self.last.len();
        self.sent.submit(dealt);
        let refused = if dealt == 0 { 0 } else { self.call()? };
        Ok(Sent { dealt, refused })
    }

    /// Has the kernel send what the ring has, and says how many of that it refused.
    fn call(&mut self) -> io::Result<usize> {
        let (all, mut refused, mut idle) = (self.last.len(), 0, 0);
        while refused < all && idle < TRIES {
            match send(&self.socket, &[], SendFlags::DONTWAIT) {
                Ok(_) if self.sent.is_empty() => return Ok(refused),
                // One was dropped on its way to the driver (`NET_XMIT_DROP`); those behind it wait.
                Err(Errno::BUSY) => refused += 1,
                Err(Errno::INTR) => {}
                Err(error @ (Errno::NXIO | Errno::NODEV)) => return Err(error.into()),
                Err(Errno::NETDOWN) => break,
                // No room in the driver or the socket; or the kernel's share of a call is used up.
                Ok(_) | Err(_) => idle += 1,
            }
        }
        self.withdraw();
        // As long as the interface is down, the kernel passes over nothing: it was down for all of them, then.
        Ok(self.pass_over()?.map_or(all, |left| (refused + left).min(all)))
    }

    /// Takes back what waits in the ring: its descriptors become ones that the kernel passes over, since they lead beyond
    /// its memory. Its producer cannot be set back, because the kernel keeps a copy of it.
    fn withdraw(&mut self) {
        for n in 0..self.last.len() {
            self.sent.replace(self.last.len() - n, self.frames.bytes() as u64, 1);
        }
        self.withdrawn = true;
    }

    /// Has the kernel pass over what was taken back, and says how much that was; nothing as long as it does not look.
    fn pass_over(&mut self) -> io::Result<Option<usize>> {
        // Newer kernels pass over one a call, and say with the next that they did.
        for _ in 0..=2 * AT_ONCE {
            if self.sent.is_empty() {
                break;
            }
            match send(&self.socket, &[], SendFlags::DONTWAIT) {
                Err(error @ (Errno::NXIO | Errno::NODEV)) => return Err(error.into()),
                Err(Errno::NETDOWN) => return Ok(None),
                Ok(_) | Err(_) => {}
            }
        }
        if !self.sent.is_empty() {
            return Ok(None);
        }
        self.withdrawn = false;
        let all = sockopt::xdp_statistics(self.socket.as_fd())?.tx_invalid_descs;
        let left = ((all - self.passed_over) as usize).min(self.last.len());
        self.passed_over = all;
        // Those behind: the kernel goes by their order. It lets go of the others by itself.
        self.free.extend(self.last.drain(self.last.len() - left..));
        Ok(Some(left))
    }
}

/// Binds the socket, with some patience: the kernel takes the queue of a socket that was closed from it a little later
/// (`xp_put_pool` in Linux' net/xdp/xsk_buff_pool.c).
fn bound(socket: &OwnedFd, address: &SocketAddrXdp) -> io::Result<()> {
    for _ in 0..20 {
        match bind(socket, address) {
            Err(Errno::BUSY) => drop(poll(&mut [], Some(&timespec(Span::from_millis(5))))),
            bound => return bound.map_err(io::Error::from),
        }
    }
    Ok(bind(socket, address)?)
}

/// A ring of one side's entries for the other, in memory of both: how many there have ever been, how many of them
/// the other side is done with, and the entries.
#[derive(Debug)]
struct Ring {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    /// Entries, a power of two.
    size: usize,
    /// Our own count.
    count: u32,
}

impl Ring {
    fn map(socket: &OwnedFd, size: usize, entry: usize, at: XdpRingOffset, offset: u64) -> io::Result<Ring> {
        let [producer, consumer, entries] = [at.producer, at.consumer, at.desc].map(|at| at as usize);
        let memory = Mapping::of(socket.as_fd(), entries + size * entry, offset)?;
        Ok(Ring { memory, producer, consumer, entries, size, count: 0 })
    }

    /// Whether the kernel has taken all of our entries.
    #[inline]
    fn is_empty(&self) -> bool {
        self.memory.word(self.consumer).load(Ordering::Acquire) == self.count
    }

    /// Writes the descriptor (`struct xdp_desc`) that is `ahead` of our count.
    #[inline]
    fn put(&self, ahead: usize, address: u64, length: u32) {
        self.write(self.count.wrapping_add(ahead as u32), address, length);
    }

    /// Writes another descriptor for the one that is `back` behind our count.
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

    /// From now on the kernel may look at `more` descriptors.
    #[inline]
    fn submit(&mut self, more: usize) {
        self.count = self.count.wrapping_add(more as u32);
        self.memory.word(self.producer).store(self.count, Ordering::Release);
    }

    /// Moves the addresses that the kernel has put there to `free`, but for those beyond `end`: of what was taken back, newer
    /// kernels let go as if they had sent it.
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
