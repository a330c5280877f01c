//! Waiting for sockets and a timer at once.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, read, write};

use aqm::Span;

use crate::error::LiveResult;
use crate::io::clock::timespec;
use crate::io::request::Request;

/// Events per wait.
const BATCH: usize = 256;

const WAKER: u64 = u64::MAX;

pub struct SocketPoller {
    epoll: OwnedFd,
    pub waker: Waker,
    events: Vec<epoll::Event>,
}

#[derive(Clone)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// Ends the current wait, or else the next one.
    pub fn wake(&self) {
        // The eventfd's counter overflows only after 2^64 calls without a wait.
        let _ = write(&*self.0, &1_u64.to_ne_bytes());
    }
}

impl SocketPoller {
    pub fn new() -> LiveResult<SocketPoller> {
        Request::Poller.ask(|| {
            let epoll = epoll::create(CreateFlags::CLOEXEC)?;
            let waker = Waker(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?));
            epoll::add(&epoll, &*waker.0, EventData::new_u64(WAKER), EventFlags::IN)?;
            Ok::<_, Errno>(SocketPoller { epoll, waker, events: Vec::with_capacity(BATCH) })
        })
    }

    /// Watches `socket` for input, level-triggered.
    pub fn readable(&self, socket: impl AsFd, token: u64) -> LiveResult<()> {
        Request::Poller.ask(|| epoll::add(&self.epoll, socket, EventData::new_u64(token), EventFlags::IN))
    }

    /// Watches `socket` for output space and its error queue, edge-triggered.
    pub fn writable(&self, socket: impl AsFd, token: u64) -> LiveResult<()> {
        let events = EventFlags::OUT | EventFlags::ET;
        Request::Poller.ask(|| epoll::add(&self.epoll, socket, EventData::new_u64(token), events))
    }

    /// Waits for an event or the waker, at most for `most`.
    pub fn wait(&mut self, most: Span) -> LiveResult<()> {
        self.events.clear();
        // `poll` waits to the nanosecond; `epoll_wait`'s milliseconds would delay datagrams.
        let polled = poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&timespec(most)));
        let collected = polled
            .and_then(|_| epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timespec(Span::ZERO))));
        match collected {
            Err(Errno::INTR) | Ok(_) => {}
            Err(error) => return Err(Request::Poller.refused(error.into())),
        }
        if self.events.iter().any(|event| event.data.u64() == WAKER) {
            let _ = read(&*self.waker.0, &mut [0; 8]);
        }
        Ok(())
    }

    /// Event `index` of the last wait: its token, and whether the socket has an error or a message in its error queue.
    pub fn ready(&self, index: usize) -> Option<(u64, bool)> {
        let event = self.events.get(index)?;
        let flags = event.flags;
        Some((event.data.u64(), flags.intersects(EventFlags::ERR | EventFlags::HUP)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::clock::Monotonic;

    #[test]
    fn a_wait_ends_at_its_deadline_or_at_an_event() {
        let (mut watch, clock) = (SocketPoller::new().unwrap(), Monotonic::new());
        let most = Span::from_micros(100);
        let mut wait = || {
            let before = clock.now();
            watch.wait(most).unwrap();
            clock.now() - before
        };
        // A busy machine delays some waits, not all.
        let shortest = (0..200).map(|_| wait()).min().unwrap();
        assert!((most..Span::from_micros(900)).contains(&shortest), "{shortest}");
    }

    #[test]
    fn a_waker_ends_a_wait_without_reporting_an_event() {
        let (mut watch, clock) = (SocketPoller::new().unwrap(), Monotonic::new());
        watch.waker.wake();
        watch.wait(Span::from_secs(20)).unwrap();
        assert!(clock.now().as_secs_f64() < 10.0);
        assert!(watch.ready(0).is_some_and(|(token, _)| token == WAKER) && watch.ready(1).is_none());
        watch.wait(Span::ZERO).unwrap();
        assert!(watch.ready(0).is_none(), "one wake-up ends one wait");
    }
}
