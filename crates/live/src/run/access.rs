//! The flows' own links between their hosts and the routers, which live are a delay in the loop.

use headgate_core::Time;
use headgate_link::{Wire, WireKind};
use headgate_scenario::Scenario;

use crate::load::ports::Way;

/// The links of all flows before the first queue of their way, and behind its last link.
pub(super) struct Access {
    /// By flow: its group.
    groups: Vec<u16>,
    /// By group, for data and for what answers it: the link before, and the one behind.
    kinds: Vec<[[WireKind; 2]; 2]>,
    /// By flow.
    wires: Vec<[[Wire; 2]; 2]>,
}

impl Access {
    /// Those of `scenario`.
    pub(super) fn new(scenario: &Scenario) -> Access {
        let tcp = scenario.tcp.iter().map(|group| (&group.sender, &group.receiver, [group.packet, group.ack]));
        let udp = scenario.udp.iter().map(|group| (&group.sender, &group.receiver, [group.packet, group.feedback]));
        let kinds = tcp.chain(udp).map(|(sender, receiver, [packet, reply])| {
            let [data, back] = [(packet, [sender, receiver]), (reply, [receiver, sender])];
            [data, back].map(|(bytes, ends)| ends.map(|end| WireKind::new(end, bytes)))
        });
        let of = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index as u16));
        let groups: Vec<u16> = of.collect();
        Access { kinds: kinds.collect(), wires: vec![Default::default(); groups.len()], groups }
    }

    /// How many flows there are.
    #[inline]
    pub(super) fn flows(&self) -> usize {
        self.groups.len()
    }

    /// The group of a flow.
    #[inline]
    pub(super) fn group(&self, flow: usize) -> usize {
        self.groups[flow].into()
    }

    /// When a packet of `flow` is at its first queue that leaves its host at `now`.
    #[inline]
    pub(super) fn before(&mut self, (flow, way): (usize, Way), bytes: u32, now: Time) -> Time {
        self.pass(flow, [way as usize, 0], bytes, now)
    }

    /// When it is at its host if it comes out of the last link at `due`.
    #[inline]
    pub(super) fn behind(&mut self, (flow, way): (usize, Way), bytes: u32, due: Time) -> Time {
        self.pass(flow, [way as usize, 1], bytes, due)
    }

    #[inline]
    fn pass(&mut self, flow: usize, [way, end]: [usize; 2], bytes: u32, now: Time) -> Time {
        let kind = self.kinds[usize::from(self.groups[flow])][way][end];
        self.wires[flow][way][end].pass_sized(now, bytes, &kind)
    }
}

#[cfg(test)]
mod tests {
    use headgate_core::Span;
    use headgate_scenario::Changes;

    use super::*;

    #[test]
    fn a_flow_waits_for_itself_alone_and_every_group_has_its_own_delay() {
        let text = "name = 'a'\nduration = '1s'\nqdiscs = ['droptail']\n\
                    link = { rate = '10Mbit/s', delay = '10ms', limit = '9p' }\n\
                    [[tcp]]\nflows = 2\npacket = '1000B'\nack = '40B'\n\
                    sender = { rate = '8Mbit/s', delay = '3ms' }\nreceiver = { rate = '80Mbit/s', delay = '1ms' }\n";
        let scenario = Scenario::read(text, "a.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let micros = |micros| Time::ZERO + Span::from_micros(micros);
        let mut access = Access::new(&scenario);
        // 1000 bytes take 1 ms at 8 Mbit/s and 0.1 ms at 80: the second packet waits for the first, another flow's does not.
        assert_eq!(access.before((0, Way::Data), 1000, micros(0)), micros(4000));
        assert_eq!(access.before((0, Way::Data), 1000, micros(0)), micros(5000));
        assert_eq!(access.before((1, Way::Data), 1000, micros(0)), micros(4000));
        assert_eq!(access.behind((0, Way::Data), 1000, micros(0)), micros(1100));
        // What answers goes the other way: 40 bytes take 4 us and 40 us.
        assert_eq!(access.before((0, Way::Reply), 40, micros(0)), micros(1004));
        assert_eq!(access.behind((0, Way::Reply), 40, micros(0)), micros(3040));
    }
}
