//! Groups of flows: from what the file says to what each flow does.

use std::ops::{Bound, RangeInclusive};

use headgate_core::{Rate, Span};
use headgate_traffic::{Protocol, Sender, Traffic};
use toml::Spanned;

use crate::access::Ends;
use crate::cc::Cc;
use crate::check::{self, LARGEST_WINDOW, LONGEST_DELAY, Section, plain, rate, some_time, within};
use crate::demand::{self, Surroundings, demand};
use crate::error::Fault;
use crate::fields::{Dscp, One, OrOwn, Ports};
use crate::header::Headers;
use crate::model::{TcpGroup, UdpCc, UdpGroup};
use crate::raw::{At, RawTcp, RawUdp};
use crate::routes::Way;
use crate::traffic::Written;
use crate::values::{OrOff, Profile, Quantity};

/// Of LEDBAT: above zero, and no more than a slip of the pen could mean.
const GAINS: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1000.0));

/// A group of TCP flows called `name`.
pub(crate) fn tcp(raw: Spanned<RawTcp>, name: String, around: &Surroundings<'_>) -> Result<TcpGroup, Fault> {
    let section = Section { span: raw.span(), heading: "[[tcp]]" };
    let raw = raw.into_inner();
    let profile = section.or(raw.profile, Profile::Rfc).into_inner();
    let defaults = profile.tcp();
    let packet = section.bytes(raw.packet, defaults.packet, 1)?;
    let window = within(section.or(raw.window, defaults.window), 1..=LARGEST_WINDOW)?;
    let header = header(section.bytes(raw.header, defaults.header, 0)?, &packet)?;
    let packet = packet.into_inner();
    let route = around.graph.route(&section, Way { from: raw.from, to: raw.to, route: raw.route })?;
    let ends = Ends { access: raw.access, sender: raw.sender, receiver: raw.receiver, rtt: raw.rtt };
    let [sender, receiver] = ends.resolve(&section, &defaults.sender, around.graph.delay(&route))?;
    let link = around.graph.rate(&route, around.duration);
    let sends = demand::Raw { flows: raw.flows, traffic: raw.traffic, start: raw.start, stop: raw.stop };
    let demand =
        demand(&section, sends, defaults.traffic.clone(), &Sender::tcp(packet, packet - header), link, around)?;
    let ends = [(raw.source, raw.source_port), (raw.destination, raw.destination_port)];
    let headers = headers(&section, ends, raw.dscp, raw.label, &name)?;
    let ssthresh = if profile == Profile::Ns2 { Some(window) } else { defaults.initial_ssthresh };
    let cc = section.or(raw.cc, defaults.cc).into_inner();
    let group = TcpGroup {
        name,
        flows: demand.flows,
        route,
        traffic: demand.traffic,
        plan: demand.plan,
        cc,
        header,
        packet,
        ack: section.bytes(raw.ack, defaults.ack, 1)?.into_inner(),
        sender,
        receiver,
        start: demand.start,
        stop: demand.stop,
        window,
        initial_window: within(section.or(raw.initial_window, defaults.initial_window), 1..=LARGEST_WINDOW)?,
        initial_ssthresh: unless_off(section.or(raw.initial_ssthresh, OrOff(ssthresh)), 1..=LARGEST_WINDOW)?,
        delayed_ack: delayed_ack(section.or(raw.delayed_ack, OrOff(defaults.delayed_ack)))?,
        limited_transmit: section.or(raw.limited_transmit, defaults.limited_transmit).into_inner(),
        pacing: pacing(section.or(raw.pacing, cc.paces() || defaults.pacing), cc)?,
        ecn: section.or(raw.ecn, cc.is_scalable() || defaults.ecn).into_inner(),
        rack: by_sack("rack", section.or(raw.rack, cc.modern()), cc)?,
        prr: by_sack("prr", section.or(raw.prr, cc.modern()), cc)?,
        // RFC 3168's wait for the timer stands in for a window below one after halving. A Scalable control is marked in
        // every round trip (RFC 9331, section 4.3): it would be silent for most of its time.
        ecn_timeout: section.or(raw.ecn_timeout, defaults.ecn_timeout && !cc.is_scalable()).into_inner(),
        ecn_retransmits: section.or(raw.ecn_retransmits, defaults.ecn_retransmits).into_inner(),
        idle_restart: section.or(raw.idle_restart, defaults.idle_restart).into_inner(),
        accecn: section.or(raw.accecn, cc == Cc::Prague || defaults.accecn).into_inner(),
        hystart: by_sack("hystart", section.or(raw.hystart, defaults.hystart), cc)?,
        abe: section.or(raw.abe, defaults.abe).into_inner(),
        abc: unless_off(section.or(raw.abc, OrOff(defaults.abc)), 1..=2)?,
        target: some_time(
            plain(section.or(of_ledbat("target", raw.target, cc)?, Quantity(defaults.target))),
            LONGEST_DELAY,
        )?,
        gain: within(section.or(of_ledbat("gain", raw.gain, cc)?, defaults.gain), GAINS)?,
        overhead: section.span(raw.overhead, defaults.overhead)?,
        headers,
        ..defaults
    };
    let max_rto = section.quantity(raw.max_rto, group.max_rto);
    let min_rto = section.quantity(raw.min_rto, group.min_rto);
    let initial_rto = section.quantity(raw.initial_rto, group.initial_rto);
    let rto_granularity = section.quantity(raw.rto_granularity, group.rto_granularity);
    let most = some_time(max_rto, LONGEST_DELAY)?;
    Ok(TcpGroup {
        max_rto: most,
        min_rto: no_longer(min_rto, most)?,
        initial_rto: no_longer(initial_rto, most)?,
        rto_granularity: no_longer(rto_granularity, most)?,
        ..group
    })
}

/// A group of UDP flows called `name`.
pub(crate) fn udp(raw: Spanned<RawUdp>, name: String, around: &Surroundings<'_>) -> Result<UdpGroup, Fault> {
    let section = Section { span: raw.span(), heading: "[[udp]]" };
    let raw = raw.into_inner();
    let cc = section.or(raw.cc, UdpCc::Off).into_inner();
    let defaults = section.or(raw.profile, Profile::Rfc).into_inner().udp(cc);
    let packet = section.bytes(raw.packet, defaults.packet, 1)?;
    let route = around.graph.route(&section, Way { from: raw.from, to: raw.to, route: raw.route })?;
    let ends = Ends { access: raw.access, sender: raw.sender, receiver: raw.receiver, rtt: raw.rtt };
    let [link, receiver] = ends.resolve(&section, &defaults.sender, around.graph.delay(&route))?;
    let header = header(section.bytes(raw.header, defaults.header, 0)?, &packet)?;
    let packet = packet.into_inner();
    let jitter = within(section.or(raw.jitter, defaults.jitter), 0.0..=1.0)?;
    let given = match cc {
        // A source may have a rate of its own; the default one has none.
        UdpCc::Off if raw.traffic.is_none() => section.need("rate", raw.rate)?,
        UdpCc::Off => section.or(raw.rate, OrOff(None)),
        // A sender with congestion control finds its rate; its own link is the most that it could be.
        UdpCc::Tfrc => section.or(raw.rate, OrOff(Some(link.rate))),
    };
    let rate = own_rate(given)?;
    let writes = Sender { protocol: Protocol::Udp, packet, payload: packet - header, rate, jitter };
    greedy(cc, &raw.traffic, &defaults.traffic)?;
    let first = around.graph.rate(&route, around.duration);
    let sends = demand::Raw { flows: raw.flows, traffic: raw.traffic, start: raw.start, stop: raw.stop };
    let demand = demand(&section, sends, defaults.traffic.clone(), &writes, first, around)?;
    let ends = [(raw.source, raw.source_port), (raw.destination, raw.destination_port)];
    let headers = headers(&section, ends, raw.dscp, raw.label, &name)?;
    Ok(UdpGroup {
        name,
        flows: demand.flows,
        route,
        traffic: demand.traffic,
        plan: demand.plan,
        cc,
        rate,
        header,
        packet,
        feedback: section.bytes(raw.feedback, defaults.feedback, 1)?.into_inner(),
        jitter,
        sender: link,
        receiver,
        start: demand.start,
        stop: demand.stop,
        ecn: section.or(raw.ecn, defaults.ecn).into_inner(),
        headers,
    })
}

/// Congestion control finds the rate at which a flow always has more to send: no source tells it otherwise.
fn greedy(cc: UdpCc, traffic: &At<Written>, default: &Traffic) -> Result<(), Fault> {
    match traffic {
        Some(traffic) if cc != UdpCc::Off && traffic.get_ref().0 != *default => {
            let message = format!("with `cc = \"{cc}\"` flows always have more to send, and take no source");
            Err(Fault::value(traffic.span(), message))
        }
        _ => Ok(()),
    }
}

/// A rate, if there is one.
fn own_rate(given: Spanned<OrOff<Rate>>) -> Result<Option<Rate>, Fault> {
    let span = given.span();
    given.into_inner().0.map(|given| rate(Spanned::new(span, given))).transpose()
}

/// The header, if it leaves room for data. Where the file gives no header, the packet is to blame.
fn header(header: Spanned<u32>, packet: &Spanned<u32>) -> Result<u32, Fault> {
    let (header_bytes, packet_bytes) = (*header.get_ref(), *packet.get_ref());
    if header_bytes < packet_bytes {
        return Ok(header_bytes);
    }
    let message = format!("a header of {header_bytes}B leaves no room for data in a packet of {packet_bytes}B");
    // What is written stands after its section's head: the later of the two was written.
    let blamed = if header.span().start >= packet.span().start { header.span() } else { packet.span() };
    Err(Fault::value(blamed, message))
}

/// One end's addresses and ports, as written.
type End = (At<One<OrOwn>>, At<One<Ports>>);

/// What the headers of the group `name` say; `ends` are source and destination.
fn headers(
    section: &Section,
    ends: [End; 2],
    dscp: At<One<Dscp>>,
    label: At<String>,
    name: &str,
) -> Result<Headers, Fault> {
    let defaults = Headers::of_group(name);
    let [(source, source_port), (destination, destination_port)] = ends;
    let blamed = destination.as_ref().map_or(section.span.clone(), Spanned::span);
    let address = |end| section.or(end, One(OrOwn(None))).into_inner().0.0;
    let ports = |end, default| section.or(end, One(default)).into_inner().0;
    let headers = Headers {
        source: address(source),
        destination: address(destination),
        source_port: ports(source_port, defaults.source_port),
        destination_port: ports(destination_port, defaults.destination_port),
        dscp: section.or(dscp, One(Dscp(defaults.dscp))).into_inner().0.0,
        label: label.as_ref().map(check::name).transpose()?.unwrap_or(defaults.label),
    };
    if headers.mixes_versions() {
        return Err(Fault::value(blamed, "`source` and `destination` must both be IPv4, or both IPv6"));
    }
    Ok(headers)
}

/// A number of packets within `range`, or `"off"`.
fn unless_off(value: Spanned<OrOff<u32>>, range: RangeInclusive<u32>) -> Result<Option<u32>, Fault> {
    let span = value.span();
    let packets = value.into_inner().0;
    packets.map(|packets| within(Spanned::new(span, packets), range)).transpose()
}

fn delayed_ack(value: Spanned<OrOff<Span>>) -> Result<Option<Span>, Fault> {
    let span = value.span();
    let wait = value.into_inner().0;
    wait.map(|wait| some_time(Spanned::new(span, wait), LONGEST_DELAY)).transpose()
}

/// Pacing, which some controllers cannot do without.
fn pacing(value: Spanned<bool>, cc: Cc) -> Result<bool, Fault> {
    if !*value.get_ref() && cc.needs_pacing() {
        let message = format!("`{}` controls the rate at which segments leave: it needs `pacing`", cc.name());
        return Err(Fault::value(value.span(), message));
    }
    Ok(value.into_inner())
}

/// An option of the loss recovery by selective acknowledgements, which not every `cc` has.
fn by_sack(option: &str, value: Spanned<bool>, cc: Cc) -> Result<bool, Fault> {
    if *value.get_ref() && !cc.selective() {
        let message = format!("`{option}` needs selective acknowledgements, which `{}` does without", cc.name());
        return Err(Fault::value(value.span(), message));
    }
    Ok(value.into_inner())
}

/// A key of LEDBAT's, which no other `cc` has.
fn of_ledbat<T>(key: &str, raw: At<T>, cc: Cc) -> Result<At<T>, Fault> {
    match raw {
        Some(value) if cc != Cc::Ledbat => {
            let message = format!("`{key}` is of `cc = \"ledbat\"` alone, not of `{}`", cc.name());
            Err(Fault::value(value.span(), message))
        }
        raw => Ok(raw),
    }
}

/// A time of the retransmission timer: above zero, at most `max_rto`.
fn no_longer(time: Spanned<Span>, max_rto: Span) -> Result<Span, Fault> {
    if *time.get_ref() > max_rto {
        return Err(Fault::value(time.span(), format!("{} is longer than `max_rto` ({max_rto})", time.get_ref())));
    }
    some_time(time, max_rto)
}
