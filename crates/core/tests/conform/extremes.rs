//! Extremes: tables too small for the flows, the end of time, rates and packet sizes of zero, queues emptied by `shed`.

use aqm::registry::{self, DisciplineEntry, ENTRIES};
use aqm::{Discipline, FlowId, Limit, LinkInfo, Packet, Rate, Rng, Span, Time};

use crate::conform::audit::{Audit, Audited};
use crate::conform::traces::MIXES;

const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 3);

fn audited(entry: &DisciplineEntry, limit: &str, link: &LinkInfo) -> Audited<Box<dyn Discipline<u32>>> {
    let discipline = registry::boxed(entry.name, &[("limit", limit)], link).unwrap();
    let audit = Audit::new(format!("{}:limit={limit}", entry.name), entry.abilities.ecn, entry.abilities.schedules);
    Audited::new(discipline, Rng::new(7), Limit::parse(limit).unwrap(), audit)
}

#[test]
fn a_quarter_of_a_million_flows_of_one_packet_each_break_nothing() {
    for entry in ENTRIES {
        let mut queue = audited(entry, "20000p", &LINK);
        let mut names = Rng::new(11);
        for n in 0..250_000 {
            queue.now += Span::from_micros(if n % 1000 == 0 { 900 } else { 1 });
            queue.enqueue(Packet::new(FlowId(names.bits()), 1000, ()));
            if n % 3 == 0 {
                queue.dequeue();
            }
        }
        queue.drain();
    }
}

#[test]
fn after_an_attack_with_invented_flows_the_packets_of_an_honest_flow_are_sent() {
    for entry in ENTRIES {
        let mut queue = audited(entry, "500p", &LINK);
        let mut names = Rng::new(12);
        // The attack sends twice the link's rate, and every packet is a flow of its own.
        for n in 0..100_000 {
            queue.now += Span::from_micros(400);
            queue.enqueue(Packet::new(FlowId(names.bits()), 1000, ()));
            if n % 2 == 0 {
                queue.dequeue();
            }
        }
        queue.drain();
        queue.dequeue();
        queue.now += Span::from_secs(60);
        // The honest flow sends a tenth of the link's rate: the link sends each packet at once and becomes idle.
        let sent = (0..1000).filter(|_| {
            queue.now += Span::from_micros(7200);
            queue.enqueue(Packet::new(FlowId(42), 1000, ()));
            let sent = queue.dequeue();
            queue.now += LINK.rate.transmit(1000);
            assert!(!queue.dequeue(), "{}: one packet arrived and two left", entry.name);
            sent
        });
        let sent = sent.count();
        assert!(sent > 900, "{}: {sent} of 1000 packets sent", entry.name);
    }
}

#[test]
fn the_end_of_time_causes_no_panic() {
    for entry in ENTRIES {
        let mut queue = audited(entry, "30p", &LINK);
        for now in [Time::ZERO, Time::from_nanos(u64::MAX / 2), Time::from_nanos(u64::MAX - 5), Time::NEVER] {
            queue.now = now;
            let mut rng = Rng::new(4);
            for step in 0..300 {
                queue.enqueue(MIXES[0].packet(&mut rng));
                if step % 3 > 0 {
                    queue.dequeue();
                }
            }
        }
        queue.drain();
    }
}

#[test]
fn a_rate_or_mean_packet_of_zero_causes_no_panic() {
    for entry in ENTRIES {
        for (bits, mean_packet) in [(0, 0), (0, u32::MAX), (1, 0), (u64::MAX, 1)] {
            let link = LinkInfo::new(Rate::from_bits(bits), mean_packet, 0);
            for (limit, mix) in ["40p", "30KB"].iter().flat_map(|limit| MIXES.iter().map(move |mix| (limit, mix))) {
                mix.drive(&mut audited(entry, limit, &link), 400, &mut Rng::new(5));
            }
        }
    }
}

#[test]
fn shedding_empties_the_queue_one_call_at_a_time() {
    for entry in ENTRIES {
        let mut queue = audited(entry, "200p", &LINK);
        let mut rng = Rng::new(6);
        (0..200).for_each(|_| queue.enqueue(MIXES[3].packet(&mut rng)));
        assert!(queue.audit.held().packets > 20, "{}: {:?}", entry.name, queue.audit.held());
        while queue.audit.held().packets > 0 {
            queue.shed();
        }
        queue.shed();
        queue.drain();
    }
}

#[test]
fn an_empty_queue_may_be_dequeued_a_quarter_of_a_million_times() {
    for entry in ENTRIES {
        let mut queue = audited(entry, "50p", &LINK);
        for _ in 0..250_000 {
            queue.now += Span::from_micros(1);
            assert!(!queue.dequeue(), "{}", entry.name);
        }
        queue.enqueue(Packet::new(FlowId(1), 1000, ()));
        assert!(queue.dequeue(), "{}: the first packet after a long idle time", entry.name);
    }
}
