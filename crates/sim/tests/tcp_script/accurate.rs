//! Accurate ECN feedback: the sender knows how many segments were marked, whatever happens to acknowledgements.

use std::cell::RefCell;

use headgate_scenario::Cc;
use headgate_sim::tcp::TcpSettings;
use proptest::prelude::*;

use crate::common::{Fate, Net, at, ms, plain};

/// Which transmissions of a marked segment are marked.
#[derive(Clone, Copy, PartialEq)]
enum Marked {
    First,
    All,
}

/// The marks that arrived, and those that the sender has counted.
fn counted(option: bool, marked: Marked, marks: &[bool], lost_acks: &[u32]) -> (u32, u32) {
    let config = TcpSettings { accecn: true, accecn_option: option, delayed_ack: Some(ms(40)), ..plain(Cc::Prague) };
    let config = TcpSettings { initial_window: 100, ..config };
    let arrived = RefCell::new(0);
    // What is sent again at the end is not acknowledged with anything new.
    let last = if marked == Marked::All { marks.len() as u32 - 10 } else { 0 };
    let fate = |seq, nth| match marks[seq as usize] && (nth == 1 || seq < last) {
        true => {
            *arrived.borrow_mut() += 1;
            Fate::Marked
        }
        false => Fate::Arrives,
    };
    let mut net = Net::new(config).fate(fate).losing_acks(lost_acks).with_ecn().of(marks.len() as u32);
    net.run(at(5_000_000));
    assert!(net.host.tcp.acked_all());
    let counted = net.host.tcp.marks();
    drop(net);
    (arrived.into_inner(), counted)
}

/// Retransmissions are sent without ECT, which says nothing of the path.
#[test]
fn a_lost_first_window_is_no_path_that_clears_the_field() {
    let config = TcpSettings { accecn: true, accecn_option: true, initial_window: 4, ..plain(Cc::Prague) };
    let fate = |seq, nth| if seq < 4 && nth == 1 { Fate::Lost } else { Fate::Arrives };
    let mut net = Net::new(config).fate(fate).with_ecn().of(40);
    net.run(at(60_000));
    assert!(net.host.tcp.acked_all() && net.host.tcp.retransmits() > 0);
    assert!(!net.host.tcp.ecn_cleared());
}

/// The numbers of the acknowledgements that are lost, at most `in_a_row` together. The last ones arrive: else the sender
/// sends again.
fn lost(in_a_row: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop::bool::weighted(0.8), 40).prop_map(move |lost| {
        let mut run = 0;
        let mut keep = |(n, lost): (usize, &bool)| {
            run = if *lost && run < in_a_row { run + 1 } else { 0 };
            (run > 0).then_some(n as u32 + 1)
        };
        lost.iter().enumerate().filter_map(&mut keep).collect()
    })
}

proptest! {
    #[test]
    fn with_the_option_the_count_is_right_whatever_acknowledgements_are_lost(
        marks in prop::collection::vec(any::<bool>(), 120..200), lost in lost(40),
    ) {
        let (arrived, counted) = counted(true, Marked::All, &marks, &lost);
        prop_assert_eq!(counted, arrived);
    }

    /// RFC 9768, section 3.2.2.5: the field goes round after eight. An acknowledgement covers two segments, so up to two may
    /// be missing.
    #[test]
    fn the_field_is_right_as_long_as_it_cannot_go_round(
        marks in prop::collection::vec(any::<bool>(), 120..200), lost in lost(2),
    ) {
        let (arrived, counted) = counted(false, Marked::All, &marks, &lost);
        prop_assert_eq!(counted, arrived);
    }

    /// Appendix A.2.1: where it may have gone round, the sender assumes the worst. It knows of no segment that arrived twice.
    #[test]
    fn the_field_never_hides_a_mark(
        marks in prop::collection::vec(any::<bool>(), 120..200), lost in lost(40),
    ) {
        let (arrived, counted) = counted(false, Marked::First, &marks, &lost);
        prop_assert!(counted >= arrived, "{counted} of {arrived}");
    }
}
