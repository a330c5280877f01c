//! The flows' own links between their hosts and the routers, which live are a delay in the loop.

use headgate_core::Time;
use headgate_scenario::{Hop, Scenario, Wire, WireKind};

/// The links before a queue and behind the link, of all flows that cross it one way.
pub(super) struct Access {
    /// By flow: its group.
    groups: Vec<u16>,
    /// By group: the link before, and the one behind.
    kinds: Vec<[WireKind; 2]>,
    /// By flow.
    wires: Vec<[Wire; 2]>,
}

impl Access {
    /// Those of `scenario` around `hop`, over which a group's data goes, or what answers it.
    pub(super) fn new(scenario: &Scenario, hop: Hop) -> Access {
        let tcp = scenario.tcp.iter().map(|group| (&group.sender, &group.receiver, [group.packet, group.ack]));
        let udp = scenario.udp.iter().map(|group| (&group.sender, &group.receiver, [group.packet, group.feedback]));
        let kind = |((sender, receiver, [packet, reply]), route): ((_, _, [u32; 2]), &[Hop])| match route.contains(&hop)
        {
            true => [WireKind::new(sender, packet), WireKind::new(receiver, packet)],
            false => [WireKind::new(receiver, reply), WireKind::new(sender, reply)],
        };
        let of = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index as u16));
        let groups: Vec<u16> = of.collect();
        let kinds = tcp.chain(udp).zip(scenario.routes()).map(kind).collect();
        Access { wires: vec![Default::default(); groups.len()], groups, kinds }
    }

    /// The group of a flow.
    #[inline]
    pub(super) fn group(&self, flow: usize) -> usize {
        self.groups[flow].into()
    }

    /// When a packet of `flow` is at the queue that leaves its host at `now`.
    #[inline]
    pub(super) fn before(&mut self, flow: usize, bytes: u32, now: Time) -> Time {
        self.pass(flow, 0, bytes, now)
    }

    /// When it is at its host if it comes out of the link at `due`.
    #[inline]
    pub(super) fn behind(&mut self, flow: usize, bytes: u32, due: Time) -> Time {
        self.pass(flow, 1, bytes, due)
    }

    #[inline]
    fn pass(&mut self, flow: usize, end: usize, bytes: u32, now: Time) -> Time {
        let kind = self.kinds[usize::from(self.groups[flow])][end];
        self.wires[flow][end].pass_sized(now, bytes, &kind)
    }
}

#[cfg(test)]
mod tests {
    use headgate_core::Span;
    use headgate_scenario::{Changes, Direction};

    use super::*;

    #[test]
    fn a_flow_waits_for_itself_alone_and_every_group_has_its_own_delay() {
        let text = "name = 'a'\nduration = '1s'\nqdiscs = ['droptail']\n\
                    link = { rate = '10Mbit/s', delay = '10ms', limit = '9p' }\n\
                    [[tcp]]\nflows = 2\npacket = '1000B'\nack = '40B'\n\
                    sender = { rate = '8Mbit/s', delay = '3ms' }\nreceiver = { rate = '80Mbit/s', delay = '1ms' }\n";
        let scenario = Scenario::read(text, "a.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let micros = |micros| Time::ZERO + Span::from_micros(micros);
        let [mut forth, mut back] = Direction::BOTH.map(|direction| Access::new(&scenario, Hop { link: 0, direction }));
        // 1000 bytes take 1 ms at 8 Mbit/s and 0.1 ms at 80: the second packet waits for the first, another flow's does not.
        assert_eq!(forth.before(0, 1000, micros(0)), micros(4000));
        assert_eq!(forth.before(0, 1000, micros(0)), micros(5000));
        assert_eq!(forth.before(1, 1000, micros(0)), micros(4000));
        assert_eq!(forth.behind(0, 1000, micros(0)), micros(1100));
        // What answers goes the other way: 40 bytes take 4 us and 40 us.
        assert_eq!(back.before(0, 40, micros(0)), micros(1004));
        assert_eq!(back.behind(0, 40, micros(0)), micros(3040));
    }
}
