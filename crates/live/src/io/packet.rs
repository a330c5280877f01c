//! A packet socket on an interface: Ethernet frames as they come to it, and frames sent on it (packet(7)).
//!
//! The interface should have no address of its own in the forwarder's namespace: the kernel sees the same frames, and would
//! answer those that are meant for it. Its offloads should be off ([`switch_offloads_off`](super::switch_offloads_off)):
//! what they merge is longer than the interface's MTU, dropped and counted as `oversize`. A checksum that they left to a card is
//! filled in, since where the frame goes nobody would.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use etherparse::checksum::Sum16BitWords;

use super::end::{BATCH, Io, KernelCounts, Received};
use super::ring::{Partial, Ring, Slot};
use super::sys;
use super::xdp::XdpSender;
use crate::io::frame::Layer;
use crate::io::pool::{FrameId, Pool};

/// Behind the two MAC addresses, which is where a VLAN tag stands.
const TAG_AT: usize = 12;
const TAG: usize = 4;
/// An Ethernet header, and as many tags as an interface takes beyond its MTU.
const HEADER: usize = 14 + 2 * TAG;

/// By which socket frames go out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sending {
    /// By AF_XDP where it was measured, on veth, if it can be had there; else by a packet socket.
    #[default]
    Auto,
    /// By a packet socket.
    Packet,
    /// By AF_XDP.
    Xdp,
}

/// A packet socket, which takes all frames that come to one interface.
#[derive(Debug)]
pub struct PacketSocket {
    // Before the socket, whose ring it is.
    ring: Ring,
    socket: OwnedFd,
    /// What frames go out by. On the other one, each would have to begin with a header of `PACKET_VNET_HDR`.
    out: OwnedFd,
    /// What they go out by before that, with the reason if it was to be had and could not.
    pub(super) xdp: Result<XdpSender, Option<io::Error>>,
    mtu: usize,
    counts: KernelCounts,
    /// Calls since one found a frame.
    quiet: u32,
}

impl PacketSocket {
    /// Frames that may wait in the kernel where nobody says otherwise: 20 ms of the smallest at 100 Mbit/s.
    pub const RING: usize = 4096;

    /// A socket on `interface` in the thread's network namespace; `frames` may wait in the kernel, and go out by what `sending`
    /// says. From now on the interface takes frames for others too, as a bridge's does, until this is dropped.
    ///
    /// # Errors
    /// What the system says: that there is no such interface, or that `CAP_NET_RAW` is missing; with [`Sending::Xdp`] also why
    /// there is no AF_XDP.
    pub fn open(interface: &str, frames: usize, sending: Sending) -> io::Result<PacketSocket> {
        let index = sys::index(interface)?;
        let mtu = sys::mtu(interface)?;
        let (socket, out) = (sys::packet_socket()?, sys::packet_socket()?);
        let fd = socket.as_fd();
        // What is sent here is not received here, and waits in no queue but ours.
        sys::set(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
        sys::set(out.as_fd(), libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32)?;
        sys::set(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1_i32)?;
        let ring = Ring::new(fd, frames, Pool::slot_for(mtu))?;
        let kind = libc::PACKET_MR_PROMISC as u16;
        let member = libc::packet_mreq { mr_ifindex: index, mr_type: kind, mr_alen: 0, mr_address: [0; 8] };
        sys::set(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member)?;
        sys::bind(fd, index, libc::ETH_P_ALL as u16)?;
        // To send alone: nothing comes to a socket of no protocol.
        sys::bind(out.as_fd(), index, 0)?;
        let xdp = xdp(interface, index, mtu, sending)?;
        Ok(PacketSocket { ring, socket, out, xdp, mtu, counts: KernelCounts::default(), quiet: 0 })
    }

    /// Why they do not go out by AF_XDP, where they were to.
    pub fn why_not_xdp(&self) -> Option<&io::Error> {
        self.xdp.as_ref().err()?.as_ref()
    }

    /// Now and then asks for the error that a socket keeps, such as that its interface went down: as long as it is kept,
    /// nobody can wait for the socket.
    fn clear_error(&mut self) -> io::Result<()> {
        self.quiet += 1;
        if !self.quiet.is_multiple_of(64) {
            return Ok(());
        }
        for socket in [self.socket.as_fd(), self.out.as_fd()] {
            let [error]: [u32; 1] = sys::get(socket, libc::SOL_SOCKET, libc::SO_ERROR)?;
            match error as i32 {
                0 | libc::ENETDOWN => {}
                error => return Err(io::Error::from_raw_os_error(error)),
            }
        }
        Ok(())
    }
}

impl Io for PacketSocket {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<Received> {
        let mut received = Received::default();
        for _ in batch.len()..BATCH {
            let Some(slot) = self.ring.peek() else { break };
            self.counts.no_checksum += u64::from(slot.partial.is_some());
            let longest = slot.bytes.len().min(self.mtu + HEADER).min(pool.slot_bytes().saturating_sub(TAG));
            if slot.length > longest {
                received.oversize += 1;
            } else if let Some(frame) = pool.take() {
                let length = copy(&slot, pool.room(&frame));
                pool.set_len(&frame, length);
                batch.push(frame);
            } else {
                received.no_slot += 1;
            }
            self.ring.pass();
            self.quiet = 0;
        }
        received.more = self.ring.ready();
        if batch.is_empty() {
            self.clear_error()?;
        }
        Ok(received)
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        let (mut rest, mut refused) = (batch, 0);
        if let Ok(xdp) = &mut self.xdp {
            while !rest.is_empty() {
                let sent = xdp.send(rest.iter().map(|frame| pool.frame(frame)))?;
                refused += sent.refused;
                rest = &rest[sent.dealt..];
                if sent.dealt == 0 {
                    // Too long for it, or it has no room: in their order all the same.
                    let (next, behind) = rest.split_at(1);
                    refused += send_by_packet(self.out.as_fd(), pool, next)?;
                    rest = behind;
                }
            }
        }
        Ok(refused + send_by_packet(self.out.as_fd(), pool, rest)?)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn layer(&self) -> Layer {
        Layer::Ethernet
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn kernel(&mut self) -> KernelCounts {
        // struct tpacket_stats: packets and drops since the last call.
        if let Ok([_, drops]) = sys::get::<[u32; 2]>(self.socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS) {
            self.counts.dropped += u64::from(drops);
        }
        self.counts
    }
}

/// Sends `batch` by a packet socket, and says how many were refused.
fn send_by_packet(socket: BorrowedFd<'_>, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
    let (mut rest, mut refused) = (batch, 0);
    while !rest.is_empty() {
        match sys::send(socket, rest.iter().map(|frame| pool.frame(frame))) {
            Ok(sent) => rest = &rest[sent.max(1)..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENXIO | libc::ENODEV)) => return Err(error),
            // The first of them found no room, is too long, or the interface is down.
            Err(_) => (rest, refused) = (&rest[1..], refused + 1),
        }
    }
    Ok(refused)
}

/// What frames go out by, if `sending` says that it may be AF_XDP.
fn xdp(interface: &str, index: i32, mtu: usize, sending: Sending) -> io::Result<Result<XdpSender, Option<io::Error>>> {
    let wanted = match sending {
        Sending::Auto => sys::driver(interface).is_ok_and(|driver| driver == "veth"),
        Sending::Packet => false,
        Sending::Xdp => true,
    };
    if !wanted {
        return Ok(Err(None));
    }
    match XdpSender::open(index as u32, mtu).map_err(|error| without_xdp(interface, &error)) {
        Err(error) if sending == Sending::Xdp => Err(error),
        opened => Ok(opened.map_err(Some)),
    }
}

/// What the system's word means for whoever wanted AF_XDP there.
fn without_xdp(interface: &str, error: &io::Error) -> io::Error {
    let why = match error.raw_os_error() {
        Some(libc::EBUSY) => "another AF_XDP socket has its first queue".to_string(),
        Some(libc::EAFNOSUPPORT) => "this kernel has none (CONFIG_XDP_SOCKETS)".to_string(),
        Some(libc::ENOBUFS) => "too little memory may be locked (ulimit -l)".to_string(),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), format!("{interface}: no AF_XDP: {why}"))
}

/// Copies a frame, with its VLAN tag where the kernel had taken it out and its checksum where it had left that to a card; says
/// how long it is.
#[inline]
fn copy(slot: &Slot<'_>, room: &mut [u8]) -> usize {
    let bytes = slot.bytes;
    let tagged = match (slot.tag, bytes.split_at_checked(TAG_AT)) {
        (Some([kind, control]), Some((addresses, rest))) => {
            room[..TAG_AT].copy_from_slice(addresses);
            room[TAG_AT..TAG_AT + 2].copy_from_slice(&kind.to_be_bytes());
            room[TAG_AT + 2..TAG_AT + TAG].copy_from_slice(&control.to_be_bytes());
            room[TAG_AT + TAG..TAG + bytes.len()].copy_from_slice(rest);
            TAG
        }
        _ => {
            room[..bytes.len()].copy_from_slice(bytes);
            0
        }
    };
    let length = tagged + bytes.len();
    if let Some(partial) = slot.partial {
        fill_in(&mut room[tagged..length], partial);
    }
    length
}

/// Fills in a checksum. A sum of 0 is written as 0xffff, which is the same number in ones' complement: UDP takes 0 for no
/// checksum (RFC 768), and nobody else minds.
#[cold]
fn fill_in(frame: &mut [u8], Partial { start, offset }: Partial) {
    let Some(summed) = frame.get_mut(start..) else { return };
    let sum = Sum16BitWords::new().add_slice(summed).to_ones_complement_with_no_zero();
    // The library sums words as they lie in memory.
    if let Some(place) = summed.get_mut(offset..offset + 2) {
        place.copy_from_slice(&sum.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Ipv4Header, Ipv6Header, PacketBuilder, TcpHeader, UdpHeader};

    /// A frame of each kind with its checksum, and where that is; then the same with the sum of the pseudo-header instead, as
    /// RFC 9293, section 3.1, and RFC 8200, section 8.1, have it.
    fn both(v6: bool, tcp: bool, payload: &[u8]) -> (Vec<u8>, Vec<u8>, Partial) {
        let mac = PacketBuilder::ethernet2([2; 6], [4; 6]);
        let ip = match v6 {
            true => mac.ipv6([3; 16], [9; 16], 64),
            false => mac.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
        };
        let mut whole = Vec::new();
        match tcp {
            true => ip.tcp(80, 8080, 7, 100).write(&mut whole, payload).unwrap(),
            false => ip.udp(80, 8080).write(&mut whole, payload).unwrap(),
        }
        let start = 14 + if v6 { Ipv6Header::LEN } else { Ipv4Header::MIN_LEN };
        let (offset, length, protocol) =
            if tcp { (16, TcpHeader::MIN_LEN + payload.len(), 6) } else { (6, UdpHeader::LEN + payload.len(), 17) };
        let addresses = if v6 { &whole[22..54] } else { &whole[26..34] };
        let words = addresses.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum = words.sum::<u32>() + length as u32 + protocol;
        let sum = (sum & 0xffff) + (sum >> 16);
        let mut left = whole.clone();
        left[start + offset..start + offset + 2].copy_from_slice(&(sum as u16).to_be_bytes());
        (whole, left, Partial { start, offset })
    }

    #[test]
    fn a_checksum_that_was_left_to_a_card_is_that_of_the_whole_segment() {
        for payload in [&b""[..], b"x", b"some bytes of no even number, 37 here"] {
            for (v6, tcp) in [(false, false), (false, true), (true, false), (true, true)] {
                let (whole, mut left, partial) = both(v6, tcp, payload);
                assert_ne!(left, whole);
                fill_in(&mut left, partial);
                assert_eq!(left, whole, "IPv6: {v6}, TCP: {tcp}, {} bytes", payload.len());
            }
        }
    }

    #[test]
    fn what_lies_beyond_the_frame_is_not_filled_in() {
        for partial in
            [Partial { start: 40, offset: 0 }, Partial { start: 8, offset: 31 }, Partial { start: 65_535, offset: 9 }]
        {
            let mut frame = [7; 40];
            fill_in(&mut frame, partial);
            assert_eq!(frame, [7; 40]);
        }
    }
}
