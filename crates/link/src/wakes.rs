//! When each link wants to be looked at next, and which comes first.
//!
//! A tournament: a tree whose leaves are the links' times and whose inner nodes are the earlier of their two children.
//! Setting one costs the logarithm of the number of links (one comparison for two of them), the first is at the root.

use headgate_core::Time;

/// One moment for each of a fixed number of links.
#[derive(Debug)]
pub struct Wakes {
    /// The root at 1, the children of `i` at `2 i` and `2 i + 1`, the leaves at the end.
    times: Box<[Time]>,
}

impl Wakes {
    /// `links` of them, none of which wants anything.
    pub fn new(links: usize) -> Wakes {
        Wakes { times: vec![Time::NEVER; 2 * links.next_power_of_two()].into() }
    }

    /// When the first link wants to be looked at; [`Time::NEVER`] if none does.
    #[inline]
    pub fn first(&self) -> Time {
        self.times[1]
    }

    /// The link whose time is [`first`](Wakes::first); of several, the one of the lowest number.
    #[inline]
    pub fn winner(&self) -> usize {
        let leaves = self.times.len() / 2;
        let mut at = 1;
        while at < leaves {
            at *= 2;
            at += usize::from(self.times[at] != self.times[1]);
        }
        at - leaves
    }

    /// From now on `link` wants to be looked at at `time`.
    #[inline]
    pub fn set(&mut self, link: usize, time: Time) {
        let mut at = self.times.len() / 2 + link;
        self.times[at] = time;
        while at > 1 {
            at /= 2;
            self.times[at] = self.times[2 * at].min(self.times[2 * at + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list that is searched from its beginning.
        #[test]
        fn the_first_is_the_earliest_and_of_equals_the_lowest(
            links in 1..20_usize,
            steps in prop::collection::vec((0..20_usize, prop::option::of(0..8_u64)), 1..200),
        ) {
            let mut wakes = Wakes::new(links);
            let mut list = vec![Time::NEVER; links];
            for (link, time) in steps {
                let time = time.map_or(Time::NEVER, Time::from_nanos);
                list[link % links] = time;
                wakes.set(link % links, time);
                let first = *list.iter().min().unwrap();
                prop_assert_eq!(wakes.first(), first);
                if first != Time::NEVER {
                    prop_assert_eq!(wakes.winner(), list.iter().position(|time| *time == first).unwrap());
                }
            }
        }
    }
}
