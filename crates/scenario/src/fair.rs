//! The units among which a link is to be divided fairly: flows, hosts, groups or classes.
//!
//! Units that share a link deserve equal rates, or rates in proportion to the weights of classes. Flows of one host,
//! group or class that take different routes are in different units, because they use different links. A host's uploads
//! and downloads are the usual example.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::classify::TrafficClass;
use crate::header::Header;
use crate::model::Scenario;
use crate::values::WordChoice;

/// A kind of unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FairUnit {
    /// Each flow.
    Flow,
    /// The flows of one address. Of a flow's two addresses, its host is the one with more flows, the receiver if both
    /// have equally many. An address of all flows, such as that of a server for a whole home, divides nothing and is
    /// nobody's host.
    Host,
    /// The flows of one group.
    Group,
    /// The flows of one class, with its weight. Flows without a class are one unit of weight 1.
    Class,
}

impl WordChoice for FairUnit {
    const WHAT: &'static str = "unit of fairness";
    const WORDS: &'static [(&'static str, FairUnit)] =
        &[("flow", FairUnit::Flow), ("host", FairUnit::Host), ("group", FairUnit::Group), ("class", FairUnit::Class)];
}

impl FairUnit {
    /// The unit with this name in scenario files.
    pub fn named(word: &str) -> Option<FairUnit> {
        FairUnit::parse(word).ok()
    }

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        self.word()
    }
}

/// The units of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct FairUnits {
    /// The unit of each flow, numbered from 0 in the order of first flows.
    pub of_flow: Vec<u32>,
    /// The weight of each unit.
    pub weights: Vec<f64>,
}

/// What the flows of one unit have in common, besides their route.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UnitKey {
    Flow(u32),
    Host(IpAddr),
    Group(usize),
    Class(u16),
}

impl Scenario {
    /// The units of this kind.
    pub fn fair_units(&self, unit: FairUnit) -> FairUnits {
        let (keys, weight_of): (Vec<UnitKey>, BTreeMap<UnitKey, f64>) = match unit {
            FairUnit::Flow => ((0..self.total_flows()).map(UnitKey::Flow).collect(), BTreeMap::new()),
            // Addresses of a flow's own are those of no other flow.
            FairUnit::Host if self.groups().all(|group| group.headers.has_own_addresses()) => {
                return self.fair_units(FairUnit::Flow);
            }
            FairUnit::Host => (hosts(self.headers()).map(UnitKey::Host).collect(), BTreeMap::new()),
            FairUnit::Group => (self.group_of_flows().map(UnitKey::Group).collect(), BTreeMap::new()),
            FairUnit::Class => {
                let classes = self.class_of_flows();
                let weights = weights(&self.classes, &classes).into_iter().enumerate();
                let weight_of = weights.map(|(class, weight)| (UnitKey::Class(class as u16), weight)).collect();
                (classes.into_iter().map(UnitKey::Class).collect(), weight_of)
            }
        };
        let routes: Vec<_> = self.routes().collect();
        let (mut numbers, mut weights) = (BTreeMap::new(), Vec::new());
        let number = |(key, group): (UnitKey, usize)| {
            *numbers.entry((key, routes[group])).or_insert_with(|| {
                weights.push(weight_of.get(&key).copied().unwrap_or(1.0));
                weights.len() as u32 - 1
            })
        };
        let of_flow = keys.into_iter().zip(self.group_of_flows()).map(number).collect();
        FairUnits { of_flow, weights }
    }

    fn group_of_flows(&self) -> impl Iterator<Item = usize> {
        self.groups().flat_map(|group| std::iter::repeat_n(group.index, group.flows as usize))
    }

    fn class_of_flows(&self) -> Vec<u16> {
        // Classes compare no hashes, so any key will do.
        let classifier = self.classifier(0);
        self.headers().map(|header| classifier.class(&header).0).collect()
    }
}

/// The host of each flow.
fn hosts<'a>(headers: impl Iterator<Item = Header<'a>>) -> impl Iterator<Item = IpAddr> {
    let ends: Vec<[IpAddr; 2]> = headers.map(|header| [header.source, header.destination]).collect();
    let mut flows: BTreeMap<IpAddr, usize> = BTreeMap::new();
    ends.iter().flatten().for_each(|address| *flows.entry(*address).or_default() += 1);
    let all = ends.len();
    let shared = move |address: &IpAddr| Some(flows[address]).filter(|count| *count < all);
    ends.into_iter().map(
        move |[source, destination]| {
            if shared(&source) > shared(&destination) { source } else { destination }
        },
    )
}

/// The share of a link for the flows of each class if all classes with flows fill it; the first is that of flows without a
/// class. Numbers of classes without flows mean nothing.
fn weights(classes: &[TrafficClass], class_of_flows: &[u16]) -> Vec<f64> {
    let parent = |class: usize| usize::from(classes[class - 1].parent.unwrap_or_default().0);
    // Whether flows are in the class itself, and whether they are in it or in a class below.
    let mut own = vec![false; classes.len() + 1];
    class_of_flows.iter().for_each(|class| own[usize::from(*class)] = true);
    let mut inhabited = own.clone();
    (1..own.len()).rev().for_each(|class| inhabited[parent(class)] |= inhabited[class]);
    // Flows in a class itself compete with the classes below, with weight 1.
    let mut below: Vec<f64> = own.iter().map(|own| if *own { 1.0 } else { 0.0 }).collect();
    let children = (1..own.len()).filter(|class| inhabited[*class]);
    children.for_each(|class| below[parent(class)] += classes[class - 1].weight);
    // Parents precede their children.
    let mut whole = vec![1.0; own.len()];
    (1..own.len())
        .for_each(|class| whole[class] = whole[parent(class)] * classes[class - 1].weight / below[parent(class)]);
    whole.iter().zip(&below).map(|(whole, below)| whole / below).collect()
}
