//! Datagrams received, to recognize the copies that links make.

use headgate_scenario::Scenario;

/// The latest datagrams that each UDP flow received, by number.
pub struct ReceivedDatagrams {
    /// The first UDP flow.
    first: u32,
    windows: Vec<Window>,
}

/// The 64 numbers up to the highest one received. A copy follows its packet at once, so it is late by the reordering of a few
/// packets at most.
#[derive(Clone, Copy, Default)]
struct Window {
    highest: u32,
    /// Bit n: whether the number n below the highest was received.
    received: u64,
}

impl ReceivedDatagrams {
    /// `None` unless a link of `scenario` duplicates packets. UDP flows are numbered from `first`.
    pub fn new(scenario: &Scenario, first: u32) -> Option<ReceivedDatagrams> {
        let duplicates = scenario.hops().any(|hop| scenario.direction_settings(hop).impairments.duplicate > 0.0);
        let flows: u32 = scenario.udp.iter().map(|group| group.flows).sum();
        duplicates.then(|| ReceivedDatagrams { first, windows: vec![Window::default(); flows as usize] })
    }

    /// Whether `flow` has received datagram `number` before; from now on it has.
    pub fn has(&mut self, flow: u32, number: u32) -> bool {
        self.windows[(flow - self.first) as usize].has(number)
    }
}

impl Window {
    fn has(&mut self, number: u32) -> bool {
        if self.received == 0 || number > self.highest {
            let up = if self.received == 0 { 0 } else { number - self.highest };
            self.received = self.received.checked_shl(up).unwrap_or(0) | 1;
            self.highest = number;
            return false;
        }
        let Some(bit) = 1u64.checked_shl(self.highest - number) else { return false };
        let before = self.received & bit != 0;
        self.received |= bit;
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_is_known_if_it_came_before_and_is_not_too_old(numbers in prop::collection::vec(0..200_u32, 1..400)) {
            let (mut window, mut before) = (Window::default(), std::collections::BTreeSet::new());
            for number in numbers {
                let too_old = before.last().is_some_and(|highest| number + 64 <= *highest);
                let expected = before.contains(&number) && !too_old;
                prop_assert_eq!(window.has(number), expected);
                before.insert(number);
            }
        }
    }
}
