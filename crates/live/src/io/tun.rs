//! TUN devices: the kernel's own hosts send into them and receive from them (Documentation/networking/tuntap.rst).
//!
//! One read returns one IP packet. The device has no offloads, so the kernel segments packets and fills in checksums
//! before the read.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};

use super::end::{BATCH, KernelCounts, LinkEnd, ReceiveResult};
use super::interface_counters::CounterReader;
use super::request::Request;
use super::sys;
use crate::error::LiveResult;
use crate::io::frame::Layer;
use crate::io::pool::{FrameId, Pool};

/// A TUN device. Dropping it removes the device.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    name: String,
    mtu: usize,
    counters: CounterReader,
    /// Packets that the kernel dropped because the device was not read in time.
    dropped: u64,
}

impl Tun {
    /// Opens the device file, and so tests in advance that it exists and may be read and written. An open file without
    /// an interface changes nothing.
    pub(crate) fn open_device() -> LiveResult<OwnedFd> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Request::TunDevice.ask(|| open("/dev/net/tun", flags, Mode::empty()))
    }

    /// Creates a device called `name` in the calling thread's network namespace; `%d` stands for the first free number.
    /// The device stays in that namespace, even if this handle is used in another.
    ///
    /// # Errors
    /// No `/dev/net/tun`, no `CAP_NET_ADMIN`, an existing interface of that name.
    pub fn create(name: &str) -> LiveResult<Tun> {
        let mut request = sys::request(name)?;
        let fd = Tun::open_device()?;
        // Without packet information, so a frame is an IP packet. Exclusive: never an existing device.
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_TUN_EXCL) as u16 as i16;
        Request::TunInterface.ask_about(name, || sys::ioctl(fd.as_fd(), libc::TUNSETIFF, &mut request))?;
        let name = sys::name_of(&request);
        let mtu = sys::mtu(&name)?;
        let counters = CounterReader::open(&name)?;
        Ok(Tun { fd, name, mtu, counters, dropped: 0 })
    }

    /// Name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Longest packet that it takes, in bytes.
    pub(super) fn mtu_bytes(&self) -> usize {
        self.mtu
    }

    /// Reads one packet into `room`, cut off if it is longer, and returns its length; `None` if there is none.
    pub(super) fn read_packet(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match read(&self.fd, &mut *room) {
                Ok(length) => return Ok(Some(length)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl LinkEnd for Tun {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        let mut received = ReceiveResult::default();
        // Frames without a slot count too, which bounds the reads per call.
        for _ in batch.len()..BATCH {
            let frame = pool.take();
            let room = match &frame {
                Some(frame) => pool.slot_mut(frame),
                None => pool.spare_slot(),
            };
            let whole = room.len();
            let length = read(&self.fd, room);
            match (length, frame) {
                // Longer packets are truncated, so a full slot may hold part of one.
                (Ok(length), Some(frame)) if length < whole => {
                    pool.set_len(&frame, length);
                    batch.push(frame);
                }
                (Ok(_), Some(frame)) => {
                    pool.give(frame);
                    received.oversize += 1;
                }
                (Ok(_), None) => received.no_slot += 1,
                (Err(error), frame) => {
                    frame.into_iter().for_each(|frame| pool.give(frame));
                    return match error {
                        Errno::AGAIN => Ok(received),
                        Errno::INTR => Ok(ReceiveResult { more: true, ..received }),
                        error => Err(error.into()),
                    };
                }
            }
        }
        Ok(ReceiveResult { more: true, ..received })
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        let mut refused = 0;
        for frame in batch {
            match write(&self.fd, pool.frame(frame)) {
                Ok(_) => {}
                Err(error @ (Errno::BADFD | Errno::NODEV)) => return Err(error.into()),
                // The device is down or full, or rejects this packet.
                Err(_) => refused += 1,
            }
        }
        Ok(refused)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }

    fn layer(&self) -> Layer {
        Layer::Ip
    }

    fn mtu(&self) -> usize {
        self.mtu
    }
    fn kernel(&mut self) -> KernelCounts {
        // The last count stays if the device is gone.
        if let Ok(counters) = self.counters.read() {
            self.dropped = counters.send_drops;
        }
        KernelCounts { dropped: self.dropped, ..KernelCounts::default() }
    }
}
