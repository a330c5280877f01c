//! Congestion control: one file per algorithm, one line each in the registry below.
//!
//! The sender keeps sequence numbers, finds and repairs losses, and runs the timer. A congestion control moves `cwnd`
//! and `ssthresh` on acknowledgements, marks, losses and timeouts. Windows count segments.

mod bbr;
mod bbr3;
mod classic_queue;
mod cubic;
mod cubic_hystart;
mod cubic_whole;
mod dctcp;
mod hystart;
mod ledbat;
mod mark_fraction;
mod path;
mod prague;
mod reno;
mod vegas;
mod westwood;
mod window;

pub use window::CongestionWindow;

use std::fmt;
use std::ops::{Deref, DerefMut};

use aqm::{Rng, Span, Time};
use headgate_scenario::Cc;

use super::TcpSettings;
use super::rate_sample::{DeliveryState, RateSample};
use bbr::Bbr;
use bbr3::Bbr3;
use cubic::Cubic;
use dctcp::Dctcp;
use hystart::HyStart;
use ledbat::Ledbat;
use prague::Prague;
use reno::Reno;
use vegas::Vegas;
use westwood::Westwood;

/// One acknowledgement, as a congestion control sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(test, derive(Default))]
pub struct AckInfo {
    /// When it arrived.
    pub now: Time,
    /// The next segment the receiver expects.
    pub ack: u32,
    /// The next new segment: data sent because of this acknowledgement has this number or a higher one.
    pub next_new: u32,
    /// Segments newly acknowledged; 0 for a duplicate.
    pub acked: u32,
    /// Segments newly reported as arrived, in order or, with SACK, beyond a gap.
    pub delivered: u32,
    /// FlightSize (RFC 5681) before it arrived.
    pub flight: u32,
    /// An ECN echo arrived. With [`EcnFeedback::Classic`] it may repeat one that was already answered.
    pub ece: bool,
    /// Marked segments among `delivered`: all or none, except with [`EcnFeedback::Accurate`].
    pub marked: u32,
    /// The sender is in loss recovery.
    pub recovering: bool,
    /// The window may grow: new data, no loss recovery, no mark echoed (RFC 3168, section 6.1.2).
    pub may_grow: bool,
    /// The application supplies too little: all its data is sent, and the window has room.
    pub app_limited: bool,
    /// In slow start after a timeout: the acknowledgement may cover old arrivals (RFC 3465, section 2.3).
    pub after_timeout: bool,
    /// The measured round-trip time, if any.
    pub rtt: Option<Span>,
    /// The reported one-way delay, if any.
    pub delay: Option<Span>,
    /// The smoothed round-trip time before this acknowledgement, if known.
    pub srtt: Option<Span>,
    /// The delivery rate, for congestion controls that need [`rates`](headgate_scenario::ControllerTraits::rates).
    pub rate_sample: Option<RateSample>,
}

impl AckInfo {
    /// Segments by which the acknowledgement may grow the window: those acknowledged, or with `count_delivered` those
    /// newly reported as arrived.
    #[inline]
    pub fn counted(&self, config: &TcpSettings) -> u32 {
        if config.count_delivered { self.delivered } else { self.acked }
    }
}

/// One loss or timeout, as a congestion control sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossInfo {
    /// When it was found.
    pub now: Time,
    /// The number of segments that the controller reduces: FlightSize without segments of limited transmit (RFC 5681,
    /// section 3.2, step 2). With `halve_cwnd`, the smaller of `cwnd` and the receive window; with `reduce_cwnd`,
    /// `cwnd`.
    pub window_to_reduce: f64,
    /// The next new segment: the loss is repaired when all before it is acknowledged.
    pub next_new: u32,
}

/// A lost segment, if segments are tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// When it was found.
    pub now: Time,
    /// The delivery state when it was sent.
    pub at_send: DeliveryState,
    /// The number of the transmission in the connection.
    pub order: u32,
    /// Segments delivered by now.
    pub delivered: u32,
    /// Segments found lost by now, this one included.
    pub lost: u32,
}

/// The congestion control of one flow.
pub trait CongestionControl: fmt::Debug + Send {
    /// An acknowledgement arrived that is neither old nor of unsent data. Called before the sender acts on it.
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings);

    /// Reacts to the marks echoed by `ack`, once per window of data (RFC 3168, section 6.1.2).
    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings);

    /// Loss recovery begins, or the timer expired: lowers `ssthresh`. The recovery sets `cwnd`.
    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings);

    /// A segment timed out for the first time. The sender then sets `cwnd` to one segment.
    fn on_timeout(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.on_loss(loss, window, config);
    }

    /// A segment was lost. Called only if segments are tracked, and before [`on_ack`](CongestionControl::on_ack) and
    /// [`on_loss`](CongestionControl::on_loss).
    fn on_segment_lost(&mut self, _: &LostSegment, _: &CongestionWindow) {}

    /// Sending resumes with nothing in flight, after the application had supplied too little to fill the window.
    fn on_resume(&mut self, _now: Time, _: &mut CongestionWindow) {}

    /// Provides the flow's random stream. Deterministic congestion controls draw nothing.
    fn seed(&mut self, _: &mut Rng) {}

    /// The pacing rate in segments per second; `None` if the congestion control does not choose one. Read after each
    /// segment sent.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// The name of the current phase, unless `ssthresh` determines it.
    fn phase(&self) -> Option<&'static str> {
        None
    }

    /// The largest window after one round trip of congestion avoidance from `cwnd` segments.
    fn cwnd_after_round_trip(&self, cwnd: f64) -> f64 {
        cwnd + 1.0
    }
}

/// How the receiver reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnFeedback {
    /// An echo until the sender confirms its reduction (RFC 3168, section 6.1.3).
    Classic,
    /// An echo that mirrors each segment's mark (RFC 8257, section 3.2).
    Mirrored,
    /// A count of marks, modulo 8 (RFC 9768, section 3.2.2).
    Accurate,
}

impl EcnFeedback {
    /// The feedback of a group's receivers.
    #[inline]
    pub fn of(config: &TcpSettings) -> EcnFeedback {
        match config.cc {
            _ if config.accecn => EcnFeedback::Accurate,
            cc if cc.traits().mirrored_echo => EcnFeedback::Mirrored,
            _ => EcnFeedback::Classic,
        }
    }
}

/// Declares the registry. A row is the scenario's name and, for a congestion control with state, the constructor. The
/// congestion control's needs are in its row of [`Cc`].
macro_rules! registry {
    ($($cc:ident $(= $new:expr)?;)+) => {
        impl AnyControl {
            fn of(config: &TcpSettings) -> AnyControl {
                let other: Option<Box<dyn CongestionControl>> = match config.cc {
                    $(Cc::$cc => None$(.or(Some(Box::new($new(config)))))?,)+
                };
                AnyControl { reno: Reno, other }
            }
        }
    };
}

registry! {
    Reno;
    Cubic = Cubic::new;
    Dctcp = Dctcp::new;
    Prague = Prague::new;
    Ledbat = Ledbat::new;
    Westwood = Westwood::new;
    Vegas = Vegas::new;
    Bbr = Bbr::new;
    Bbr3 = Bbr3::new;
}

/// A flow's congestion control. Reno has no state and is the most common, so it is compiled into the sender. The
/// others are boxed.
#[derive(Debug)]
pub struct AnyControl {
    reno: Reno,
    other: Option<Box<dyn CongestionControl>>,
}

impl AnyControl {
    /// The congestion control of a new flow.
    pub fn new(config: &TcpSettings) -> AnyControl {
        let control = AnyControl::of(config);
        // Model-based controls have a startup phase of their own.
        let wraps = config.hystart && !config.models();
        if wraps { AnyControl { reno: Reno, other: Some(Box::new(HyStart::new(control))) } } else { control }
    }

    /// [`CongestionControl::on_ack`].
    #[inline]
    pub fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        match &mut self.other {
            None => self.reno.on_ack(ack, window, config),
            Some(cc) => cc.on_ack(ack, window, config),
        }
    }

    /// [`on_ack`](AnyControl::on_ack), which makes a copy of `ack` unless the control is Reno. Reno's stays in registers.
    #[inline(always)]
    pub fn on_ack_copied(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        match &mut self.other {
            None => self.reno.on_ack(ack, window, config),
            Some(cc) => cc.on_ack(&{ *ack }, window, config),
        }
    }

    /// [`CongestionControl::pacing_rate`].
    #[inline]
    pub fn pacing_rate(&self) -> Option<f64> {
        self.other.as_ref().and_then(|cc| cc.pacing_rate())
    }
}

/// Dynamic dispatch for the rarely called methods, Reno's included.
impl Deref for AnyControl {
    type Target = dyn CongestionControl;

    fn deref(&self) -> &Self::Target {
        match &self.other {
            None => &self.reno,
            Some(cc) => &**cc,
        }
    }
}

impl DerefMut for AnyControl {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.other {
            None => &mut self.reno,
            Some(cc) => &mut **cc,
        }
    }
}
