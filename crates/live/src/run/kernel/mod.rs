//! A qdisc of the kernel in place of a compared discipline.
//!
//! A third namespace has a TUN device with `htb` at the link's rate and the qdisc as its child. The loop sends the
//! packets of one direction into it and takes back each packet that it releases. The loop then adds transmission time and
//! propagation delay. All else is as in a live run: senders, receivers, access links, the reverse direction, and the
//! measurements.

mod mirror;
pub(super) mod path;
mod tc;

use aqm::{Framing, Rate};
use headgate_scenario::{Direction, Events, FlowKey, Hop, RateVariation, Scenario};

use crate::error::LiveResult;
use crate::hosts;
use crate::hosts::netns::Namespace;
use crate::io::{KernelQueue, Tun, interface};

/// A qdisc of the kernel: its kind and options, as words of tc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelQdisc {
    /// Kind and options, such as `pfifo limit 100`.
    pub words: Vec<String>,
}

/// Qdiscs that drop an arriving packet and answer with `NET_XMIT_CN`, of which a packet socket does not learn
/// (net/sched/sch_red.c, sch_choke.c, sch_sfb.c and sch_fq_pie.c of Linux 6.1). They drop no packet after its arrival,
/// except for CHOKe's match, which drops the arriving packet too.
const SILENT: [&str; 4] = ["choke", "fq_pie", "red", "sfb"];

/// Why the kernel cannot take the place of the compared discipline of `scenario`; `None` if it can.
pub(super) fn refusal(scenario: &Scenario) -> Option<String> {
    let compared = |direction| scenario.direction_settings(Hop { link: 0, direction }).qdisc.is_none();
    let why = if scenario.links.len() > 1 {
        "a network of several links: its queue is that of one link"
    } else if Direction::BOTH.into_iter().all(compared) {
        "disciplines compared in both directions: name one for a direction, such as link.reverse.qdisc = \"droptail\""
    } else if scenario.direction_settings(scenario.bottleneck()).rate_variation != RateVariation::Constant {
        "a `schedule`, a `trace`, a `slot` or an `aggregate`: give the link one rate"
    } else if scenario.direction_settings(scenario.bottleneck()).framing != Framing::RAW {
        "`overhead`: its shaper counts the bytes of packets"
    } else if !scenario.classes.is_empty() || scenario.flow_key != FlowKey::FiveTuple {
        "classes or another flow key: a qdisc classifies by addresses, ports and protocol"
    } else if scenario.record.events != Events::Off {
        "`record.events`: it does not tell what it did with each packet"
    } else if !scenario.record.capture.is_empty() {
        "`record.capture`: it does not tell which packets it dropped, and why"
    } else {
        return None;
    };
    Some(format!("the kernel cannot run {why}"))
}

/// A device with a qdisc, in a namespace of its own. Dropping it removes both.
pub(super) struct KernelRouter {
    namespace: Namespace,
    device: String,
}

impl KernelRouter {
    /// Makes the device and its qdisc, which sends at `rate`.
    ///
    /// # Errors
    /// `Unsupported`, with what to do, if the kernel or tc lacks the qdisc or there is no tc; `InvalidInput` if tc refuses
    /// the options; otherwise the refused request.
    pub(super) fn new(qdisc: &KernelQdisc, rate: Rate) -> LiveResult<(KernelRouter, KernelQueue)> {
        let namespace = Namespace::new()?;
        let qdisc = qdisc.clone();
        let queue = namespace.run(move || {
            let tun = Tun::create("hg%d")?;
            hosts::configure_ipv6(tun.name(), None)?;
            interface::bring_up(tun.name())?;
            tc::set_up(tun.name(), rate, &qdisc.words)?;
            let silent = qdisc.words.first().is_some_and(|kind| SILENT.contains(&kind.as_str()));
            KernelQueue::open(tun, silent.then_some(tc::QDISC_HANDLE))
        })??;
        Ok((KernelRouter { namespace, device: queue.device().to_string() }, queue))
    }

    /// The kernel's statistics of the device's qdiscs, as `tc -s -j qdisc` prints them.
    pub(super) fn statistics(&self) -> LiveResult<String> {
        let device = self.device.clone();
        self.namespace.run(move || tc::statistics(&device))?
    }
}

/// Tries `qdisc` on a device of its own, which is then removed.
///
/// # Errors
/// `Unsupported`, with what to do, if the kernel or tc lacks the qdisc or there is no tc; otherwise the refused request.
pub fn check_kernel_qdisc(qdisc: &KernelQdisc) -> LiveResult<()> {
    KernelRouter::new(qdisc, Rate::from_bits(10_000_000)).map(drop)
}
