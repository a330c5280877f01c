//! A TUN device: the kernel's own hosts send into it and receive from it (linux/Documentation/networking/tuntap.rst).
//!
//! One read is one IP packet. The kernel cuts segments to the MTU and fills in checksums before it hands them over, since
//! no offload is asked for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};

use super::end::{BATCH, Io, Received};
use super::sys;
use crate::io::frame::Layer;
use crate::io::pool::{FrameId, Pool};

/// A TUN device, which is gone when this is dropped.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    name: String,
    mtu: usize,
}

impl Tun {
    /// A new device called `name` in the thread's network namespace; `%d` in it stands for the first number that is free.
    /// It stays there, and can be used by whoever has it, wherever that one's namespace is.
    ///
    /// # Errors
    /// What the system says: that there is no `/dev/net/tun`, that `CAP_NET_ADMIN` is missing, or that there is an
    /// interface of that name, which is left alone.
    pub fn create(name: &str) -> io::Result<Tun> {
        let mut request = sys::request(name)?;
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = open("/dev/net/tun", flags, Mode::empty())?;
        // Without packet information: a frame is an IP packet. Exclusive: not one that is there already.
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_TUN_EXCL) as u16 as i16;
        sys::ioctl(fd.as_fd(), libc::TUNSETIFF, &mut request)?;
        let name = sys::name_of(&request);
        let mtu = sys::mtu(&name)?;
        Ok(Tun { fd, name, mtu })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Io for Tun {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<Received> {
        let mut received = Received::default();
        // Those that find no slot count too: what is read at a time is bounded whatever comes.
        for _ in batch.len()..BATCH {
            let frame = pool.take();
            let room = match &frame {
                Some(frame) => pool.room(frame),
                None => pool.spare(),
            };
            let whole = room.len();
            let length = read(&self.fd, room);
            match (length, frame) {
                // The kernel gives what fits: a packet that fills its slot may have been longer.
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
                        Errno::INTR => Ok(Received { more: true, ..received }),
                        error => Err(error.into()),
                    };
                }
            }
        }
        Ok(Received { more: true, ..received })
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        let mut refused = 0;
        for frame in batch {
            match write(&self.fd, pool.frame(frame)) {
                Ok(_) => {}
                // The device is gone.
                Err(error @ (Errno::BADFD | Errno::NODEV)) => return Err(error.into()),
                // It is down, or has no room, or takes no such packet.
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
}
