//! Links: from what the file says to what each direction is like, and whether its discipline can be built.

use std::ops::Range;

use headgate_core::{Limit, Place, Qdisc, Rate};
use toml::Spanned;

use crate::check::{self, LONGEST_DELAY, Section, limit, rate, within};
use crate::error::Fault;
use crate::network::{COMPARED, DUMBBELL, Direction, Hop, Link, Simplex};
use crate::qdisc::{Written, build};
use crate::raw::{At, RawLink, RawReverse};

/// The nodes at either end of the dumbbell's link.
pub(crate) const ENDS: [&str; 2] = ["left", "right"];

/// The links, and where the disciplines of their directions are written, by the directions' numbers.
pub(crate) struct Links {
    pub(crate) links: Vec<Link>,
    places: Vec<Range<usize>>,
}

impl Links {
    /// The dumbbell that `[link]` says.
    pub(crate) fn dumbbell(raw: Spanned<RawLink>) -> Result<Links, Fault> {
        let mut links = Links { links: Vec::new(), places: Vec::new() };
        let section = Section { span: raw.span(), heading: "[link]" };
        links.add([DUMBBELL, ENDS[0], ENDS[1]].map(str::to_string), &section, raw.into_inner())?;
        Ok(links)
    }

    fn add(&mut self, names: [String; 3], section: &Section, raw: RawLink) -> Result<(), Fault> {
        let [name, from, to] = names;
        let forward = Simplex {
            rate: rate(check::plain(section.need("rate", raw.rate)?))?,
            limit: limit(check::plain(section.need("limit", raw.limit)?))?,
            qdisc: self.qdisc(section, raw.qdisc, COMPARED),
        };
        let delay = within(check::plain(section.need("delay", raw.delay)?), ..=LONGEST_DELAY)?;
        let back = section.or(raw.reverse, RawReverse::default());
        let section = Section { span: back.span(), heading: "[link.reverse]" };
        let back = back.into_inner();
        let reverse = Simplex {
            rate: rate(section.quantity(back.rate, forward.rate))?,
            limit: limit(section.quantity(back.limit, Limit::Packets(1000)))?,
            qdisc: self.qdisc(&section, back.qdisc, "droptail"),
        };
        self.links.push(Link { name, from, to, delay, forward, reverse });
        Ok(())
    }

    /// The discipline of the direction that is next, unless it is one that is compared.
    fn qdisc(&mut self, section: &Section, raw: At<Written>, default: &str) -> Option<Qdisc> {
        let raw = section.or(raw, Written(Qdisc::named(default)));
        self.places.push(raw.span());
        Some(raw.into_inner().0).filter(|qdisc| *qdisc != Qdisc::named(COMPARED))
    }

    /// Builds the disciplines that are not compared, to see that they can be. `place` is that of a link of some rate.
    pub(crate) fn check<'a>(&self, place: &dyn Fn(Rate) -> Place<'a>) -> Result<(), Fault> {
        for (number, span) in self.places.iter().enumerate() {
            let direction = Direction::BOTH[number % 2];
            let Simplex { rate, limit, qdisc } = self.links[number / 2].simplex(direction);
            if let Some(qdisc) = qdisc {
                build(qdisc, *limit, &place(*rate), span)?;
            }
        }
        Ok(())
    }
}

/// From the left to the right of the dumbbell.
pub(crate) fn across() -> Vec<Hop> {
    vec![Hop { link: 0, direction: Direction::Forward }]
}
