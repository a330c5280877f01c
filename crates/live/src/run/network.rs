//! A scenario's network of links between its two hosts, in one loop.
//!
//! A frame from one host crosses the links of its flow's route to the other host. All links share one order of events,
//! each at its nominal time. Lateness therefore occurs only once, when a frame leaves for its host.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use headgate_core::{Packet, Qdisc, Rng, Span, Time};
use headgate_link::Wakes;
use headgate_scenario::{Direction, Paths, Scenario};

use self::node::{Node, nodes};
use super::access::{self, Access};
use super::account::Finding;
use super::moments::Moments;
use super::slots::Slots;
use crate::forward::ends::{Entry, Exit};
use crate::forward::fabric::Fabric;
use crate::forward::queue::{self, Onward};
use crate::forward::view::{LaneCounts, LaneView, MOST_SHOWN};
use crate::io::Io;
use crate::io::clock::Begin;
use crate::io::frame::{Layer, Parser};
use crate::io::pool::{FrameId, Pool};
use crate::io::tap::Recorder;
use crate::timeline::Timeline;

mod node;

/// A packet on its way to a queue.
struct Coming {
    /// Numbers of the direction with that queue and of the direction it leaves; `None` if it comes from its host.
    to: u16,
    from: Option<u16>,
    packet: Packet<FrameId>,
}

/// All links, with an account for each direction.
pub(super) struct Network {
    pool: Pool,
    /// For the near and the far host, indexed by the direction between them.
    entries: [Entry; 2],
    exits: [Exit; 2],
    access: Access,
    paths: Paths,
    /// By number of the direction.
    nodes: Vec<Node>,
    wakes: Wakes,
    coming: Timeline<Coming>,
    /// Least propagation delay of a link: no packet leaves sooner.
    least: Span,
    moments: Moments,
    /// The first link that compares disciplines. Only its views name flows, since that costs time.
    shown: u16,
    /// Number and total duration of stalls.
    stalls: (u64, Span),
    findings: Sender<Finding>,
}

impl Network {
    /// The links of `scenario`, with `qdisc` where disciplines are compared. Findings are sent from `begin` on.
    pub(super) fn new(
        scenario: &Arc<Scenario>,
        qdisc: &Qdisc,
        seed: u64,
        begin: Begin,
        findings: Sender<Finding>,
    ) -> io::Result<Network> {
        let slots = Slots::of(scenario);
        let nodes = nodes(scenario, qdisc, seed, &findings)?;
        let entry = |direction: Direction| {
            let key = Rng::named(seed, &format!("flows {direction}")).bits();
            Entry::new(Parser::new(Layer::Ip, key))
        };
        Ok(Network {
            pool: Pool::new(slots.all, Pool::SLOT),
            entries: Direction::BOTH.map(entry),
            exits: [(); 2].map(|()| Exit::new(slots.all as usize)),
            access: Access::new(scenario, &slots),
            paths: Paths::new(scenario),
            wakes: Wakes::new(nodes.len()),
            coming: Timeline::new(slots.all as usize),
            least: scenario.links.iter().map(|link| link.delay).min().unwrap_or(Span::ZERO),
            nodes,
            moments: Moments::new(scenario, begin),
            shown: scenario.bottleneck().link,
            stalls: (0, Span::ZERO),
            findings,
        })
    }

    /// Processes all events up to `now` at their nominal times. Of events at the same time, records come first and
    /// dequeues last, in the order of link numbers.
    fn advance(&mut self, now: Time) {
        let mut looks = self.moments.next();
        loop {
            let comes = self.coming.next();
            let next = looks.min(comes).min(self.wakes.first());
            if next > now || next == Time::NEVER {
                return;
            }
            if next == looks {
                self.look(next);
                looks = self.moments.next();
            } else if next == comes {
                let Some((at, coming)) = self.coming.pop(next) else { return };
                self.arrive(at, coming);
            } else {
                self.pull(self.wakes.winner(), next);
            }
        }
    }

    /// Enqueues a packet.
    fn arrive(&mut self, at: Time, Coming { to, from, mut packet }: Coming) {
        let Network { nodes, pool, access, entries, coming, paths, exits, .. } = self;
        match from {
            Some(from) => nodes[usize::from(from)].out += 1,
            None => access.entered(&packet.handle),
        }
        let node = &mut nodes[usize::from(to)];
        node.came += u64::from(from.is_some());
        let account = node.queue.port_mut().ledger_mut();
        if let Some(name) = account.names.get(access::flow(&packet.handle) as usize) {
            (packet.flow, packet.class) = (name.flow, name.class);
        }
        let parser = &mut entries[0].parser;
        account.lane.meet(packet.flow, packet.bytes, at, || parser.look(pool.frame(&packet.handle)));
        let receive = receiver(to, coming, paths, access, exits);
        node.queue.arrive(packet, at, &mut Onward { pool, recorder: node.recorder.as_ref(), receive });
        self.wakes.set(to.into(), node.queue.wake());
    }

    /// Dequeues at direction `number`: its transmitter is free, or its discipline ready.
    fn pull(&mut self, number: usize, at: Time) {
        let Network { nodes, pool, access, coming, paths, exits, .. } = self;
        let Node { queue, recorder, .. } = &mut nodes[number];
        let receive = receiver(number as u16, coming, paths, access, exits);
        queue.free(at, &mut Onward { pool, recorder: recorder.as_ref(), receive });
        self.wakes.set(number, queue.wake());
    }

    /// Takes records of all directions at `at`; all earlier events, and no later ones, have been processed.
    fn look(&mut self, at: Time) {
        let due = self.moments.take(at);
        for node in &mut self.nodes {
            node.settle(at, &mut self.pool);
            let queue = &mut node.queue;
            if due.begin {
                queue.medium_mut().begin(at);
            }
            let (held, ahead) = (queue.port().backlog(), queue.ahead(at));
            let (discipline, account) = queue.port_mut().parts();
            account.look(due, discipline, (held, ahead), at);
        }
        if due.begin || due.warm {
            self.access.restart();
        }
        if due.end {
            // The receiver is gone if the run was stopped.
            let _ = self.findings.send(Finding::End(self.access.excess.clone()));
        }
    }

    /// By direction: packets on their flows' own links before the queue, and packets in propagation.
    fn under_way(&self) -> Vec<[usize; 2]> {
        let mut under_way = vec![[0; 2]; self.nodes.len()];
        for coming in self.coming.iter() {
            match coming.from {
                Some(from) => under_way[usize::from(from)][1] += 1,
                None => under_way[usize::from(coming.to)][0] += 1,
            }
        }
        for frame in self.exits.iter().flat_map(Exit::flying) {
            under_way[usize::from(self.access.route(frame).last)][1] += 1;
        }
        under_way
    }

    /// Adds counts of the entry and exit of `direction` to `view`: their frames cannot be attributed to a link.
    fn add_doors(&self, view: &mut LaneView, direction: Direction) {
        let (entry, exit) = (&self.entries[direction as usize], &self.exits[direction as usize]);
        view.oddities = entry.parser.oddities;
        view.counts.came += entry.no_slot + view.oddities.dropped();
        view.counts.no_slot = entry.no_slot;
        view.counts.refused = exit.refused;
        view.lateness = exit.lateness.clone();
    }
}

/// Sends a packet that leaves direction `from` to the next queue of its route, or to its host.
#[inline]
fn receiver<'a>(
    from: u16,
    coming: &'a mut Timeline<Coming>,
    paths: &'a Paths,
    access: &'a mut Access,
    exits: &'a mut [Exit; 2],
) -> impl FnMut(Packet<FrameId>, Time) + 'a {
    move |packet, out| {
        if let Some(to) = paths.next(from, access::flow(&packet.handle) as usize) {
            return coming.push(out, Coming { to, from: Some(from), packet });
        }
        let due = access.behind(&packet.handle, packet.bytes, out);
        exits[access.route(&packet.handle).direction as usize].fly(due, packet.handle);
    }
}

impl Fabric for Network {
    fn take(&mut self, now: Time, direction: Direction, from: &mut dyn Io) -> io::Result<bool> {
        self.advance(now);
        let Network { entries, pool, access, nodes, coming, .. } = self;
        let more = entries[direction as usize].take(from, pool, |mut packet, parsed, _| {
            let Some(at) = access.enter(&mut packet, parsed, (now, direction)) else { return Err(packet.handle) };
            let to = access.route(&packet.handle).first;
            nodes[usize::from(to)].came += 1;
            coming.push(at, Coming { to, from: None, packet });
            Ok(())
        });
        self.advance(now);
        more
    }

    fn give(&mut self, now: Time, direction: Direction, to: &mut dyn Io) -> io::Result<bool> {
        self.advance(now);
        let Network { exits, pool, access, nodes, .. } = self;
        exits[direction as usize].give(now, to, pool, |frame| {
            access.left(frame, now);
            nodes[usize::from(access.route(frame).last)].out += 1;
        })
    }

    fn due(&self) -> Time {
        let next = self.coming.next().min(self.wakes.first()) + self.least;
        self.exits.iter().map(Exit::due).fold(next, Time::min)
    }

    fn stall(&mut self, by: Span) {
        self.stalls = (self.stalls.0 + 1, self.stalls.1 + by);
        self.coming.stall(by);
        for (number, node) in self.nodes.iter_mut().enumerate() {
            node.queue.stall(by);
            self.wakes.set(number, node.queue.wake());
        }
        self.exits.iter_mut().for_each(|exit| exit.stall(by));
    }

    fn view(&mut self, now: Time) -> Vec<LaneView> {
        self.advance(now);
        let (under_way, free_slots) = (self.under_way(), self.pool.free());
        let (stalls, stalled) = self.stalls;
        let named = |number: usize| if number / 2 == usize::from(self.shown) { MOST_SHOWN } else { 0 };
        let of = |(number, (node, [coming, flying])): (usize, (&mut Node, [usize; 2]))| {
            node.settle(now, &mut self.pool);
            let counts = LaneCounts { came: node.came, out: node.out, stalls, stalled, ..LaneCounts::default() };
            LaneView { coming, flying, free_slots, ..queue::view(&mut node.queue, now, counts, named(number)) }
        };
        let mut views: Vec<LaneView> = self.nodes.iter_mut().zip(under_way).enumerate().map(of).collect();
        views.iter_mut().zip(Direction::BOTH).for_each(|(view, direction)| self.add_doors(view, direction));
        views
    }

    fn record(&mut self, recorders: &[Option<Recorder>; 2]) {
        self.nodes.iter_mut().zip(recorders).for_each(|(node, recorder)| node.recorder.clone_from(recorder));
    }
}

#[cfg(test)]
mod tests;
