//! What a page can show in time. Larger scenarios belong to the command line.

use headgate_scenario::Scenario;

use crate::Message;

/// Flows that can still be told apart in a picture, with room to spare.
const MOST_FLOWS: u32 = 500;
/// Directions of links.
const MOST_LINKS: usize = 32;
/// Packets that the links could carry in the whole run: a few seconds of simulation.
const MOST_PACKETS: f64 = 2e7;

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
    let bytes = scenario.hops().map(|hop| scenario.mean_rate(hop).as_bits() as f64 / 8.0).fold(0.0, f64::max);
    let packets = bytes * scenario.duration.as_secs_f64() / f64::from(scenario.mean_packet().max(1));
    if packets > MOST_PACKETS {
        let millions = |packets: f64| format!("{:.0} million packets", packets / 1e6);
        return too_large(millions(packets), format!("at most {}", millions(MOST_PACKETS)));
    }
    Ok(())
}
