//! The sender of a UDP flow: what its source writes goes out at once.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use headgate_core::{Rng, Time};
use headgate_traffic::{After, Data, Source};
use socket2::SockRef;

use super::group::UdpSettings;

/// A datagram begins with its number and the time at which it was sent, in nanoseconds of the load's clock, as far as it has
/// room for them.
pub const STAMP: usize = 16;

/// The sender of one flow.
pub struct UdpSender {
    /// The flow's number in the scenario.
    pub number: u32,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams that the kernel had no room for.
    pub refused: u64,
    /// When it had nothing more to send.
    pub ended: Option<Time>,
    settings: UdpSettings,
    socket: UdpSocket,
    source: Source,
    rng: Rng,
    /// When the next write begins, and when the flow stops.
    next: Time,
    stop: Time,
    /// What that write is, in bytes.
    bytes: u64,
    data: Vec<u8>,
}

impl UdpSender {
    /// Flow number `number`, which sends what `source` writes from `from` to `to` as long as it lasts.
    pub fn new(
        number: u32,
        [start, stop]: [Time; 2],
        settings: UdpSettings,
        (from, to): (Ipv4Addr, SocketAddrV4),
        (source, rng): (Source, Rng),
    ) -> io::Result<UdpSender> {
        let socket = UdpSocket::bind(SocketAddrV4::new(from, 0))?;
        socket.connect(to)?;
        socket.set_nonblocking(true)?;
        SockRef::from(&socket).set_tos_v4(settings.tos)?;
        let data = vec![0; settings.payload(settings.useful) as usize];
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

    /// When the write that follows the last one begins, if there is one. Nothing that happens in the network changes that.
    pub fn next(&mut self) -> Option<Time> {
        let write = self.source.next(&mut self.rng)?;
        // As in the simulator, datagrams hear no answer.
        let (After::Start(gap) | After::Done(gap)) = write.after;
        let Data::Bytes(bytes) = write.data else { return None };
        self.next += gap;
        self.bytes = bytes;
        (self.next < self.stop).then_some(self.next)
    }

    /// Sends the write that has begun, at `clock` of the load's clock.
    pub fn send(&mut self, clock: Time) {
        while self.bytes > 0 {
            let useful = self.bytes.min(self.settings.useful.into()) as u32;
            self.bytes -= u64::from(useful);
            let length = self.settings.payload(useful) as usize;
            let mut stamp = [0; STAMP];
            stamp[..8].copy_from_slice(&self.sent.to_be_bytes());
            stamp[8..].copy_from_slice(&clock.as_nanos().to_be_bytes());
            let room = length.min(STAMP);
            self.data[..room].copy_from_slice(&stamp[..room]);
            self.sent += 1;
            // It waits for nobody: what finds no room is gone, as in a queue that is full.
            self.refused += u64::from(self.socket.send(&self.data[..length]).is_err());
        }
    }
}
