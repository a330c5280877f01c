//! What the users of a video call see: late frames, and freezes.
//!
//! The receiver is a player with a fixed buffer. It shows a frame [`PLAYOUT`] after the least one-way delay of the path
//! has passed since the camera took it, or when its last packet arrives, if that is later. A frame that misses its time
//! is late, and so is one that never arrives whole. A frame older than the last one shown is not shown any more.
//!
//! A freeze is an interval between two shown frames as the statistics of WebRTC define it (W3C, "Identifiers for WebRTC's
//! Statistics API", `freezeCount`).

use aqm::{Span, Time};
use headgate_scenario::Scenario;

use super::one_way::OneWayDelays;
use crate::table::{Unit, rows};

/// Time that the player adds to the path's least delay.
pub const PLAYOUT: Span = Span::from_millis(100);

/// Intervals whose mean defines a freeze.
const INTERVALS: usize = 30;
/// A freeze lasts at least this many mean intervals, and at least this much longer than one.
const TIMES_MEAN: f64 = 3.0;
const BEYOND_MEAN: f64 = 0.150;

rows! {
    /// Late frames and freezes of one call.
    pub struct CallQuality derives Clone Copy Debug Default PartialEq {
        /// Frames to be shown after the warm-up: 100 ms after the camera takes them and the least one-way delay of the
        /// path. Null for a flow that is no call with congestion control.
        frames: Option<u64> as Unit::Count,
        /// Those of them that were not whole at the receiver in time. Lost frames count, and frames that the sender
        /// skipped.
        late_frames: Option<u64> as Unit::Count,
        /// Freezes a minute: intervals between two frames shown of at least three times the mean of the last 30, and at
        /// least 150 ms more than it. W3C, WebRTC's statistics, `freezeCount`.
        freezes_per_minute: Option<f64> as Unit::Count,
    }
}

/// The calls among the flows.
pub struct CallMeters {
    /// The ends of the warm-up and of the run.
    window: [Time; 2],
    /// By flow.
    calls: Vec<Option<Box<CallMeter>>>,
}

/// One call.
#[derive(Clone, Debug)]
struct CallMeter {
    /// From the capture of a frame to its time to be shown.
    playout: Span,
    frames: u64,
    in_time: u64,
    freezes: u64,
    /// When the first and the last frame so far were to be shown.
    first_due: Time,
    last_due: Time,
    shown: Option<ShownFrame>,
    /// The last intervals between frames shown, a ring.
    intervals: [Span; INTERVALS],
    recorded: usize,
}

/// The last frame shown: when the camera took it, and when it was shown.
#[derive(Clone, Copy, Debug)]
struct ShownFrame {
    captured: Time,
    at: Time,
}

impl CallMeters {
    /// Meters of the calls of `scenario`. `delays` has the least one-way delays of all groups.
    pub fn new(scenario: &Scenario, delays: &[OneWayDelays]) -> CallMeters {
        let tcp = scenario.tcp.len();
        let of_tcp = scenario.tcp.iter().flat_map(|group| (0..group.flows).map(|_| None));
        let of_udp = scenario.udp.iter().zip(&delays[tcp..]).flat_map(|(group, delay)| {
            let meter = group.is_call().then(|| Box::new(CallMeter::new(delay.base + PLAYOUT)));
            (0..group.flows).map(move |_| meter.clone())
        });
        let window = [scenario.warmup, scenario.duration].map(|span| Time::ZERO + span);
        CallMeters { window, calls: of_tcp.chain(of_udp).collect() }
    }

    /// The camera of `flow` takes a frame, which the sender may skip.
    pub fn captured(&mut self, flow: usize, at: Time) {
        if let Some(call) = &mut self.calls[flow] {
            call.captured(at, self.window);
        }
    }

    /// The frame that the camera took at `captured` is whole at the receiver.
    pub fn complete(&mut self, flow: usize, captured: Time, at: Time) {
        if let Some(call) = &mut self.calls[flow] {
            call.complete(captured, at, self.window);
        }
    }

    /// The quality of a call at the end of the run.
    pub fn of_flow(&self, flow: usize) -> CallQuality {
        self.calls[flow].as_ref().map_or_else(CallQuality::default, |call| call.quality(self.window))
    }
}

impl CallMeter {
    fn new(playout: Span) -> CallMeter {
        CallMeter {
            playout,
            frames: 0,
            in_time: 0,
            freezes: 0,
            first_due: Time::NEVER,
            last_due: Time::ZERO,
            shown: None,
            intervals: [Span::ZERO; INTERVALS],
            recorded: 0,
        }
    }

    fn captured(&mut self, at: Time, window: [Time; 2]) {
        let due = at + self.playout;
        self.first_due = self.first_due.min(due);
        self.last_due = due.min(window[1]);
        self.frames += u64::from(is_in(due, window));
    }

    fn complete(&mut self, captured: Time, at: Time, window: [Time; 2]) {
        let due = captured + self.playout;
        self.in_time += u64::from(at <= due && is_in(due, window));
        if self.shown.is_none_or(|last| last.captured < captured) {
            self.show(captured, at.max(due), window);
        }
    }

    fn show(&mut self, captured: Time, at: Time, window: [Time; 2]) {
        if let Some(last) = self.shown {
            // Frames that arrive together are shown at once.
            let interval = at.max(last.at) - last.at;
            self.freezes += u64::from(is_in(at, window) && self.is_freeze(interval));
            self.intervals[self.recorded % INTERVALS] = interval;
            self.recorded += 1;
        }
        let at = self.shown.map_or(at, |last| last.at.max(at));
        self.shown = Some(ShownFrame { captured, at });
    }

    /// Whether an interval between two frames is a freeze; never before the first mean.
    fn is_freeze(&self, interval: Span) -> bool {
        let known = self.recorded.min(INTERVALS);
        if known == 0 {
            return false;
        }
        let sum: f64 = self.intervals[..known].iter().map(|span| span.as_secs_f64()).sum();
        let mean = sum / known as f64;
        interval.as_secs_f64() >= (TIMES_MEAN * mean).max(mean + BEYOND_MEAN)
    }

    fn quality(&self, window: [Time; 2]) -> CallQuality {
        // A freeze may not have ended. Without a later frame there is none: the call is over.
        let open = self.shown.is_some_and(|last| self.last_due > last.at && self.is_freeze(self.last_due - last.at));
        let from = self.first_due.max(window[0]);
        let minutes = (self.last_due.max(from) - from).as_secs_f64() / 60.0;
        CallQuality {
            frames: Some(self.frames),
            late_frames: Some(self.frames - self.in_time),
            freezes_per_minute: (minutes > 0.0).then(|| (self.freezes + u64::from(open)) as f64 / minutes),
        }
    }
}

fn is_in(at: Time, [from, to]: [Time; 2]) -> bool {
    from <= at && at < to
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: [Time; 2] = [Time::ZERO, Time::from_nanos(60_000_000_000)];

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// A call of 25 frames a second for `frames` frames on a path of 20 ms. `delay` gives a frame's delay; `None` if it
    /// is lost.
    fn call(frames: u64, window: [Time; 2], delay: impl Fn(u64) -> Option<u64>) -> CallQuality {
        let mut meter = CallMeter::new(Span::from_millis(20) + PLAYOUT);
        let mut arrivals = Vec::new();
        for frame in 0..frames {
            meter.captured(at(40 * frame), window);
            arrivals.extend(delay(frame).map(|delay| (40 * frame + delay, 40 * frame)));
        }
        arrivals.sort_unstable();
        arrivals.into_iter().for_each(|(arrival, captured)| meter.complete(at(captured), at(arrival), window));
        meter.quality(window)
    }

    #[test]
    fn a_frame_is_late_beyond_100_ms_and_if_it_is_lost() {
        let quality = call(1000, WINDOW, |frame| match frame % 10 {
            0 => Some(121),
            1 => None,
            _ => Some(120),
        });
        assert_eq!((quality.frames, quality.late_frames), (Some(1000), Some(200)));
        assert_eq!(quality.freezes_per_minute, Some(0.0));
    }

    #[test]
    fn only_frames_shown_in_the_window_count() {
        // Frames are to be shown from 120 ms on, every 40 ms. From 10 s to 20 s these are 250.
        let window = [at(10_000), at(20_000)];
        let quality = call(1000, window, |_| Some(500));
        assert_eq!((quality.frames, quality.late_frames), (Some(250), Some(250)));
    }

    #[test]
    fn a_freeze_is_three_mean_intervals_and_150_ms_more_than_one() {
        // With intervals of 40 ms, a freeze lasts at least 190 ms: four lost frames make 200 ms, three 160 ms.
        let lost = |count: u64| call(1500, WINDOW, |frame| (!(500..500 + count).contains(&frame)).then_some(50));
        assert_eq!(lost(3).freezes_per_minute, Some(0.0));
        let freezes = lost(4).freezes_per_minute.unwrap();
        // The call is shown from 120 ms to the end at 60 s.
        assert!((freezes - 60.0 / 59.88).abs() < 1e-9, "{freezes}");
    }

    #[test]
    fn a_call_that_shows_nothing_more_is_frozen() {
        let quality = call(1000, WINDOW, |frame| (frame < 500).then_some(50));
        assert!(quality.freezes_per_minute.unwrap() > 0.0);
        // A call that ends is not.
        assert_eq!(call(500, WINDOW, |_| Some(50)).freezes_per_minute, Some(0.0));
    }

    #[test]
    fn frames_that_arrive_together_are_shown_at_once_and_older_ones_not_at_all() {
        // From frame 100 on, the path stands still for a second: 25 frames arrive together, one freeze.
        let held = |frame: u64| Some(if (100..125).contains(&frame) { 1050 - 40 * (frame - 100) } else { 50 });
        let quality = call(1000, WINDOW, held);
        assert!((quality.freezes_per_minute.unwrap() * (39_960.0) / 60_000.0 - 1.0).abs() < 1e-9);
        // Only the frames due within the second are late: those of the first 930 ms.
        assert_eq!(quality.late_frames, Some(24));
    }
}
