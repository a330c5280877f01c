//! The thread that sends all flows of a host.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU64;
use std::sync::Arc;

use aqm::parts::Histogram;
use aqm::{Span, Time};
use rustix::thread::set_current_timer_slack;

use super::flows::{FlowTraffic, LiveFlow};
use super::poll::SocketPoller;
use super::ports;
use super::shared::LoadState;
use super::tcp::KernelTcpSender;
use super::timers::{SenderTimer, Timers};
use super::tracer::Tracer;
use super::udp::UdpSender;
use crate::error::LiveResult;
use crate::hosts;
use crate::io::request::Request;

/// Least interval between samples of all connections, and per connection: several times the cost of a sample.
const SAMPLE_INTERVAL: Span = Span::from_millis(50);
const SAMPLE_INTERVAL_PER_FLOW: Span = Span::from_micros(50);

/// Concurrent connection attempts, few enough for the listen queues.
const CONCURRENT_CONNECTS: usize = 16;

/// Longest time to connect; beyond it something is broken.
const CONNECT_TIMEOUT: Span = Span::from_secs(10);

pub struct SenderResults {
    pub tcp: Vec<KernelTcpSender>,
    pub udp: Vec<UdpSender>,
    /// Lateness of datagrams against their source's schedule, in nanoseconds.
    pub late: Histogram,
}

pub struct HostSenders {
    shared: Arc<LoadState>,
    pub poller: SocketPoller,
    sent: SenderResults,
    timers: Timers,
    warm: Time,
    end: Time,
    /// Current `tcp_ecn` sysctl, if it was set.
    ecn: Option<bool>,
    tracer: Option<Tracer>,
}

impl HostSenders {
    /// Connects the senders of `flows` from one host to the other; `tracer` samples the traced ones.
    pub fn new(
        flows: Vec<LiveFlow>,
        (from, to): (Ipv4Addr, Ipv4Addr),
        [warm, end]: [Time; 2],
        shared: Arc<LoadState>,
        tracer: Option<Tracer>,
    ) -> LiveResult<HostSenders> {
        let (poller, timers) = (SocketPoller::new()?, Timers::new(0));
        let sent = SenderResults { tcp: Vec::new(), udp: Vec::new(), late: Histogram::default() };
        let mut senders = HostSenders { shared, poller, sent, timers, warm, end, ecn: None, tracer };
        for flow in flows {
            let (number, lifetime, to) = (flow.number, flow.lifetime, SocketAddrV4::new(to, ports::port(flow.number)));
            match flow.traffic {
                FlowTraffic::Tcp(settings, writer) => {
                    let sender = KernelTcpSender::new([number, flow.group], lifetime, settings, (from, to), writer);
                    senders.sent.tcp.push(sender);
                }
                FlowTraffic::Udp(settings, source, rng) => {
                    let sender = UdpSender::new(number, lifetime, settings, (from, to), (source, rng))?;
                    senders.sent.udp.push(sender);
                }
            }
        }
        // The default timer slack alone is 50 us.
        Request::ThreadScheduling.ask(|| set_current_timer_slack(NonZeroU64::new(1)))?;
        senders.connect_all()?;
        Ok(senders)
    }

    /// Connects all flows, [`CONCURRENT_CONNECTS`] at once.
    fn connect_all(&mut self) -> LiveResult<()> {
        let mut waited = Span::ZERO;
        let (mut begun, mut done) = (0, 0);
        while done < self.sent.tcp.len() && !self.shared.stopped() {
            while begun < self.sent.tcp.len().min(done + CONCURRENT_CONNECTS) {
                self.connect(begun)?;
                begun += 1;
            }
            match self.sent.tcp[done].is_connected() {
                Ok(true) => (done, waited) = (done + 1, Span::ZERO),
                Ok(false) if waited < CONNECT_TIMEOUT => {
                    let step = Span::from_millis(1);
                    self.poller.wait(step)?;
                    waited = waited + step;
                }
                Ok(false) => {
                    let flow = self.sent.tcp[done].number;
                    let timeout = io::Error::from_raw_os_error(libc::ETIMEDOUT);
                    return Err(Request::FlowAddress.refused_about(&format!("flow {flow}"), timeout));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Starts connecting the TCP flow at `index`. The host's sysctl decides at the SYN whether it requests ECN: 1
    /// requests, 2 only accepts.
    fn connect(&mut self, index: usize) -> LiveResult<()> {
        let flow = &mut self.sent.tcp[index];
        if self.ecn.replace(flow.settings.ecn) != Some(flow.settings.ecn) {
            hosts::set_parameter("ipv4/tcp_ecn", if flow.settings.ecn { "1" } else { "2" })?;
        }
        flow.connect(&self.poller, index as u64)
    }

    pub fn run(mut self) -> LiveResult<SenderResults> {
        loop {
            if self.shared.stopped() {
                return Ok(self.sent);
            }
            match self.shared.until_begin() {
                Span::ZERO => break,
                until => self.poller.wait(until)?,
            }
        }
        self.schedule_timers();
        let mut now = Time::ZERO;
        while !self.shared.stopped() && now < self.end {
            now = self.shared.now().unwrap_or(now);
            while let Some((at, timer)) = self.timers.pop(now) {
                self.run_timer(timer, at, now);
            }
            self.poller.wait((self.timers.next() - now).min(self.end - now))?;
            self.handle_events(now);
        }
        self.tracer.iter_mut().for_each(|tracer| tracer.end(&self.shared.traces));
        self.sent.tcp.iter_mut().for_each(|flow| flow.stop(now));
        Ok(self.sent)
    }

    fn schedule_timers(&mut self) {
        for (index, flow) in self.sent.tcp.iter().enumerate() {
            self.timers.push(flow.lifetime[0], SenderTimer::Start(index));
            self.timers.push(flow.lifetime[1], SenderTimer::Stop(index));
        }
        for (index, flow) in self.sent.udp.iter_mut().enumerate() {
            if let Some(at) = flow.next() {
                self.timers.push(at, SenderTimer::Datagrams(index));
            }
        }
        self.timers.push(self.warm, SenderTimer::Warm);
        self.timers.push(Time::ZERO, SenderTimer::Sample);
        if self.tracer.is_some() {
            self.timers.push(Time::ZERO, SenderTimer::Trace);
        }
    }

    fn run_timer(&mut self, timer: SenderTimer, at: Time, now: Time) {
        let (timers, tcp) = (&mut self.timers, &mut self.sent.tcp);
        match timer {
            SenderTimer::Start(index) => tcp[index].start(index, now, timers),
            SenderTimer::Write(index) => tcp[index].on_write(index, now, &self.shared, &self.poller, timers),
            SenderTimer::Close(index) => tcp[index].on_close(index, now, timers),
            SenderTimer::Stop(index) => tcp[index].stop(now),
            SenderTimer::Datagrams(index) => self.send_datagrams(index, at, now),
            SenderTimer::Sample => self.sample(at, now),
            SenderTimer::Trace => {
                if let Some(tracer) = &mut self.tracer {
                    tracer.sample(tcp, now, &self.shared.traces);
                    timers.push((at + tracer.every).max(now), SenderTimer::Trace);
                }
            }
            SenderTimer::Warm => tcp.iter_mut().for_each(|flow| {
                flow.sample(now);
                flow.tally.restart(now);
            }),
        }
    }

    fn send_datagrams(&mut self, index: usize, at: Time, now: Time) {
        let flow = &mut self.sent.udp[index];
        self.sent.late.record((now - at).as_nanos());
        flow.send(self.shared.clock.now());
        match flow.next() {
            Some(next) => self.timers.push(next, SenderTimer::Datagrams(index)),
            None => flow.ended = Some(now),
        }
    }

    /// Samples the connections of started flows. This also finds ACKs whose notification was lost.
    fn sample(&mut self, at: Time, now: Time) {
        for (index, flow) in self.sent.tcp.iter_mut().enumerate() {
            if flow.lifetime[0] <= now && now < flow.lifetime[1] {
                flow.sample(now);
                flow.report_acknowledged(index, now, &mut self.timers);
            }
        }
        let every = SAMPLE_INTERVAL.max(SAMPLE_INTERVAL_PER_FLOW * self.sent.tcp.len() as u64);
        self.timers.push((at + every).max(now), SenderTimer::Sample);
    }

    /// Handles the events of the last wait.
    fn handle_events(&mut self, before: Time) {
        let now = self.shared.now().unwrap_or(before);
        for index in 0.. {
            let Some((token, error)) = self.poller.ready(index) else { break };
            let index = token as usize;
            // Not a flow: the waker.
            if let Some(flow) = self.sent.tcp.get_mut(index) {
                flow.on_ready(index, error, now, &mut self.timers);
            }
        }
    }
}
