//! Impairments behind a transmitter: link loss, jitter and reordering.

use aqm::{Rng, Span, Time};
use headgate_scenario::Impairments;

/// Applies impairments to sent packets of one direction.
#[derive(Debug)]
pub struct Impairer {
    impairments: Impairments,
    losses: GilbertLoss,
    rng: Rng,
    /// Arrival of the last packet that was not reordered: jitter keeps packets in order.
    last: Time,
}

impl Impairer {
    /// Applies `impairments`, drawn from `rng`.
    pub fn new(impairments: Impairments, rng: Rng) -> Impairer {
        Impairer { impairments, losses: GilbertLoss::new(&impairments), rng, last: Time::ZERO }
    }

    /// Arrival time of a packet that would arrive at `due`; `None` if it is lost.
    pub fn impair(&mut self, due: Time) -> Option<Time> {
        if self.losses.next_is_lost(&mut self.rng) {
            return None;
        }
        Some(self.arrival(due))
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

/// Link loss by a two-state Markov chain after Gilbert (Bell System Technical Journal 39(5), 1960): the bad state loses
/// every packet, the good state none. Without a mean burst length, losses are independent.
#[derive(Debug)]
struct GilbertLoss {
    /// Loss probability after a delivered packet, and after a lost one.
    loss_probability: [f64; 2],
    bad: bool,
}

impl GilbertLoss {
    fn new(impairments: &Impairments) -> GilbertLoss {
        let Impairments { loss, burst, .. } = *impairments;
        // A burst ends with probability 1 / burst, so its mean length is `burst`. In the long run as many bursts begin
        // as end: (1 - loss) x begin = loss / burst. `begin` is the probability of a loss after a delivered packet.
        let after = burst.map_or([loss, loss], |burst| [loss / (burst * (1.0 - loss)), 1.0 - 1.0 / burst]);
        GilbertLoss { loss_probability: after, bad: false }
    }

    fn next_is_lost(&mut self, rng: &mut Rng) -> bool {
        if self.loss_probability[0] > 0.0 {
            self.bad = rng.chance(self.loss_probability[usize::from(self.bad)]);
        }
        self.bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 200_000;

    fn losses(loss: f64, burst: Option<f64>) -> Vec<bool> {
        let mut losses = GilbertLoss::new(&Impairments { loss, burst, ..Impairments::default() });
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
