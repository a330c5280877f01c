//! Times and contents of the receiver's acknowledgements (RFC 5681, section 4.2; RFC 2018; RFC 3168, section 6.1.3).

use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::{OutgoingAck, TcpReceiver, TcpSettings};

use crate::common::{Law, Net, at, ms, plain};

const DELAY: u64 = 100;

/// A receiver with delayed ACKs, at one moment.
struct ReceivingHost {
    receiver: TcpReceiver,
    config: TcpSettings,
}

impl ReceivingHost {
    fn new(of: impl Law) -> ReceivingHost {
        ReceivingHost {
            receiver: TcpReceiver::default(),
            config: TcpSettings { delayed_ack: Some(ms(DELAY)), ..plain(of) },
        }
    }

    fn receive(&mut self, seq: u32) -> Option<u32> {
        self.receiver.on_data(seq, false, false, &self.config, at(0)).map(|reply| reply.ack)
    }

    fn receive_with(&mut self, seq: u32, marked: bool, cwr: bool) -> Option<OutgoingAck> {
        self.receiver.on_data(seq, marked, cwr, &self.config, at(0))
    }
}

#[test]
fn every_second_segment_is_acknowledged_at_once() {
    let mut host = ReceivingHost::new(Recovery::Sack);
    let acks: Vec<_> = (0..6).map(|seq| host.receive(seq)).collect();
    assert_eq!(acks, [None, Some(2), None, Some(4), None, Some(6)]);
}

#[test]
fn a_lone_segment_is_acknowledged_when_the_delay_ends() {
    // 50 ms forward, 100 ms of delay, 50 ms in reverse. Then 1 and 2 arrive together and are acknowledged at once.
    let mut net = Net::new(TcpSettings { initial_window: 1, delayed_ack: Some(ms(DELAY)), ..plain(Recovery::Sack) });
    net.run(at(300));
    assert_eq!(net.rows(), ["0: 0", "200: 1 2", "300: 3 4 5"]);
}

#[test]
fn gaps_duplicates_and_filled_gaps_are_acknowledged_at_once() {
    let mut host = ReceivingHost::new(Recovery::NewReno);
    assert_eq!(host.receive(0), None);
    assert_eq!(host.receive(2), Some(1), "out of order");
    assert_eq!(host.receive(4), Some(1));
    assert_eq!(host.receive(1), Some(3), "fills part of a gap");
    assert_eq!(host.receive(0), Some(3), "seen before");
    assert_eq!(host.receive(3), Some(5), "fills the gap");
    assert_eq!(host.receive(5), None, "in order again");
}

#[test]
fn an_immediate_acknowledgement_cancels_the_delayed_one() {
    let mut host = ReceivingHost::new(Recovery::Sack);
    host.receive(0);
    assert_eq!(host.receiver.deadline(), Some(at(DELAY)));
    assert_eq!(host.receive(2), Some(1));
    assert_eq!(host.receiver.deadline(), None);
    assert_eq!(host.receiver.on_timer(&host.config, at(DELAY)), None);
}

#[test]
fn only_sack_receivers_send_blocks() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut host = ReceivingHost::new(recovery);
        let reply = host.receive_with(3, false, false).unwrap();
        let blocks = reply.options.and_then(|options| options.blocks);
        assert_eq!(blocks, (recovery == Recovery::Sack).then_some([(3, 4), (0, 0), (0, 0)]));
    }
}

#[test]
fn a_delayed_acknowledgement_echoes_a_mark_on_either_segment() {
    // 6.1.3: ECN-Echo is set if any of the data packets being acknowledged is marked.
    for (first, second) in [(true, false), (false, true), (true, true)] {
        let mut host = ReceivingHost::new(Recovery::Sack);
        assert_eq!(host.receive_with(0, first, false), None);
        assert!(host.receive_with(1, second, false).unwrap().ece);
    }
}

#[test]
fn cwr_on_the_second_segment_does_not_hide_a_mark_on_the_first() {
    // 6.1.3: the ACK of both has ECN-Echo, as the first is marked; ACKs of unmarked segments after CWR have not.
    let mut host = ReceivingHost::new(Recovery::Sack);
    assert_eq!(host.receive_with(0, true, false), None);
    assert!(host.receive_with(1, false, true).unwrap().ece);
    assert_eq!(host.receive_with(2, false, false), None);
    assert!(!host.receive_with(3, false, false).unwrap().ece);
}

#[test]
fn a_new_connection_does_not_echo_the_marks_of_the_one_before() {
    for cc in [Cc::Reno, Cc::Dctcp] {
        let mut host = ReceivingHost { config: plain(cc), ..ReceivingHost::new(cc) };
        assert!(host.receive_with(0, true, false).unwrap().ece, "{cc}");
        host.receiver.begin_connection();
        let reply = host.receive_with(1, false, false).unwrap();
        assert_eq!((reply.ack, reply.ece), (2, false), "{cc}");
    }
}
