//! Resolves links and checks that their disciplines can be built.

use std::ops::Range;

use aqm::{LinkInfo, Qdisc, Rate, Span};
use toml::Spanned;

use crate::check::{self, Section};
use crate::error::Fault;
use crate::inputs::InputLoader;
use crate::network::{COMPARED, DUMBBELL, Direction, DirectionSettings, Link};
use crate::qdisc::build;
use crate::schema::{Located, RawDirection, RawLink, RawLinks};

/// Limit against typing errors: no reader can compare more links.
const MOST_LINKS: usize = 1000;

/// Reserved words: they have a meaning in the path of a change.
const RESERVED: [&str; 1] = ["reverse"];

/// The links, and the location of each direction's discipline, by direction number.
#[derive(Default)]
pub(crate) struct ResolvedLinks {
    pub(crate) links: Vec<Link>,
    qdisc_spans: Vec<Range<usize>>,
}

impl ResolvedLinks {
    pub(crate) fn new(raw: Spanned<RawLinks>, loader: &InputLoader<'_>) -> Result<ResolvedLinks, Fault> {
        let span = raw.span();
        let mut links = ResolvedLinks::default();
        match raw.into_inner() {
            RawLinks::One(raw) => {
                let section = Section { span, heading: "[link]" };
                let name = |raw: &Located<String>, default| name_or_default(raw, &section, default);
                let (from, to) = (name(&raw.from, "left")?, name(&raw.to, "right")?);
                links.add([name(&raw.name, DUMBBELL)?, from, to], &section, *raw, loader)?;
            }
            RawLinks::Several(several) if several.is_empty() => {
                return Err(Fault::plain(span, "no links: a network needs at least one"));
            }
            RawLinks::Several(several) => {
                several.into_iter().try_for_each(|raw| links.add_network_link(raw, loader))?
            }
        }
        Ok(links)
    }

    fn add_network_link(&mut self, raw: Spanned<RawLink>, loader: &InputLoader<'_>) -> Result<(), Fault> {
        let section = Section { span: raw.span(), heading: "[[link]]" };
        let mut raw = raw.into_inner();
        if self.links.len() == MOST_LINKS {
            return Err(Fault::plain(section.span, format!("more than {MOST_LINKS} links")));
        }
        let from = check::check_name(&section.require("from", raw.from.take())?)?;
        let to = check::check_name(&section.require("to", raw.to.take())?)?;
        let name = name_or_default(&raw.name, &section, &format!("{from}-{to}"))?;
        self.add([name, from, to], &section, raw, loader)
    }

    fn add(
        &mut self,
        names: [String; 3],
        section: &Section,
        raw: RawLink,
        loader: &InputLoader<'_>,
    ) -> Result<(), Fault> {
        self.check_distinct(&names, raw.name.as_ref().map_or(section.span.clone(), Spanned::span))?;
        let qdisc = section.or_default(raw.qdisc.clone(), raw.qdisc());
        let delay = section.require("delay", raw.delay)?.into_inner();
        let limit = section.require("limit", raw.limit)?;
        let forward = RawDirection { rate: raw.rate, medium: raw.medium, limit: Some(limit), qdisc: Some(qdisc) };
        let forward = self.direction_settings(&forward, section, None, loader)?;
        let reverse_raw = section.or_default(raw.reverse, RawDirection::default());
        let section = Section { span: reverse_raw.span(), heading: "[link.reverse]" };
        let reverse = self.direction_settings(reverse_raw.get_ref(), &section, Some(forward.rate), loader)?;
        let [name, from, to] = names;
        self.links.push(Link { name, from, to, delay, forward, reverse });
        Ok(())
    }

    /// Requires distinct names and distinct pairs of nodes, because routes name only nodes.
    fn check_distinct(&self, [name, from, to]: &[String; 3], span: Range<usize>) -> Result<(), Fault> {
        if from == to {
            return Err(Fault::plain(span, format!("link `{name}` leads from `{from}` to itself")));
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(Fault::plain(span, format!("a link cannot be called `{name}`: the word is reserved")));
        }
        if self.links.iter().any(|link| link.name == *name) {
            return Err(Fault::plain(span, format!("two links are called `{name}`")));
        }
        let joins = |link: &&Link| [&link.from, &link.to] == [from, to] || [&link.to, &link.from] == [from, to];
        let Some(other) = self.links.iter().find(joins) else { return Ok(()) };
        let message = format!("`{}` joins `{from}` and `{to}` already, both ways: put a node between", other.name);
        Err(Fault::plain(span, message))
    }

    /// The next direction. `rate` applies if the file gives neither `rate` nor `trace`.
    fn direction_settings(
        &mut self,
        raw: &RawDirection,
        section: &Section,
        rate: Option<Rate>,
        loader: &InputLoader<'_>,
    ) -> Result<DirectionSettings, Fault> {
        self.qdisc_spans.push(section.span_of(&raw.qdisc));
        let (rate, rate_variation) = raw.medium.rate_variation(raw.rate.clone(), section, rate, loader)?;
        let qdisc = Some(raw.qdisc()).filter(|qdisc| *qdisc != Qdisc::named(COMPARED));
        Ok(DirectionSettings {
            rate,
            rate_variation,
            framing: raw.medium.overhead(),
            impairments: raw.medium.impairments(section)?,
            limit: raw.limit(),
            qdisc,
        })
    }

    /// Checks that the links' own disciplines (all but the compared ones) can be built. `link_info` returns the
    /// [`LinkInfo`] for a link's mean rate.
    pub(crate) fn check<'a>(&self, run: Span, link_info: &dyn Fn(Rate) -> LinkInfo<'a>) -> Result<(), Fault> {
        for (number, span) in self.qdisc_spans.iter().enumerate() {
            let direction = Direction::BOTH[number % 2];
            let DirectionSettings { rate, rate_variation, limit, qdisc, .. } =
                self.links[number / 2].direction_settings(direction);
            if let Some(qdisc) = qdisc {
                build(qdisc, *limit, &link_info(rate_variation.mean(*rate, run)), span)?;
            }
        }
        Ok(())
    }
}

/// The given name or the default. The section is at fault if the default is no valid name.
fn name_or_default(raw: &Located<String>, section: &Section, default: &str) -> Result<String, Fault> {
    check::check_name(&section.or_default(raw.clone(), default.to_string()))
}
