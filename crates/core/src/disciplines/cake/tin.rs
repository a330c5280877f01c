//! A tin: flow queues in deficit round robin, new flows first, with turns that are shorter for flows of busy hosts.
//!
//! Source: `cake_hash`, `cake_enqueue` and `cake_dequeue` in Linux 5.5's `sch_cake.c`.

use alloc::vec::Vec;

use super::diffserv::TinShare;
use super::hosts::HostLoads;
use super::rotations::{Rotation, Rotations};
use super::settings::CakeConfig;
use crate::params::BuildError;
use crate::parts::ways::{SLOTS, Ways};
use crate::parts::{CobaltLoop, CobaltRules, CobaltSettings};
use crate::tables::Tables;
use crate::time::{Span, Time};
use crate::units::Rate;

/// What a queue is to the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowSet {
    /// Empty and at rest: its slot is free.
    #[default]
    Free,
    /// It has not yet sent a quantum since it was empty.
    Sparse,
    /// Sparse, but empty, and in debt: it waits among the old flows.
    SparseInDebt,
    /// It has sent more than a quantum.
    Bulk,
    /// Empty, but COBALT is not yet at rest.
    Decaying,
}

/// One byte of credit. Turns of busy hosts are fractions of bytes.
const BYTE: i64 = 1 << 16;

/// Bytes that a packet takes of a turn at most: an IP packet has no more.
const MOST_CHARGED: u32 = u16::MAX as u32;

#[derive(Clone, Copy, Debug, Default)]
struct FlowState {
    set: FlowSet,
    /// What it may still send in its turn, in [`BYTE`]s.
    credit: i64,
    /// Its hosts' slots: source, destination.
    hosts: [u16; 2],
}

/// The queues of a tin without their packets.
#[derive(Clone, Debug)]
pub struct Tin {
    /// COBALT's settings at the tin's rate.
    pub rules: CobaltRules,
    /// COBALT's state in each queue.
    pub loops: Vec<CobaltLoop>,
    /// Packets in its queues.
    pub packets: u32,
    /// Sparse flows, those in debt included.
    pub sparse: u32,
    /// Bulk flows.
    pub bulk: u32,
    /// Decaying flows.
    pub decaying: u32,
    /// Its part of the bandwidth.
    pub share: TinShare,
    /// Bytes it may still send in its turn. Only without a shaper.
    pub deficit: i64,
    /// Up to this time it has used its threshold rate.
    pub next: Time,
    /// Bytes of a turn of a flow that is alone at its hosts.
    quantum: i64,
    by_host: [bool; 2],
    slots: Ways,
    flows: Vec<FlowState>,
    hosts: [HostLoads; 2],
    rotations: Rotations,
}

impl Tin {
    /// Empty queues for a tin with this `share`.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(config: &CakeConfig, share: TinShare, tables: Tables<'_>) -> Result<Tin, BuildError> {
        let target = config.target.unwrap_or(Span::from_nanos(config.rtt.as_nanos() / 20));
        let cobalt = CobaltSettings {
            target,
            interval: config.rtt,
            fit_rate: share.threshold.is_some(),
            ..config.cobalt.clone()
        };
        Ok(Tin {
            rules: CobaltRules::new(cobalt, share.threshold.unwrap_or(Rate::from_bits(1))),
            loops: tables.filled(SLOTS, CobaltLoop::default())?,
            packets: 0,
            sparse: 0,
            bulk: 0,
            decaying: 0,
            share,
            deficit: 0,
            next: Time::ZERO,
            // What the rate sends in 1/4096 s, at least 300 bytes.
            quantum: share.threshold.map_or(1514, |rate| (rate.as_bits() / 8 / 4096).clamp(300, 1514)) as i64,
            by_host: config.isolation.by_host(),
            slots: Ways::new(tables)?,
            flows: tables.filled(SLOTS, FlowState::default())?,
            hosts: [HostLoads::new(tables)?, HostLoads::new(tables)?],
            rotations: Rotations::new(SLOTS as u16, tables)?,
        })
    }

    /// Whether a flow may have packets.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue last given to `flow`, a hash, unless another flow has it now.
    pub fn find(&self, flow: u64) -> Option<usize> {
        self.slots.find(flow)
    }

    /// Gives `flow`, whose hosts are `ends`, a queue. All are hashes.
    #[inline]
    pub fn queue_of(&mut self, flow: u64, ends: [u64; 2]) -> usize {
        let slot = self.slots.give(flow, |queue| self.flows[queue].set != FlowSet::Free);
        let state = &mut self.flows[slot.number];
        if slot.kept && state.set != FlowSet::Free {
            return slot.number;
        }
        // Taken over from another flow, a queue in use counts for the new flow's hosts.
        let moves = state.set == FlowSet::Bulk;
        for end in (0..2).filter(|end| self.by_host[*end]) {
            let hosts = &mut self.hosts[end];
            if moves {
                hosts.remove_flow(state.hosts[end]);
            }
            state.hosts[end] = hosts.slot(ends[end]);
            if moves {
                hosts.add_flow(state.hosts[end]);
            }
        }
        slot.number
    }

    /// A packet has joined `queue`.
    #[inline]
    pub fn joined(&mut self, queue: usize) {
        match self.flows[queue].set {
            FlowSet::Free | FlowSet::Decaying => {
                self.leave(queue);
                self.enter(queue, FlowSet::Sparse);
                self.flows[queue].credit = self.turn_of(queue);
                self.rotations.move_to_end(queue, Rotation::New);
            }
            FlowSet::SparseInDebt => {
                self.leave(queue);
                self.enter(queue, FlowSet::Bulk);
            }
            FlowSet::Sparse | FlowSet::Bulk => {}
        }
    }

    /// The queue to serve next: a decaying one if `poll` is set, which clears it, else one with credit. `holds` tells
    /// whether a queue has packets. `None` if no queue is in rotation.
    pub fn next_queue(&mut self, poll: &mut bool, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let mut in_debt = 0;
        loop {
            let polled = core::mem::take(poll).then(|| self.rotations.first(Rotation::Decaying)).flatten();
            let queue = polled
                .or_else(|| self.rotations.first(Rotation::New))
                .or_else(|| self.rotations.first(Rotation::Old))
                .or_else(|| self.rotations.first(Rotation::Decaying))?;
            if self.flows[queue].credit > 0 {
                return Some(queue);
            }
            in_debt += 1;
            if self.flows[queue].set == FlowSet::Sparse {
                self.leave(queue);
                self.enter(queue, if holds(queue) { FlowSet::Bulk } else { FlowSet::SparseInDebt });
                in_debt = 0;
            }
            self.flows[queue].credit += self.turn_of(queue);
            self.rotations.move_to_end(queue, Rotation::Old);
            if in_debt > self.sparse + self.bulk {
                self.skip_rounds();
                in_debt = 0;
            }
        }
    }

    /// `queue` has sent a packet that takes `bytes` of the link.
    #[inline]
    pub fn charge(&mut self, queue: usize, bytes: u32) {
        let bytes = i64::from(bytes.min(MOST_CHARGED));
        self.flows[queue].credit -= bytes * BYTE;
        self.deficit -= bytes;
    }

    /// The tin has sent a packet that takes `bytes` of the link.
    #[inline]
    pub fn advance(&mut self, bytes: u32, now: Time) {
        let Some(rate) = self.share.threshold else { return };
        let takes = rate.transmit(bytes);
        // A tin that was below its threshold may have sent a packet ahead, and no more.
        self.next = if self.next < now { self.next + takes } else { self.next.max(now + takes) };
    }

    /// `queue` was served and is empty. Its slot becomes free when its COBALT is at rest.
    pub fn found_empty(&mut self, queue: usize, now: Time) {
        let state = &self.loops[queue];
        let at_rest = state.probability == 0.0 && state.count == 0 && now >= state.drop_next;
        self.leave(queue);
        if at_rest {
            self.rotations.remove(queue);
        } else {
            self.enter(queue, FlowSet::Decaying);
            self.rotations.move_to_end(queue, Rotation::Decaying);
        }
    }

    /// The queues of a rotation in order, each with its set and its credit in bytes, rounded down.
    pub fn members(&self, rotation: Rotation) -> impl Iterator<Item = (usize, FlowSet, i64)> {
        self.rotations.members(rotation).map(|queue| (queue, self.flows[queue].set, self.flows[queue].credit / BYTE))
    }

    /// The turn of `queue`: the quantum, divided by the bulk flows of its busier host.
    #[inline]
    fn turn_of(&self, queue: usize) -> i64 {
        let hosts = self.flows[queue].hosts;
        let load = |end: usize| if self.by_host[end] { self.hosts[end].load(hosts[end]) } else { 1 };
        self.quantum * BYTE / i64::from(load(0).max(load(1)).max(1))
    }

    /// Skips the rounds in which no queue would send, when all old ones are in debt. With a thousand flows at a host, a
    /// turn is two bytes, and a packet takes hundreds of rounds.
    #[cold]
    fn skip_rounds(&mut self) {
        let rounds_of = |queue: usize| -self.flows[queue].credit / self.turn_of(queue);
        let rounds = self.rotations.members(Rotation::Old).map(rounds_of).min().unwrap_or(0);
        if rounds <= 0 {
            return;
        }
        let mut next = self.rotations.first(Rotation::Old);
        let last = self.rotations.members(Rotation::Old).last();
        while let Some(queue) = next {
            self.flows[queue].credit += rounds * self.turn_of(queue);
            self.rotations.move_to_end(queue, Rotation::Old);
            next = if Some(queue) == last { None } else { self.rotations.first(Rotation::Old) };
        }
    }

    #[inline]
    fn enter(&mut self, queue: usize, set: FlowSet) {
        self.flows[queue].set = set;
        match set {
            FlowSet::Free => {}
            FlowSet::Sparse | FlowSet::SparseInDebt => self.sparse += 1,
            FlowSet::Decaying => self.decaying += 1,
            FlowSet::Bulk => {
                self.bulk += 1;
                for end in (0..2).filter(|end| self.by_host[*end]) {
                    self.hosts[end].add_flow(self.flows[queue].hosts[end]);
                }
            }
        }
    }

    #[inline]
    fn leave(&mut self, queue: usize) {
        match core::mem::take(&mut self.flows[queue].set) {
            FlowSet::Free => {}
            FlowSet::Sparse | FlowSet::SparseInDebt => self.sparse -= 1,
            FlowSet::Decaying => self.decaying -= 1,
            FlowSet::Bulk => {
                self.bulk -= 1;
                for end in (0..2).filter(|end| self.by_host[*end]) {
                    self.hosts[end].remove_flow(self.flows[queue].hosts[end]);
                }
            }
        }
    }
}
