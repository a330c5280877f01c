//! Congestion control: one file a controller, one line each in the registry below.
//!
//! The sender keeps sequence numbers, finds losses, repairs them and runs the timer; a controller says what an
//! acknowledgement, a mark, a loss and a timeout do to `cwnd` and `ssthresh`. Windows count segments.

mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
mod hystart;
mod ledbat;
mod marking;
mod path;
mod prague;
mod reno;
mod westwood;
mod window;

pub use window::Window;

use std::fmt;
use std::ops::{Deref, DerefMut};

use headgate_core::{Rng, Span, Time};
use headgate_scenario::Cc;

use super::Config;
use super::rate_sample::{RateSample, Snapshot};
use bbr::Bbr;
use bbr3::Bbr3;
use cubic::Cubic;
use dctcp::Dctcp;
use hystart::HyStart;
use ledbat::Ledbat;
use prague::Prague;
use reno::Reno;
use westwood::Westwood;

/// What an acknowledgement tells a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acked {
    /// When it arrived.
    pub now: Time,
    /// The next segment the receiver expects.
    pub ack: u32,
    /// The next new segment to be sent: what this acknowledgement causes to be sent has this number or a higher one.
    pub max: u32,
    /// How many segments it newly acknowledges; 0 for a duplicate.
    pub acked: u32,
    /// How many segments it newly says to have arrived, in order or, with SACK, beyond a gap.
    pub delivered: u32,
    /// FlightSize (RFC 5681) before it arrived.
    pub flight: u32,
    /// Marks are echoed: one at least was not acted upon before, or with [`Feedback::Classic`] perhaps was.
    pub ece: bool,
    /// How many of the segments delivered were marked; all of them, or none, but with [`Feedback::Accurate`].
    pub marked: u32,
    /// The sender is in loss recovery.
    pub recovering: bool,
    /// The window may grow: it acknowledges new data, the sender is not in loss recovery, and no mark is echoed
    /// (RFC 3168, section 6.1.2).
    pub grows: bool,
    /// Slow start goes on that follows a timeout: the acknowledgement may be of what arrived long ago (RFC 3465, section 2.3).
    pub restarted: bool,
    /// The round-trip time it measured, if it measured one.
    pub rtt: Option<Span>,
    /// The one-way delay that it reports, if the receiver reports any.
    pub delay: Option<Span>,
    /// The smoothed round-trip time before it arrived, once there was a sample.
    pub srtt: Option<Span>,
    /// The delivery rate it measured, if its row asks for [`rates`](headgate_scenario::Needs::rates).
    pub rate: Option<RateSample>,
}

/// What a loss or a timeout tells a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// When it was found.
    pub now: Time,
    /// FlightSize without what limited transmit sent (RFC 5681, section 3.2, step 2).
    pub flight: u32,
    /// The next new segment to be sent: all is repaired when all before it is acknowledged.
    pub max: u32,
}

/// A segment found lost, where segments are tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When it was found.
    pub now: Time,
    /// Where delivery stood when it was sent.
    pub then: Snapshot,
    /// Which transmission it was, of all the connection made.
    pub order: u32,
    /// Segments delivered by now.
    pub delivered: u32,
    /// Segments found lost by now, this one included.
    pub lost: u32,
}

/// A congestion controller of one flow.
pub trait Controller: fmt::Debug + Send {
    /// An acknowledgement arrived that is neither older than what is known nor of what was never sent. This comes
    /// first; then the sender acts on it.
    fn on_ack(&mut self, ack: &Acked, window: &mut Window, config: &Config);

    /// The marks echoed by `ack` call for a reaction, once per window of data (RFC 3168, section 6.1.2).
    fn on_echo(&mut self, ack: &Acked, window: &mut Window, config: &Config);

    /// Loss recovery begins, or the timer expired: lowers `ssthresh`. What `cwnd` becomes is the recovery's choice.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window, config: &Config);

    /// The retransmission timer expired for the first time for the segment: `cwnd` becomes one segment afterwards.
    fn on_timeout(&mut self, loss: &Loss, window: &mut Window, config: &Config) {
        self.on_loss(loss, window, config);
    }

    /// A segment was found lost, where segments are tracked. This comes before [`on_ack`](Controller::on_ack) and
    /// [`on_loss`](Controller::on_loss).
    fn on_segment_lost(&mut self, _: &Lost, _: &Window) {}

    /// Something is about to be sent after the application had given too little to fill the window; nothing is in
    /// flight. Where segments are tracked and the delivery rate sampled.
    fn on_restart(&mut self, _now: Time, _: &mut Window) {}

    /// Where it takes its chances from: the flow's own stream. Those that leave nothing to chance draw nothing.
    fn seed(&mut self, _: &mut Rng) {}

    /// Segments a second that it wants to be sent at most, if it has a wish: then the sender paces. Asked after each
    /// segment sent.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// What rules the window, if that is not what `ssthresh` says.
    fn phase(&self) -> Option<&'static str> {
        None
    }

    /// What a round trip of congestion avoidance makes of a window of `cwnd` segments at most.
    fn after_a_trip(&self, cwnd: f64) -> f64 {
        cwnd + 1.0
    }
}

/// How the receiver tells of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// An echo until the sender says that it has slowed down (RFC 3168, section 6.1.3).
    Classic,
    /// An echo that mirrors each segment's mark (RFC 8257, section 3.2).
    Mirrored,
    /// A count of marks, modulo 8 (RFC 9768, section 3.2.2).
    Accurate,
}

impl Feedback {
    /// What the receivers of a group tell.
    #[inline]
    pub fn of(config: &Config) -> Feedback {
        match config.cc {
            _ if config.accecn => Feedback::Accurate,
            cc if cc.needs().mirrored_echo => Feedback::Mirrored,
            _ => Feedback::Classic,
        }
    }
}

/// Declares the registry. A row: the scenario's name for it and the constructor, if it keeps any state. What it needs stands
/// in its row of [`Cc`].
macro_rules! registry {
    ($($cc:ident $(= $new:expr)?;)+) => {
        impl Control {
            fn of(config: &Config) -> Control {
                let other: Option<Box<dyn Controller>> = match config.cc {
                    $(Cc::$cc => None$(.or(Some(Box::new($new(config)))))?,)+
                };
                Control { reno: Reno, other }
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
    Bbr = Bbr::new;
    Bbr3 = Bbr3::new;
}

/// A flow's controller. Reno keeps no state, and most flows of most papers use it: it is compiled into the sender.
/// The others are a pointer away.
#[derive(Debug)]
pub struct Control {
    reno: Reno,
    other: Option<Box<dyn Controller>>,
}

impl Control {
    /// The controller of a flow that has sent nothing.
    pub fn new(config: &Config) -> Control {
        let control = Control::of(config);
        // A controller that models the path has a start of its own.
        let wraps = config.hystart && !config.models();
        if wraps { Control { reno: Reno, other: Some(Box::new(HyStart::new(control))) } } else { control }
    }

    /// [`Controller::on_ack`].
    #[inline]
    pub fn on_ack(&mut self, ack: &Acked, window: &mut Window, config: &Config) {
        match &mut self.other {
            None => self.reno.on_ack(ack, window, config),
            Some(cc) => cc.on_ack(ack, window, config),
        }
    }

    /// [`Controller::pacing_rate`].
    #[inline]
    pub fn pacing_rate(&self) -> Option<f64> {
        self.other.as_ref().and_then(|cc| cc.pacing_rate())
    }
}

/// What is rare is asked of any controller alike.
impl Deref for Control {
    type Target = dyn Controller;

    fn deref(&self) -> &Self::Target {
        match &self.other {
            None => &self.reno,
            Some(cc) => &**cc,
        }
    }
}

impl DerefMut for Control {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.other {
            None => &mut self.reno,
            Some(cc) => &mut **cc,
        }
    }
}
