//! Guarantees of shapers and class schedulers, for any arrivals.

use aqm::{ClassId, FlowId, LinkInfo, Packet, Port, Rate, Rng, Span, Time, registry};

const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

fn port(name: &str, settings: &[(&str, &str)]) -> Port<u32> {
    Port::new(registry::boxed(name, settings, &LINK).unwrap(), Rng::named(1, "port"))
}

/// Arrivals in bursts every few milliseconds, at 1.6 times 2 Mbit/s.
fn bursts(seconds: u64) -> Vec<(Time, Packet<u32>)> {
    let (mut rng, mut now, mut arrivals) = (Rng::named(1, "bursts"), Time::ZERO, Vec::new());
    while now < Time::ZERO + Span::from_secs(seconds) {
        now += Span::from_secs_f64(rng.between(0.0, 0.04));
        for _ in 0..rng.below(16) {
            arrivals.push((now, Packet::new(FlowId(1), 40 + rng.below(1461), arrivals.len() as u32)));
        }
    }
    arrivals
}

/// Offers `arrivals` to a link that dequeues at `ready_at`. Returns departure time and bytes of each packet.
fn shaped(port: &mut Port<u32>, arrivals: Vec<(Time, Packet<u32>)>) -> Vec<(Time, u64)> {
    let (mut left, mut arrivals, mut now) = (Vec::new(), arrivals.into_iter().peekable(), Time::ZERO);
    loop {
        let ready = port.ready_at(now).unwrap_or(Time::NEVER);
        match arrivals.peek() {
            Some((at, _)) if *at <= ready => {
                now = *at;
                port.enqueue(arrivals.next().unwrap().1, now, &mut ());
            }
            None if ready == Time::NEVER => return left,
            _ => {
                now = ready;
                left.extend(port.dequeue(now, &mut ()).map(|packet| (now, u64::from(packet.bytes))));
            }
        }
    }
}

#[test]
fn tbf_sends_at_most_the_rate_and_a_burst_and_at_least_the_rate_while_packets_are_queued() {
    // ITU-T I.371: over any interval, burst + rate x time; here with a nanosecond's rounding for each packet.
    let (rate, burst) = (2e6 / 8.0, 20_000.0);
    let mut port = port("tbf", &[("rate", "2Mbit/s"), ("burst", "20KB"), ("limit", "100KB")]);
    let left = shaped(&mut port, bursts(100));
    let (mut lowest, mut sent) = (f64::INFINITY, 0.0);
    for (at, bytes) in &left {
        // surplus(t) is the bytes sent up to t less rate x t. It never exceeds an earlier minimum by more than the
        // burst.
        let surplus = sent - rate * at.as_secs_f64();
        lowest = lowest.min(surplus);
        sent += *bytes as f64;
        assert!(surplus + *bytes as f64 - lowest <= burst + 1.0, "at {at}");
    }
    assert!(port.totals().dropped() > 1000, "it was overloaded: {}", port.totals().dropped());
    // The queue is overloaded from the first second on. The shaper therefore sends the full rate and the burst, to
    // within a packet.
    let seconds = left.last().unwrap().0.as_secs_f64();
    assert!((sent - rate * seconds - burst).abs() < 0.01 * sent, "{sent} B in {seconds} s");
}

#[test]
fn prio_delays_an_urgent_packet_at_most_by_the_packet_being_sent() {
    let mut port = port("prio", &[("limit", "500p"), ("children", "[droptail; droptail]")]);
    let sending = LINK.rate.transmit(1000);
    let (mut rng, mut free, mut next) = (Rng::named(1, "urgent"), Time::ZERO, [Time::ZERO; 2]);
    let mut sent = [0_u32; 2];
    // Class 1 demands 0.1 of the link's rate in widely spaced packets, class 2 three times the link's rate.
    while free < Time::ZERO + Span::from_secs(100) {
        let class = usize::from(next[1] < next[0]);
        if next[class] <= free {
            let packet = Packet { class: ClassId(class as u16 + 1), ..Packet::new(FlowId(class as u64), 1000, 0) };
            port.enqueue(packet, next[class], &mut ());
            next[class] += Span::from_secs_f64(sending.as_secs_f64() * [rng.between(5.0, 15.0), 1.0 / 3.0][class]);
            continue;
        }
        if let Some(packet) = port.dequeue(free, &mut ()) {
            let class = packet.flow.0 as usize;
            sent[class] += 1;
            assert!(
                class == 1 || free - packet.arrived <= sending,
                "an urgent packet waited {}",
                free - packet.arrived
            );
        }
        free += sending;
    }
    // There are 10 000 urgent packets on average, and the link is fully used.
    assert!(sent[0].abs_diff(10_000) < 200 && sent[0] + sent[1] >= 99_990, "{sent:?}");
}
