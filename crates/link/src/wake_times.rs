//! The next wake-up time of each link, and the earliest of them.
//!
//! A tournament tree: the leaves are the links' times, and an inner node is the earlier of its two children. An update
//! takes time logarithmic in the number of links. The earliest time is kept beside the tree. While it stays earlier
//! than all others, as on a path with one busy link, an update leaves the tree alone.

use aqm::Time;

/// Wake-up times of a fixed number of links.
#[derive(Debug)]
pub struct WakeTimes {
    /// Pair `i` holds the children of node `i`: nodes `2 i` and `2 i + 1`. The root is node 1; leaves come last.
    pairs: Box<[[Time; 2]]>,
    /// The earliest time, and its link. The tree may hold an old time of this link.
    first: Time,
    first_link: usize,
    /// No other link has an earlier time than this.
    others: Time,
}

impl WakeTimes {
    /// `links` links, none with a wake-up.
    pub fn new(links: usize) -> WakeTimes {
        let pairs = vec![[Time::NEVER; 2]; links.next_power_of_two().max(2)].into();
        WakeTimes { pairs, first: Time::NEVER, first_link: 0, others: Time::NEVER }
    }

    /// The earliest wake-up time; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn earliest(&self) -> Time {
        self.first
    }

    /// The link with the earliest time; among equals, the lowest number.
    #[inline]
    pub fn earliest_link(&self) -> usize {
        self.first_link
    }

    /// Sets the wake-up time of `link`.
    #[inline]
    pub fn set(&mut self, link: usize, time: Time) {
        // Which link is first does not matter while none has a time.
        if link == self.first_link && (time < self.others || self.others == Time::NEVER) {
            self.first = time;
        } else {
            self.update(link, time);
        }
    }

    #[inline(never)]
    fn update(&mut self, link: usize, time: Time) {
        self.write(link, time);
        if link != self.first_link && time > self.first {
            self.others = self.others.min(time);
            return;
        }
        if link != self.first_link {
            self.write(self.first_link, self.first);
        }
        let (mut at, mut others) = (1, Time::NEVER);
        while let Some(pair) = self.pairs.get(at) {
            let right = usize::from(pair[1] < pair[0]);
            (self.first, others) = (pair[right], others.min(pair[1 - right]));
            at = 2 * at + right;
        }
        (self.first_link, self.others) = (at - self.pairs.len(), others);
    }

    /// Writes a time into the tree.
    fn write(&mut self, link: usize, mut time: Time) {
        let mut at = self.pairs.len() + link;
        while at > 1 {
            let pair = &mut self.pairs[at / 2];
            if pair[at % 2] == time {
                return;
            }
            pair[at % 2] = time;
            (time, at) = (pair[0].min(pair[1]), at / 2);
        }
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
