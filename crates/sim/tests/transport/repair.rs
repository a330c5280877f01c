//! Whatever is lost of a transfer, all of it arrives, within the timeouts that the losses can cost.

use aqm::Span;
use headgate_scenario::Scenario;

use super::combinations::{Combination, for_each};
use super::script::{Fate, run};

/// Segments of a transfer.
const SEGMENTS: u64 = 60;
/// The last transmissions of a transfer without losses whose retransmission is lost too.
const AGAIN: u64 = 6;

/// One transfer over a path that loses a part of the acknowledgements by chance.
fn transfer(row: &Combination, ack_loss: f64) -> Result<Scenario, String> {
    let flow = row.flow();
    let header = row.scenario([0.0, 1.0], "limit = '9p'", &format!("[[tcp]]\n{flow}"))?.tcp[0].header;
    let bytes = SEGMENTS * u64::from(row.path.packet() - header);
    let link = format!("limit = '100000p'\nreverse = {{ loss = {ack_loss} }}");
    let traffic = format!("traffic = \"http:transfer={bytes}B,count=1\"\nwindow = 10000\n");
    row.scenario([0.0, 600.0], &link, &format!("[[tcp]]\n{flow}{traffic}"))
}

/// The seconds that the transfer takes with these losses.
fn seconds(scenario: &Scenario, lost: &[u64]) -> Result<f64, String> {
    let lost = lost.to_vec();
    let fates = move |number, _| if lost.contains(&number) { Fate::Lost } else { Fate::Arrives };
    let (outcome, _) = run(scenario, fates, &mut ())?;
    let end = outcome.transfers.first().and_then(|transfer| transfer.end).ok_or("the transfer did not end")?;
    Ok((end - outcome.transfers[0].start).as_secs_f64())
}

/// The longest that `losses` losses of one segment can delay a transfer: a timeout for the first, and twice as long for
/// each further one (RFC 6298, section 5.5). The window then begins at one segment again.
fn longest_repair(row: &Combination, scenario: &Scenario, losses: u32) -> f64 {
    let settings = &scenario.tcp[0].settings;
    let round = row.path.round(SEGMENTS as f64);
    // Before a sample the timeout is the initial one. A sample at most triples the round trip (RFC 6298, section 2.2).
    let timeout = settings.initial_rto.max(settings.min_rto).as_secs_f64().max(3.0 * round)
        + settings.min_rto_variance.unwrap_or(Span::ZERO).as_secs_f64();
    let timeouts: f64 = (0..losses).map(|nth| f64::from(1 << nth) * timeout).sum();
    timeouts + 12.0 * round + 0.2
}

fn every_loss_is_repaired(row: &Combination) -> Result<(), String> {
    let scenario = transfer(row, 0.0)?;
    let clean = seconds(&scenario, &[])?;
    let within = |lost: &[u64]| {
        let took = seconds(&scenario, lost).map_err(|error| format!("{error} without {lost:?}"))?;
        let most = clean + longest_repair(row, &scenario, lost.len() as u32);
        if took > most { Err(format!("{took:.3} s without {lost:?}, at most {most:.3}")) } else { Ok(()) }
    };
    // The first, some of the middle, and the last segments, whose loss no later one reveals.
    for first in [0, 30, SEGMENTS - 2, SEGMENTS - 1] {
        within(&[first])?;
        // A retransmission follows at some later place.
        for second in first + 1..first + AGAIN {
            within(&[first, second])?;
        }
    }
    Ok(())
}

fn lost_acknowledgements_delay_a_transfer_only(row: &Combination) -> Result<(), String> {
    let clean = seconds(&transfer(row, 0.0)?, &[])?;
    let lossy = transfer(row, 0.2)?;
    let took = seconds(&lossy, &[])?;
    // Rarely more than two acknowledgements in a row are missing where they matter.
    let most = clean + longest_repair(row, &lossy, 3);
    if took > most { Err(format!("{took:.3} s, at most {most:.3}")) } else { Ok(()) }
}

#[test]
fn a_lost_segment_or_retransmission_costs_at_most_its_timeouts() {
    for_each(every_loss_is_repaired);
}

#[test]
fn lost_acknowledgements_cost_at_most_timeouts() {
    for_each(lost_acknowledgements_delay_a_transfer_only);
}
