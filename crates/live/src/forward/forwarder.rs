//! The forwarding loop: one thread for both directions of a link, or for a whole network.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use headgate_core::{Span, Time};
use headgate_scenario::Direction::{Forward, Reverse};

use super::fabric::{Fabric, Lanes};
use super::pacing::Clock;
use super::view::{SharedView, View};
use crate::io::LinkEnd;

/// A change of the fabric, made by the forwarder's thread between two frames.
pub type FabricChange<F = Lanes> = Box<dyn FnOnce(&mut F, Time) + Send>;

/// Sends jobs to a forwarder from another thread.
pub type ChangeSender<F = Lanes> = Sender<FabricChange<F>>;

/// Moves frames between two ends, over a link or a network.
pub struct Forwarder<A, B, C, F = Lanes> {
    /// The first end.
    pub a: A,
    /// The second.
    pub b: B,
    fabric: F,
    clock: C,
    window: SharedView,
    stop: Arc<AtomicBool>,
    inbox: ChangeSender<F>,
    jobs: Receiver<FabricChange<F>>,
    show_at: Time,
    /// End of the last wait.
    until: Time,
    /// Whether frames may be waiting at each end.
    ready: [bool; 2],
}

/// Interval at which a forwarder publishes its view, does jobs and checks whether to stop.
pub const SHOW_EVERY: Span = Span::from_millis(50);

/// Up to this lateness, the loop sends the frames due meanwhile in one burst. Beyond it, the link stalls.
pub const CATCH_UP: Span = Span::from_millis(10);

impl<A: LinkEnd, B: LinkEnd, C: Clock, F: Fabric> Forwarder<A, B, C, F> {
    /// A forwarder between `a` and `b`, over `fabric`.
    pub fn new(a: A, b: B, mut fabric: F, clock: C) -> Self {
        let (window, stop, (inbox, jobs)) = (SharedView::default(), Arc::default(), channel());
        let (show_at, until, ready) = (Time::ZERO, Time::NEVER, [true; 2]);
        window.leave(View { lanes: fabric.view(Time::ZERO), ..View::default() });
        Forwarder { a, b, fabric, clock, window, stop, inbox, jobs, show_at, until, ready }
    }

    /// The window in which it publishes its state.
    pub fn window(&self) -> SharedView {
        self.window.clone()
    }

    /// Setting this flag stops the forwarder within [`SHOW_EVERY`].
    pub fn stopper(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The inbox for jobs. Each is done within [`SHOW_EVERY`], between two frames.
    pub fn inbox(&self) -> ChangeSender<F> {
        self.inbox.clone()
    }

    /// Forwards until it is stopped and returns the final view. Packets still queued stay there.
    ///
    /// # Errors
    /// An end is gone, or the clock may not set the thread's scheduling; `InvalidInput` if the ends' layers differ.
    pub fn run(&mut self) -> io::Result<View> {
        if self.a.layer() != self.b.layer() {
            let what = "one end has Ethernet frames and the other IP packets";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        self.clock.begin()?;
        while !self.stop.load(Ordering::Relaxed) {
            self.turn(Time::NEVER)?;
        }
        let view = self.view();
        self.window.leave(view.clone());
        Ok(view)
    }

    /// Forwards the frames that are there, then waits for more until `end` at the latest. Fails if an end is gone.
    #[inline]
    pub fn turn(&mut self, end: Time) -> io::Result<()> {
        let now = self.clock.now();
        let now = self.clock.rest(now)?;
        let late = now - self.until;
        if late > CATCH_UP {
            self.fabric.stall(late - CATCH_UP);
        }
        let taken = [
            self.ready[0] && self.fabric.take(now, Forward, &mut self.a)?,
            self.ready[1] && self.fabric.take(now, Reverse, &mut self.b)?,
        ];
        // Packets that fell due during the intake leave in this turn, while their slots are in a cache. If the intake
        // took longer than `CATCH_UP`, the next turn records the stall.
        let then = self.clock.now();
        let now = if then - now > CATCH_UP { now } else { then };
        let given = [self.fabric.give(now, Forward, &mut self.b)?, self.fabric.give(now, Reverse, &mut self.a)?];
        if now >= self.show_at {
            self.show_at = now + SHOW_EVERY;
            while let Ok(job) = self.jobs.try_recv() {
                job(&mut self.fabric, now);
            }
            let view = self.view();
            self.window.leave(view);
        }
        self.until = self.fabric.due().min(self.show_at).min(end);
        self.ready = match (taken, given) {
            ([false, false], [false, false]) => self.clock.wait(self.until, [self.a.fd(), self.b.fd()])?,
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
