//! The forwarding threads of a gateway: one for both directions, or one for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use aqm::Time;
use rustix::thread::{CpuSet, sched_setaffinity};

use super::frame_length::FrameLength;
use crate::error::{LiveError, LiveResult};
use crate::forward::forwarder::Forwarder;
use crate::forward::pacing::PacedClock;
use crate::forward::running::ForwarderThread;
use crate::forward::settings::LaneSettings;
use crate::forward::view::View;
use crate::forward::{Lane, ServedLanes};
use crate::io::clock::Monotonic;
use crate::io::frame::Layer;
use crate::io::request::Request;
use crate::io::{LinkEnd, PacketSocket};

/// Names of the directions, which select their random streams.
const LABELS: [&str; 2] = ["forward", "reverse"];

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
pub(super) struct Loops(Vec<ForwarderThread<ServedLanes>>);

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
        let both = |cpu| Place { name: "gateway", serves: [true; 2], cpu };
        match *cpus {
            [] => Ok(Loops(vec![start(both(None), a, b, settings)?])),
            [cpu] => Ok(Loops(vec![start(both(Some(cpu)), a, b, settings)?])),
            [forward_cpu, reverse_cpu] => {
                let ((from_a, to_a), (from_b, to_b)) = (a.split(), b.split());
                let place = Place { name: LABELS[0], serves: [true, false], cpu: Some(forward_cpu) };
                let forward = start(place, from_a, to_b, settings.clone())?;
                let place = Place { name: LABELS[1], serves: [false, true], cpu: Some(reverse_cpu) };
                Ok(Loops(vec![forward, start(place, to_a, from_b, settings)?]))
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
            thread.apply(move |lanes, now| refit(lanes, now, &settings, seed))?
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
) -> LiveResult<ForwarderThread<ServedLanes>> {
    let clock = PacedClock::new(Monotonic::new(), PacedClock::MARGIN);
    let clock = if settings.busy_poll { clock.busy() } else { clock };
    ForwarderThread::start(place.name, clock, move |clock| {
        // Before the lanes are built: their memory then lies near the processor.
        place.cpu.map_or(Ok(()), keep_to)?;
        let lanes = build(&settings, place.serves)?;
        // The clock has its priority, and the lanes have their memory.
        (settings.confine)();
        Ok(Forwarder::new(a, b, lanes, clock))
    })
}

/// Keeps the calling thread to one processor.
fn keep_to(cpu: usize) -> LiveResult<()> {
    Request::ThreadPlacement.ask_about(cpu, || {
        let mut cpus = CpuSet::new();
        if cpu >= CpuSet::MAX_CPU {
            return Err(rustix::io::Errno::INVAL);
        }
        cpus.set(cpu);
        sched_setaffinity(None, &cpus)
    })
}

/// Builds the lanes of the directions in `serves`.
fn build<C>(settings: &LoopSettings<C>, serves: [bool; 2]) -> LiveResult<ServedLanes> {
    let build = |direction: usize| {
        let lane = settings.lanes[direction].build(Layer::Ethernet, settings.seed, LABELS[direction]);
        serves[direction].then_some(lane).transpose()
    };
    Ok([build(0)?, build(1)?])
}

fn refit(lanes: &mut ServedLanes, now: Time, settings: &[LaneSettings; 2], seed: u64) -> LiveResult<()> {
    let mut each = settings.iter().zip(lanes).zip(LABELS);
    each.try_for_each(|((to, lane), label)| {
        let refit = |lane: &mut Box<dyn Lane>| to.refit(lane, now, Layer::Ethernet, seed, label);
        lane.as_mut().map_or(Ok(()), refit)
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
