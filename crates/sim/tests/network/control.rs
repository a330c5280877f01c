//! What congestion controllers do to a queue, and to each other.

use crate::{go, scenario};

/// One link of `rate` and a round trip of 10 ms (or `delay` each way and 2 ms), `qdisc` and groups of flows.
fn link(rate: &str, delay: &str, limit: &str, qdisc: &str, groups: &str) -> headgate_scenario::Scenario {
    scenario(&format!(
        "name = 'control'\nduration = '20s'\nwarmup = '5s'\nqdiscs = [\"{qdisc}\"]\n\
         [link]\nrate = '{rate}'\ndelay = '{delay}'\nlimit = '{limit}'\n{groups}"
    ))
}
