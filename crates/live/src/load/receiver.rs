//! The thread that receives all flows of a host.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use aqm::parts::Histogram;
use aqm::{Span, Time};
use headgate_measure::TransferRow;
use quinn_udp::{EcnCodepoint, RecvMeta, UdpSocketState};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};

use super::deliveries::Deliveries;
use super::flows::ReceiverSettings;
use super::group::{KernelTcpSettings, KernelUdpSettings};
use super::poll::SocketPoller;
use super::ports;
use super::shared::LoadState;
use super::udp::STAMP;
use crate::error::LiveResult;
use crate::io::request::Request;
use crate::io::{interface, tcp};

/// Read buffer. Datagrams coalesced by the kernel (GRO) are up to this long.
const READ_BUFFER: usize = 64 << 10;

/// Requested socket buffer for datagrams; the kernel limits it to `net.core.rmem_max`.
const UDP_BUFFER: usize = 4 << 20;

/// Datagrams or coalesced ones per read.
const DATAGRAMS: usize = 8;

/// A flow at its receiver.
pub struct FlowReceiver {
    pub number: u32,
    /// Packets with CE since the warm-up; UDP only, since TCP sockets do not show packets.
    pub marked: u64,
    /// One-way delay of datagrams since the warm-up, in nanoseconds.
    pub delay: Histogram,
    socket: ReceiverSocket,
}

enum ReceiverSocket {
    Tcp { settings: KernelTcpSettings, listener: Socket, stream: Option<Socket>, connection: u32, bytes: u64 },
    Udp { settings: KernelUdpSettings, socket: UdpSocket, state: UdpSocketState },
}

pub struct ReceiverResults {
    pub flows: Vec<FlowReceiver>,
    pub deliveries: Deliveries,
    /// Transfers that completed or never will, in order of time.
    pub completed: Vec<TransferRow>,
    /// Packets received with CE, all flows together.
    pub marked: u64,
    /// Datagrams dropped at full socket buffers, because this thread was late.
    pub buffer_drops: u64,
}

pub struct HostReceivers {
    shared: Arc<LoadState>,
    pub poller: SocketPoller,
    received: ReceiverResults,
    warm: Time,
    buffers: Vec<Vec<u8>>,
}

impl HostReceivers {
    /// Opens the receivers of `flows` at `address`.
    pub fn new(
        flows: &[(u32, ReceiverSettings)],
        address: Ipv4Addr,
        warm: Time,
        slot: Span,
        shared: Arc<LoadState>,
    ) -> LiveResult<HostReceivers> {
        let poller = SocketPoller::new()?;
        let make = |(index, flow): (usize, &(u32, ReceiverSettings))| FlowReceiver::new(*flow, address, index, &poller);
        let receivers = flows.iter().enumerate().map(make).collect::<LiveResult<Vec<_>>>()?;
        let deliveries = Deliveries::new(slot, warm);
        let received =
            ReceiverResults { flows: receivers, deliveries, completed: Vec::new(), marked: 0, buffer_drops: 0 };
        Ok(HostReceivers { shared, poller, received, warm, buffers: vec![vec![0; READ_BUFFER]; DATAGRAMS] })
    }

    pub fn run(mut self) -> LiveResult<ReceiverResults> {
        while !self.shared.stopped() {
            self.poller.wait(Span::from_secs(1))?;
            for index in 0.. {
                let Some((token, _)) = self.poller.ready(index) else { break };
                self.handle_event(token)?;
            }
        }
        // A kernel without these counters shows no such packets.
        self.received.marked = interface::count("netstat", "IpExt:", "InCEPkts").unwrap_or(0);
        self.received.buffer_drops = interface::count("snmp", "Udp:", "RcvbufErrors").unwrap_or(0);
        Ok(self.received)
    }

    fn handle_event(&mut self, token: u64) -> LiveResult<()> {
        let (index, is_stream) = ((token >> 1) as usize, token & 1 == 1);
        // Not a flow: the waker.
        let Some(flow) = self.received.flows.get_mut(index) else { return Ok(()) };
        match &mut flow.socket {
            ReceiverSocket::Tcp { .. } if is_stream => self.read_stream(index).map(drop),
            ReceiverSocket::Tcp { .. } => {
                // Read the earlier connection to its end first.
                while self.read_stream(index)? {}
                self.accept(index, token)
            }
            ReceiverSocket::Udp { .. } => self.read_datagrams(index),
        }
    }

    fn accept(&mut self, index: usize, token: u64) -> LiveResult<()> {
        let flow = &mut self.received.flows[index];
        let ReceiverSocket::Tcp { listener, stream, connection, bytes, .. } = &mut flow.socket else { return Ok(()) };
        // The peer may have given up the connection.
        let Ok((accepted, _)) = listener.accept() else { return Ok(()) };
        Request::FlowOptions.ask(|| {
            accepted.set_nonblocking(true)?;
            accepted.set_linger(Some(Duration::ZERO))
        })?;
        self.poller.readable(&accepted, token | 1)?;
        (*stream, *connection, *bytes) = (Some(accepted), *connection + 1, 0);
        Ok(())
    }

    /// Reads the stream once. Returns true if there was data.
    fn read_stream(&mut self, index: usize) -> LiveResult<bool> {
        let flow = &mut self.received.flows[index];
        let ReceiverSocket::Tcp { settings, stream, connection, bytes, .. } = &mut flow.socket else {
            return Ok(false);
        };
        let Some(socket) = stream else { return Ok(false) };
        let Some(read) = read(socket, &mut self.buffers[0]) else {
            *stream = None;
            return Ok(false);
        };
        Request::FlowOptions.ask(|| restore_options(socket, settings))?;
        let before = settings.useful_bytes(*bytes);
        *bytes += read;
        let now = self.shared.now().unwrap_or(Time::ZERO);
        self.received.deliveries.add(now, flow.number, settings.useful_bytes(*bytes) - before);
        let mut all = self.shared.transfers();
        let open_transfers = &mut all[flow.number as usize];
        while let Some(transfer) = open_transfers.front().filter(|front| front.connection <= *connection) {
            if transfer.connection == *connection && transfer.end > *bytes {
                break;
            }
            // Data that an earlier connection did not deliver is lost.
            let end = (transfer.connection == *connection).then_some(now);
            self.received.completed.push(TransferRow { end, ..transfer.row });
            open_transfers.pop_front();
        }
        Ok(read > 0)
    }

    fn read_datagrams(&mut self, index: usize) -> LiveResult<()> {
        let flow = &mut self.received.flows[index];
        let ReceiverSocket::Udp { settings, socket, state } = &flow.socket else { return Ok(()) };
        let mut metas = [RecvMeta::default(); DATAGRAMS];
        let mut rooms = self.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer));
        let mut slices: [IoSliceMut<'_>; DATAGRAMS] = std::array::from_fn(|_| rooms.next().expect("as many buffers"));
        let count = match state.recv(socket.into(), &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(()),
            Err(error) => return Err(Request::FlowData.refused(error)),
        };
        let (now, clock) = (self.shared.now().unwrap_or(Time::ZERO), self.shared.clock.now());
        for (meta, buffer) in metas[..count].iter().zip(&self.buffers) {
            for datagram in buffer[..meta.len].chunks(meta.stride.max(1)) {
                let useful = settings.useful_bytes(datagram.len() as u32);
                self.received.deliveries.add(now, flow.number, useful.into());
                if now < self.warm {
                    continue;
                }
                flow.marked += u64::from(meta.ecn == Some(EcnCodepoint::Ce));
                if let Some(stamp) = datagram.get(8..STAMP).and_then(|bytes| bytes.first_chunk()) {
                    let sent = Time::from_nanos(u64::from_be_bytes(*stamp));
                    flow.delay.record((clock - sent).as_nanos());
                }
            }
        }
        Ok(())
    }
}

impl FlowReceiver {
    fn new(
        (number, receives): (u32, ReceiverSettings),
        address: Ipv4Addr,
        index: usize,
        poller: &SocketPoller,
    ) -> LiveResult<FlowReceiver> {
        let address = SocketAddrV4::new(address, ports::port(number));
        let token = (index as u64) << 1;
        let socket = match receives {
            ReceiverSettings::Tcp(settings) => {
                let listener = listen(address, &settings)?;
                poller.readable(&listener, token)?;
                ReceiverSocket::Tcp { settings, listener, stream: None, connection: 0, bytes: 0 }
            }
            ReceiverSettings::Udp(settings) => {
                let socket = Request::FlowSocket.ask_about(address, || UdpSocket::bind(address))?;
                let state = Request::FlowOptions.ask(|| {
                    // Covers the time that this thread may be late.
                    SockRef::from(&socket).set_recv_buffer_size(UDP_BUFFER)?;
                    UdpSocketState::new((&socket).into())
                })?;
                poller.readable(&socket, token)?;
                ReceiverSocket::Udp { settings, socket, state }
            }
        };
        Ok(FlowReceiver { number, marked: 0, delay: Histogram::default(), socket })
    }
}

fn listen(address: SocketAddrV4, settings: &KernelTcpSettings) -> LiveResult<Socket> {
    let kind = Type::STREAM.nonblocking().cloexec();
    let socket = Request::FlowSocket.ask(|| Socket::new(Domain::IPV4, kind, Some(Protocol::TCP)))?;
    tcp::set_timers(&socket, settings.timers);
    Request::FlowOptions.ask(|| {
        socket.set_tcp_mss(settings.mss)?;
        let Some(window) = settings.window else { return Ok(()) };
        // Half of the buffer is for the kernel's own overhead (tcp_adv_win_scale).
        socket.set_recv_buffer_size(2 * window as usize)?;
        tcp::clamp_window(&socket, window)
    })?;
    Request::FlowAddress.ask_about(address, || {
        socket.bind(&SockAddr::from(address))?;
        socket.listen(4)
    })?;
    Ok(socket)
}

/// Sets quick ACKs and the window clamp again. The kernel resets the first after some segments, and the second when it
/// learns the memory per segment (`tcp_measure_rcv_mss`).
fn restore_options(socket: &Socket, settings: &KernelTcpSettings) -> io::Result<()> {
    if settings.quick_acks {
        socket.set_tcp_quickack(true)?;
    }
    settings.window.map_or(Ok(()), |window| tcp::clamp_window(socket, window))
}

/// Reads the available data, at most a few buffers; `None` at the end of the stream.
fn read(socket: &Socket, space: &mut [u8]) -> Option<u64> {
    use std::io::Read;
    let mut total = 0;
    for _ in 0..4 {
        match (&mut &*socket).read(space) {
            Ok(0) => return (total > 0).then_some(total),
            Ok(bytes) => total += bytes as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return (total > 0).then_some(total),
        }
    }
    Some(total)
}
