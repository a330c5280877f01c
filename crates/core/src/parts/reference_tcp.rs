//! The rate of a TCP flow, for comparison: the model of Floyd and Fall (IEEE/ACM ToN 7(4), 1999).

use crate::time::Span;

/// f(R, p) = sqrt(1.5) / (R sqrt(p)) in packets per second, for R = `rtt`; infinite without drops.
pub fn tcp_rate(rtt: Span, drop_rate: f64) -> f64 {
    libm::sqrt(1.5) / (rtt.as_secs_f64() * libm::sqrt(drop_rate))
}

/// CELength: seconds between two drops of a TCP flow at [`tcp_rate`], R / sqrt(1.5 p).
pub fn congestion_epoch(rtt: Span, drop_rate: f64) -> f64 {
    rtt.as_secs_f64() / libm::sqrt(1.5 * drop_rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: Span = Span::from_millis(40);

    #[test]
    fn three_epochs_at_one_percent_last_a_second_as_the_paper_says() {
        // Section 4.1: with R = 40 ms, p = 1 % and K = 3 the history is of about 1 second.
        assert!((3.0 * congestion_epoch(R, 0.01) - 1.0).abs() < 0.03);
        // By hand: sqrt(1.5) / (0.04 x 0.1).
        assert!((tcp_rate(R, 0.01) - 306.186).abs() < 0.001);
    }

    #[test]
    fn an_epoch_has_one_drop() {
        for drop_rate in [0.001, 0.01, 0.3] {
            assert!((tcp_rate(R, drop_rate) * congestion_epoch(R, drop_rate) * drop_rate - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_flows_of_figure_10_are_held_to_the_max_min_share_at_the_drop_rate_the_paper_reports() {
        // 10 Mbit/s and packets of 1000 B. Flows of 0.1 and 0.5 Mbit/s pass, and nine faster flows are limited to f(R,
        // p): (0.6 + 9 f) (1 - p) = 10. The paper: an ambient drop rate of "about 4%", and each of the nine near its
        // max-min share, 9.4/9.
        let target = |p: f64| tcp_rate(R, p) * 8000.0 / 1e6;
        let (mut low, mut high) = (0.001, 0.5);
        for _ in 0..60 {
            let p = (low + high) / 2.0;
            *if (0.6 + 9.0 * target(p)) * (1.0 - p) > 10.0 { &mut low } else { &mut high } = p;
        }
        assert!((low - 0.04).abs() < 0.01, "{low}");
        assert!((target(low) * (1.0 - low) / (9.4 / 9.0) - 1.0).abs() < 0.02, "{}", target(low));
    }
}
