//! What happens to sent packets: link loss, duplicates, remarks, jitter and reordering.

use std::sync::Arc;

use aqm::{Rng, Span, Time};
use headgate_scenario::{Impairments, Remarks};

use crate::arrival::{Alteration, Arrival};

/// Applies impairments to sent packets of one direction.
#[derive(Debug)]
pub struct Impairer {
    impairments: Impairments,
    losses: GilbertLoss,
    listed: ListedLosses,
    rng: Rng,
    /// Draws duplicates. A stream of their own leaves the fate of each packet as it is.
    duplicates: Rng,
    /// Arrival of the last packet that was not reordered: jitter keeps packets in order.
    last: Time,
}

impl Impairer {
    /// Applies `impairments`, drawn from `rng`.
    pub fn new(impairments: Impairments, rng: Rng) -> Impairer {
        Impairer {
            losses: GilbertLoss::new(&impairments),
            listed: ListedLosses::new(&impairments.lost_packets),
            duplicates: Rng::named(rng.clone().bits(), "duplicates"),
            impairments,
            rng,
            last: Time::ZERO,
        }
    }

    /// The fate of a packet that would arrive at `due`.
    pub fn impair(&mut self, due: Time) -> Arrival {
        let listed = self.listed.next_is_lost();
        if self.losses.next_is_lost(&mut self.rng) {
            return Arrival::Lost;
        }
        // A listed packet is lost at the end of its way: all others arrive as without the list.
        let at = self.arrival(due);
        if listed {
            return Arrival::Lost;
        }
        let Impairments { duplicate, remarks, .. } = self.impairments;
        let duplicate = duplicate > 0.0 && self.duplicates.chance(duplicate);
        if duplicate || remarks != Remarks::default() {
            return Arrival::Altered(at, Alteration { remarks, duplicate });
        }
        Arrival::At(at)
    }

    fn arrival(&mut self, due: Time) -> Time {
        let Impairments { jitter, reorder, reorder_by, .. } = self.impairments;
        let jitter = if jitter == Span::ZERO { jitter } else { self.rng.span_below(jitter + Span::from_nanos(1)) };
        let at = self.last.max(due + jitter);
        if reorder > 0.0 && self.rng.chance(reorder) {
            // Later packets do not wait for a reordered one.
            return at + reorder_by;
        }
        self.last = at;
        at
    }
}

/// Packets lost by their numbers.
#[derive(Debug)]
struct ListedLosses {
    /// Numbers of lost packets, ascending, and the index of the first one not yet lost.
    numbers: Arc<[u64]>,
    next: usize,
    /// Packets so far.
    packets: u64,
}

impl ListedLosses {
    fn new(numbers: &Arc<[u64]>) -> ListedLosses {
        ListedLosses { numbers: Arc::clone(numbers), next: 0, packets: 0 }
    }

    fn next_is_lost(&mut self) -> bool {
        self.packets += 1;
        let lost = self.numbers.get(self.next) == Some(&self.packets);
        self.next += usize::from(lost);
        lost
    }
}

/// Link loss by a two-state Markov chain after Gilbert (Bell System Technical Journal 39(5), 1960): the bad state loses
/// every packet, the good state none. Without a mean burst length, losses are independent. A bound ends a burst early.
#[derive(Debug)]
struct GilbertLoss {
    /// Loss probability after a delivered packet, and after a lost one.
    loss_probability: [f64; 2],
    /// Packets lost in a row so far, and at most.
    burst: u32,
    most: u32,
}

impl GilbertLoss {
    fn new(impairments: &Impairments) -> GilbertLoss {
        let Impairments { loss, burst, burst_max, .. } = *impairments;
        // A burst ends with probability 1 / burst, so its mean length is `burst`. In the long run as many bursts begin
        // as end: (1 - loss) x begin = loss / burst. `begin` is the probability of a loss after a delivered packet.
        let begin = |burst: f64| loss / (burst * (1.0 - loss));
        let after = match (burst, burst_max) {
            (None, None) => [loss, loss],
            (Some(burst), None) => [begin(burst), 1.0 - 1.0 / burst],
            (Some(burst), Some(most)) => [begin(burst), solve(|again| mean_burst(again, most) < burst)],
            (None, Some(most)) => {
                // Losses are independent but for the bound: one probability, with which the loss rate is `loss`.
                let lost = solve(|lost| lost * mean_burst(lost, most) * (1.0 - loss) < loss);
                [lost, lost]
            }
        };
        GilbertLoss { loss_probability: after, burst: 0, most: burst_max.unwrap_or(u32::MAX) }
    }

    fn next_is_lost(&mut self, rng: &mut Rng) -> bool {
        if self.loss_probability[0] > 0.0 {
            let again = self.burst > 0;
            let lost = self.burst < self.most && rng.chance(self.loss_probability[usize::from(again)]);
            self.burst = if lost { self.burst.saturating_add(1) } else { 0 };
        }
        self.burst > 0
    }
}

/// Mean length of bursts that continue with probability `again`, up to `most` packets: the sum of again^n below `most`.
fn mean_burst(again: f64, most: u32) -> f64 {
    let (mut power, mut square, mut left) = (1.0, again, most);
    while left > 0 {
        if left & 1 == 1 {
            power *= square;
        }
        (square, left) = (square * square, left / 2);
    }
    if again < 1.0 { (1.0 - power) / (1.0 - again) } else { f64::from(most) }
}

/// The number from 0 to 1 where `is_below` turns false, by bisection.
fn solve(is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 200_000;

    fn losses(loss: f64, burst: Option<f64>) -> Vec<bool> {
        bounded_losses(loss, burst, None)
    }

    fn bounded_losses(loss: f64, burst: Option<f64>, burst_max: Option<u32>) -> Vec<bool> {
        let mut losses = GilbertLoss::new(&Impairments { loss, burst, burst_max, ..Impairments::default() });
        let mut rng = Rng::named(3, "losses");
        (0..PACKETS).map(|_| losses.next_is_lost(&mut rng)).collect()
    }

    fn figures(lost: &[bool]) -> (f64, f64) {
        let count = lost.iter().filter(|lost| **lost).count() as f64;
        let runs = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64 + f64::from(u8::from(lost[0]));
        (count / lost.len() as f64, count / runs)
    }

    #[test]
    fn losses_have_their_rate_and_their_mean_run() {
        for (loss, burst) in [(0.02, None), (0.2, None), (0.02, Some(1.0)), (0.02, Some(5.0)), (0.3, Some(20.0))] {
            let (rate, run) = figures(&losses(loss, burst));
            // Independent losses have geometric run lengths: a run continues with probability `loss`.
            let mean = burst.unwrap_or(1.0 / (1.0 - loss));
            // Successive states of a chain have correlation r = 1 - begin - end. The variance grows by the factor (1 +
            // r) / (1 - r).
            let r = burst.map_or(0.0, |burst| 1.0 - loss / (burst * (1.0 - loss)) - 1.0 / burst);
            let sigma = (loss * (1.0 - loss) / PACKETS as f64 * (1.0 + r) / (1.0 - r)).sqrt();
            assert!((rate - loss).abs() < 4.0 * sigma, "{rate} of {loss}, runs of {mean}");
            // The variance of geometric runs is mean (mean - 1).
            let sigma = (mean * (mean - 1.0) / (PACKETS as f64 * loss / mean)).sqrt();
            assert!((run - mean).abs() <= 4.0 * sigma + 1e-12, "runs of {run}, expected {mean}");
        }
        assert!(!losses(0.0, None).contains(&true));
    }

    #[test]
    fn bounded_bursts_keep_the_rate_and_the_mean_and_never_exceed_the_bound() {
        for (loss, burst, most) in [
            (0.02, None, 1),
            (0.3, None, 2),
            (0.5, None, 3),
            (0.02, Some(2.0), 3),
            (0.3, Some(5.0), 6),
            (0.2, Some(4.0), 4),
            (0.02, Some(5.0), 1_000_000),
        ] {
            let lost = bounded_losses(loss, burst, Some(most));
            let (rate, run) = figures(&lost);
            // Bursts of at most 6 packets at most halve the number of independent choices a packet, so the deviation is at
            // most three times that of independent losses; long bursts are those of the test above, where r is 0.8.
            let sigma = 3.0 * (loss * (1.0 - loss) / PACKETS as f64).sqrt();
            assert!((rate - loss).abs() < 4.0 * sigma, "{rate} of {loss}, {burst:?}, at most {most}");
            if let Some(mean) = burst {
                // The variance of a length is below that of a geometric one.
                let sigma = (mean * (mean - 1.0) / (PACKETS as f64 * loss / mean)).sqrt();
                assert!((run - mean).abs() <= 4.0 * sigma + 1e-9, "runs of {run}, expected {mean}");
            }
            let longest = lost.split(|lost| !lost).map(<[bool]>::len).max().unwrap();
            assert!(longest <= most as usize, "{longest} in a row");
            assert!(most > 6 || longest == most as usize, "the bound is reached: {longest}");
        }
    }

    #[test]
    fn listed_packets_are_lost_by_their_numbers_and_no_others() {
        let lost_packets = [1, 3, 4, 10].into();
        let mut impairer = impairer(Impairments { lost_packets, ..Impairments::default() });
        let lost: Vec<u64> = (1..=20).filter(|_| impairer.impair(Time::ZERO) == Arrival::Lost).collect();
        assert_eq!(lost, [1, 3, 4, 10]);
    }

    #[test]
    fn a_fraction_of_packets_is_duplicated() {
        let mut impairer = impairer(Impairments { duplicate: 0.25, ..Impairments::default() });
        let twice = |arrival| matches!(arrival, Arrival::Altered(_, Alteration { duplicate: true, .. }));
        let copies = (0..10_000).filter(|_| twice(impairer.impair(Time::ZERO))).count();
        // Binomial: 4 sigma of 10 000 at a quarter are 173.
        assert!(copies.abs_diff(2500) < 174, "{copies}");
    }

    fn impairer(impairments: Impairments) -> Impairer {
        Impairer::new(impairments, Rng::named(4, "medium"))
    }

    #[test]
    fn jitter_is_uniform_and_keeps_the_order() {
        let most = Span::from_millis(10);
        let mut far = impairer(Impairments { jitter: most, ..Impairments::default() });
        // Packets a second apart do not wait for each other. Their jitter is uniform in 0 to 10 ms: mean 5 ms, sigma 10
        // ms / sqrt(12).
        let extra =
            (0..20_000).map(|n| far.arrival(Time::ZERO + Span::from_secs(n)) - (Time::ZERO + Span::from_secs(n)));
        let extra: Vec<f64> = extra.map(|extra| extra.as_secs_f64() / most.as_secs_f64()).collect();
        let mean = extra.iter().sum::<f64>() / extra.len() as f64;
        assert!((mean - 0.5).abs() < 4.0 / (12.0 * extra.len() as f64).sqrt(), "{mean}");
        // The Kolmogorov-Smirnov distance is below 1.95 / sqrt(n) with probability 99.9 %.
        let mut sorted = extra.clone();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let distance =
            sorted.iter().enumerate().map(|(i, x)| (x - i as f64 / n).abs().max(((i + 1) as f64 / n - x).abs()));
        assert!(distance.fold(0.0, f64::max) < 1.95 / n.sqrt());
        let mut near = impairer(Impairments { jitter: most, ..Impairments::default() });
        let times: Vec<Time> = (0..1000).map(|n| near.arrival(Time::ZERO + Span::from_micros(100 * n))).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn reordered_packets_come_late_and_no_other_packet_waits_for_them() {
        let by = Span::from_millis(7);
        let mut impairer = impairer(Impairments { reorder: 0.25, reorder_by: by, ..Impairments::default() });
        let late = (0..10_000).filter(|n| {
            let due = Time::ZERO + Span::from_millis(*n);
            let at = impairer.arrival(due);
            assert!(at == due || at == due + by, "{at:?}");
            at != due
        });
        // Binomial: 4 sigma of 10 000 at a quarter are 173.
        let late = late.count();
        assert!(late.abs_diff(2500) < 174, "{late}");
    }
}
