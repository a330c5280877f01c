//! FABA for classes: Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, sections 6.1 to 6.3.
//! `docs/disciplines/faba.md` explains our reading of them.

use std::collections::VecDeque;

use aqm::disciplines::{Faba, FabaConfig};
use aqm::{Class, ClassId, FlowId, LinkInfo, Params, Rate, Rng, Time};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::tokens::{BUCKETS, NO_BUCKET, PAPER, Setting, TOKENS_PER_DEPARTURE, tokens_per_departure};

/// A node of the tree: the link, a class, or the own packets of a class that has children.
struct PlainClassNode {
    /// `None`: the link.
    parent: Option<usize>,
    weight: f64,
    below: Vec<usize>,
    /// Spare tokens of the level below.
    sigma: f64,
    /// The bucket of the whole class (flow 0), or the buckets of its flows.
    buckets: Vec<(u64, f64)>,
}

struct Faba6 {
    set: Setting,
    in_class: bool,
    queue: VecDeque<Arrival>,
    nodes: Vec<PlainClassNode>,
    /// The node whose buckets pay for each class's packets.
    pays: Vec<usize>,
    /// Tokens that buckets received at departures, less the tokens taken from them; and the departures.
    distributed: f64,
    departures: f64,
}

impl Faba6 {
    fn new(set: Setting, classes: &[Class], in_class: bool) -> Faba6 {
        let node = |parent, weight| PlainClassNode { parent, weight, below: vec![], sigma: 0.0, buckets: vec![] };
        let mut nodes = vec![node(None, 1.0)];
        nodes.extend(classes.iter().map(|c| node(Some(c.parent.map_or(0, |p| usize::from(p.0) + 1)), c.weight)));
        let mut pays = Vec::new();
        for class in 1..=classes.len() {
            if nodes.iter().any(|node| node.parent == Some(class)) {
                nodes.push(node(Some(class), 1.0));
                pays.push(nodes.len() - 1);
            } else {
                pays.push(class);
            }
        }
        for number in 1..nodes.len() {
            let parent = nodes[number].parent.unwrap();
            nodes[parent].below.push(number);
        }
        nodes[0].sigma = set.stock();
        Faba6 { set, in_class, queue: VecDeque::new(), nodes, pays, distributed: 0.0, departures: 0.0 }
    }

    fn active(&self, node: usize) -> bool {
        !self.nodes[node].buckets.is_empty() || self.nodes[node].below.iter().any(|below| self.active(*below))
    }

    /// The sum of c_i over the active children.
    fn weights(&self, node: usize) -> f64 {
        let active = self.nodes[node].below.iter().filter(|below| self.active(**below));
        active.map(|below| self.nodes[*below].weight).sum()
    }

    /// w_i of the link, through all levels.
    fn share(&self, node: usize) -> f64 {
        let (mut share, mut at) = (1.0, node);
        while let Some(parent) = self.nodes[at].parent {
            share *= self.nodes[at].weight / self.weights(parent);
            at = parent;
        }
        share
    }

    /// L_i = w_i T, shared by the flows of a class.
    fn height(&self, node: usize) -> f64 {
        self.set.share(self.class_height(node) / self.nodes[node].buckets.len().max(1) as f64)
    }

    fn class_height(&self, node: usize) -> f64 {
        self.set.share(self.set.stock() * self.share(node))
    }

    /// All tokens of `node` and its descendants.
    fn content(&self, node: usize) -> f64 {
        let PlainClassNode { below, sigma, buckets, .. } = &self.nodes[node];
        let own: f64 = buckets.iter().map(|(_, x)| *x).sum();
        sigma + own + below.iter().map(|below| self.content(*below)).sum::<f64>()
    }

    fn key(&self, packet: &Arrival) -> (usize, u64) {
        let node = *self.pays.get(usize::from(packet.class)).unwrap_or(&self.pays[0]);
        (node, if self.in_class { packet.flow } else { 0 })
    }

    /// The node whose spare tokens `node`'s buckets exchange: the class for buckets of flows, the parent for the bucket
    /// of a class.
    fn level(&self, node: usize) -> usize {
        if self.in_class { node } else { self.nodes[node].parent.unwrap() }
    }

    fn create(&mut self, node: usize, flow: u64, rng: &mut Rng) {
        if !self.active(node) {
            // The first level upwards that was active gives the class its tokens.
            let mut giver = self.nodes[node].parent.unwrap();
            while giver != 0 && !self.active(giver) {
                giver = self.nodes[giver].parent.unwrap();
            }
            self.nodes[node].buckets.push((flow, 0.0));
            let part = self.height(node);
            self.nodes[giver].sigma -= part;
            self.nodes[node].buckets[0].1 = part;
            return;
        }
        if self.nodes[node].buckets.len() == self.set.max_flows {
            let buckets = &self.nodes[node].buckets;
            let drawn: Vec<usize> = (0..4).map(|_| rng.below(buckets.len() as u32) as usize).collect();
            let most = drawn.iter().map(|j| buckets[*j].1).fold(f64::MIN, f64::max);
            let fullest = drawn.into_iter().rfind(|j| buckets[*j].1 == most).unwrap();
            self.nodes[node].sigma += self.nodes[node].buckets.swap_remove(fullest).1;
        }
        self.nodes[node].buckets.push((flow, 0.0));
        let height = self.height(node);
        self.nodes[node].sigma -= height;
        self.nodes[node].buckets.last_mut().unwrap().1 = height;
    }

    /// Moves the tokens of levels without active children up.
    fn pass_up(&mut self, node: usize) {
        if let (Some(parent), false) = (self.nodes[node].parent, self.active(node)) {
            self.nodes[parent].sigma += std::mem::take(&mut self.nodes[node].sigma);
            self.pass_up(parent);
        }
    }

    /// Distributes spare tokens at one level, then below the last child that was drawn.
    fn distribute(&mut self, node: usize, token: f64, rng: &mut Rng) {
        let q = self.set.carried(&self.queue).max(token);
        let b = ((self.nodes[node].sigma.abs() / q).floor() + 1.0).min(4.0) as u32;
        let mut next = None;
        for draw in 0..b {
            let sigma = self.nodes[node].sigma;
            let flows = self.nodes[node].below.is_empty();
            // A lower level may have spare tokens even if this one has none.
            if !self.active(node) || (sigma == 0.0 && (flows || draw > 0)) {
                break;
            }
            let due = sigma.clamp(-token, token);
            if flows {
                let j = rng.below(self.nodes[node].buckets.len() as u32) as usize;
                self.give(node, j, due);
                continue;
            }
            let child = self.draw(node, rng);
            if self.in_class || !self.nodes[child].below.is_empty() {
                let overflow = self.content(child) + due - self.class_height(child);
                let due = due - overflow.min(self.nodes[child].sigma + due).max(0.0);
                self.nodes[node].sigma -= due;
                self.nodes[child].sigma += due;
                next = Some(child);
            } else {
                self.give(child, 0, due);
            }
        }
        if let Some(child) = next {
            self.distribute(child, token, rng);
        }
    }

    /// Gives tokens to bucket `j` of `node`, or takes tokens from it. A bucket that overflows is deleted.
    fn give(&mut self, node: usize, j: usize, due: f64) {
        let (level, height) = (self.level(node), self.height(node));
        let x = &mut self.nodes[node].buckets[j].1;
        let moved = due.max(-x.max(0.0));
        *x += moved;
        let full = *x > height;
        self.nodes[level].sigma -= moved;
        self.distributed += moved;
        if full {
            let left = self.nodes[node].buckets.swap_remove(j).1;
            self.nodes[level].sigma += left;
            self.pass_up(node);
        }
    }

    /// Draws an active child by weight.
    fn draw(&self, node: usize, rng: &mut Rng) -> usize {
        let active: Vec<usize> = self.nodes[node].below.iter().copied().filter(|child| self.active(*child)).collect();
        let mut rest = rng.bits() as f64 / 2f64.powi(64) * self.weights(node);
        for child in &active {
            if rest < self.nodes[*child].weight {
                return *child;
            }
            rest -= self.nodes[*child].weight;
        }
        *active.last().unwrap()
    }

    fn bucket(&self, node: usize, flow: u64) -> Option<usize> {
        self.nodes[node].buckets.iter().position(|(of, _)| *of == flow)
    }
}

impl Oracle for Faba6 {
    fn arrive(&mut self, packet: Arrival, _: f64, rng: &mut Rng) -> Vec<Decision> {
        let (node, flow) = self.key(&packet);
        if self.bucket(node, flow).is_none() {
            self.create(node, flow, rng);
        }
        let (j, height, level) = (self.bucket(node, flow).unwrap(), self.height(node), self.level(node));
        let x = self.nodes[node].buckets[j].1;
        if x > height {
            self.nodes[node].buckets[j].1 = height;
            self.nodes[level].sigma += x - height;
        }
        let x = x.min(height);
        let (decisions, queued) = self.set.judge(&self.queue, &packet, (x, height), rng);
        if queued {
            let cost = self.set.cost(&packet);
            if x > 0.0 {
                self.nodes[node].buckets[j].1 -= cost;
            } else {
                self.nodes[0].sigma -= cost;
            }
            self.queue.push_back(packet);
        }
        decisions
    }

    fn depart(&mut self, _: f64, rng: &mut Rng) -> Vec<Decision> {
        let Some(packet) = self.queue.pop_front() else { return Vec::new() };
        self.nodes[0].sigma += self.set.cost(&packet);
        self.departures += 1.0;
        self.distribute(0, self.set.grain(&packet), rng);
        vec![Decision::Sent(packet.number)]
    }

    fn state(&self) -> NamedState {
        let mut state = vec![entry("sigma", self.nodes.iter().map(|node| node.sigma).sum::<f64>())];
        state.push(entry(TOKENS_PER_DEPARTURE, self.distributed / self.departures.max(1.0)));
        for (class, name) in (0..).zip(HEIGHTS) {
            let node = *self.pays.get(class).unwrap_or(&self.pays[0]);
            state.push(entry(name, if self.active(node) { self.height(node) } else { NO_BUCKET }));
        }
        for (flow, name) in (0..).zip(BUCKETS) {
            let class = flow as usize % 3;
            let node = *self.pays.get(class).unwrap_or(&self.pays[0]);
            let j = self.bucket(node, if self.in_class { flow } else { 0 });
            state.push(entry(name, j.map_or(NO_BUCKET, |j| self.nodes[node].buckets[j].1)));
        }
        state
    }
}

const HEIGHTS: [&str; 3] = ["height 0", "height 1", "height 2"];

fn look(faba: &Faba<usize>, _: Time) -> NamedState {
    let mut state = vec![entry("sigma", faba.sigma())];
    state.push(entry(TOKENS_PER_DEPARTURE, tokens_per_departure(faba)));
    let height = |class| faba.bucket_height(ClassId(class)).unwrap_or(NO_BUCKET);
    state.extend((0..).zip(HEIGHTS).map(|(class, name)| entry(name, height(class))));
    let bucket = |flow| faba.bucket(FlowId(flow), ClassId((flow % 3) as u16)).unwrap_or(NO_BUCKET);
    state.extend((0..).zip(BUCKETS).map(|(flow, name)| entry(name, bucket(flow))));
    state
}

#[test]
fn faba_shares_among_classes_as_section_6_says() {
    let side_by_side = [1.0, 2.0, 5.0].map(|weight| Class { parent: None, weight });
    // Class 2 is a child of class 1, whose own packets have weight 1 beside it. The hog is in class 0.
    let nested = [(None, 2.0), (None, 1.0), (Some(ClassId(1)), 3.0)].map(|(parent, weight)| Class { parent, weight });
    // Packets of the unknown third class count as class 0.
    let two = &side_by_side[1..];
    let small = Setting { text: "limit=24p,lambda1=0.8", limit: 24.0, lambda1: 0.8, ..PAPER };
    let bytes = Setting { text: "limit=60KB", limit: 60e3, limit_in_bytes: true, byte_mode: true, ..PAPER };
    let full = Setting { text: "limit=50p,max_flows=3,ecn=off", max_flows: 3, ecn: false, ..PAPER };
    let runs: [(Setting, &[Class], TrafficMix); 6] = [
        (PAPER, &side_by_side, TrafficMix::even(1)),
        (PAPER, &nested, TrafficMix::even(2)),
        (bytes, &nested, TrafficMix::mixed(3)),
        (small, &nested, TrafficMix::mixed(4)),
        (full, &side_by_side, TrafficMix::even(5)),
        (small, two, TrafficMix::even(6)),
    ];
    for (per, in_class) in [("class", false), ("flow_in_class", true)] {
        for (set, classes, traffic) in runs {
            let pairs = set.text.split(',').filter_map(|pair| pair.split_once('=')).chain([("per", per)]);
            let pairs: Vec<(&str, &str)> = pairs.collect();
            let link = LinkInfo { classes, ..LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7) };
            let faba = Faba::new(FabaConfig::from_settings(&pairs).unwrap(), &link).unwrap();
            agree(faba, Faba6::new(set, classes, in_class), look, traffic);
        }
    }
}
