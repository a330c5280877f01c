//! The loop: one thread for both directions of a link, or for a whole network.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use headgate_core::{Span, Time};
use headgate_scenario::Direction::{Forward, Reverse};

use super::fabric::{Fabric, Lanes};
use super::pacing::Clock;
use super::view::{View, Window};
use crate::io::Io;

/// Something to be done at a moment on what lies between the ends.
pub type Job<F = Lanes> = Box<dyn FnOnce(&mut F, Time) + Send>;

/// Where another thread leaves jobs for a forwarder.
pub type Inbox<F = Lanes> = Sender<Job<F>>;

/// Moves frames between two ends, over a link or a network.
pub struct Forwarder<A, B, C, F = Lanes> {
    /// The first end.
    pub a: A,
    /// The second.
    pub b: B,
    /// What lies between them.
    fabric: F,
    clock: C,
    window: Window,
    stop: Arc<AtomicBool>,
    inbox: Inbox<F>,
    jobs: Receiver<Job<F>>,
    /// When the next view is due.
    show_at: Time,
    /// Until when it waited last.
    until: Time,
    /// At which end something may have come.
    ready: [bool; 2],
}

/// How often a forwarder shows what it does, and looks whether something is to be done or it is to stop.
pub const SHOW_EVERY: Span = Span::from_millis(50);

/// How late the loop may be and still send what was due meanwhile, in one burst. What it is late beyond that is a time in
/// which the link stood still.
pub const CATCH_UP: Span = Span::from_millis(10);

impl<A: Io, B: Io, C: Clock, F: Fabric> Forwarder<A, B, C, F> {
    /// A forwarder between `a` and `b`, over `fabric`.
    pub fn new(a: A, b: B, mut fabric: F, clock: C) -> Self {
        let (window, stop, (inbox, jobs)) = (Window::default(), Arc::default(), channel());
        let (show_at, until, ready) = (Time::ZERO, Time::NEVER, [true; 2]);
        window.leave(View { lanes: fabric.view(Time::ZERO), ..View::default() });
        Forwarder { a, b, fabric, clock, window, stop, inbox, jobs, show_at, until, ready }
    }

    /// Where it shows what it does.
    pub fn window(&self) -> Window {
        self.window.clone()
    }

    /// Set it, and the forwarder stops, within [`SHOW_EVERY`].
    pub fn stopper(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Where to leave jobs: each is done within [`SHOW_EVERY`], between two frames.
    pub fn inbox(&self) -> Inbox<F> {
        self.inbox.clone()
    }

    /// Forwards until it is told to stop, and says what was done in all. What still waits stays where it is.
    ///
    /// # Errors
    /// What the system says when an end is gone, or when the thread may not be what its clock wants; `InvalidInput` if the
    /// frames of one end begin with another header than those of the other.
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

    /// Takes and sends what is there, and waits for more, at most until `end`; an error if an end of the link is gone.
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
        // What fell due while frames were taken goes out in this turn, from slots that are still in a cache; if that took too
        // long to be caught up, the next turn sees to it.
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
            // Nobody looked.
            _ => [true; 2],
        };
        Ok(())
    }

    /// What there is to see now.
    pub fn view(&mut self) -> View {
        let at = self.clock.now();
        View { at, lanes: self.fabric.view(at), kernel: [self.a.kernel(), self.b.kernel()], cpu: self.clock.cpu() }
    }
}
