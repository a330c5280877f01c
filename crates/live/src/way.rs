//! One direction of a link, as a scenario describes it.

use std::io;
use std::ops::RangeInclusive;

use headgate_core::{BuildError, Class, Qdisc, Rate, Span, Time};
use headgate_scenario::{ClassRule, Classifier, FlowKey, Scenario, Simplex};

use crate::build::WireSettings;
use crate::frame::Layer;
use crate::pool::Pool;
use crate::wire::Lane;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct OneWay {
    /// Rate, how it changes, room in the queue, and what becomes of packets on the way.
    pub simplex: Simplex,
    /// The discipline.
    pub qdisc: Qdisc,
    /// Propagation delay.
    pub delay: Span,
    /// What the discipline takes for the link's rate.
    pub mean_rate: Rate,
    /// What the discipline takes for the size of a packet, in bytes.
    pub mean_packet: u32,
    /// Bytes that every packet costs on the link beside its own.
    pub overhead: i32,
    /// What the discipline takes for one flow.
    pub flow_key: FlowKey,
    /// The longest IP packet that the ends take, in bytes.
    pub mtu: usize,
    /// Aggregates of flows.
    pub rules: Vec<ClassRule>,
    /// The same, as disciplines are told of them.
    pub classes: Vec<Class>,
}

impl OneWay {
    /// The forward direction of the scenario's first link, with the first of its disciplines.
    pub fn of(scenario: &Scenario, overhead: i32) -> OneWay {
        let hop = scenario.bottleneck();
        let link = &scenario.links[usize::from(hop.link)];
        OneWay {
            simplex: scenario.simplex(hop).clone(),
            qdisc: scenario.qdiscs[0].clone(),
            delay: link.delay,
            mean_rate: scenario.mean_rate(hop),
            mean_packet: scenario.mean_packet(),
            overhead,
            flow_key: scenario.flow_key,
            mtu: OneWay::MTU,
            rules: scenario.classes.clone(),
            classes: scenario.shares(),
        }
    }

    /// Ethernet's MTU, which TUN devices have too.
    pub const MTU: usize = 1500;

    /// What `overhead` may be: the shortest IP packet has 20 bytes (RFC 791, section 3.1), and none may be free.
    pub const OVERHEADS: RangeInclusive<i32> = -19..=1000;

    /// A wire like this, for frames that begin with `layer`; its random streams go by `label`.
    ///
    /// # Errors
    /// `InvalidInput`: what is wrong with the discipline or the overhead.
    pub fn lane(&self, layer: Layer, seed: u64, label: &str) -> io::Result<Box<dyn Lane>> {
        self.settings(seed, label)?.build(layer, Some(&self.classifier())).map_err(refused)
    }

    /// Makes `lane` a wire like this at `now`; what waits and flies there goes on ([`WireSettings::refit`]).
    ///
    /// # Errors
    /// `InvalidInput`: what is wrong with the discipline or the overhead; `lane` is as it was.
    pub fn refit(&self, lane: &mut Box<dyn Lane>, now: Time, layer: Layer, seed: u64, label: &str) -> io::Result<()> {
        self.settings(seed, label)?.refit(lane, now, layer, Some(&self.classifier())).map_err(refused)
    }

    fn classifier(&self) -> impl Fn(u64) -> Classifier {
        |key| Classifier::new(&self.rules, self.flow_key, key)
    }

    fn settings<'a>(&'a self, seed: u64, label: &'a str) -> io::Result<WireSettings<'a>> {
        if !OneWay::OVERHEADS.contains(&self.overhead) {
            let (least, most) = OneWay::OVERHEADS.into_inner();
            let what = format!("an overhead of {} bytes a packet: it must be {least} to {most}", self.overhead);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(WireSettings {
            simplex: &self.simplex,
            qdisc: &self.qdisc,
            delay: self.delay,
            mean_rate: self.mean_rate,
            mean_packet: self.mean_packet,
            overhead: self.overhead,
            classes: &self.classes,
            slots: WireSettings::slots(&self.simplex, self.delay),
            slot_bytes: Pool::slot_for(self.mtu),
            seed,
            label,
        })
    }
}

fn refused(error: BuildError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
}
