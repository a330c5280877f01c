//! The forwarding threads of a gateway: one for both directions, or one for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use rustix::thread::{CpuSet, sched_setaffinity};

use super::frame_length::FrameLength;
use crate::error::{LiveError, LiveResult};
use crate::forward::Lanes;
use crate::forward::forwarder::Forwarder;
use crate::forward::pacing::PacedClock;
use crate::forward::running::ForwarderThread;
use crate::forward::settings::LaneSettings;
use crate::forward::view::View;
use crate::io::clock::Monotonic;
use crate::io::frame::Layer;
use crate::io::request::Request;
use crate::io::{LinkEnd, PacketSocket};

/// What each thread needs, besides its ends.
#[derive(Clone)]
pub(super) struct LoopSettings<C> {
    pub(super) lanes: [LaneSettings; 2],
    pub(super) seed: u64,
    /// Whether the threads never sleep.
    pub(super) busy_poll: bool,
    /// Gives up the rights that forwarding does not need.
    pub(super) confine: C,
}

/// A thread before its start: its name, the directions that it serves, and the processor that it keeps to.
struct Place {
    name: &'static str,
    serves: [bool; 2],
    cpu: Option<usize>,
}

/// The running threads: one that serves both directions, or one for each direction in their order.
pub(super) struct Loops(Vec<ForwarderThread<Lanes>>);

impl Loops {
    /// Starts the threads between `ends`, with real-time priority where permitted: one, which keeps to the processor of
    /// `cpus` if there is one, or with two processors one for each direction.
    ///
    /// # Errors
    /// Refused if a discipline's parameters are invalid, or if there are more than two processors; fails if a thread may
    /// not use its processor.
    pub(super) fn start(
        [a, b]: [PacketSocket; 2],
        settings: LoopSettings<impl Fn() + Clone + Send + 'static>,
        cpus: &[usize],
    ) -> LiveResult<Loops> {
        let place = |name, serves, cpu| Place { name, serves, cpu };
        match *cpus {
            [] | [_] => {
                let both = place("gateway", [true; 2], cpus.first().copied());
                Ok(Loops(vec![start(both, a, b, settings)?]))
            }
            [forward, reverse] => {
                let ((from_a, to_a), (from_b, to_b)) = (a.split(), b.split());
                let forward = place("forward", [true, false], Some(forward));
                let reverse = place("reverse", [false, true], Some(reverse));
                let forward = start(forward, from_a, to_b, settings.clone())?;
                Ok(Loops(vec![forward, start(reverse, to_a, from_b, settings)?]))
            }
            _ => Err(LiveError::Refused(format!("a gateway has one or two threads, not {}", cpus.len()))),
        }
    }

    /// The latest view of both directions, and the processor time of all threads.
    pub(super) fn view(&self) -> View {
        merged(self.0.iter().map(ForwarderThread::view).collect())
    }

    /// Whether all threads still run.
    pub(super) fn are_running(&self) -> bool {
        self.0.iter().all(ForwarderThread::is_running)
    }

    /// Whether all threads have real-time priority.
    pub(super) fn are_realtime(&self) -> bool {
        self.0.iter().all(ForwarderThread::is_realtime)
    }

    /// The flags that stop the threads.
    pub(super) fn stop_flags(&self) -> Vec<Arc<AtomicBool>> {
        self.0.iter().map(ForwarderThread::stop_flag).collect()
    }

    /// What makes the threads follow the MTUs of the interfaces.
    pub(super) fn frame_length(&self, mtus: [Arc<AtomicUsize>; 2]) -> FrameLength {
        FrameLength::new(mtus, self.0.iter().map(ForwarderThread::change_sender).collect())
    }

    /// Replaces the settings of both directions, each in its thread.
    pub(super) fn refit(&self, settings: &[LaneSettings; 2], seed: u64) -> LiveResult<()> {
        self.0.iter().try_for_each(|thread| {
            let settings = settings.clone();
            thread.apply(move |lanes, now| LaneSettings::refit_lanes(&settings, lanes, now, Layer::Ethernet, seed))?
        })
    }

    /// Stops the threads and returns the final view, or the error that ended one of them before.
    pub(super) fn stop(&mut self) -> LiveResult<View> {
        let ended: Vec<_> = self.0.iter_mut().map(ForwarderThread::stop).collect();
        ended.into_iter().collect::<LiveResult<_>>().map(merged)
    }
}

/// Starts the thread of `place` between `a` and `b`.
fn start<A: LinkEnd + Send + 'static, B: LinkEnd + Send + 'static>(
    place: Place,
    a: A,
    b: B,
    settings: LoopSettings<impl Fn() + Send + 'static>,
) -> LiveResult<ForwarderThread<Lanes>> {
    let clock = PacedClock::new(Monotonic::new(), PacedClock::MARGIN);
    let clock = if settings.busy_poll { clock.busy() } else { clock };
    ForwarderThread::start(place.name, clock, move |clock| {
        // Before the lanes are built: their memory then lies near the processor.
        place.cpu.map_or(Ok(()), keep_to)?;
        let lanes = LaneSettings::build_lanes(&settings.lanes, place.serves, Layer::Ethernet, settings.seed)?;
        // The clock has its priority, and the lanes have their memory.
        (settings.confine)();
        Ok(Forwarder::new(a, b, lanes, clock))
    })
}

/// Keeps the calling thread to one processor.
fn keep_to(cpu: usize) -> LiveResult<()> {
    Request::ThreadPlacement.ask_about(format_args!("processor {cpu}"), || {
        let mut cpus = CpuSet::new();
        if cpu >= CpuSet::MAX_CPU {
            return Err(rustix::io::Errno::INVAL);
        }
        cpus.set(cpu);
        sched_setaffinity(None, &cpus)
    })
}

/// The view of all threads: of each direction, the lane and the receiving end of the thread that serves it.
fn merged(mut views: Vec<View>) -> View {
    let Some(mut other) = views.pop() else { return View::default() };
    let Some(mut view) = views.pop() else { return other };
    view.lanes[1] = std::mem::take(&mut other.lanes[1]);
    view.kernel[1] = other.kernel[1];
    view.at = view.at.max(other.at);
    view.cpu = view.cpu + other.cpu;
    view
}
