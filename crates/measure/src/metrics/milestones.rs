//! The firsts of each flow: when it began, when the first useful byte arrived (start-up time, RFC 7928, section 2.2),
//! when a discipline first treated it as one that takes too much (identification), when its rate had come down to its fair
//! share (response), and when it was treated as others again (release). Start-up is measured from the flow's own
//! beginning, whether or not the warm-up was over; the others from there too, or of a flow whose rates are laid down
//! beforehand, from where it last rose above its share or fell back.
//!
//! A discipline does not say whom it has identified; what shows is the reason of its drops. `unresponsive`, `prefilter`
//! and `heavy_hitter` are only ever given for a flow that was singled out, so the first such drop is the moment. The
//! response is what RED-PD's paper reads off its figure 12: after how long the flow is held to what it should have.
//! Here it ends with the first whole second in which no more than [`SLACK`](super::spells::SLACK) times its fair share was
//! delivered. The release is the last such drop after the flow has slowed down.

use headgate_core::{Span, Time, Why};

use super::spells::{Pace, Treated, Watched};
use crate::table::{Nested, Unit, rows};

rows! {
    /// The firsts of one flow.
    pub struct Milestones derives Clone Copy Debug Default PartialEq Eq {
        /// Time from the flow's start to its first useful byte at the receiver, warm-up or not; null if there was none.
        /// Connections are not set up: there is no handshake in it. RFC 7928, section 2.2.
        startup: Option<Span> as Unit::Milliseconds,
        /// When a discipline singled the flow out, held it to its share and let it go again.
        treated: Treated as Nested,
    }
}

/// The firsts of all flows, as they come.
pub struct Firsts {
    flows: Vec<Moments>,
    /// The first watched flow: those before it slow down by themselves.
    watched_from: usize,
    watched: Vec<Option<Pace>>,
}

#[derive(Clone, Copy)]
struct Moments {
    began: Time,
    delivered: Time,
    identified: Time,
}

impl Firsts {
    /// Nothing has begun, of `flows` flows; `watched` are the limits of the last of them, where they are watched.
    pub fn new(flows: usize, watched: Vec<Option<Watched>>) -> Firsts {
        let never = Moments { began: Time::NEVER, delivered: Time::NEVER, identified: Time::NEVER };
        Firsts {
            flows: vec![never; flows],
            watched_from: flows - watched.len(),
            watched: watched.into_iter().map(|limits| limits.map(Pace::new)).collect(),
        }
    }

    /// `flow` begins to send.
    pub fn began(&mut self, flow: usize, now: Time) {
        self.flows[flow].began = now;
        if let Some(pace) = self.pace(flow) {
            pace.begin(now);
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
            pace.delivered(bytes, now);
        }
    }

    /// A packet of `flow` is dropped.
    pub fn dropped(&mut self, flow: usize, why: Why, now: Time) {
        if why.singles_out() {
            let identified = &mut self.flows[flow].identified;
            *identified = (*identified).min(now);
            if let Some(pace) = self.pace(flow) {
                pace.told(now);
            }
        }
    }

    /// The milestones of `flow` by `now`. A flow that is not watched can only be singled out.
    pub fn of(&self, flow: usize, now: Time) -> Milestones {
        let watched = flow.checked_sub(self.watched_from).and_then(|place| self.watched[place].as_ref());
        let identified = self.after(flow, self.flows[flow].identified);
        let treated = watched.map_or(Treated { identified, ..Treated::default() }, |pace| pace.treated(now));
        Milestones { startup: self.after(flow, self.flows[flow].delivered), treated }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_first_delivery_and_the_first_telling_drop_are_measured_from_the_beginning() {
        let mut firsts = Firsts::new(2, Vec::new());
        firsts.began(1, at(500));
        firsts.dropped(1, Why::Early, at(510));
        firsts.delivered_first(1, at(532));
        firsts.dropped(1, Why::Prefilter, at(800));
        firsts.dropped(1, Why::Prefilter, at(900));
        let treated = Treated { identified: Some(Span::from_millis(300)), ..Treated::default() };
        let startup = Some(Span::from_millis(32));
        assert_eq!(firsts.of(1, at(9000)), Milestones { startup, treated });
        assert_eq!(firsts.of(0, at(9000)), Milestones::default());
    }
}
