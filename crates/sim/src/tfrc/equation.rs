//! The TCP throughput equation (RFC 5348, section 3.1) and its inverse, in packets per round trip. With the segment
//! size `s` and the round-trip time `R`, `X_Bps` is `s / R * packets_a_round_trip(p)`.

/// Packets that TCP sends a round trip at loss event rate `p`, in (0, 1]; unbounded as `p` goes to 0. As section 3.1
/// recommends, an ACK covers `b = 1` packet, and `t_RTO = 4R`.
pub fn packets_a_round_trip(p: f64) -> f64 {
    let congestion_avoidance = (2.0 * p / 3.0).sqrt();
    let timeouts = 12.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    1.0 / (congestion_avoidance + timeouts)
}

/// The loss event rate at which TCP sends `packets` a round trip, between 1e-12 and 1. Section 6.3.1 accepts an error
/// of 5 %; the 64 bisections run only once per flow.
pub fn loss_event_rate(packets: f64) -> f64 {
    let (mut low, mut high): (f64, f64) = (1e-12, 1.0);
    for _ in 0..64 {
        let middle = (low * high).sqrt(); // on a logarithmic scale: the rate is nearly a power of `p`
        if packets_a_round_trip(middle) > packets { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_equation_gives_values_worked_by_hand() {
        // p = 0.06 makes both roots exact: sqrt(0.04) = 0.2 and sqrt(0.0225) = 0.15, so that
        // 1 / (0.2 + 12 x 0.15 x 0.06 x 1.1152) = 1 / 0.3204416. p = 0.24 likewise: 1 / (0.4 + 0.864 x 2.8432).
        assert!((packets_a_round_trip(0.06) - 1.0 / 0.320_441_6).abs() < 1e-12);
        assert!((packets_a_round_trip(0.24) - 1.0 / 2.856_524_8).abs() < 1e-12);
        // At small p the equation approaches sqrt(3/2) / sqrt(p) (Mathis and others, 1997).
        assert!((packets_a_round_trip(1e-8) * 1e-4 - 1.5_f64.sqrt()).abs() < 1e-5);
    }

    #[test]
    fn half_a_packet_a_round_trip_is_a_loss_event_rate_of_a_fifth() {
        // f(p) = 2 is section 6.3.1's case of a flow whose first packet is lost. Linux's ccid3 uses 20.64 % for it.
        assert!((loss_event_rate(0.5) - 0.2064).abs() < 0.0001);
    }

    proptest! {
        #[test]
        fn the_inverse_inverts(exponent in -11.9f64..0.0) {
            let p = 10f64.powf(exponent);
            prop_assert!((loss_event_rate(packets_a_round_trip(p)) / p - 1.0).abs() < 1e-9);
        }

        #[test]
        fn more_loss_is_never_a_higher_rate(p in 1e-9f64..1.0, q in 1e-9f64..1.0) {
            let (less, more) = (p.min(q), p.max(q));
            prop_assert!(packets_a_round_trip(less) >= packets_a_round_trip(more));
        }

        #[test]
        fn every_rate_has_a_loss_event_rate(packets in 0.0f64..1e12) {
            let p = loss_event_rate(packets);
            prop_assert!(p > 0.0 && p <= 1.0);
        }
    }
}
