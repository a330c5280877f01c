//! A qdisc of the kernel that this process fills and empties.
//!
//! A packet socket sends packets into a TUN device. The device's qdisc queues them, and the device gives this process
//! the packets that the qdisc releases. The kernel's own code therefore decides, and this process sees when each packet
//! enters and leaves. Both ends must know a packet, so each gets a number in its IPv4 identification. That field has no
//! other use in packets that are not fragments (RFC 6864, section 4.1).

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use etherparse::Ipv4HeaderSlice;

use super::qdisc_drops::QdiscDrops;
use super::request::Request;
use super::{Tun, sys};
use crate::error::LiveResult;

/// Room for packets in the socket's account, in bytes: the kernel counts queued packets there, with their overhead.
const SEND_BUFFER: i32 = 1 << 29;

/// A qdisc at a TUN device, in a network namespace of its own.
#[derive(Debug)]
pub(crate) struct KernelQueue {
    tun: Tun,
    socket: OwnedFd,
    /// The count of drops, for a qdisc that drops an arriving packet without telling its sender.
    silent_drops: Option<QdiscDrops>,
    /// The packet being sent or read.
    packet: Vec<u8>,
}

/// A packet that the qdisc released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReleasedPacket {
    /// Its number.
    pub(crate) number: u16,
    /// Whether it carries a mark (RFC 3168's CE).
    pub(crate) marked: bool,
}

impl KernelQueue {
    /// The queue of `tun`, whose qdisc exists, in the calling thread's network namespace. Give `handle` of a qdisc that
    /// drops arriving packets without telling: then each packet costs a question to the kernel.
    ///
    /// # Errors
    /// Without root's rights over the machine.
    pub(crate) fn open(tun: Tun, handle: Option<u32>) -> LiveResult<KernelQueue> {
        let socket = sys::packet_socket()?;
        Request::QueueBuffer
            .ask(|| sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER))?;
        let index = sys::index(tun.name())?;
        Request::PacketBind.ask_about(tun.name(), || sys::bind(socket.as_fd(), index, libc::ETH_P_IP as u16))?;
        let silent_drops = handle.map(|handle| QdiscDrops::open(tun.name(), handle)).transpose()?;
        let packet = vec![0; tun.mtu_bytes() + 1];
        Ok(KernelQueue { tun, socket, silent_drops, packet })
    }

    /// Gives the IPv4 packet `bytes` to the qdisc as packet `number`. Returns whether the qdisc kept it; false also for
    /// a packet of another kind.
    pub(crate) fn offer(&mut self, bytes: &[u8], number: u16) -> LiveResult<bool> {
        let Some(packet) = self.packet.get_mut(..bytes.len()) else { return Ok(false) };
        packet.copy_from_slice(bytes);
        if !set_number(packet, number) {
            return Ok(false);
        }
        let packet = &self.packet[..bytes.len()];
        match sys::send(self.socket.as_fd(), std::iter::once(packet)) {
            // Some qdiscs only tell of congestion, which the socket does not pass on (`net_xmit_errno`, Linux 6.1).
            Ok(_) => Ok(self.silent_drops.as_mut().map_or(Ok(0), QdiscDrops::take)? == 0),
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                self.silent_drops.as_mut().map(QdiscDrops::take).transpose()?;
                Ok(false)
            }
            Err(error) => Err(Request::QueuePackets.refused(error)),
        }
    }

    /// The next released packet; `None` if there is none now.
    pub(crate) fn next_release(&mut self) -> LiveResult<Option<ReleasedPacket>> {
        while let Some(length) = Request::QueuePackets.ask(|| self.tun.read_packet(&mut self.packet))? {
            // The device also has a multicast packet of its own, if the kernel could not be told otherwise.
            if let Ok(header) = Ipv4HeaderSlice::from_slice(&self.packet[..length]) {
                let marked = header.ecn().value() == 3;
                return Ok(Some(ReleasedPacket { number: header.identification(), marked }));
            }
        }
        Ok(None)
    }

    /// A descriptor that becomes readable when the qdisc has released a packet.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }

    /// Name of the device.
    pub(crate) fn device(&self) -> &str {
        self.tun.name()
    }
}

/// Writes `number` into the identification of an IPv4 packet, and its checksum. Returns false for another packet.
fn set_number(packet: &mut [u8], number: u16) -> bool {
    let Ok(header) = Ipv4HeaderSlice::from_slice(packet) else { return false };
    let mut header = header.to_header();
    header.identification = number;
    header.header_checksum = header.calc_header_checksum();
    packet[4..6].copy_from_slice(&number.to_be_bytes());
    packet[10..12].copy_from_slice(&header.header_checksum.to_be_bytes());
    true
}

#[cfg(test)]
mod tests;
