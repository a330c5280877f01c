//! Measures a link with datagrams from host to host: its rate, its delay, and packets lost outside the link.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use aqm::parts::Histogram;
use aqm::{Rate, Span, Time};

use crate::error::{LiveError, LiveResult};
use crate::forward::pacing::{Clock, PacedClock};
use crate::forward::view::View;
use crate::io::clock::Monotonic;
use crate::io::interface_counters::InterfaceCounters;
use crate::io::request::Request;
use crate::link::{EmulatedLink, LinkSettings};
use crate::threads;

/// IPv4 and UDP headers, in bytes.
const HEADERS: u32 = 28;

/// Number of packets at the start that are not timed: they find the threads asleep.
pub const UNTIMED_PACKETS: u64 = 20;

/// Least gap between packets in which the sender sleeps. Sending a packet takes about half of this time.
const LEAST_SLEEP_GAP: Span = Span::from_micros(8);

/// Datagrams at equal intervals from the near host to the far one.
#[derive(Clone, Copy, Debug)]
pub struct DatagramLoad {
    /// Rate, headers included.
    pub rate: Rate,
    /// Packet size, headers included: 36 to 1500 bytes.
    pub packet: u32,
    /// Duration.
    pub duration: Span,
}

/// The result of [`measure`].
#[derive(Clone, Debug)]
pub struct LinkMeasurement {
    /// Datagrams sent.
    pub sent: u64,
    /// Time over which datagrams arrived, without the first [`UNTIMED_PACKETS`].
    pub receive_time: Span,
    /// One-way delay of each datagram, in nanoseconds.
    pub delay: Histogram,
    /// The kernel's counts at the near and the far host's device.
    pub counters: [InterfaceCounters; 2],
    /// The link's final view.
    pub view: View,
}

/// Sends `load` through a new link.
pub fn measure(settings: LinkSettings, load: DatagramLoad) -> LiveResult<LinkMeasurement> {
    let mut link = EmulatedLink::open(settings)?;
    let far = SocketAddr::from((EmulatedLink::FAR, 9));
    let bind = |address: SocketAddr| Request::FlowSocket.ask_about(address, || UdpSocket::bind(address));
    let receiver = link.far().run(move || bind(far))??;
    let sender = link.near().run(move || bind(SocketAddr::from((EmulatedLink::NEAR, 0))))??;
    Request::FlowAddress.ask_about(far, || sender.connect(far))?;
    // Longer than any delay this is used for.
    let timeout = Some(Duration::from_millis(500));
    Request::FlowOptions.ask(|| receiver.set_read_timeout(timeout))?;
    let clock = Monotonic::new();
    let receiving = threads::start("receiver", move || receive(&receiver, clock))?;
    // Not on the caller's thread, which would keep the real-time priority.
    let ((), sending) = threads::spawn("sender", move || Ok(((), move || send(&sender, clock, load))))?;
    let ended = |_| LiveError::Ended("a thread of the load panicked".to_string());
    let sent = sending.join().map_err(ended)?.expect("building nothing cannot fail")?;
    let (delay, receive_time) = receiving.join().map_err(ended)?;
    let counters = link.counters()?;
    let view = link.stop()?;
    Ok(LinkMeasurement { sent, receive_time, delay, counters, view })
}

fn send(socket: &UdpSocket, clock: Monotonic, load: DatagramLoad) -> LiveResult<u64> {
    let mut data = vec![0; load.packet.saturating_sub(HEADERS).max(8) as usize];
    let gap = load.rate.transmit(load.packet);
    let mut paced = PacedClock::new(clock, Span::ZERO);
    Request::ThreadScheduling.ask(|| paced.begin())?;
    // Priority over the link's thread, as for the receiver. Without it, the polling loop would starve the sender on a
    // shared core, and the result would measure the scheduler. A sender that never sleeps gets no priority: it would
    // starve the loop.
    if gap >= LEAST_SLEEP_GAP {
        let _ = crate::io::set_realtime_priority(2);
    }
    let begin = paced.now();
    let (mut next, mut sent) = (begin, 0);
    // A sender that cannot keep up also stops in time.
    while next.max(paced.now()) - begin < load.duration {
        Request::Wait.ask(|| paced.wait(next, [None; 3]))?;
        data[..8].copy_from_slice(&clock.now().as_nanos().to_be_bytes());
        Request::FlowData.ask(|| socket.send(&data))?;
        sent += 1;
        next += gap;
    }
    Ok(sent)
}

/// Receives until nothing arrives for the read timeout.
fn receive(socket: &UdpSocket, clock: Monotonic) -> (Histogram, Span) {
    // Priority over the link's thread, which may be polling on the same core.
    let _ = crate::io::set_realtime_priority(2);
    let mut delay = Histogram::default();
    let (mut first, mut last) = (None, Time::ZERO);
    let mut data = [0; 2048];
    while let Ok(length) = socket.recv(&mut data) {
        last = clock.now();
        if delay.count() == UNTIMED_PACKETS {
            first = Some(last);
        }
        if let Some(stamp) = data[..length].first_chunk() {
            delay.record((last - Time::from_nanos(u64::from_be_bytes(*stamp))).as_nanos());
        }
    }
    (delay, last - first.unwrap_or(last))
}
