//! What limits the TCP flows that have a clock, at the events of hosts.

use aqm::Time;
use headgate_measure::HeldTimes;

use super::Hosts;
use crate::traffic::TcpFlow;

impl Hosts {
    /// A TCP flow starts.
    pub(super) fn start_clock(&mut self, id: u32, now: Time) {
        if let Some(clock) = self.limit_clocks.of_flow(id as usize) {
            clock.start(now);
            self.look_at_limit(id, now);
        }
    }

    /// A TCP flow has ended.
    pub(super) fn end_clock(&mut self, id: u32, now: Time) {
        if let Some(clock) = self.limit_clocks.of_flow(id as usize) {
            clock.end(now);
        }
    }

    /// Looks at the limit of a flow after an event at its sender, if the flow has a clock.
    #[inline]
    pub(super) fn update_clock(&mut self, id: u32, now: Time) {
        if !self.limit_clocks.clocks.is_empty() && self.tcp.get(id as usize).is_some_and(TcpFlow::looks_at_limit) {
            self.look_at_limit(id, now);
        }
    }

    #[inline(never)]
    fn look_at_limit(&mut self, id: u32, now: Time) {
        let flow = &self.tcp[id as usize];
        let now = self.limit_clocks.stops.get(usize::from(flow.group)).map_or(now, |stop| now.min(*stop));
        if let Some(clock) = self.limit_clocks.of_flow(id as usize) {
            let (limit, queue_until) = flow.limit(&self.tcp_settings[usize::from(flow.group)], now);
            clock.update(limit, queue_until, now);
        }
    }

    /// Looks at the queue of the receiver's access link as a packet leaves the last router at `now`. The current event
    /// is at `left`.
    #[inline]
    pub(super) fn update_clock_at_receiver(&mut self, id: usize, [left, now]: [Time; 2]) {
        if self.limit_clocks.at_receivers
            && let Some(clock) = self.limit_clocks.of_flow(id)
        {
            let flow = &self.tcp[id];
            if let Some(until) = flow.receiver_queue_until(&self.tcp_settings[usize::from(flow.group)], now) {
                clock.update_access(until, left);
            }
        }
    }

    /// The warm-up ends at `now`: the clock of a flow counts from then on.
    pub(super) fn restart_clock(&mut self, id: usize, now: Time) {
        if let Some(clock) = self.limit_clocks.of_flow(id) {
            clock.restart(now);
        }
    }

    /// The times in which something else than the links limited a flow, up to `now`.
    pub(super) fn held(&self, id: usize, now: Time) -> HeldTimes {
        let clock = self.limit_clocks.clocks.get(id).and_then(Option::as_ref);
        let stop = self.limit_clocks.stops.get(usize::from(self.tcp[id].group));
        clock.map_or_else(HeldTimes::default, |clock| clock.held(stop.map_or(now, |stop| now.min(*stop))))
    }
}
