//! The thread of a host that sends: all flows from there.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU64;
use std::sync::Arc;

use headgate_core::parts::Histogram;
use headgate_core::{Span, Time};
use rustix::thread::set_current_timer_slack;

use super::flows::{Flow, Sends};
use super::poll::Watch;
use super::ports;
use super::shared::Shared;
use super::tcp::TcpSender;
use super::timers::{Due, Timers};
use super::tracer::Tracer;
use super::udp::UdpSender;

/// How often the kernel is asked what its connections do, at most; and how long it takes for each of them, several times over.
const SAMPLE: Span = Span::from_millis(50);
const SAMPLE_OF_ONE: Span = Span::from_micros(50);

/// Connections that are set up at a time, so that no queue overflows.
const AT_A_TIME: usize = 16;

/// How long a connection may take to be set up, beyond which there is something wrong.
const PATIENCE: Span = Span::from_secs(10);

/// What is there at the end.
pub struct Sent {
    /// The flows that were sent by TCP.
    pub tcp: Vec<TcpSender>,
    /// And by UDP.
    pub udp: Vec<UdpSender>,
    /// How much later than planned datagrams were sent, in nanoseconds.
    pub late: Histogram,
}

/// All senders of a host.
pub struct Senders {
    shared: Arc<Shared>,
    /// What it waits for.
    pub watch: Watch,
    sent: Sent,
    timers: Timers,
    warm: Time,
    end: Time,
    /// What the host's `tcp_ecn` is, if it was ever set.
    ecn: Option<bool>,
    tracer: Option<Tracer>,
}

impl Senders {
    /// The senders of `flows` from one host to another, with their connections set up; `tracer` looks at those that are traced.
    pub fn new(
        flows: Vec<Flow>,
        (from, to): (Ipv4Addr, Ipv4Addr),
        [warm, end]: [Time; 2],
        shared: Arc<Shared>,
        tracer: Option<Tracer>,
    ) -> io::Result<Senders> {
        let (watch, timers) = (Watch::new()?, Timers::new(0));
        let sent = Sent { tcp: Vec::new(), udp: Vec::new(), late: Histogram::default() };
        let mut senders = Senders { shared, watch, sent, timers, warm, end, ecn: None, tracer };
        for flow in flows {
            let (number, lasts, to) = (flow.number, flow.lasts, SocketAddrV4::new(to, ports::port(flow.number)));
            match flow.sends {
                Sends::Tcp(settings, writer) => {
                    let sender = TcpSender::new([number, flow.group], lasts, settings, (from, to), writer);
                    senders.sent.tcp.push(sender);
                }
                Sends::Udp(settings, source, rng) => {
                    let sender = UdpSender::new(number, lasts, settings, (from, to), (source, rng))?;
                    senders.sent.udp.push(sender);
                }
            }
        }
        // A timer's slack alone would be 50 us.
        set_current_timer_slack(NonZeroU64::new(1))?;
        senders.connect_all()?;
        Ok(senders)
    }

    /// Sets up every connection, few at a time.
    fn connect_all(&mut self) -> io::Result<()> {
        let mut waited = Span::ZERO;
        let (mut begun, mut done) = (0, 0);
        while done < self.sent.tcp.len() && !self.shared.stopped() {
            while begun < self.sent.tcp.len().min(done + AT_A_TIME) {
                self.connect(begun)?;
                begun += 1;
            }
            match self.sent.tcp[done].is_connected() {
                Ok(true) => (done, waited) = (done + 1, Span::ZERO),
                Ok(false) if waited < PATIENCE => {
                    let step = Span::from_millis(1);
                    self.watch.wait(step)?;
                    waited = waited + step;
                }
                Ok(false) => return Err(self.unconnected(done, "nobody answers")),
                Err(error) => return Err(self.unconnected(done, &error.to_string())),
            }
        }
        Ok(())
    }

    fn unconnected(&self, place: usize, why: &str) -> io::Error {
        let flow = self.sent.tcp[place].number;
        io::Error::new(io::ErrorKind::TimedOut, format!("flow {flow} cannot be connected over the link: {why}"))
    }

    /// Begins a connection of the TCP flow at `place`. Whether a SYN asks for ECN is a setting of the whole host, which the
    /// kernel looks at when it is sent: 1 asks, 2 only accepts.
    fn connect(&mut self, place: usize) -> io::Result<()> {
        let flow = &mut self.sent.tcp[place];
        if self.ecn.replace(flow.settings.ecn) != Some(flow.settings.ecn) {
            fs::write("/proc/sys/net/ipv4/tcp_ecn", if flow.settings.ecn { "1" } else { "2" })?;
        }
        flow.connect(&self.watch, place as u64)
    }

    /// Sends, from the beginning to the end.
    pub fn run(mut self) -> io::Result<Sent> {
        loop {
            if self.shared.stopped() {
                return Ok(self.sent);
            }
            match self.shared.until_begin() {
                Span::ZERO => break,
                until => self.watch.wait(until)?,
            }
        }
        self.plan();
        let mut now = Time::ZERO;
        while !self.shared.stopped() && now < self.end {
            now = self.shared.now().unwrap_or(now);
            while let Some((at, due)) = self.timers.pop(now) {
                self.act(due, at, now);
            }
            self.watch.wait((self.timers.next() - now).min(self.end - now))?;
            self.look(now);
        }
        self.tracer.iter_mut().for_each(|tracer| tracer.end(&self.shared.traces));
        self.sent.tcp.iter_mut().for_each(|flow| flow.stop(now));
        Ok(self.sent)
    }

    fn plan(&mut self) {
        for (place, flow) in self.sent.tcp.iter().enumerate() {
            self.timers.push(flow.lasts[0], Due::Start(place));
            self.timers.push(flow.lasts[1], Due::Stop(place));
        }
        for (place, flow) in self.sent.udp.iter_mut().enumerate() {
            if let Some(at) = flow.next() {
                self.timers.push(at, Due::Datagrams(place));
            }
        }
        self.timers.push(self.warm, Due::Warm);
        self.timers.push(Time::ZERO, Due::Sample);
        if self.tracer.is_some() {
            self.timers.push(Time::ZERO, Due::Trace);
        }
    }

    fn act(&mut self, due: Due, at: Time, now: Time) {
        let (timers, tcp) = (&mut self.timers, &mut self.sent.tcp);
        match due {
            Due::Start(place) => tcp[place].start(place, now, timers),
            Due::Write(place) => tcp[place].on_write(place, now, &self.shared, &self.watch, timers),
            Due::Close(place) => tcp[place].on_close(place, now, timers),
            Due::Stop(place) => tcp[place].stop(now),
            Due::Datagrams(place) => self.send_datagrams(place, at, now),
            Due::Sample => self.sample(at, now),
            Due::Trace => {
                if let Some(tracer) = &mut self.tracer {
                    tracer.look(tcp, now, &self.shared.traces);
                    timers.push((at + tracer.every).max(now), Due::Trace);
                }
            }
            Due::Warm => tcp.iter_mut().for_each(|flow| {
                flow.note(now);
                flow.tally.restart(now);
            }),
        }
    }

    fn send_datagrams(&mut self, place: usize, at: Time, now: Time) {
        let flow = &mut self.sent.udp[place];
        self.sent.late.record((now - at).as_nanos());
        flow.send(self.shared.clock.now());
        match flow.next() {
            Some(next) => self.timers.push(next, Due::Datagrams(place)),
            None => flow.ended = Some(now),
        }
    }

    /// Asks the kernel about connections of flows that have started; an acknowledgement that was not told of is found then.
    fn sample(&mut self, at: Time, now: Time) {
        for (place, flow) in self.sent.tcp.iter_mut().enumerate() {
            if flow.lasts[0] <= now && now < flow.lasts[1] {
                flow.note(now);
                flow.settle(place, now, &mut self.timers);
            }
        }
        let every = SAMPLE.max(SAMPLE_OF_ONE * self.sent.tcp.len() as u64);
        self.timers.push((at + every).max(now), Due::Sample);
    }

    /// Looks at what was ready when the last wait ended.
    fn look(&mut self, before: Time) {
        let now = self.shared.now().unwrap_or(before);
        for index in 0.. {
            let Some((token, error)) = self.watch.ready(index) else { break };
            let place = token as usize;
            // Not the waker.
            if let Some(flow) = self.sent.tcp.get_mut(place) {
                flow.on_ready(place, error, now, &mut self.timers);
            }
        }
    }
}
