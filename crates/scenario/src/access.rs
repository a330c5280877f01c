//! Access links: given by rate and delay, or derived from the links of the route and the flow's round-trip time.

use aqm::{Rate, Span};
use toml::Spanned;

use crate::check::{FASTEST, Section};
use crate::error::Fault;
use crate::schema::{Access, Located, RawAccess, RawEndpoints};
use crate::values::Profile;

/// Links of the route, as far as the access links depend on them.
pub(crate) struct Route {
    /// One-way propagation delay.
    pub(crate) delay: Span,
    /// Rate of the fastest link.
    pub(crate) fastest: Rate,
}

/// The access links of sender and receiver of a group's flows.
pub(crate) fn links(raw: &RawEndpoints, section: &Section, route: &Route) -> Result<[Access; 2], Fault> {
    let sides = [&raw.access, &raw.sender, &raw.receiver].into_iter().flatten();
    let delay = sides.filter_map(|access_link| access_link.get_ref().delay.as_ref()).map(Spanned::span).next();
    let access = match &raw.access {
        Some(access) => Access::read(access.get_ref(), section, Profile::Rfc)?,
        None => Access::default(),
    };
    let rate_is_given = raw.access.as_ref().is_some_and(|access| access.get_ref().rate.is_some());
    let access = if rate_is_given { access } else { Access { rate: default_rate(route.fastest), ..access } };
    let [sender, receiver] = [access_link(&raw.sender, &access), access_link(&raw.receiver, &access)];
    match (&raw.rtt, delay) {
        (None, _) => Ok([sender, receiver]),
        (Some(_), Some(delay)) => {
            Err(Fault::plain(delay, "`rtt` sets the delays of both access links: leave out this one"))
        }
        (Some(rtt), None) => {
            let [near_delay, far_delay] = split_rtt(rtt, route.delay)?;
            Ok([Access { delay: near_delay.into(), ..sender }, Access { delay: far_delay.into(), ..receiver }])
        }
    }
}

/// The rate of access links for a route whose fastest link has the rate `fastest`: ten times that, so that the named
/// links limit the flows and not their access, but at least the 100 Mbit/s of a usual host.
fn default_rate(fastest: Rate) -> Rate {
    Rate::from_bits(fastest.as_bits().saturating_mul(10)).clamp(Access::default().rate, FASTEST)
}

/// Divides half of `rtt`, less the route's propagation delay `route_delay`, evenly between both access links.
fn split_rtt(rtt: &Spanned<Span>, route_delay: Span) -> Result<[Span; 2], Fault> {
    let (span, rtt) = (rtt.span(), *rtt.get_ref());
    let Some(rest) = (rtt.as_nanos() / 2).checked_sub(route_delay.as_nanos()) else {
        let least = Span::from_nanos(2 * route_delay.as_nanos());
        return Err(Fault::value(
            span,
            format!("the links of the route alone take {least} per round trip, more than {rtt}"),
        ));
    };
    Ok([Span::from_nanos(rest / 2), Span::from_nanos(rest - rest / 2)])
}

/// One access link. Keys missing in `raw` come from `default`.
fn access_link(raw: &Located<RawAccess>, default: &Access) -> Access {
    let raw = raw.clone().map(Spanned::into_inner).unwrap_or_default();
    Access {
        rate: raw.rate.map_or(default.rate, Spanned::into_inner),
        delay: raw.delay.map_or(default.delay, Spanned::into_inner),
    }
}
