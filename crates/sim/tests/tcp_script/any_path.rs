//! On any path all data arrives in the end, with every recovery and every option.

use std::cell::RefCell;

use aqm::Time;
use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::TcpSettings;
use proptest::prelude::*;

use crate::common::{Fate, Net, at, ms, plain};

/// What the path may do to a transmission.
fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Arrives),
        1 => Just(Fate::Marked),
        3 => Just(Fate::Lost),
        2 => (1..300_u64).prop_map(|late| Fate::Late(ms(late))),
        1 => (0..300_u64).prop_map(|later| Fate::Twice(ms(later))),
    ]
}

/// Any recovery, and with selective acknowledgements any combination of the options.
fn config() -> impl Strategy<Value = TcpSettings> {
    let cc = prop_oneof![
        3 => Just(Cc::Reno), 2 => Just(Cc::Cubic), 1 => Just(Cc::Dctcp), 2 => Just(Cc::Bbr), 2 => Just(Cc::Bbr3),
    ];
    // Two thirds repair by selective acknowledgements.
    let recovery = prop_oneof![proptest::sample::select(Recovery::ALL), Just(Recovery::Sack), Just(Recovery::Rack)];
    let windows = (1..12_u32, 4..40_u32);
    let delayed_ack = prop::option::of(Just(ms(40)));
    ((cc, recovery), any::<[bool; 4]>(), windows, delayed_ack).prop_map(
        |((cc, recovery), [prr, limited_transmit, pacing, idle_restart], (initial_window, window), delayed_ack)| {
            let recovery = if cc.traits().rates && !recovery.is_selective() { Recovery::Sack } else { recovery };
            TcpSettings {
                recovery,
                prr: prr && recovery.is_selective(),
                limited_transmit,
                pacing: pacing && recovery.is_selective() || cc.traits().rates,
                idle_restart,
                initial_window,
                window,
                delayed_ack,
                ..plain(cc)
            }
        },
    )
}

proptest! {
    #[test]
    fn all_offered_data_is_delivered_and_counted(
        config in config(),
        segments in 1..60_u32,
        fates in prop::collection::vec(fate(), 0..80),
        lost_acks in prop::collection::vec(any::<bool>(), 0..40),
    ) {
        // Each transmission takes the next fate; after the last, everything arrives.
        let fates = RefCell::new(fates.into_iter());
        let next = |_, _| fates.borrow_mut().next().unwrap_or(Fate::Arrives);
        let lost: Vec<u32> = (1..).zip(&lost_acks).filter(|(_, lost)| **lost).map(|(nth, _)| nth).collect();
        let mut net = Net::new(config).fate(next).losing_acks(&lost).with_ecn().of(segments);
        // At most some 80 timeouts of at most a minute: 5000 s.
        net.run(at(5_000_000));
        prop_assert_eq!(net.receiver.expected(), segments);
        prop_assert!(net.host.tcp.acked_all());
        prop_assert_eq!(net.host.tcp.deadline(), None::<Time>, "no timer runs without data outstanding");
        let again = net.sent.iter().filter(|sent| sent.data.retransmitted).count();
        prop_assert_eq!((net.host.tcp.retransmits() as usize, net.sent.len()), (again, segments as usize + again));
    }
}
