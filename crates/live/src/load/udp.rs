//! The sender of a UDP flow: datagrams leave as soon as the source writes them.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use aqm::{Rng, Time};
use headgate_traffic::{FlowSource, WriteAmount, WriteStart};
use socket2::SockRef;

use super::group::KernelUdpSettings;
use crate::error::LiveResult;
use crate::io::request::Request;

/// A datagram starts with its number and its send time (nanoseconds of the load's clock), as far as they fit.
pub const STAMP: usize = 16;

pub struct UdpSender {
    pub number: u32,
    pub sent: u64,
    /// Datagrams that the kernel refused for lack of buffer space.
    pub refused: u64,
    /// When it had nothing left to send.
    pub ended: Option<Time>,
    settings: KernelUdpSettings,
    socket: UdpSocket,
    source: FlowSource,
    rng: Rng,
    /// Start of the next write, and the flow's stop.
    next: Time,
    stop: Time,
    /// Size of that write.
    bytes: u64,
    data: Vec<u8>,
}

impl UdpSender {
    pub fn new(
        number: u32,
        [start, stop]: [Time; 2],
        settings: KernelUdpSettings,
        (from, to): (Ipv4Addr, SocketAddrV4),
        (source, rng): (FlowSource, Rng),
    ) -> LiveResult<UdpSender> {
        let socket = Request::FlowSocket.ask_about(from, || UdpSocket::bind(SocketAddrV4::new(from, 0)))?;
        Request::FlowAddress.ask_about(to, || socket.connect(to))?;
        Request::FlowOptions.ask(|| {
            socket.set_nonblocking(true)?;
            SockRef::from(&socket).set_tos_v4(settings.tos)
        })?;
        let data = vec![0; settings.payload(settings.useful_bytes) as usize];
        let (next, bytes) = (start, 0);
        Ok(UdpSender {
            number,
            sent: 0,
            refused: 0,
            ended: None,
            settings,
            socket,
            source,
            rng,
            next,
            stop,
            bytes,
            data,
        })
    }

    /// Start of the source's next write, if any. It does not depend on the network.
    pub fn next(&mut self) -> Option<Time> {
        let write = self.source.next(&mut self.rng)?;
        // UDP sources get no feedback, as in the simulator.
        let (WriteStart::AfterStart(gap) | WriteStart::AfterDelivery(gap)) = write.after;
        let WriteAmount::Bytes(bytes) = write.data else { return None };
        self.next += gap;
        self.bytes = bytes;
        (self.next < self.stop).then_some(self.next)
    }

    /// Sends the current write; `clock` is the load's time.
    pub fn send(&mut self, clock: Time) {
        while self.bytes > 0 {
            let useful = self.bytes.min(self.settings.useful_bytes.into()) as u32;
            self.bytes -= u64::from(useful);
            let length = self.settings.payload(useful) as usize;
            let mut stamp = [0; STAMP];
            stamp[..8].copy_from_slice(&self.sent.to_be_bytes());
            stamp[8..].copy_from_slice(&clock.as_nanos().to_be_bytes());
            let space = length.min(STAMP);
            self.data[..space].copy_from_slice(&stamp[..space]);
            self.sent += 1;
            // Non-blocking: a datagram that finds no space is dropped, as at a full queue.
            self.refused += u64::from(self.socket.send(&self.data[..length]).is_err());
        }
    }
}
