//! The firsts of each flow: when it began, when the first useful byte arrived (start-up time, RFC 7928, section 2.2),
//! when a discipline first treated it as one that takes too much (identification), and when its rate had come down to
//! its fair share (response). They are measured from the flow's own beginning, whether or not the warm-up was over.
//!
//! A discipline does not say whom it has identified; what shows is the reason of its drops. `unresponsive`, `prefilter`
//! and `heavy_hitter` are only ever given for a flow that was singled out, so the first such drop is the moment. The
//! response is what RED-PD's paper reads off its figure 12: after how long the flow is held to what it should have.
//! Here it ends with the first whole second, counted from the flow's beginning, in which no more than
//! [`SLACK`] times its fair share was delivered.

use headgate_core::{Span, Time, Why};

/// A rate is down at its fair share if it exceeds it by no more than a tenth: what the delta-fair convergence time of
/// RFC 5166, section 2.3, asks of two flows for a delta of 0.1.
pub const SLACK: f64 = 1.1;

/// Rates are looked at over this long: shorter, and a gap between two packets would pass for a response.
const WHOLE: Span = Span::from_secs(1);

/// A flow that would take more than its fair share, and whose response is watched for.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Its fair share, as goodput.
    pub fair_bps: f64,
    /// From here on it sends nothing, which is no response.
    pub stop: Time,
}

/// The firsts of all flows.
pub struct Milestones {
    flows: Vec<Firsts>,
    /// The first watched flow: those before it slow down by themselves.
    watched_from: usize,
    watched: Vec<Option<Pace>>,
}

#[derive(Clone, Copy)]
struct Firsts {
    began: Time,
    delivered: Time,
    identified: Time,
}

/// How a watched flow does, second by second.
#[derive(Clone, Copy)]
struct Pace {
    limits: Watched,
    /// The end of the second under way, and the useful bytes delivered in it.
    until: Time,
    bytes: u64,
    response: Option<Time>,
}

impl Milestones {
    /// Nothing has begun, of `flows` flows; `watched` are the limits of the last of them, where they are watched.
    pub fn new(flows: usize, watched: Vec<Option<Watched>>) -> Milestones {
        let never = Firsts { began: Time::NEVER, delivered: Time::NEVER, identified: Time::NEVER };
        let pace = |limits| Pace { limits, until: Time::NEVER, bytes: 0, response: None };
        Milestones {
            flows: vec![never; flows],
            watched_from: flows - watched.len(),
            watched: watched.into_iter().map(|limits| limits.map(pace)).collect(),
        }
    }

    /// `flow` begins to send.
    pub fn began(&mut self, flow: usize, now: Time) {
        self.flows[flow].began = now;
        if let Some(pace) = self.pace(flow) {
            pace.until = now + WHOLE;
        }
    }

    /// The first useful bytes of `flow` are with its receiver.
    pub fn delivered_first(&mut self, flow: usize, now: Time) {
        self.flows[flow].delivered = now;
    }

    /// Useful bytes of `flow` are with its receiver: of interest for watched flows only.
    #[inline]
    pub fn delivered(&mut self, flow: usize, bytes: u64, now: Time) {
        if let Some(pace) = self.pace(flow) {
            pace.advance(now);
            pace.bytes += bytes;
        }
    }

    /// A packet of `flow` is dropped.
    pub fn dropped(&mut self, flow: usize, why: Why, now: Time) {
        if matches!(why, Why::Unresponsive | Why::Prefilter | Why::HeavyHitter) {
            let identified = &mut self.flows[flow].identified;
            *identified = (*identified).min(now);
        }
    }

    /// From its beginning to its first delivery.
    pub fn startup(&self, flow: usize) -> Option<Span> {
        self.after(flow, self.flows[flow].delivered)
    }

    /// From its beginning to its identification.
    pub fn identification(&self, flow: usize) -> Option<Span> {
        self.after(flow, self.flows[flow].identified)
    }

    /// From its beginning to the end of the first second in which it had no more than its fair share, if that ended by
    /// `now` and the flow is watched.
    pub fn response(&self, flow: usize, now: Time) -> Option<Span> {
        let mut pace = self.watched[flow.checked_sub(self.watched_from)?]?;
        pace.advance(now);
        self.after(flow, pace.response?)
    }

    fn after(&self, flow: usize, moment: Time) -> Option<Span> {
        (moment != Time::NEVER).then(|| moment - self.flows[flow].began)
    }

    #[inline]
    fn pace(&mut self, flow: usize) -> Option<&mut Pace> {
        let place = flow.checked_sub(self.watched_from)?;
        self.watched[place].as_mut()
    }
}

impl Pace {
    /// Ends every second that ends by `now`, until one of them was a response.
    #[inline]
    fn advance(&mut self, now: Time) {
        while self.until <= now && self.response.is_none() && self.until <= self.limits.stop {
            let most = self.limits.fair_bps * SLACK * WHOLE.as_secs_f64() / 8.0;
            self.response = (self.bytes as f64 <= most).then_some(self.until);
            (self.until, self.bytes) = (self.until + WHOLE, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_first_delivery_and_the_first_telling_drop_are_measured_from_the_beginning() {
        let mut firsts = Milestones::new(2, Vec::new());
        firsts.began(1, at(500));
        firsts.dropped(1, Why::Early, at(510));
        firsts.delivered_first(1, at(532));
        firsts.dropped(1, Why::Prefilter, at(800));
        firsts.dropped(1, Why::Prefilter, at(900));
        assert_eq!(firsts.startup(1), Some(Span::from_millis(32)));
        assert_eq!(firsts.identification(1), Some(Span::from_millis(300)));
        assert_eq!((firsts.startup(0), firsts.identification(0), firsts.response(0, at(9000))), (None, None, None));
    }

    /// A flow due 80 kbit/s, 10 KB a second, that begins at 250 ms and is delivered so many KB in each second since.
    fn responded(kilobytes: &[u64], stop: Time, end: Time) -> Option<Span> {
        let mut firsts = Milestones::new(3, vec![None, Some(Watched { fair_bps: 80e3, stop })]);
        firsts.began(2, at(250));
        for (second, kb) in kilobytes.iter().enumerate() {
            (0..*kb).for_each(|_| firsts.delivered(2, 1000, at(250 + 1000 * second as u64 + 999)));
        }
        firsts.delivered(1, 1000, at(1));
        assert_eq!(firsts.response(1, end), None, "not watched");
        firsts.response(2, end)
    }

    #[test]
    fn the_response_ends_with_the_first_second_at_the_fair_share() {
        assert_eq!(
            responded(&[50, 20, 12, 11, 30], Time::NEVER, at(60_000)),
            Some(Span::from_secs(4)),
            "a tenth above"
        );
        assert_eq!(responded(&[11, 50], Time::NEVER, at(60_000)), Some(Span::from_secs(1)));
        assert_eq!(responded(&[50, 50], Time::NEVER, at(60_000)), Some(Span::from_secs(3)), "shut out altogether");
    }

    #[test]
    fn a_flow_that_stops_or_is_never_held_back_has_not_responded() {
        assert_eq!(responded(&[50, 50], at(2500), at(60_000)), None);
        assert_eq!(responded(&[50, 50, 50], Time::NEVER, at(3249)), None);
    }
}
