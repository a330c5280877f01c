//! Datagrams through a link, seen from its hosts: how fast and how late they come, and whether any are gone that the link did
//! not drop.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use headgate_core::parts::Histogram;
use headgate_core::{Rate, Span, Time};

use crate::forward::pacing::{Clock, Paced};
use crate::forward::view::View;
use crate::io::clock::Monotonic;
use crate::io::interface::Counters;
use crate::link::{Link, LinkSettings};

/// IPv4's header and UDP's, in bytes.
const HEADERS: u32 = 28;

/// The first packets find threads that sleep: the rate is that of those behind them.
pub const SETTLING: u64 = 20;

/// Between two packets this far apart a sender sleeps: to send one takes about half of it.
const BREATH: Span = Span::from_micros(8);

/// What the near host sends to the far one: datagrams at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How fast, headers included.
    pub rate: Rate,
    /// A packet, headers included, in bytes: 36 to 1500.
    pub packet: u32,
    /// For how long.
    pub lasting: Span,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Datagrams that were sent.
    pub sent: u64,
    /// In which time those came that were received, but for the first [`SETTLING`].
    pub taken: Span,
    /// From when each was sent to when it was received, in nanoseconds.
    pub delay: Histogram,
    /// What the kernel counted at the near host's device and the far one's.
    pub counters: [Counters; 2],
    /// What the link did.
    pub view: View,
}

/// Sends `load` through a link made for it.
pub fn measure(settings: LinkSettings, load: Load) -> io::Result<Measured> {
    let mut link = Link::open(settings)?;
    let far = SocketAddr::from((Link::FAR, 9));
    let receiver = link.far().run(move || UdpSocket::bind(far))??;
    let sender = link.near().run(|| UdpSocket::bind(SocketAddr::from((Link::NEAR, 0))))??;
    sender.connect(far)?;
    // Longer than any packet takes that this is used for.
    receiver.set_read_timeout(Some(Duration::from_millis(500)))?;
    let clock = Monotonic::new();
    let receiving = thread::spawn(move || receive(&receiver, clock));
    let sent = send(&sender, clock, load)?;
    let (delay, taken) = receiving.join().map_err(|_| io::Error::other("the receiver panicked"))?;
    let counters = link.counters()?;
    let view = link.stop()?;
    Ok(Measured { sent, taken, delay, counters, view })
}

fn send(socket: &UdpSocket, clock: Monotonic, load: Load) -> io::Result<u64> {
    let mut data = vec![0; load.packet.saturating_sub(HEADERS).max(8) as usize];
    let gap = load.rate.transmit(load.packet);
    let mut paced = Paced::new(clock, Span::ZERO);
    paced.begin()?;
    // Before the link's thread, as the receiver: one that waits for a processor on which the loop looks at the clock would leave the
    // link nothing to send, and what is measured were the scheduler. One that never sleeps would take it all for itself.
    if gap >= BREATH {
        let _ = crate::io::come_first(2);
    }
    let begin = paced.now();
    let (mut next, mut sent) = (begin, 0);
    // One that cannot keep up stops in time too.
    while next.max(paced.now()) - begin < load.lasting {
        paced.wait(next, [None; 2])?;
        data[..8].copy_from_slice(&clock.now().as_nanos().to_be_bytes());
        socket.send(&data)?;
        sent += 1;
        next += gap;
    }
    Ok(sent)
}

/// Receives until nothing has come for a while.
fn receive(socket: &UdpSocket, clock: Monotonic) -> (Histogram, Span) {
    // Woken in time if it may be, before the link's thread too, which may be looking at the clock on the same core; what it takes
    // else is in the measurement.
    let _ = crate::io::come_first(2);
    let mut delay = Histogram::default();
    let (mut first, mut last) = (None, Time::ZERO);
    let mut data = [0; 2048];
    while let Ok(length) = socket.recv(&mut data) {
        last = clock.now();
        if delay.count() == SETTLING {
            first = Some(last);
        }
        if let Some(stamp) = data[..length].first_chunk() {
            delay.record((last - Time::from_nanos(u64::from_be_bytes(*stamp))).as_nanos());
        }
    }
    (delay, last - first.unwrap_or(last))
}
