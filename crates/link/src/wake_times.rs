//! The next wake-up time of each link, and the earliest of them.
//!
//! A tournament tree: the leaves are the links' times, and an inner node is the earlier of its two children. The root
//! is the earliest time. An update takes time logarithmic in the number of links.

use aqm::Time;

/// Wake-up times of a fixed number of links.
#[derive(Debug)]
pub struct WakeTimes {
    /// Pair `i` holds the children of node `i`: nodes `2 i` and `2 i + 1`. The root is node 1; leaves come last.
    pairs: Box<[[Time; 2]]>,
    /// The earliest time, at the root.
    first: Time,
}

impl WakeTimes {
    /// `links` links, none with a wake-up.
    pub fn new(links: usize) -> WakeTimes {
        WakeTimes { pairs: vec![[Time::NEVER; 2]; links.next_power_of_two()].into(), first: Time::NEVER }
    }

    /// The earliest wake-up time; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn earliest(&self) -> Time {
        self.first
    }

    /// The link with the earliest time; among equals, the lowest number.
    #[inline]
    pub fn earliest_link(&self) -> usize {
        let mut at = 1;
        while let Some(pair) = self.pairs.get(at) {
            at = 2 * at + usize::from(pair[0] != self.first);
        }
        at - self.pairs.len()
    }

    /// Sets the wake-up time of `link`.
    #[inline]
    pub fn set(&mut self, link: usize, mut time: Time) {
        let mut at = self.pairs.len() + link;
        while at > 1 {
            let pair = &mut self.pairs[at / 2];
            if pair[at % 2] == time {
                return;
            }
            pair[at % 2] = time;
            (time, at) = (pair[0].min(pair[1]), at / 2);
        }
        self.first = time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares the tree with a list that is searched from its start.
        #[test]
        fn the_earliest_link_comes_first_and_of_equal_times_the_lowest_number(
            links in 1..20_usize,
            steps in prop::collection::vec((0..20_usize, prop::option::of(0..8_u64)), 1..200),
        ) {
            let mut wakes = WakeTimes::new(links);
            let mut list = vec![Time::NEVER; links];
            for (link, time) in steps {
                let time = time.map_or(Time::NEVER, Time::from_nanos);
                list[link % links] = time;
                wakes.set(link % links, time);
                let first = *list.iter().min().unwrap();
                prop_assert_eq!(wakes.earliest(), first);
                if first != Time::NEVER {
                    prop_assert_eq!(wakes.earliest_link(), list.iter().position(|time| *time == first).unwrap());
                }
            }
        }
    }
}
