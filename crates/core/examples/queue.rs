//! A queue in ten lines: CoDel in front of a link of 10 Mbit/s, to which 20 Mbit/s arrive for six seconds.

use aqm::{FlowId, LinkInfo, Packet, Port, Rate, Rng, Time, registry};

fn main() {
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1500, 7);
    let codel = registry::boxed::<()>("codel", &[("target", "5ms")], &link).expect("CoDel has this parameter");
    let mut port = Port::new(codel, Rng::new(1));
    for number in 0..10_000 {
        let now = Time::from_nanos(number * 600_000); // a packet of 1500 bytes each 0.6 ms; the link needs 1.2 ms
        port.enqueue(Packet::new(FlowId(1), 1500, ()), now, &mut ());
        if number % 2 == 0 {
            let _packet_to_send = port.dequeue(now, &mut ());
        }
    }
    println!("{} of 10000 packets dropped, {} queued", port.totals().dropped(), port.backlog().packets);
}

#[test]
fn it_runs() {
    main();
}
