//! `[link]` and `[[link]]`: links, both ways.

use aqm::{Framing, Limit, Qdisc, Rate, Span};
use toml::Spanned;
use toml::de::DeValue;

use super::declare::keys;
use super::{Form, Node, ValueKind, mismatch};
use crate::check::{FASTEST, LONGEST_DELAY, POSITIVE_RATE, POSITIVE_TIME};
use crate::error::Fault;
use crate::fields::Dscp;
use crate::medium::EcnTreatment;
use crate::network::COMPARED;

keys! {
    /// A link between two nodes.
    pub(crate) struct RawLink {
        /// name of the link in tables
        name: String, "`\"bottleneck\"`; in `[[link]]` its ends, as in `\"A-B\"`";
        /// node at one end; links that name the same node meet there
        from: String, "`\"left\"`; in `[[link]]` required";
        /// node at the other end
        to: String, "`\"right\"`; in `[[link]]` required";
        /// propagation delay in each direction
        delay: Span, in ..=LONGEST_DELAY;
        /// rate from `from` to `to`; with a `schedule`, the rate before its first step
        rate: Rate, "required, unless there is a `trace`", in POSITIVE_RATE;
        ..medium: RawMedium;
        /// queue limit, in packets (`"100p"`) or bytes (`"64KB"`)
        limit: Limit;
        /// discipline of the queue; `"compared"` stands for each of `qdiscs` in turn
        qdisc: Qdisc = Qdisc::named(COMPARED);
        /// the reverse direction, in which ACKs return: a section with `rate` and the keys from `schedule` to `qdisc`
        reverse: RawDirection, "its defaults";
    }
}

keys! {
    /// The reverse direction of a link.
    pub(crate) struct RawDirection {
        /// rate from `to` to `from`
        rate: Rate, "as `rate`", in POSITIVE_RATE;
        ..medium: RawMedium;
        /// queue limit of the reverse direction
        limit: Limit = Limit::Packets(1000);
        /// discipline of the queue of the reverse direction
        qdisc: Qdisc = Qdisc::named("droptail");
    }
}

keys! {
    /// Rate changes, framing and impairments of a direction.
    pub(crate) struct RawMedium {
        /// rate changes in order of time: `[{ at = "10s", rate = "5Mbit/s" }, ...]`; at a rate of 0 nothing is sent
        /// until the next change
        schedule: Vec<Spanned<RawStep>>, "none";
        /// period after which the schedule starts again, at `rate`
        schedule_period: Span, "none", in POSITIVE_TIME;
        /// file in mahimahi's format with the times at which packets may leave, in place of `rate`:
        /// [below](#rates-that-change)
        trace: String, "none";
        /// slots in which the link sends, as in 5G: a packet leaves at the end of a slot, and each slot carries the bytes that
        /// `rate` sends in it
        slot: Span, "none", in POSITIVE_TIME;
        /// longest transmission of several packets together, as in Wi-Fi: queued packets leave at its end; with
        /// `aggregate_gap`
        aggregate: Span, "none", in POSITIVE_TIME;
        /// time before each aggregate in which nothing is sent: access to the channel, preamble, acknowledgement
        aggregate_gap: Span = Span::ZERO, in ..=LONGEST_DELAY;
        /// bytes that the link adds to each packet (`"38B"`), or a framing: `"ethernet"`, `"docsis"`, `"pppoe-ptm"`, ...:
        /// [below](#framing)
        overhead: Framing = Framing::RAW;
        /// fraction of packets lost on the link, behind the queue
        loss: f64 = 0.0, in 0.0..1.0;
        /// mean number of packets lost in a row (Gilbert's model)
        loss_burst: f64, "losses are independent", in 1.0..=1e6;
        /// most packets lost in a row; the next packet then arrives
        loss_burst_max: u32, "no bound", in 1..=1_000_000;
        /// packets lost by their numbers, from 1 in the order in which the link sends them: `[3, 10]`
        loss_at: Vec<Spanned<u64>>, "none";
        /// fraction of packets that arrive twice
        duplicate: f64 = 0.0, in 0.0..=1.0;
        /// ECN field behind the queue: `"keep"`, `"bleach"` (cleared to Not-ECT, marks too), or `"remark"` (ECT(0) becomes
        /// ECT(1))
        ecn: EcnTreatment = EcnTreatment::Keep;
        /// DSCP that the link writes into each packet behind the queue: a name such as `"CS0"`, or 0 to 63
        dscp: Dscp, "unchanged";
        /// additional delay of each packet, drawn uniformly from 0 to this; packets stay in order
        jitter: Span = Span::ZERO, in ..=LONGEST_DELAY;
        /// fraction of packets delayed by `reorder_by`, so that others overtake them; above 0, `reorder_by` is required
        reorder: f64 = 0.0, in 0.0..=1.0;
        /// additional delay of these packets
        reorder_by: Span = Span::ZERO, in ..=LONGEST_DELAY;
    }
}

keys! {
    /// One step of a schedule of rates.
    pub(crate) struct RawStep expecting "a table such as { at = \"10s\", rate = \"5Mbit/s\" }" {
        /// time of the change, from the start of the run or of the period
        at: Span;
        /// rate from then on; at 0 nothing is sent
        rate: Rate, in ..=FASTEST;
    }
}

/// `[link]`, or links headed `[[link]]`.
#[derive(Clone, Debug)]
pub(crate) enum RawLinks {
    One(Box<RawLink>),
    Several(Vec<Spanned<RawLink>>),
}

impl ValueKind for RawLinks {
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
