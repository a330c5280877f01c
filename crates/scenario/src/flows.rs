//! Resolves groups of flows.

use headgate_traffic::{Protocol, SenderInfo, Traffic};
use toml::Spanned;

use crate::access;
use crate::cc::UdpCc;
use crate::check::{self, Section};
use crate::demand::{DemandContext, demand};
use crate::error::Fault;
use crate::header::Headers;
use crate::model::{FlowGroup, TcpGroup, UdpGroup};
use crate::schema::{
    Access, Located, RawEndpoints, RawGroup, RawHeaders, RawTcp, RawUdp, Size, TcpSettings, UdpSettings,
};

/// The keys that TCP and UDP groups share, as written.
struct SharedKeys {
    name: String,
    group: RawGroup,
    ends: RawEndpoints,
    headers: RawHeaders,
    /// Traffic if the file gives none.
    source: Traffic,
}

pub(crate) fn tcp(raw: Spanned<RawTcp>, name: String, context: &DemandContext<'_>) -> Result<TcpGroup, Fault> {
    let section = Section { span: raw.span(), heading: "[[tcp]]" };
    let raw = raw.into_inner();
    let settings = TcpSettings::read(&raw, &section, raw.group.profile())?;
    let payload = payload(&section, (&raw.packet, settings.packet), (&raw.header, settings.header))?;
    let source = Traffic::named("ftp");
    let shared = SharedKeys { name, group: raw.group, ends: raw.ends, headers: raw.headers, source };
    let rated = settings.rate_of.bytes(settings.packet, settings.header);
    let sender = SenderInfo { rated, ..SenderInfo::tcp(settings.packet, payload) };
    group(shared, &section, context, |_| Ok((sender, settings)))
}

pub(crate) fn udp(raw: Spanned<RawUdp>, name: String, context: &DemandContext<'_>) -> Result<UdpGroup, Fault> {
    let section = Section { span: raw.span(), heading: "[[udp]]" };
    let raw = raw.into_inner();
    let mut settings = UdpSettings::read(&raw, &section, raw.group.profile())?;
    let UdpSettings { cc, packet, jitter, .. } = settings;
    let payload = payload(&section, (&raw.packet, packet), (&raw.header, settings.header))?;
    let source = Traffic::named(if cc.traits().media { "call" } else { "cbr" });
    check_controlled_source(cc, &raw.group, &source)?;
    // A source may state its own rate; the default source does not.
    if !cc.traits().reports && raw.group.traffic.is_none() && raw.rate.is_none() {
        return Err(section.missing_key("rate"));
    }
    let shared = SharedKeys { name, group: raw.group, ends: raw.ends, headers: raw.headers, source };
    group(shared, &section, context, |link| {
        if cc.traits().reports && settings.rate.is_none() {
            // With congestion control, the access link's rate is the upper bound.
            settings.rate = Some(link.rate);
        }
        let rated = settings.rate_of.bytes(packet, settings.header);
        Ok((SenderInfo { protocol: Protocol::Udp, packet, payload, rated, rate: settings.rate, jitter }, settings))
    })
}

/// `settings` gives the sender and protocol settings for flows with a given access link.
fn group<S>(
    raw: SharedKeys,
    section: &Section,
    context: &DemandContext<'_>,
    settings: impl FnOnce(&Access) -> Result<(SenderInfo, S), Fault>,
) -> Result<FlowGroup<S>, Fault> {
    let SharedKeys { name, group, ends, headers, source } = raw;
    let route = context.graph.route(section, &group)?;
    let links = access::Route { delay: context.graph.delay(&route), fastest: context.graph.fastest(&route) };
    let [sender, receiver] = access::links(&ends, section, &links)?;
    let (sender_info, settings) = settings(&sender)?;
    let link = context.graph.rate(&route, context.duration);
    let demand = demand(section, (&group, &ends), source, &sender_info, link, context)?;
    Ok(FlowGroup {
        headers: self::headers(&headers, section, &name)?,
        name,
        flows: demand.flows,
        route,
        traffic: demand.traffic,
        source: demand.source,
        sender,
        receiver,
        start: demand.start,
        stop: demand.stop,
        settings,
    })
}

/// A controlled flow always has data to send, or is a call: any other source is refused.
fn check_controlled_source(cc: UdpCc, raw: &RawGroup, default: &Traffic) -> Result<(), Fault> {
    let Some(traffic) = &raw.traffic else { return Ok(()) };
    let message = match cc.traits() {
        traits if traits.media && traffic.get_ref().name != default.name => {
            format!("with `cc = \"{cc}\"` the source is a video call: `call`, with settings or without")
        }
        traits if traits.reports && !traits.media && traffic.get_ref() != default => {
            format!("with `cc = \"{cc}\"` flows always have more to send, and take no source")
        }
        _ => return Ok(()),
    };
    Err(Fault::value(traffic.span(), message))
}

type RawSize = Located<Size>;

/// Payload bytes of a packet. If the header does not fit and is a default, the packet size is at fault.
fn payload(section: &Section, packet: (&RawSize, u32), header: (&RawSize, u32)) -> Result<u32, Fault> {
    let (packet_bytes, header_bytes) = (packet.1, header.1);
    if header_bytes < packet_bytes {
        return Ok(packet_bytes - header_bytes);
    }
    let message = format!("a header of {header_bytes}B leaves no room for data in a packet of {packet_bytes}B");
    // An absent key is located at its section's head, so the later location is a written key's.
    let [packet, header] = [packet.0, header.0].map(|raw| section.span_of(raw));
    Err(Fault::value(if header.start >= packet.start { header } else { packet }, message))
}

pub(crate) fn headers(raw: &RawHeaders, section: &Section, name: &str) -> Result<Headers, Fault> {
    let headers = Headers {
        source: raw.source().0,
        destination: raw.destination().0,
        source_port: raw.source_port(),
        destination_port: raw.destination_port(),
        dscp: raw.dscp().0,
        label: raw.label.as_ref().map_or_else(|| Ok(name.to_string()), check::check_name)?,
    };
    if headers.mixes_versions() {
        return Err(Fault::value(
            section.span_of(&raw.destination),
            "`source` and `destination` must both be IPv4, or both IPv6",
        ));
    }
    Ok(headers)
}
