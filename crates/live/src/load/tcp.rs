//! The sender of a TCP flow: its application and its kernel connection.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use aqm::{Rate, Span, Time};
use headgate_measure::{SenderState, TransferRow};
use headgate_traffic::{Application, WriteAmount};
use rustix::net::{RecvFlags, recv};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::group::KernelTcpSettings;
use super::poll::SocketPoller;
use super::shared::{LoadState, OpenTransfer};
use super::tally::SenderTally;
use super::timers::{SenderTimer, Timers};
use crate::error::{LiveError, LiveResult, SystemError};
use crate::hosts::controllers;
use crate::io::request::Request;
use crate::io::tcp::{self, TcpInfo};

/// Limit of unsent data in the kernel: little is left when a source stops, but enough while the thread is late.
const MOST_UNSENT: u32 = 16 << 10;

static ZEROS: [u8; 32 << 10] = [0; 32 << 10];

/// Maximum pacing rate above every link's rate. Setting it enables pacing; congestion control chooses the actual rate.
const PACING_LIMIT: Rate = Rate::from_bits(800_000_000_000);

pub struct KernelTcpSender {
    pub number: u32,
    /// Start and stop.
    pub lifetime: [Time; 2],
    pub tally: SenderTally,
    /// When all data was sent and acknowledged.
    pub ended: Option<Time>,
    pub failed: Option<String>,
    group: u32,
    pub settings: KernelTcpSettings,
    from: Ipv4Addr,
    to: SocketAddrV4,
    /// The application; `None` for a greedy flow.
    writer: Option<Application>,
    socket: Option<Socket>,
    /// Number of connections so far.
    connection: u32,
    /// Bytes of this connection requested by the application, and accepted by the kernel.
    offered: u64,
    written: u64,
}

impl KernelTcpSender {
    pub fn new(
        [number, group]: [u32; 2],
        lifetime: [Time; 2],
        settings: KernelTcpSettings,
        (from, to): (Ipv4Addr, SocketAddrV4),
        writer: Option<Application>,
    ) -> KernelTcpSender {
        KernelTcpSender {
            number,
            group,
            lifetime,
            tally: SenderTally::default(),
            ended: None,
            failed: None,
            settings,
            from,
            to,
            writer,
            socket: None,
            connection: 0,
            offered: 0,
            written: 0,
        }
    }

    /// Replaces the current connection by a new one, and registers it on `poller` as `token`.
    pub fn connect(&mut self, poller: &SocketPoller, token: u64) -> LiveResult<()> {
        self.socket = None;
        (self.offered, self.written) = (0, 0);
        self.connection += 1;
        let kind = Type::STREAM.nonblocking().cloexec();
        let socket = Request::FlowSocket.ask(|| Socket::new(Domain::IPV4, kind, Some(Protocol::TCP)))?;
        self.set_up(&socket)?;
        Request::FlowAddress.ask_about(self.to, || {
            socket.bind(&SockAddr::from(SocketAddrV4::new(self.from, 0)))?;
            match socket.connect(&SockAddr::from(self.to)) {
                Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
                done => done,
            }
        })?;
        poller.writable(&socket, token)?;
        self.socket = Some(socket);
        Ok(())
    }

    fn set_up(&self, socket: &Socket) -> LiveResult<()> {
        let cc = self.settings.cc;
        let chosen = Request::CongestionControl.ask_about(cc, || socket.set_tcp_congestion(cc.as_bytes()));
        chosen.map_err(|error| match error {
            LiveError::System(SystemError { request, source, .. }) => controllers::refused(request, cc, cc, source),
            error => error,
        })?;
        Request::FlowOptions.ask(|| self.set_options(socket))
    }

    fn set_options(&self, socket: &Socket) -> io::Result<()> {
        let settings = &self.settings;
        socket.set_tcp_mss(settings.mss)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_notsent_lowat(MOST_UNSENT)?;
        socket.set_tos_v4(settings.tos)?;
        // Close with RST: no port lingers, and unsent data is discarded.
        socket.set_linger(Some(Duration::ZERO))?;
        tcp::set_timers(socket, settings.timers);
        if settings.pacing {
            tcp::pace(socket, PACING_LIMIT)?;
        }
        if self.writer.is_some() {
            tcp::enable_ack_reports(socket)?;
        }
        Ok(())
    }

    /// Whether the connection is established; an error means it failed.
    pub fn is_connected(&self) -> LiveResult<bool> {
        let Some(socket) = &self.socket else { return Ok(false) };
        Request::FlowAddress.ask_about(self.to, || socket.take_error()?.map_or(Ok(()), Err))?;
        Ok(socket.peer_addr().is_ok())
    }

    pub fn start(&mut self, index: usize, now: Time, timers: &mut Timers) {
        self.sample(now);
        match &mut self.writer {
            Some(writer) => schedule_write(index, writer.start(now), timers),
            None => {
                self.offered = u64::MAX;
                self.write(now);
            }
        }
    }

    /// Starts the application's next write.
    pub fn on_write(
        &mut self,
        index: usize,
        now: Time,
        shared: &LoadState,
        poller: &SocketPoller,
        timers: &mut Timers,
    ) {
        let Some(write) = self.writer.as_mut().and_then(|writer| writer.begin(now)) else { return };
        if write.new_connection && self.written > 0 {
            self.close(now);
            if let Err(error) = self.connect(poller, index as u64) {
                self.fail(&error, now);
            }
        }
        match write.data {
            WriteAmount::Bytes(bytes) => self.offered = self.offered.saturating_add(self.settings.kernel_bytes(bytes)),
            WriteAmount::Duration(lasting) => {
                self.offered = u64::MAX;
                timers.push(now + lasting, SenderTimer::Close(index));
            }
            WriteAmount::Endless => self.offered = u64::MAX,
        }
        if let (true, WriteAmount::Bytes(bytes)) = (write.transfer, write.data) {
            let row = TransferRow { flow: self.number, group: self.group, start: now, bytes, end: None };
            let transfer = OpenTransfer { row, connection: self.connection, end: self.offered };
            shared.transfers()[self.number as usize].push_back(transfer);
        }
        let next = self.writer.as_mut().and_then(|writer| writer.written(&write, now));
        schedule_write(index, next, timers);
        self.write(now);
    }

    /// Ends a write limited by time: only data that the kernel accepted counts.
    pub fn on_close(&mut self, index: usize, now: Time, timers: &mut Timers) {
        self.offered = self.written;
        self.report_acknowledged(index, now, timers);
    }

    /// Handles output space or an ACK notification.
    pub fn on_ready(&mut self, index: usize, error: bool, now: Time, timers: &mut Timers) {
        if error {
            let Some(socket) = &self.socket else { return };
            while recv(socket, &mut [0; 64], RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT).is_ok() {}
            if let Ok(Some(error)) = socket.take_error() {
                return self.fail(&Request::FlowData.refused(error), now);
            }
            self.report_acknowledged(index, now, timers);
        }
        self.write(now);
    }

    /// Stops the flow; unsent data is discarded.
    pub fn stop(&mut self, now: Time) {
        self.close(now);
        self.writer = None;
        self.offered = 0;
    }

    /// Samples the connection. Returns true if all written data is acknowledged.
    pub fn sample(&mut self, now: Time) -> bool {
        match self.socket.as_ref().map(TcpInfo::of) {
            Some(Ok(info)) => {
                self.tally.sample(&info, now);
                info.is_all_acked()
            }
            _ => false,
        }
    }

    /// The sender's state for its trace, with counts over all its connections; `None` without a connection.
    pub fn state(&self) -> Option<SenderState> {
        let socket = self.socket.as_ref()?;
        let info = TcpInfo::of(socket).ok()?;
        let bbr = (self.settings.cc == "bbr").then(|| tcp::bbr_phase(socket)).flatten();
        let so_far = self.tally.counts_so_far(&info);
        let sampled = info.srtt > Span::ZERO;
        Some(SenderState {
            cwnd: Some(info.cwnd.into()),
            ssthresh: info.ssthresh.map(f64::from),
            srtt: sampled.then_some(info.srtt),
            rttvar: sampled.then_some(info.rttvar),
            rto: Some(info.rto),
            flight: Some(info.unacked),
            acked_bytes: Some(self.settings.useful_bytes(so_far.acked)),
            phase: bbr.unwrap_or_else(|| info.phase()),
            retransmits: so_far.retransmits as u32,
            timeouts: so_far.timeouts as u32,
            ..SenderState::default()
        })
    }

    /// Tells the application when all its data is acknowledged.
    pub fn report_acknowledged(&mut self, index: usize, now: Time, timers: &mut Timers) {
        if self.written != self.offered || self.writer.is_none() || !self.sample(now) {
            return;
        }
        let Some(writer) = &mut self.writer else { return };
        schedule_write(index, writer.acknowledged(now), timers);
        if writer.take_end() {
            self.ended = Some(now);
        }
    }

    /// Writes as much as the kernel accepts.
    fn write(&mut self, now: Time) {
        let Some(socket) = &self.socket else { return };
        while self.written < self.offered {
            let length = (self.offered - self.written).min(ZEROS.len() as u64) as usize;
            match socket.send_with_flags(&ZEROS[..length], libc::MSG_NOSIGNAL) {
                Ok(bytes) => self.written += bytes as u64,
                // Not connected, or no space; `poller` reports when that changes.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return self.fail(&Request::FlowData.refused(error), now),
            }
        }
    }

    fn fail(&mut self, error: &LiveError, now: Time) {
        self.failed.get_or_insert_with(|| format!("its connection number {} failed: {error}", self.connection));
        self.close(now);
    }

    fn close(&mut self, now: Time) {
        self.sample(now);
        self.tally.close();
        self.socket = None;
    }
}

fn schedule_write(index: usize, at: Option<Time>, timers: &mut Timers) {
    if let Some(at) = at {
        timers.push(at, SenderTimer::Write(index));
    }
}
