use aqm::{Ecn, FlowId, Port, Rng, Span};

use super::*;
use crate::io::pool::Pool;

/// A port whose discipline mirrors a qdisc, and the packets that the test lets the qdisc release.
struct MirroredPort {
    port: Port<FrameId, Mirror>,
    state: Rc<RefCell<MirrorState>>,
    pool: Pool,
}

impl MirroredPort {
    fn new() -> MirroredPort {
        let state = Rc::new(RefCell::new(MirrorState::default()));
        let port = Port::new(Mirror(Rc::clone(&state)), Rng::named(1, "port"));
        MirroredPort { port, state, pool: Pool::new(1 << 17, 1) }
    }

    /// A packet arrives, and the qdisc keeps it or not. Returns its number.
    fn arrive(&mut self, connection: u64, kept: bool) -> u16 {
        let number = self.state.borrow().next_number();
        self.state.borrow_mut().offered = Some(OfferedPacket { connection, kept });
        let frame = self.pool.take().unwrap();
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(connection), 1000, frame) };
        self.port.enqueue(packet, Time::ZERO, &mut ());
        number
    }

    fn release(&mut self, number: u16, marked: bool) -> Option<Packet<FrameId>> {
        self.state.borrow_mut().released = Some(ReleasedPacket { number, marked });
        self.port.dequeue(Time::ZERO + Span::from_millis(3), &mut ())
    }

    /// Packets arrived, sent, dropped, marked, and held.
    fn counts(&self) -> [u64; 5] {
        let counts = self.port.totals().counts();
        let held = self.port.backlog().packets.into();
        [counts.arrived, counts.sent, counts.dropped(), counts.marked(), held]
    }
}

#[test]
fn a_packet_departs_when_the_kernel_releases_it_and_not_before() {
    let mut mirrored = MirroredPort::new();
    let first = mirrored.arrive(1, true);
    assert!(mirrored.port.dequeue(Time::ZERO, &mut ()).is_none());
    assert_eq!(mirrored.port.ready_at(Time::ZERO), Some(Time::NEVER), "the loop wakes the queue");
    assert!(mirrored.release(first, false).is_some());
    assert_eq!(mirrored.counts(), [1, 1, 0, 0, 0]);
    assert_eq!(mirrored.port.totals().queue_delay().mean(), Some(3e6));
    assert_eq!(mirrored.port.ready_at(Time::ZERO), None);
}

#[test]
fn a_packet_that_the_qdisc_refuses_is_dropped_at_once() {
    let mut mirrored = MirroredPort::new();
    mirrored.arrive(1, false);
    assert_eq!(mirrored.counts(), [1, 0, 1, 0, 0]);
}

#[test]
fn a_packet_overtaken_within_its_connection_was_dropped_and_those_of_others_wait() {
    let mut mirrored = MirroredPort::new();
    let numbers = [1, 2, 1, 2, 1].map(|connection| mirrored.arrive(connection, true));
    // The second packet of connection 1 leaves first: the first one is gone.
    assert!(mirrored.release(numbers[2], false).is_some());
    assert_eq!(mirrored.counts(), [5, 1, 1, 0, 3]);
    assert!(mirrored.release(numbers[1], false).is_some());
    assert_eq!(mirrored.counts(), [5, 2, 1, 0, 2]);
    // It was not gone: the qdisc reordered it. It is no packet of the link any more.
    assert!(mirrored.release(numbers[0], false).is_none());
    assert_eq!((mirrored.counts(), mirrored.state.borrow().strays), ([5, 2, 1, 0, 2], 1));
}

#[test]
fn a_mark_of_the_kernel_is_a_mark_of_the_port() {
    let mut mirrored = MirroredPort::new();
    let number = mirrored.arrive(1, true);
    assert_eq!(mirrored.release(number, true).map(|packet| packet.ecn), Some(Ecn::Ce));
    assert_eq!(mirrored.counts(), [1, 1, 0, 1, 0]);
}

#[test]
fn a_packet_that_never_leaves_is_dropped_before_its_number_is_used_again() {
    let mut mirrored = MirroredPort::new();
    mirrored.arrive(1, true);
    for _ in 0..LONGEST_AGE {
        let number = mirrored.arrive(2, true);
        mirrored.release(number, false);
    }
    assert_eq!(mirrored.counts(), [LONGEST_AGE + 1, LONGEST_AGE, 1, 0, 0]);
}
