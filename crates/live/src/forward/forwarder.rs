//! The forwarding loop: one thread for both directions of a link, or for a whole network.
//!
//! A turn of the loop receives the waiting frames, advances the links to the present, and sends the frames that have
//! left the links. Then it waits for the next departure or arrival. Links compute in nominal times, so a late turn
//! delays frames but does not change which frames are dropped.
//!
//! A turn that is late by at most [`CATCH_UP`] sends its overdue frames in one burst. Any lateness beyond [`CATCH_UP`]
//! is a *stall*: all events of the links are postponed by the excess. A longer burst would not be a faithful emulation
//! of the link.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use aqm::{Span, Time};
use headgate_scenario::Direction::{Forward, Reverse};

use super::fabric::{Fabric, Lanes};
use super::pacing::Clock;
use super::view::{SharedView, View};
use crate::error::{LiveError, LiveResult};
use crate::io::LinkEnd;
use crate::io::request::Request;

/// A change to the fabric, which the forwarder's thread makes between two turns.
pub type FabricChange<F = Lanes> = Box<dyn FnOnce(&mut F, Time) + Send>;

/// Sends changes from another thread to a forwarder.
pub type ChangeSender<F = Lanes> = Sender<FabricChange<F>>;

/// Moves frames between two ends, over a link or a network.
pub struct Forwarder<A, B, C, F = Lanes> {
    /// The end that sends into the forward direction and receives from the reverse one.
    pub a: A,
    /// The other end.
    pub b: B,
    fabric: F,
    clock: C,
    shared: SharedView,
    stop: Arc<AtomicBool>,
    change_sender: ChangeSender<F>,
    changes: Receiver<FabricChange<F>>,
    publish_at: Time,
    /// Time until which the loop last meant to wait. Lateness is measured against it.
    wake_at: Time,
    /// Whether frames may be waiting at each end.
    ready: [bool; 2],
}

/// Interval at which a forwarder publishes its view, applies changes and checks whether to stop.
pub const PUBLISH_INTERVAL: Span = Span::from_millis(50);

/// Longest lateness that the loop makes up for with a burst. Beyond it, the link stalls.
pub const CATCH_UP: Span = Span::from_millis(10);

impl<A: LinkEnd, B: LinkEnd, C: Clock, F: Fabric> Forwarder<A, B, C, F> {
    /// A forwarder between `a` and `b`, over `fabric`.
    pub fn new(a: A, b: B, mut fabric: F, clock: C) -> Self {
        let (shared, stop, (change_sender, changes)) = (SharedView::default(), Arc::default(), channel());
        let (publish_at, wake_at, ready) = (Time::ZERO, Time::NEVER, [true; 2]);
        shared.publish(View { lanes: fabric.view(Time::ZERO), ..View::default() });
        Forwarder { a, b, fabric, clock, shared, stop, change_sender, changes, publish_at, wake_at, ready }
    }

    /// The view that it publishes.
    pub fn shared_view(&self) -> SharedView {
        self.shared.clone()
    }

    /// Setting this flag stops the forwarder within [`PUBLISH_INTERVAL`].
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The sender for changes. Each is applied within [`PUBLISH_INTERVAL`].
    pub fn change_sender(&self) -> ChangeSender<F> {
        self.change_sender.clone()
    }

    /// Forwards until it is stopped and returns the final view. Packets still queued stay there.
    ///
    /// # Errors
    /// An end is gone, or the clock may not set the thread's scheduling; refused if the ends' layers differ.
    pub fn run(&mut self) -> LiveResult<View> {
        if self.a.layer() != self.b.layer() {
            let message = "one end has Ethernet frames and the other IP packets";
            return Err(LiveError::Refused(message.to_string()));
        }
        Request::ThreadScheduling.ask(|| self.clock.begin())?;
        while !self.stop.load(Ordering::Relaxed) {
            self.turn(Time::NEVER)?;
        }
        let view = self.view();
        self.shared.publish(view.clone());
        Ok(view)
    }

    /// One turn: forwards the waiting frames, then waits for more, at most until `end`. Fails if an end is gone.
    #[inline]
    pub fn turn(&mut self, end: Time) -> LiveResult<()> {
        let fabric = &mut self.fabric;
        let more_waiting = [
            self.ready[0] && Request::Frames.ask(|| fabric.take_from(Forward, &mut self.a))?,
            self.ready[1] && Request::Frames.ask(|| fabric.take_from(Reverse, &mut self.b))?,
        ];
        // Only now: this thread may have been interrupted, and a frame must not arrive earlier than it was sent.
        let now = self.clock.now();
        let late = now - self.wake_at;
        if late > CATCH_UP {
            fabric.stall(late - CATCH_UP);
        }
        fabric.arrive(now, Forward);
        fabric.arrive(now, Reverse);
        // Packets that fell due meanwhile leave in this turn, while their slots are in a cache. If it took longer than
        // `CATCH_UP`, the next turn records the stall.
        let then = self.clock.now();
        let now = if then - now > CATCH_UP { now } else { then };
        let more_due = [
            Request::Frames.ask(|| fabric.deliver_to(now, Forward, &mut self.b))?,
            Request::Frames.ask(|| fabric.deliver_to(now, Reverse, &mut self.a))?,
        ];
        if now >= self.publish_at {
            self.publish_at = now + PUBLISH_INTERVAL;
            while let Ok(change) = self.changes.try_recv() {
                change(&mut self.fabric, now);
            }
            let view = self.view();
            self.shared.publish(view);
        }
        Request::Wait.ask(|| self.clock.yield_if_due(now))?;
        self.wake_at = self.fabric.due().min(self.publish_at).min(end);
        self.ready = match (more_waiting, more_due) {
            ([false, false], [false, false]) => {
                let fds = [self.a.fd(), self.b.fd(), self.fabric.fd()];
                Request::Wait.ask(|| self.clock.wait(self.wake_at, fds))?
            }
            _ => [true; 2],
        };
        Ok(())
    }

    /// The current view.
    pub fn view(&mut self) -> View {
        let at = self.clock.now();
        View { at, lanes: self.fabric.view(at), kernel: [self.a.kernel(), self.b.kernel()], cpu: self.clock.cpu() }
    }
}
