//! Resolves links and checks that their disciplines can be built.

use std::ops::Range;

use headgate_core::{Limit, LinkInfo, Qdisc, Rate, Span};
use toml::Spanned;

use crate::check::{self, LONGEST_DELAY, Section, limit, within};
use crate::error::Fault;
use crate::inputs::Loader;
use crate::network::{COMPARED, DUMBBELL, Direction, Link, Simplex};
use crate::qdisc::build;
use crate::schema::{At, RawDirection, RawLink, RawLinks};

/// More links than anyone can look at.
const MOST_LINKS: usize = 1000;

/// Words with a meaning of their own in the path of a change.
const RESERVED: [&str; 1] = ["reverse"];

/// The links, and the location of each direction's discipline, by direction number.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) links: Vec<Link>,
    places: Vec<Range<usize>>,
}

impl Links {
    pub(crate) fn new(raw: Spanned<RawLinks>, loader: &Loader<'_>) -> Result<Links, Fault> {
        let span = raw.span();
        let mut links = Links::default();
        match raw.into_inner() {
            RawLinks::One(raw) => {
                let section = Section { span, heading: "[link]" };
                let name = |raw: &At<String>, default| named(raw, &section, default);
                let (from, to) = (name(&raw.from, "left")?, name(&raw.to, "right")?);
                links.add([name(&raw.name, DUMBBELL)?, from, to], &section, *raw, loader)?;
            }
            RawLinks::Several(several) if several.is_empty() => {
                return Err(Fault::plain(span, "no links: a network has one at the least"));
            }
            RawLinks::Several(several) => several.into_iter().try_for_each(|raw| links.one_of_several(raw, loader))?,
        }
        Ok(links)
    }

    fn one_of_several(&mut self, raw: Spanned<RawLink>, loader: &Loader<'_>) -> Result<(), Fault> {
        let section = Section { span: raw.span(), heading: "[[link]]" };
        let mut raw = raw.into_inner();
        if self.links.len() == MOST_LINKS {
            return Err(Fault::plain(section.span, format!("more than {MOST_LINKS} links")));
        }
        let from = check::name(&section.need("from", raw.from.take())?)?;
        let to = check::name(&section.need("to", raw.to.take())?)?;
        let name = named(&raw.name, &section, &format!("{from}-{to}"))?;
        self.add([name, from, to], &section, raw, loader)
    }

    fn add(&mut self, names: [String; 3], section: &Section, raw: RawLink, loader: &Loader<'_>) -> Result<(), Fault> {
        self.distinct(&names, raw.name.as_ref().map_or(section.span.clone(), Spanned::span))?;
        let both = raw.both;
        let impairments = both.medium.impairments(section)?;
        let (rate, pace) = both.medium.pace(both.rate, section, None, loader)?;
        let forward = Simplex {
            rate,
            pace,
            impairments,
            limit: limit(section.need("limit", both.medium.limit)?)?,
            qdisc: self.qdisc(section, both.medium.qdisc, COMPARED),
        };
        let delay = within(section.need("delay", both.delay)?, ..=LONGEST_DELAY)?;
        let back = section.or(both.reverse, RawDirection::default());
        let section = Section { span: back.span(), heading: "[link.reverse]" };
        let RawDirection { rate, medium: back } = back.into_inner();
        let impairments = back.impairments(&section)?;
        let (rate, pace) = back.pace(rate, &section, Some(forward.rate), loader)?;
        let reverse = Simplex {
            rate,
            pace,
            impairments,
            limit: limit(section.or(back.limit, Limit::Packets(1000)))?,
            qdisc: self.qdisc(&section, back.qdisc, "droptail"),
        };
        let [name, from, to] = names;
        self.links.push(Link { name, from, to, delay, forward, reverse });
        Ok(())
    }

    /// Requires distinct names and distinct pairs of nodes, because routes name only nodes.
    fn distinct(&self, [name, from, to]: &[String; 3], span: Range<usize>) -> Result<(), Fault> {
        if from == to {
            return Err(Fault::plain(span, format!("link `{name}` leads from `{from}` to itself")));
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(Fault::plain(span, format!("a link cannot be called `{name}`: the word has a meaning")));
        }
        if self.links.iter().any(|link| link.name == *name) {
            return Err(Fault::plain(span, format!("two links are called `{name}`")));
        }
        let joins = |link: &&Link| [&link.from, &link.to] == [from, to] || [&link.to, &link.from] == [from, to];
        let Some(other) = self.links.iter().find(joins) else { return Ok(()) };
        let message = format!("`{}` joins `{from}` and `{to}` already, both ways: put a node between", other.name);
        Err(Fault::plain(span, message))
    }

    /// The next direction's discipline; `None` for the compared disciplines.
    fn qdisc(&mut self, section: &Section, raw: At<Qdisc>, default: &str) -> Option<Qdisc> {
        let raw = section.or(raw, Qdisc::named(default));
        self.places.push(raw.span());
        Some(raw.into_inner()).filter(|qdisc| *qdisc != Qdisc::named(COMPARED))
    }

    /// Checks that the disciplines not compared can be built. `place` gives the place of a link with a given rate.
    pub(crate) fn check<'a>(&self, run: Span, place: &dyn Fn(Rate) -> LinkInfo<'a>) -> Result<(), Fault> {
        for (number, span) in self.places.iter().enumerate() {
            let direction = Direction::BOTH[number % 2];
            let Simplex { rate, pace, limit, qdisc, .. } = self.links[number / 2].simplex(direction);
            if let Some(qdisc) = qdisc {
                build(qdisc, *limit, &place(pace.mean(*rate, run)), span)?;
            }
        }
        Ok(())
    }
}

/// The given name or the default. The section is at fault if the default is no valid name.
fn named(raw: &At<String>, section: &Section, default: &str) -> Result<String, Fault> {
    match raw {
        Some(name) => check::name(name),
        None => check::name(&Spanned::new(section.span.clone(), default.to_string())),
    }
}
