//! Access links: given by rate and delay, or derived from the flow's round-trip time.

use headgate_core::Span;
use toml::Spanned;

use crate::check::Section;
use crate::error::Fault;
use crate::schema::{Access, Located, RawAccess, RawEndpoints};
use crate::values::Profile;

/// The access links of sender and receiver, for a route with one-way propagation delay `way`.
pub(crate) fn links(raw: &RawEndpoints, section: &Section, way: Span) -> Result<[Access; 2], Fault> {
    let sides = [&raw.access, &raw.sender, &raw.receiver].into_iter().flatten();
    let delay = sides.filter_map(|side| side.get_ref().delay.as_ref()).map(Spanned::span).next();
    let access = Access::read(&raw.access(), section, Profile::Rfc)?;
    let [sender, receiver] = [side(&raw.sender, &access), side(&raw.receiver, &access)];
    match (&raw.rtt, delay) {
        (None, _) => Ok([sender, receiver]),
        (Some(_), Some(delay)) => {
            Err(Fault::plain(delay, "`rtt` sets the delays of both access links: leave out this one"))
        }
        (Some(rtt), None) => {
            let [near, far] = shares(rtt, way)?;
            Ok([Access { delay: near, ..sender }, Access { delay: far, ..receiver }])
        }
    }
}

/// Divides half of `rtt`, less the route's propagation delay `way`, evenly between both access links.
fn shares(rtt: &Spanned<Span>, way: Span) -> Result<[Span; 2], Fault> {
    let (span, rtt) = (rtt.span(), *rtt.get_ref());
    let Some(rest) = (rtt.as_nanos() / 2).checked_sub(way.as_nanos()) else {
        let least = Span::from_nanos(2 * way.as_nanos());
        return Err(Fault::value(
            span,
            format!("the links of the route alone take {least} per round trip, more than {rtt}"),
        ));
    };
    Ok([Span::from_nanos(rest / 2), Span::from_nanos(rest - rest / 2)])
}

/// One access link. Keys missing in `raw` come from `both`.
fn side(raw: &Located<RawAccess>, both: &Access) -> Access {
    let raw = raw.clone().map(Spanned::into_inner).unwrap_or_default();
    Access {
        rate: raw.rate.map_or(both.rate, Spanned::into_inner),
        delay: raw.delay.map_or(both.delay, Spanned::into_inner),
    }
}
