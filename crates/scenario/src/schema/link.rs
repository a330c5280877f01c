//! `[link]` and `[[link]]`: links, both ways.

use headgate_core::{Limit, Qdisc, Rate, Span};
use toml::Spanned;
use toml::de::DeValue;

use super::declare::keys;
use super::{Form, Kind, Node, mismatch};
use crate::error::Fault;

keys! {
    /// A link between two nodes.
    pub(crate) struct RawLink {
        /// the link's name in tables
        name: String, "`\"bottleneck\"`; in `[[link]]` its ends, as in `\"A-B\"`";
        /// the node at one end; a node is there because a link names it
        from: String, "`\"left\"`; in `[[link]]` required";
        /// the node at the other end
        to: String, "`\"right\"`; in `[[link]]` required";
        ..both: RawBothWays;
    }
}

keys! {
    /// What a link does, both ways.
    pub(crate) struct RawBothWays {
        /// from `from` to `to`, above 0, at most 100 Gbit/s; before the first step of a `schedule`
        rate: Rate, "required, unless there is a `trace`";
        /// propagation delay, the same each way, at most 1 h
        delay: Span, "required";
        ..medium: RawMedium;
        /// the way back, on which ACKs queue: a section with the keys of a direction: `rate`, and those from `schedule` to `qdisc`
        reverse: RawDirection, "its defaults: `rate` as above, `limit = \"1000p\"`, `qdisc = \"droptail\"`";
    }
}

keys! {
    /// What the direction of a link does besides sending at one rate, and its queue.
    pub(crate) struct RawMedium {
        /// the rate changes: `[{ at = "10s", rate = "5Mbit/s" }, ...]`, in order of time; a rate of 0 sends nothing
        schedule: Vec<Spanned<RawStep>>, "none";
        /// after this the schedule begins anew, with `rate`
        schedule_period: Span, "none";
        /// a file in mahimahi's format, in place of `rate`: [below](#rates-that-change)
        trace: String, "none";
        /// the part of the packets that is lost on the way, from 0 to below 1
        loss: f64, "`0.0`";
        /// how many are lost in a row on average, 1 or more
        loss_burst: f64, "each loss on its own";
        /// a further delay, drawn uniformly from 0 to this; no packet overtakes another for it
        jitter: Span, "`\"0s\"`";
        /// the part of the packets that is held back, so that others overtake them; 0 to 1
        reorder: f64, "`0.0`";
        /// for how long
        reorder_by: Span, "`\"0s\"`";
        /// room in the queue, above 0
        limit: Limit, "required";
        /// a discipline of its own, or `"compared"` for those of `qdiscs`
        qdisc: Qdisc, "`\"compared\"`";
    }
}

keys! {
    /// The way back.
    pub(crate) struct RawDirection {
        /// from `to` to `from`
        rate: Rate, "as `rate`";
        ..medium: RawMedium;
    }
}

keys! {
    /// One step of a schedule of rates.
    pub(crate) struct RawStep expecting "a table such as { at = \"10s\", rate = \"5Mbit/s\" }" {
        /// when, from the beginning of the run or of the period
        at: Span, "required";
        /// the rate from then on
        rate: Rate, "required";
    }
}

/// `[link]`, or links headed `[[link]]`.
#[derive(Clone, Debug)]
pub(crate) enum RawLinks {
    One(Box<RawLink>),
    Several(Vec<Spanned<RawLink>>),
}

impl Kind for RawLinks {
    fn form() -> Form {
        let one = RawLink::form();
        let json = format!(r#"{{"anyOf": [{0}, {{"type": "array", "items": {0}}}]}}"#, one.json);
        Form { words: "table, or list of tables".to_string(), json, ..one }
    }
    fn expecting() -> String {
        "a section headed [link], or links headed [[link]]".to_string()
    }
    fn read(node: &Node<'_>) -> Result<RawLinks, Fault> {
        match node.get_ref() {
            DeValue::Table(_) => RawLink::read(node).map(|link| RawLinks::One(Box::new(link))),
            DeValue::Array(_) => Vec::read(node).map(RawLinks::Several),
            _ => mismatch(node, &Self::expecting()),
        }
    }
}
