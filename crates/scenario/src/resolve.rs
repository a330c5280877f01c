//! From a file as written to a scenario: defaults filled in, everything checked against everything else.

use std::ops::{Bound, Range};

use headgate_core::{BuildError, Limit, Place, Qdisc, Rate, Span};
use toml::Spanned;

use crate::check::{self, LONGEST_DELAY, LONGEST_RUN, MOST_FLOWS, Section, limit, rate, some_time, within};
use crate::classes;
use crate::error::Fault;
use crate::flows;
use crate::groups::{Kind, default_name};
use crate::header::Header;
use crate::model::{Events, Link, Record, Reverse, Scenario, TcpGroup, UdpGroup};
use crate::qdisc::{self, Written};
use crate::raw::{At, RawLink, RawRecord, RawReverse, RawScenario, RawTcp, RawUdp};
use crate::values::Seeds;

/// More rows over time than anyone can look at.
const MOST_INTERVALS: u64 = 1_000_000;

/// More rows in a table than anyone can look at.
const MOST_GROUPS: usize = 1000;

/// The scenario that `raw` says.
pub(crate) fn scenario(raw: RawScenario) -> Result<Scenario, Fault> {
    let top = Section { span: 0..0, heading: "" };
    let name = check::name(&top.need("name", raw.name)?)?;
    let duration = some_time(check::plain(top.need("duration", raw.duration)?), LONGEST_RUN)?;
    let warmup = warmup(top.quantity(raw.warmup, Span::ZERO), duration)?;
    let link = link(top.need("link", raw.link)?)?;
    let heads: Vec<Range<usize>> = raw.tcp.iter().map(Spanned::span).chain(raw.udp.iter().map(Spanned::span)).collect();
    let (tcp, udp) = groups(raw.tcp, raw.udp, duration)?;
    countable(&tcp, &udp, link.0.rate, duration)?;
    let headers = tcp.iter().map(|group| &group.headers).chain(udp.iter().map(|group| &group.headers));
    let labels: Vec<&str> = headers.map(|headers| headers.label.as_str()).collect();
    let classes = classes::classes(raw.class, &labels)?;
    let mut scenario = Scenario {
        name,
        about: top.or(raw.about, String::new()).into_inner(),
        duration,
        warmup,
        seeds: top.or(raw.seeds, Seeds(vec![1])).into_inner().0,
        qdiscs: Vec::new(),
        link: link.0,
        tcp,
        udp,
        flow_key: classes::flow_key(raw.classify, &classes)?,
        classes,
        record: record(raw.record, duration)?,
    };
    distinct(&scenario, &heads)?;
    let shares = scenario.shares();
    let place = |rate: Rate| Place { classes: &shares, ..Place::new(rate, scenario.mean_packet(), 0) };
    build(&scenario.link.reverse.qdisc, scenario.link.reverse.limit, &place(scenario.link.reverse.rate), &link.1)?;
    let qdiscs = top.need("qdiscs", raw.qdiscs)?;
    scenario.qdiscs = compared(qdiscs, scenario.link.limit, &place(scenario.link.rate))?;
    Ok(scenario)
}

fn warmup(warmup: Spanned<Span>, duration: Span) -> Result<Span, Fault> {
    if *warmup.get_ref() < duration {
        return Ok(warmup.into_inner());
    }
    let message = format!("{} leaves nothing of the run's {duration} to count", warmup.get_ref());
    Err(Fault::value(warmup.span(), message))
}

/// The bottleneck, and where the discipline of its way back is written.
fn link(raw: Spanned<RawLink>) -> Result<(Link, Range<usize>), Fault> {
    let section = Section { span: raw.span(), heading: "[link]" };
    let raw = raw.into_inner();
    let forward = rate(check::plain(section.need("rate", raw.rate)?))?;
    let delay = within(check::plain(section.need("delay", raw.delay)?), ..=LONGEST_DELAY)?;
    let room = limit(check::plain(section.need("limit", raw.limit)?))?;
    let back = section.or(raw.reverse, RawReverse::default());
    let section = Section { span: back.span(), heading: "[link.reverse]" };
    let back = back.into_inner();
    let qdisc = section.or(back.qdisc, Written(Qdisc::named("droptail")));
    let place = qdisc.span();
    let reverse = Reverse {
        rate: rate(section.quantity(back.rate, forward))?,
        limit: limit(section.quantity(back.limit, Limit::Packets(1000)))?,
        qdisc: qdisc.into_inner().0,
    };
    Ok((Link { rate: forward, delay, limit: room, reverse }, place))
}

/// The groups of flows: at least one, not too many flows, all names different.
fn groups(
    tcp: Vec<Spanned<RawTcp>>,
    udp: Vec<Spanned<RawUdp>>,
    duration: Span,
) -> Result<(Vec<TcpGroup>, Vec<UdpGroup>), Fault> {
    if tcp.is_empty() && udp.is_empty() {
        return Err(Fault::plain(0..0, "no flows: the scenario needs a [[tcp]] or [[udp]] group"));
    }
    let mut names = Names { taken: Vec::new() };
    let mut flows = 0;
    let mut group = |kind, index, given: &At<String>, span: Range<usize>, count: &At<u32>| {
        if index >= MOST_GROUPS {
            return Err(Fault::plain(span, format!("more than {MOST_GROUPS} {kind} groups")));
        }
        flows += u64::from(count.as_ref().map_or(1, |count| *count.get_ref()));
        if flows > u64::from(MOST_FLOWS) {
            return Err(Fault::plain(span, format!("more than {MOST_FLOWS} flows together")));
        }
        names.take(kind, index, given, span)
    };
    let tcp = tcp.into_iter().enumerate().map(|(index, raw)| {
        let name = group(Kind::Tcp, index, &raw.get_ref().name, raw.span(), &raw.get_ref().flows)?;
        flows::tcp(raw, name, duration)
    });
    let tcp = tcp.collect::<Result<_, Fault>>()?;
    let udp = udp.into_iter().enumerate().map(|(index, raw)| {
        let name = group(Kind::Udp, index, &raw.get_ref().name, raw.span(), &raw.get_ref().flows)?;
        flows::udp(raw, name, duration)
    });
    Ok((tcp, udp.collect::<Result<_, Fault>>()?))
}

/// Packets of a flow are counted in 32 bits. A TCP flow sends at its access link's rate at most, and in the long run at
/// no more than twice the bottleneck's; a UDP flow at its own.
fn countable(tcp: &[TcpGroup], udp: &[UdpGroup], link: Rate, duration: Span) -> Result<(), Fault> {
    let packets = |rate: Rate, bytes: u32| duration.as_secs_f64() * rate.as_bits() as f64 / 8.0 / f64::from(bytes);
    let twice = Rate::from_bits(link.as_bits().saturating_mul(2));
    let tcp = tcp.iter().map(|group| (&group.name, packets(group.sender.rate.min(twice), group.packet)));
    let udp = udp.iter().map(|group| (&group.name, packets(group.sender.rate.min(group.rate), group.packet)));
    match tcp.chain(udp).find(|(_, packets)| *packets >= f64::from(u32::MAX)) {
        Some((name, packets)) => {
            let message =
                format!("a flow of `{name}` could send {packets:.1e} packets in {duration}; {} is the most", u32::MAX);
            Err(Fault::plain(0..0, message))
        }
        None => Ok(()),
    }
}

/// No two flows have the same addresses, ports and protocol: a network could not tell them apart. `heads` is where the
/// groups are written.
fn distinct(scenario: &Scenario, heads: &[Range<usize>]) -> Result<(), Fault> {
    let sources = scenario.tcp.iter().map(|group| group.headers.source);
    if sources.chain(scenario.udp.iter().map(|group| group.headers.source)).all(|source| source.is_none()) {
        return Ok(());
    }
    let group_of = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index));
    let names: Vec<&str> = scenario.groups().map(|group| group.name).collect();
    // What a class goes by beside the five is no part of a flow's name.
    let bare = scenario.headers().map(|header| Header { dscp: 0, label: "", ..header });
    let mut flows: Vec<(Header<'_>, usize)> = bare.zip(group_of).collect();
    flows.sort_unstable();
    let Some(pair) = flows.windows(2).find(|pair| pair[0].0 == pair[1].0) else { return Ok(()) };
    let ((header, first), (_, second)) = (pair[0], pair[1]);
    let whose = match first == second {
        true => format!("two flows of `{}`", names[first]),
        false => format!("a flow of `{}` and one of `{}`", names[first], names[second]),
    };
    let Header { source, source_port, destination, destination_port, .. } = header;
    let ends = format!("from {source} port {source_port} to {destination} port {destination_port}");
    Err(Fault::plain(heads[second].clone(), format!("{whose} go {ends}: nothing would tell them apart")))
}

/// The groups' names so far.
struct Names {
    taken: Vec<String>,
}

impl Names {
    /// Words that begin a path in a change and so can be no group's name.
    const RESERVED: [&'static str; 10] =
        ["name", "about", "duration", "warmup", "seeds", "qdiscs", "link", "classify", "class", "record"];

    /// The name of a group, given or by default, if no other group has it.
    fn take(&mut self, kind: Kind, index: usize, given: &At<String>, head: Range<usize>) -> Result<String, Fault> {
        let span = given.as_ref().map_or(head, Spanned::span);
        let name = given.as_ref().map(check::name).transpose()?.unwrap_or_else(|| default_name(kind, index));
        let other = if kind == Kind::Tcp { Kind::Udp } else { Kind::Tcp };
        if Self::RESERVED.contains(&name.as_str()) || name == other.name() {
            return Err(Fault::plain(
                span,
                format!("a {kind} group cannot be called `{name}`: the word has a meaning"),
            ));
        }
        if self.taken.contains(&name) {
            return Err(Fault::plain(span, format!("two groups are called `{name}`")));
        }
        self.taken.push(name.clone());
        Ok(name)
    }
}

fn record(raw: At<RawRecord>, duration: Span) -> Result<Record, Fault> {
    let section = Section { span: raw.as_ref().map_or(0..0, Spanned::span), heading: "[record]" };
    let raw = raw.map(Spanned::into_inner).unwrap_or_default();
    // By default 100 ms, but a row or more even in the shortest of runs, and not too many in the longest.
    let least = Span::from_nanos(duration.as_nanos().div_ceil(MOST_INTERVALS));
    let default = Span::from_millis(100).min(duration).max(least);
    let interval = section.quantity(raw.interval, default);
    let interval = within(interval, (Bound::Included(least), Bound::Included(duration)))?;
    Ok(Record { interval, events: section.or(raw.events, Events::Off).into_inner() })
}

/// The disciplines to compare: at least one, each of which can be built, no two of which are the same.
fn compared(qdiscs: Spanned<Vec<Spanned<Written>>>, limit: Limit, place: &Place) -> Result<Vec<Qdisc>, Fault> {
    let mut built: Vec<(Qdisc, Vec<(&str, String)>)> = Vec::new();
    let whole = qdiscs.span();
    for qdisc in qdiscs.into_inner() {
        let span = qdisc.span();
        let Written(qdisc) = qdisc.into_inner();
        let resolved = build(&qdisc, limit, place, &span)?;
        if let Some((same, _)) = built.iter().find(|(other, values)| other.name == qdisc.name && *values == resolved) {
            return Err(Fault::plain(span, format!("`{qdisc}` is the same as `{same}`: each is compared once")));
        }
        built.push((qdisc, resolved));
    }
    if built.is_empty() {
        return Err(Fault::plain(whole, "`qdiscs` is empty: name at least one discipline"));
    }
    Ok(built.into_iter().map(|(qdisc, _)| qdisc).collect())
}

/// Builds a discipline to see that it can be; gives all of its values.
fn build(
    qdisc: &Qdisc,
    limit: Limit,
    place: &Place,
    span: &Range<usize>,
) -> Result<Vec<(&'static str, String)>, Fault> {
    qdisc::check(qdisc, limit, place).map_err(|error| unbuilt(qdisc, &error, span))
}

/// What to say of a discipline that cannot be built: the known names go beside the caret.
fn unbuilt(qdisc: &Qdisc, error: &BuildError, span: &Range<usize>) -> Fault {
    let fault = |message| Fault::plain(span.clone(), message);
    match error {
        BuildError::UnknownDiscipline { known, .. } => {
            fault(error.brief()).help(format!("known disciplines: {}", known.join(", ")))
        }
        BuildError::UnknownName { what, known, .. } => {
            fault(format!("{}: {}", qdisc.name, error.brief())).help(format!("known {what}s: {}", known.join(", ")))
        }
        other => fault(format!("{}: {}", qdisc.name, other.brief())),
    }
}
