//! An attack on FRED: a sender that waits until its packets have left loses its strikes. FRED keeps strikes only while
//! a flow has packets queued.

use aqm::disciplines::{Fred, FredConfig};
use aqm::{FlowId, LinkInfo, Params, Rate};

use crate::verify::watched::{SendPattern, WatchedRun, constant};

/// A link of 1000 packets a second.
const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
const OTHERS: usize = 9;

/// The rate of `sender` beside nine AIMD senders of 50 to 90 ms, and the share of its packets that arrived while it had
/// two strikes or more. The fair share is 100 packets a second. The buffer has 100 packets, so minth is 25.
fn rate_and_struck_share(settings: &[(&str, &str)], sender: SendPattern) -> (f64, f64) {
    let config = FredConfig::from_settings(&[&[("limit", "100p")], settings].concat()).unwrap();
    let mut senders: Vec<SendPattern> =
        (0..OTHERS).map(|n| SendPattern::Aimd { rtt: 0.050 + 0.005 * n as f64 }).collect();
    senders.push(sender);
    let run = WatchedRun { rate: LINK.rate, senders: &senders, seed: 1, warmup: 20.0, end: 100.0 };
    let (mut all, mut struck) = (0.0, 0.0);
    let flows = run.through(Fred::new(config, &LINK).unwrap(), |_, fred| {
        let strikes = fred.flow(FlowId(OTHERS as u64)).map_or(0, |flow| flow.strikes);
        (all, struck) = (all + 1.0, struck + f64::from(u8::from(strikes > 1)));
    });
    (run.rate_of(&flows, OTHERS), struck / all)
}

#[test]
fn a_sender_that_waits_for_its_queue_to_empty_gets_four_times_the_fair_share() {
    let minth = SendPattern::Refills { burst: 25, pause: 0.0 };
    let (steady, held) = rate_and_struck_share(&[], constant(500.0));
    let (bursts, clear) = rate_and_struck_share(&[], minth);
    // At a constant five times its share, the sender nearly always has strikes and is held near its share. In bursts of
    // minth packets it has strikes only until each burst has left.
    assert!(steady < 200.0 && held > 0.9, "{steady} {held}");
    assert!((300.0..450.0).contains(&bursts) && clear < 0.1, "{bursts} {clear}");
    // The sender waits for its packets to leave. A FIFO serves it in proportion to its queued packets, at most maxq.
    let (bounded, _) = rate_and_struck_share(&[("maxq", "5p")], minth);
    assert!(bounded < 220.0, "{bounded}");
}
