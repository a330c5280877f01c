//! Milestones of each flow: start-up (RFC 7928, section 2.2), identification as a heavy flow, response and release.
//!
//! Start-up is measured from the flow's start, even during the warm-up, and so are most other times. If a flow's rates
//! are known in advance, identification and response are measured from its latest rise above its fair share, and
//! release from its return ([`response`](super::response)).
//!
//! Disciplines do not report identification. The drop reasons `unresponsive`, `prefilter` and `heavy_hitter` apply only
//! to identified flows, so the first drop for such a reason marks the moment.

use aqm::{Span, Time, Why};

use super::response::{ResponseMeter, ResponseTimes, WatchedFlow};
use crate::table::{RowColumns, Unit, rows};

rows! {
    /// Start-up, identification and response times of one flow.
    pub struct Milestones derives Clone Copy Debug Default PartialEq Eq {
        /// Time from the flow's start to its first useful byte at the receiver, even in the warm-up; null without one.
        /// It has no handshake, as connections are not set up. RFC 7928, section 2.2.
        startup: Option<Span> as Unit::Milliseconds,
        /// When a discipline identified the flow, held it to its fair share and released it.
        response_times: ResponseTimes as RowColumns,
    }
}

/// Records the milestones of all flows.
pub struct MilestoneMeter {
    flows: Vec<FlowMoments>,
    /// The first watched flow; the flows before it are responsive.
    watched_from: usize,
    watched: Vec<Option<ResponseMeter>>,
}

#[derive(Clone, Copy)]
struct FlowMoments {
    began: Time,
    ended: Time,
    delivered: Time,
    identified: Time,
}

impl MilestoneMeter {
    /// No milestones yet. `watched` has the limits of the flows with the highest numbers; `None` for a flow that is not
    /// watched.
    pub fn new(flows: usize, watched: Vec<Option<WatchedFlow>>) -> MilestoneMeter {
        let never =
            FlowMoments { began: Time::NEVER, ended: Time::NEVER, delivered: Time::NEVER, identified: Time::NEVER };
        MilestoneMeter {
            flows: vec![never; flows],
            watched_from: flows - watched.len(),
            watched: watched.into_iter().map(|limits| limits.map(ResponseMeter::new)).collect(),
        }
    }

    /// `flow` begins to send.
    pub fn began(&mut self, flow: usize, now: Time) {
        self.flows[flow].began = now;
        if let Some(meter) = self.response_meter(flow) {
            meter.begin(now);
        }
    }

    /// `flow` has nothing more to send and nothing in flight.
    pub fn ended(&mut self, flow: usize, now: Time) {
        self.flows[flow].ended = now;
    }

    /// When each flow begins and ends, in order; [`Time::NEVER`] if it does not.
    pub fn lifetimes(&self) -> impl Iterator<Item = [Time; 2]> {
        self.flows.iter().map(|moments| [moments.began, moments.ended])
    }

    /// The first useful bytes of `flow` reach its receiver.
    #[inline(never)]
    pub fn delivered_first(&mut self, flow: usize, now: Time) {
        self.flows[flow].delivered = now;
    }

    /// Useful bytes of `flow` leave its last queue. Only watched flows need them.
    #[inline]
    pub fn delivered(&mut self, flow: usize, bytes: u64, now: Time) {
        if let Some(meter) = self.response_meter(flow) {
            meter.delivered(bytes, now);
        }
    }

    /// A packet of `flow` is dropped.
    pub fn dropped(&mut self, flow: usize, why: Why, now: Time) {
        if why.targets_identified_flow() {
            let identified = &mut self.flows[flow].identified;
            *identified = (*identified).min(now);
            if let Some(meter) = self.response_meter(flow) {
                meter.record_identifying_drop(now);
            }
        }
    }

    /// The milestones of `flow` by `now`. A flow that is not watched has no response and no release.
    pub fn of_flow(&self, flow: usize, now: Time) -> Milestones {
        let watched = flow.checked_sub(self.watched_from).and_then(|place| self.watched[place].as_ref());
        let identified = self.since_start(flow, self.flows[flow].identified);
        let response_times =
            watched.map_or(ResponseTimes { identified, ..ResponseTimes::default() }, |meter| meter.response_times(now));
        Milestones { startup: self.since_start(flow, self.flows[flow].delivered), response_times }
    }

    fn since_start(&self, flow: usize, moment: Time) -> Option<Span> {
        (moment != Time::NEVER).then(|| moment - self.flows[flow].began)
    }

    #[inline]
    fn response_meter(&mut self, flow: usize) -> Option<&mut ResponseMeter> {
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
    fn the_first_delivery_and_the_first_identifying_drop_are_measured_from_the_beginning() {
        let mut meter = MilestoneMeter::new(2, Vec::new());
        meter.began(1, at(500));
        meter.dropped(1, Why::Early, at(510));
        meter.delivered_first(1, at(532));
        meter.dropped(1, Why::Prefilter, at(800));
        meter.dropped(1, Why::Prefilter, at(900));
        let response_times = ResponseTimes { identified: Some(Span::from_millis(300)), ..ResponseTimes::default() };
        let startup = Some(Span::from_millis(32));
        assert_eq!(meter.of_flow(1, at(9000)), Milestones { startup, response_times });
        assert_eq!(meter.of_flow(0, at(9000)), Milestones::default());
    }
}
