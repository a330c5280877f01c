//! A threshold given in bytes means the same backlog in bytes, whatever the sizes of the packets.
//!
//! A discipline that counts packets would convert such a threshold with the mean packet size, and marking would begin
//! elsewhere for packets of another size. It must therefore count bytes, or refuse the threshold.

use aqm::registry::{self, DisciplineEntry, ENTRIES};
use aqm::{BuildError, Discipline, Ecn, FlowId, LinkInfo, Packet, Port, Rate, Rng, Span, Time};

/// Packets of 1000 bytes are typical for this link.
const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 5);
/// The threshold under test, in bytes.
const THRESHOLD: u64 = 40_000;
const LEVEL_KIND: &str = "packets, bytes or share of the limit";

/// Packets dropped or marked while the backlog stays at `backlog` bytes of packets of `bytes`, which arrive at `load`
/// times the link's rate. Controllers settle during the first half of the arrivals, which does not count.
fn signals(discipline: Box<dyn Discipline<()>>, backlog: u64, bytes: u32, load: f64) -> u64 {
    const ARRIVALS: u64 = 40_000;
    let mut port = Port::new(discipline, Rng::new(9));
    let pause = Span::from_secs_f64(LINK.rate.transmit(bytes).as_secs_f64() / load);
    let (mut now, mut settled) = (Time::ZERO, 0);
    let signals = |port: &Port<(), _>| port.totals().counts().dropped() + port.totals().counts().marked();
    for n in 0..ARRIVALS {
        if n == ARRIVALS / 2 {
            settled = signals(&port);
        }
        while port.backlog().bytes >= backlog && port.dequeue(now, &mut ()).is_some() {}
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(1), bytes, ()) };
        port.enqueue(packet, now, &mut ());
        // The first packets arrive at once.
        if n >= backlog / u64::from(bytes) {
            now += pause;
        }
    }
    signals(&port) - settled
}

/// The discipline with `field` at [`THRESHOLD`]; `None` if it refuses bytes.
fn build(entry: &DisciplineEntry, field: &'static str, limit: &str) -> Option<Box<dyn Discipline<()>>> {
    let threshold = format!("{THRESHOLD}B");
    let mut settings = vec![("limit", limit), (field, &threshold)];
    // RED's lower threshold lies below the upper one, and a single bucket has the whole limit.
    let known = |name: &str| entry.fields().iter().any(|field| field.name == name);
    settings.extend((field == "maxth" && known("minth")).then_some(("minth", "39KB")));
    settings.extend((entry.name == "sfq_red").then_some(("buckets", "1")));
    match registry::boxed(entry.name, &settings, &LINK) {
        Ok(discipline) => Some(discipline),
        Err(BuildError::Conflict(why)) if why.contains("counts packets") => None,
        Err(other) => panic!("{}:{field}={threshold}: {other}", entry.name),
    }
}

/// Half the threshold at half the load gives no drop or mark; twice the threshold at an overload gives some.
#[test]
fn a_threshold_in_bytes_is_the_same_backlog_for_packets_of_every_size() {
    let (mut counted, mut refused, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    for entry in ENTRIES {
        for field in entry.fields().into_iter().filter(|field| field.kind.starts_with(LEVEL_KIND)) {
            let what = format!("{}:{}", entry.name, field.name);
            if build(entry, field.name, "1000p").is_none() {
                refused.push(what);
                continue;
            }
            for limit in ["1000p", "1MB"] {
                for bytes in [250, 1000, 4000] {
                    let run = |backlog, load| {
                        signals(build(entry, field.name, limit).expect("it was built"), backlog, bytes, load)
                    };
                    let case = format!("{what}={THRESHOLD}B,limit={limit}, packets of {bytes} bytes");
                    match (run(THRESHOLD / 2, 0.5), run(2 * THRESHOLD, 1.2)) {
                        (0, 1..) => {}
                        (0, 0) => broken.push(format!("{case}: no signal above the threshold")),
                        (below, _) => broken.push(format!("{case}: {below} signals below the threshold")),
                    }
                }
            }
            counted.push(what);
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    // Fields of a discipline that counts packets per bin or flow.
    let by_packets = ["fred:maxq", "fred:maxth", "fred:minth"];
    let by_bins = ["sfb:bin_max", "sfb:bin_size", "sfred:bin_size", "sfred:maxth", "sfred:minth"];
    refused.sort_unstable();
    assert_eq!(refused, [&by_packets[..], &by_bins].concat());
    assert!(counted.len() >= 20, "{counted:?}");
}
