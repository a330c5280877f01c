//! Resolves a file to a scenario: fills in defaults and checks all values against each other.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use aqm::{Limit, LinkInfo, Qdisc, Rate, Span};
use toml::Spanned;

use crate::check::{self, MOST_FLOWS, Section};
use crate::classes;
use crate::demand::DemandContext;
use crate::error::Fault;
use crate::flows;
use crate::groups::{self, Kind, default_name};
use crate::header::Header;
use crate::inputs::{Files, InputLoader};
use crate::links::ResolvedLinks;
use crate::model::{Scenario, TcpGroup, UdpGroup};
use crate::network::{Hop, Link};
use crate::qdisc::build;
use crate::record;
use crate::routes::Graph;
use crate::schema::{Located, RawScenario, RawTcp, RawUdp};

/// Limit against typing errors: a table with more rows cannot be read.
const MOST_GROUPS: usize = 1000;

pub(crate) fn scenario(raw: RawScenario, files: &dyn Files) -> Result<Scenario, Fault> {
    let (tcp, udp, class) = (raw.tcp(), raw.udp(), raw.class());
    // Read from the file by `headgate sweep` and `headgate check`.
    drop((raw.sweep, raw.expect));
    let loader = InputLoader::new(files);
    let top = Section { span: 0..0, heading: "" };
    let run = raw.run;
    let name = check::check_name(&top.require("name", run.name.clone())?)?;
    let duration = top.require("duration", run.duration.clone())?.into_inner();
    let warmup = run.warmup();
    if warmup >= duration {
        let message = format!("{warmup} leaves no time to measure in a run of {duration}");
        return Err(Fault::value(top.span_of(&run.warmup), message));
    }
    let links = ResolvedLinks::new(top.require("link", raw.link)?, &loader)?;
    let graph = Graph::new(&links.links);
    let group_spans: Vec<Range<usize>> = tcp.iter().map(Spanned::span).chain(udp.iter().map(Spanned::span)).collect();
    let context = DemandContext { duration, graph: &graph, loader: &loader };
    let (tcp, udp) = resolved(tcp, udp, &context)?;
    check_flow_count(&tcp, &udp, &group_spans)?;
    check_packet_counts(&tcp, &udp, &links.links, duration)?;
    let labels: Vec<&str> = groups::groups(&tcp, &udp).map(|group| group.headers.label.as_str()).collect();
    let record = record::record(raw.record, duration, (&tcp, &udp), &links.links)?;
    let classes = classes::classes(class, &labels)?;
    let mut scenario = Scenario {
        name,
        about: run.about(),
        duration,
        warmup,
        seeds: run.seeds().0,
        qdiscs: Vec::new(),
        fair: classes::fair_unit(run.fair, &classes)?,
        links: links.links.clone(),
        tcp,
        udp,
        flow_key: classes::flow_key(raw.classify, &classes)?,
        classes,
        record,
        inputs: loader.into_inputs(),
    };
    check_distinct_headers(&scenario, &group_spans)?;
    let shares = scenario.link_classes();
    let link_info = |rate: Rate| LinkInfo { classes: &shares, ..LinkInfo::new(rate, scenario.mean_packet(), 0) };
    links.check(duration, &link_info)?;
    scenario.qdiscs = compared_qdiscs(top.require("qdiscs", run.qdiscs)?, &scenario, &link_info)?;
    Ok(scenario)
}

/// Resolves the groups: at least one, a bounded number of flows, distinct names.
fn resolved(
    tcp: Vec<Spanned<RawTcp>>,
    udp: Vec<Spanned<RawUdp>>,
    context: &DemandContext<'_>,
) -> Result<(Vec<TcpGroup>, Vec<UdpGroup>), Fault> {
    if tcp.is_empty() && udp.is_empty() {
        return Err(Fault::plain(0..0, "no flows: the scenario needs a [[tcp]] or [[udp]] group"));
    }
    let mut names = TakenNames { taken: Vec::new() };
    let mut group = |kind, index, given: &Located<String>, span: Range<usize>| {
        if index >= MOST_GROUPS {
            return Err(Fault::plain(span, format!("more than {MOST_GROUPS} {kind} groups")));
        }
        names.take(kind, index, given, span)
    };
    let tcp = tcp.into_iter().enumerate().map(|(index, raw)| {
        let name = group(Kind::Tcp, index, &raw.get_ref().group.name, raw.span())?;
        flows::tcp(raw, name, context)
    });
    let tcp = tcp.collect::<Result<_, Fault>>()?;
    let udp = udp.into_iter().enumerate().map(|(index, raw)| {
        let name = group(Kind::Udp, index, &raw.get_ref().group.name, raw.span())?;
        flows::udp(raw, name, context)
    });
    Ok((tcp, udp.collect::<Result<_, Fault>>()?))
}

/// Bounds the number of flows. `group_spans` locates the groups.
fn check_flow_count(tcp: &[TcpGroup], udp: &[UdpGroup], group_spans: &[Range<usize>]) -> Result<(), Fault> {
    let mut running_sums = groups::groups(tcp, udp).scan(0, |sum, group| {
        *sum += u64::from(group.flows);
        Some(*sum)
    });
    match running_sums.position(|sum| sum > u64::from(MOST_FLOWS)) {
        Some(group) => Err(Fault::plain(group_spans[group].clone(), format!("more than {MOST_FLOWS} flows together"))),
        None => Ok(()),
    }
}

/// Packets of a flow must fit in 32 bits. In the long run, a TCP or TFRC flow sends at most its access link's rate and
/// at most twice its slowest link's; any other UDP flow sends at its own rate.
fn check_packet_counts(tcp: &[TcpGroup], udp: &[UdpGroup], links: &[Link], duration: Span) -> Result<(), Fault> {
    let packets = |rate: Rate, bytes: u32| duration.as_secs_f64() * rate.as_bits() as f64 / 8.0 / f64::from(bytes);
    let responsive_rate = |route: &[Hop], own: Rate| {
        let rates = route
            .iter()
            .map(|hop| links[usize::from(hop.link)].direction_settings(hop.direction))
            .map(|direction| direction.rate_variation.mean(direction.rate, duration));
        rates.min().map_or(own, |slowest| own.min(Rate::from_bits(slowest.as_bits().saturating_mul(2))))
    };
    let tcp =
        tcp.iter().map(|group| (&group.name, packets(responsive_rate(&group.route, group.sender.rate), group.packet)));
    let udp = udp.iter().map(|group| {
        let own = group.most();
        let rate = if group.is_controlled() { responsive_rate(&group.route, own) } else { own };
        (&group.name, packets(rate, group.packet))
    });
    match tcp.chain(udp).find(|(_, packets)| *packets >= f64::from(u32::MAX)) {
        Some((name, packets)) => {
            let message =
                format!("a flow of `{name}` could send {packets:.1e} packets in {duration}; the limit is {}", u32::MAX);
            Err(Fault::plain(0..0, message))
        }
        None => Ok(()),
    }
}

/// No two flows may share addresses, ports and protocol. `group_spans` locates the groups.
fn check_distinct_headers(scenario: &Scenario, group_spans: &[Range<usize>]) -> Result<(), Fault> {
    if scenario.groups().all(|group| group.headers.source.is_none()) {
        return Ok(());
    }
    let group_of = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| (group.index, group.name)));
    // DSCP and label do not identify a flow.
    let bare = scenario.headers().map(|header| Header { dscp: 0, label: "", ..header });
    let mut flows: Vec<(Header<'_>, (usize, &str))> = bare.zip(group_of).collect();
    flows.sort_unstable();
    let Some(pair) = flows.windows(2).find(|pair| pair[0].0 == pair[1].0) else { return Ok(()) };
    let ((header, first), (_, second)) = (pair[0], pair[1]);
    let whose = match first == second {
        true => format!("two flows of `{}`", first.1),
        false => format!("a flow of `{}` and one of `{}`", first.1, second.1),
    };
    let Header { source, source_port, destination, destination_port, .. } = header;
    let ends = format!("from {source} port {source_port} to {destination} port {destination_port}");
    Err(Fault::plain(group_spans[second.0].clone(), format!("{whose} go {ends}: nothing would tell them apart")))
}

struct TakenNames {
    taken: Vec<String>,
}

impl TakenNames {
    /// Words that begin a path in a change and cannot name a group.
    const RESERVED: [&'static str; 11] =
        ["name", "about", "duration", "warmup", "seeds", "qdiscs", "fair", "link", "classify", "class", "record"];

    /// The given or default name of a group, if no other group has it.
    fn take(
        &mut self,
        kind: Kind,
        index: usize,
        given: &Located<String>,
        group_span: Range<usize>,
    ) -> Result<String, Fault> {
        let span = given.as_ref().map_or(group_span, Spanned::span);
        let name = given.as_ref().map(check::check_name).transpose()?.unwrap_or_else(|| default_name(kind, index));
        let other = if kind == Kind::Tcp { Kind::Udp } else { Kind::Tcp };
        if Self::RESERVED.contains(&name.as_str()) || name == other.name() {
            return Err(Fault::plain(span, format!("a {kind} group cannot be called `{name}`: the word is reserved")));
        }
        if self.taken.contains(&name) {
            return Err(Fault::plain(span, format!("two groups are called `{name}`")));
        }
        self.taken.push(name.clone());
        Ok(name)
    }
}

/// All parameters of a discipline with their values.
type ParameterValues = Vec<(&'static str, String)>;

/// Checks the compared disciplines: at least one, all different, compared somewhere, and buildable there.
fn compared_qdiscs<'a>(
    qdiscs: Spanned<Vec<Spanned<Qdisc>>>,
    scenario: &Scenario,
    link_info: &dyn Fn(Rate) -> LinkInfo<'a>,
) -> Result<Vec<Qdisc>, Fault> {
    // The place of each discipline. A search in a list would take quadratic time.
    let mut places: BTreeMap<(String, ParameterValues), usize> = BTreeMap::new();
    let mut built: Vec<Qdisc> = Vec::new();
    let list_span = qdiscs.span();
    let hops = scenario.hops().filter(|hop| scenario.direction_settings(*hop).qdisc.is_none());
    let limits_and_rates: Vec<(Limit, Rate)> =
        hops.map(|hop| (scenario.direction_settings(hop).limit, scenario.mean_rate(hop))).collect();
    let Some((first, others)) = limits_and_rates.split_first() else {
        let message = "every link has a `qdisc` of its own: no link would run these";
        return Err(Fault::plain(list_span, message));
    };
    for qdisc in qdiscs.into_inner() {
        let span = qdisc.span();
        let qdisc = qdisc.into_inner();
        let resolved = build(&qdisc, first.0, &link_info(first.1), &span)?;
        others.iter().try_for_each(|other| build(&qdisc, other.0, &link_info(other.1), &span).map(drop))?;
        match places.entry((qdisc.name.clone(), resolved)) {
            Entry::Occupied(place) => {
                let same = &built[*place.get()];
                return Err(Fault::plain(span, format!("`{qdisc}` is the same as `{same}`: each is compared once")));
            }
            Entry::Vacant(place) => place.insert(built.len()),
        };
        built.push(qdisc);
    }
    if built.is_empty() {
        return Err(Fault::plain(list_span, "`qdiscs` is empty: name at least one discipline"));
    }
    Ok(built)
}
