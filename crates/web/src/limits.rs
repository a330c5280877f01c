//! What a page can show in time. Larger scenarios belong to the command line.

use aqm::Rate;
use headgate_scenario::Scenario;

use crate::Message;

/// Flows that can still be told apart in a picture, with room to spare.
const MOST_FLOWS: u32 = 500;
/// Directions of links.
const MOST_LINKS: usize = 32;
/// Packets that the busiest link could carry and that the UDP sources could write in the whole run: a few seconds of
/// simulation.
const MOST_PACKETS: f64 = 2e7;
/// Intervals of the recorded tables. A million of them take 700 MB, which few pages get.
const MOST_INTERVALS: u64 = 100_000;

/// Refuses a scenario that would keep the page busy for long.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Message> {
    let too_large = |found: String, most: String| {
        Err(format!("the lab shows {most}, and this scenario has {found}: run it with `headgate run`"))
    };
    let flows = scenario.total_flows();
    if flows > MOST_FLOWS {
        return too_large(format!("{flows} flows"), format!("at most {MOST_FLOWS} flows"));
    }
    if scenario.links.len() > MOST_LINKS {
        return too_large(format!("{} links", scenario.links.len()), format!("at most {MOST_LINKS} links"));
    }
    let intervals = scenario.duration.as_nanos() / scenario.record.interval.as_nanos().max(1);
    if intervals > MOST_INTERVALS {
        return too_large(format!("{intervals} of `record.interval`"), format!("at most {MOST_INTERVALS} intervals"));
    }
    let packets = packets(scenario);
    if packets > MOST_PACKETS {
        let millions = |packets: f64| format!("{:.0} million packets", packets / 1e6);
        return too_large(millions(packets), format!("at most {}", millions(MOST_PACKETS)));
    }
    Ok(())
}

/// Packets that the busiest link could carry, and datagrams, which their sources write whether a link carries them or not.
fn packets(scenario: &Scenario) -> f64 {
    let per_second = |rate: Rate, bytes: u32| rate.as_bits() as f64 / 8.0 / f64::from(bytes.max(1));
    let rates = scenario.hops().map(|hop| per_second(scenario.mean_rate(hop), scenario.mean_packet()));
    let groups = scenario.udp.iter().filter(|group| !group.is_controlled());
    let sources = groups.map(|group| f64::from(group.flows) * per_second(group.most(), group.packet));
    (rates.fold(0.0, f64::max) + sources.sum::<f64>()) * scenario.duration.as_secs_f64()
}
