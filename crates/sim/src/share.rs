//! Max-min fair shares (Bertsekas, Gallager: Data Networks, section 6.5.2).

/// The max-min fair division of `capacity` among flows that want `demands`: nobody gets more than it wants, and what
/// the modest leave is shared equally by the rest. Units are the caller's; infinite demands are allowed.
pub fn max_min(capacity: f64, demands: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by(|&a, &b| demands[a].total_cmp(&demands[b]));
    let mut shares = vec![0.0; demands.len()];
    let mut left = capacity;
    for (served, &flow) in order.iter().enumerate() {
        let equal = left / (demands.len() - served) as f64;
        shares[flow] = demands[flow].min(equal);
        left -= shares[flow];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_modest_get_what_they_want_and_the_rest_share_equally() {
        assert_eq!(max_min(10.0, &[f64::INFINITY, 1.0, 5.0, f64::INFINITY]), [3.0, 1.0, 3.0, 3.0]);
        assert_eq!(max_min(10.0, &[1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(max_min(10.0, &[]), []);
    }

    proptest! {
        #[test]
        fn nothing_is_wasted_and_nobody_can_gain_but_from_one_who_has_less(
            capacity in 0.1f64..100.0,
            demands in prop::collection::vec(0.0f64..50.0, 1..20),
        ) {
            let shares = max_min(capacity, &demands);
            let total: f64 = shares.iter().sum();
            prop_assert!((total - capacity.min(demands.iter().sum())).abs() < 1e-9);
            let largest = shares.iter().copied().fold(0.0, f64::max);
            for (share, demand) in shares.iter().zip(&demands) {
                prop_assert!(*share >= demand.min(largest) - 1e-9);
            }
        }
    }
}
