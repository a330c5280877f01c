//! Resolves routes: from the nodes a group names to the links it crosses.

use std::collections::BTreeMap;

use aqm::{Rate, Span};
use toml::Spanned;

use crate::check::Section;
use crate::error::Fault;
use crate::network::{Direction, Hop, Link};
use crate::schema::{RawGroup, did_you_mean};

/// The network: nodes, and the directions that leave each node.
pub(crate) struct Graph<'a> {
    links: &'a [Link],
    /// In order of first mention in the file.
    nodes: Vec<&'a str>,
    numbers: BTreeMap<&'a str, usize>,
    /// By node: the outgoing directions in file order, each with its far node.
    outgoing: Vec<Vec<(Hop, usize)>>,
}

/// The best route found so far to a node.
#[derive(Clone, Copy)]
struct BestRoute {
    links: u32,
    delay: Span,
    /// The last hop and its near node; `None` at the start.
    last: Option<(Hop, usize)>,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(links: &'a [Link]) -> Graph<'a> {
        let mut graph = Graph { links, nodes: Vec::new(), numbers: BTreeMap::new(), outgoing: Vec::new() };
        for (number, link) in (0..).zip(links) {
            let (from, to) = (graph.node(&link.from), graph.node(&link.to));
            graph.outgoing[from].push((Hop { link: number, direction: Direction::Forward }, to));
            graph.outgoing[to].push((Hop { link: number, direction: Direction::Reverse }, from));
        }
        graph
    }

    fn node(&mut self, name: &'a str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.nodes.push(name);
            self.outgoing.push(Vec::new());
            self.nodes.len() - 1
        })
    }

    /// With a single link, a group that names no route crosses it.
    pub(crate) fn route(&self, section: &Section, group: &RawGroup) -> Result<Vec<Hop>, Fault> {
        let RawGroup { from, to, route, .. } = group;
        match (route, self.links) {
            (Some(route), _) => match from.as_ref().or(to.as_ref()) {
                Some(end) => Err(Fault::plain(end.span(), "`route` names both ends: leave out `from` and `to`")),
                None => self.route_through(route),
            },
            (None, [_]) if from.is_none() && to.is_none() => Ok(vec![Hop { link: 0, direction: Direction::Forward }]),
            (None, _) => {
                self.shortest_route(&section.require("from", from.clone())?, &section.require("to", to.clone())?)
            }
        }
    }

    pub(crate) fn rate(&self, route: &[Hop], run: Span) -> Rate {
        let first = route.first().expect("a route has a link");
        let direction = self.links[usize::from(first.link)].direction_settings(first.direction);
        direction.rate_variation.mean(direction.rate, run)
    }

    /// The greatest rate of any link of `route` at any time of the run.
    pub(crate) fn fastest(&self, route: &[Hop]) -> Rate {
        let rates = route.iter().map(|hop| {
            let direction = self.links[usize::from(hop.link)].direction_settings(hop.direction);
            direction.rate_variation.fastest(direction.rate)
        });
        rates.max().expect("a route has a link")
    }

    /// One-way propagation delay of `route`.
    pub(crate) fn delay(&self, route: &[Hop]) -> Span {
        let nanos = route.iter().map(|hop| self.links[usize::from(hop.link)].delay.as_nanos()).sum();
        Span::from_nanos(nanos)
    }

    fn find(&self, name: &Spanned<String>) -> Result<usize, Fault> {
        let known = || self.nodes.iter().copied();
        self.numbers.get(name.get_ref().as_str()).copied().ok_or_else(|| {
            let guess = did_you_mean(name.get_ref(), known());
            let message = format!("no link ends at a node called `{}`{guess}", name.get_ref());
            Fault::plain(name.span(), message).help(format!("nodes: {}", known().collect::<Vec<_>>().join(", ")))
        })
    }

    /// The route over `nodes`. A link must join each node to the next.
    fn route_through(&self, nodes: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<Hop>, Fault> {
        let mut visited: Vec<usize> = Vec::new();
        let mut route = Vec::new();
        for name in nodes.get_ref() {
            let node = self.find(name)?;
            if visited.contains(&node) {
                let message = format!("the route visits `{}` twice: packets would loop", self.nodes[node]);
                return Err(Fault::plain(name.span(), message));
            }
            if let Some(&before) = visited.last() {
                route.push(self.hop_between(before, node).ok_or_else(|| self.not_joined(before, name))?);
            }
            visited.push(node);
        }
        if route.is_empty() {
            return Err(Fault::plain(nodes.span(), "a route names at least two nodes, in order"));
        }
        Ok(route)
    }

    fn hop_between(&self, from: usize, to: usize) -> Option<Hop> {
        self.outgoing[from].iter().find(|(_, other)| *other == to).map(|(hop, _)| *hop)
    }

    fn not_joined(&self, from: usize, to: &Spanned<String>) -> Fault {
        let near: Vec<&str> = self.outgoing[from].iter().map(|(_, other)| self.nodes[*other]).collect();
        let from = self.nodes[from];
        Fault::plain(to.span(), format!("no link joins `{from}` and `{}`", to.get_ref()))
            .help(format!("links lead from `{from}` to: {}", near.join(", ")))
    }

    /// The route with the fewest links. Among these, the route with the least delay; then the route whose links come
    /// first in the file, compared from the last link.
    fn shortest_route(&self, from: &Spanned<String>, to: &Spanned<String>) -> Result<Vec<Hop>, Fault> {
        let (start, end) = (self.find(from)?, self.find(to)?);
        if start == end {
            return Err(Fault::plain(
                to.span(),
                format!("flows go from one node to another, not from `{0}` to `{0}`", to.get_ref()),
            ));
        }
        let best = self.best_routes(start);
        let mut route = Vec::new();
        let mut at = end;
        while let Some((hop, before)) = best[at].and_then(|best| best.last) {
            route.push(hop);
            at = before;
        }
        if route.is_empty() {
            return Err(Fault::plain(
                to.span(),
                format!("no links lead from `{}` to `{}`", from.get_ref(), to.get_ref()),
            ));
        }
        route.reverse();
        Ok(route)
    }

    /// The best routes from `start` to all reachable nodes, by breadth-first search.
    fn best_routes(&self, start: usize) -> Vec<Option<BestRoute>> {
        let mut best: Vec<Option<BestRoute>> = vec![None; self.nodes.len()];
        best[start] = Some(BestRoute { links: 0, delay: Span::ZERO, last: None });
        let mut queue = vec![start];
        let mut next = 0;
        while let Some(&from) = queue.get(next) {
            next += 1;
            let Some(here) = best[from] else { continue };
            for &(hop, to) in &self.outgoing[from] {
                let delay = here.delay + self.links[usize::from(hop.link)].delay;
                let route = BestRoute { links: here.links + 1, delay, last: Some((hop, from)) };
                match &mut best[to] {
                    found @ None => {
                        *found = Some(route);
                        queue.push(to);
                    }
                    Some(other) if better(&route, other) => *other = route,
                    Some(_) => {}
                }
            }
        }
        best
    }
}

/// Whether `route` to a node is better than `other`. Nodes are visited in order of their distance in links, so
/// the route to a visited node never improves.
fn better(route: &BestRoute, other: &BestRoute) -> bool {
    let rank = |best: &BestRoute| (best.links, best.delay, best.last.map(|(hop, _)| hop));
    rank(route) < rank(other)
}
