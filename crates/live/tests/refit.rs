//! A lane replaces another while packets are queued and propagating.

use crate::support::memory::{Conserved, FakeClock, MemoryEnd};
use crate::support::{TestDirection, packet};
use aqm::{Ecn, Rate, Span, Time, Why, registry};
use headgate_live::{Forwarder, LaneView, Layer};
use headgate_scenario::RateVariation;

/// 8 Mbit/s: a byte a microsecond.
const MBIT: u64 = 8;

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// `count` packets of 1000 bytes, `gap_us` apart.
fn stream(count: u32, gap_us: u64, ecn: Ecn) -> Vec<(Time, Vec<u8>)> {
    (0..count).map(|n| (at_us(u64::from(n) * gap_us), packet(5000, 1000, ecn, n))).collect()
}

fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[28..32].try_into().unwrap())
}

struct TestLink {
    forwarder: Forwarder<MemoryEnd, MemoryEnd, FakeClock>,
}

impl TestLink {
    fn new(direction: &TestDirection, frames: Vec<(Time, Vec<u8>)>) -> TestLink {
        let mut clock = FakeClock::new();
        let (a, b) = (clock.end(Layer::Ip, frames), clock.end(Layer::Ip, []));
        let lanes = direction.lanes(Layer::Ip);
        TestLink { forwarder: Forwarder::new(a, b, lanes, clock) }
    }

    /// Forwards until `end` and checks at every turn that all packets are accounted for.
    fn run(&mut self, end: Time) -> LaneView {
        while self.forwarder.view().at < end {
            self.forwarder.turn(end).unwrap();
            self.view();
        }
        self.view()
    }

    fn view(&mut self) -> LaneView {
        let lane = self.forwarder.view().lanes.swap_remove(0);
        assert!(lane.adds_up(), "{lane:#?}");
        lane
    }

    /// The forward direction gets the settings of `direction` at the forwarder's next check for changes.
    fn refit(&mut self, direction: &TestDirection) {
        let (direction, begin) = (direction.clone(), self.forwarder.view().at);
        let (report, done) = std::sync::mpsc::channel();
        let job = move |[forward, _]: &mut headgate_live::Lanes, now| {
            let forward = forward.as_mut().unwrap();
            report.send(direction.settings().refit(forward, now, Layer::Ip, 1, "forward")).unwrap();
        };
        self.forwarder.change_sender().send(Box::new(job)).unwrap();
        self.run(begin + headgate_live::PUBLISH_INTERVAL);
        done.try_recv().expect("the change takes less than the time between two views").unwrap();
    }

    fn out(&self) -> Vec<u32> {
        self.forwarder.b.sent().iter().map(|(_, bytes)| number(bytes)).collect()
    }
}

#[test]
fn a_hundred_changes_at_twice_the_links_rate_lose_and_reorder_no_packet() {
    let fifos: Vec<&str> =
        registry::ENTRIES.iter().filter(|entry| !entry.abilities.schedules).map(|entry| entry.name).collect();
    let limits = [20, 300, 5, 80];
    let mut link = TestLink::new(&TestDirection::new(MBIT, 2, 50, "droptail"), stream(12_000, 500, Ecn::Ect0));
    for (n, limit) in (0_usize..100).zip(limits.into_iter().cycle()) {
        let mut direction = TestDirection::new(MBIT, (n % 3) as u64 * 4, limit, fifos[n % fifos.len()]);
        direction.direction_settings.rate = Rate::from_bits(4_000_000 * (1 + n as u64 % 3));
        link.refit(&direction);
        let lane = link.view();
        assert!(lane.backlog.packets <= limit, "{}: {} wait", direction.qdisc, lane.backlog.packets);
    }
    let lane = link.run(at_us(12_000_000));
    let port = lane.totals.counts();
    assert_eq!((lane.counts.offered, port.arrived, lane.counts.no_slot), (12_000, 12_000, 0));
    let out = link.out();
    assert_eq!(out.len() as u64 + port.dropped(), 12_000, "{:?} {:?}", lane.backlog, lane.counts);
    assert!(out.is_sorted(), "a packet was overtaken");
    assert!(out.len() > 2_000 && port.dropped() > 2_000, "{} out, {} dropped", out.len(), port.dropped());
    let marked = link.forwarder.b.sent().iter().filter(|(_, bytes)| bytes[1] & 3 == 3).count() as u64;
    assert!(marked <= port.marked(), "a mark was not counted");
}

#[test]
fn every_discipline_hands_all_its_packets_to_its_successor() {
    for entry in registry::ENTRIES {
        let mut link = TestLink::new(&TestDirection::new(1, 0, 100, entry.name), stream(60, 0, Ecn::Ect1));
        let before = link.run(at_us(1_000));
        link.refit(&TestDirection::new(MBIT, 0, 100, "droptail"));
        let lane = link.run(at_us(500_000));
        let (old, new) = (before.totals.counts(), lane.totals.counts());
        assert_eq!(lane.counts.delivered + new.dropped(), 60, "{}", entry.name);
        assert_eq!(new.arrived, 60, "{}", entry.name);
        // The old discipline dropped and marked for 50 ms at most, until the change.
        assert!(old.dropped() <= new.dropped() && new.drops(Why::Overload) == 0, "{}", entry.name);
        let marked = link.forwarder.b.sent().iter().filter(|(_, bytes)| bytes[1] & 3 == 3).count() as u64;
        assert_eq!(marked, new.marked(), "{}: the marks in headers are those that were counted", entry.name);
    }
}

#[test]
fn a_smaller_queue_drops_its_last_packets_as_overflow() {
    let mut link = TestLink::new(&TestDirection::new(MBIT, 0, 100, "droptail"), stream(80, 0, Ecn::NotEct));
    link.refit(&TestDirection::new(MBIT, 0, 10, "droptail"));
    let lane = link.run(at_us(200_000));
    // The change was made at time 0, with one packet sent, or at the first check after it: 50 of 80 packets have left.
    let done = lane.counts.delivered - 10;
    assert!([1, 50].contains(&done), "{done}");
    assert_eq!(lane.totals.counts().drops(Why::Overflow), 80 - lane.counts.delivered);
    assert_eq!(link.out(), (0..lane.counts.delivered as u32).collect::<Vec<_>>(), "the queue drops its last packets");
}

#[test]
fn packets_queued_in_a_shaper_leave_in_order_after_a_change() {
    // A packet of 1000 bytes every 80 ms.
    let slow = TestDirection::new(MBIT, 0, 100, "tbf:rate=100kbit/s,burst=1000B");
    let mut link = TestLink::new(&slow, stream(40, 0, Ecn::NotEct));
    link.run(at_us(60_000));
    link.refit(&TestDirection::new(MBIT, 0, 100, "droptail"));
    let lane = link.run(at_us(200_000));
    assert_eq!((lane.counts.delivered, lane.totals.dropped()), (40, 0));
    assert_eq!(link.out(), (0..40).collect::<Vec<_>>());
}

#[test]
fn queueing_delay_counts_from_the_arrival_across_a_change() {
    let mut link = TestLink::new(&TestDirection::new(1, 0, 100, "droptail"), stream(2, 0, Ecn::NotEct));
    // At 1 Mbit/s a packet takes 8 ms: the second leaves the queue after 8 ms, in the old lane or the new one.
    link.refit(&TestDirection::new(1, 0, 100, "sfb"));
    let lane = link.run(at_us(100_000));
    assert_eq!(lane.totals.queue_delay().quantile(0.99).map(|nanos| (nanos / 1e5).round()), Some(80.0));
}

#[test]
fn no_packet_overtakes_another_when_the_delay_shrinks() {
    let mut link = TestLink::new(&TestDirection::new(MBIT, 200, 100, "droptail"), stream(150, 1_000, Ecn::NotEct));
    link.run(at_us(60_000));
    link.refit(&TestDirection::new(MBIT, 10, 100, "droptail"));
    let lane = link.run(at_us(500_000));
    assert_eq!((lane.counts.delivered, link.out()), (150, (0..150).collect()));
    let last = link.forwarder.b.sent().last().unwrap().0;
    // The change was made at 100 ms. Packets sent before leave within 300 ms, and all later ones have caught up with
    // them.
    assert!(at_us(290_000) < last && last <= at_us(310_000), "{last}");
}

#[test]
fn an_invalid_discipline_leaves_the_lane_unchanged() {
    let mut direction = TestDirection::new(MBIT, 0, 100, "droptail");
    let mut lane = direction.lane(Layer::Ip, "forward");
    let mut clock = FakeClock::new();
    let mut from = clock.end(Layer::Ip, stream(30, 0, Ecn::NotEct));
    lane.take_from(&mut from).unwrap();
    lane.arrive(Time::ZERO);
    direction.qdisc = "red:minth=60%,maxth=50%".parse().unwrap();
    let refused = direction.settings().refit(&mut lane, Time::ZERO, Layer::Ip, 1, "forward");
    assert!(refused.is_err());
    let lane = lane.view(Time::ZERO);
    assert_eq!((lane.backlog.packets, lane.propagating, lane.totals.counts().arrived), (29, 1, 30));
    assert!(lane.adds_up());
}

#[test]
fn the_use_of_a_link_of_varying_rate_goes_on_over_a_change() {
    // The queue is never empty, so the link is always used, at whatever rate.
    let mut link = TestLink::new(&TestDirection::new(MBIT, 0, 900, "droptail"), stream(4000, 250, Ecn::NotEct));
    link.run(at_us(1000));
    let mut before = link.view().occupancy;
    for mbit in [4, 2, 8] {
        let mut direction = TestDirection::new(MBIT, 0, 900, "droptail");
        let step = |ms, mbit: u64| (Span::from_millis(ms), Rate::from_bits(mbit * 1_000_000));
        direction.direction_settings.rate_variation =
            RateVariation::Schedule { steps: vec![step(3, mbit), step(7, 0)], period: Some(Span::from_millis(10)) };
        link.refit(&direction);
        let end = link.forwarder.view().at + Span::from_millis(100);
        let now = link.run(end).occupancy;
        let used = now.means_since(&before).2.expect("it carried packets");
        // A packet that a change finds in transmission is the old medium's.
        assert!((0.98..=1.0).contains(&used), "{used} at {mbit} Mbit/s");
        before = now;
    }
}
