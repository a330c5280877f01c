//! Golden counts: one trace through every discipline, one line each. The commit that blesses a changed table says why
//! it changed.

use aqm::registry::{self, DisciplineEntry, ENTRIES};
use aqm::{Counts, Ecn, FlowId, Ledger, LinkInfo, Packet, Port, Rate, Rng, Span, Time, Why};

const RATE: Rate = Rate::from_bits(10_000_000);
const BYTES: u32 = 1000;
/// The hog's demand, in fair shares of eleven flows.
const GREED: f64 = 5.0;
const FLOWS: usize = 11;
const LENGTH: Span = Span::from_secs(60);

/// Counts of all packets and of the hog's packets, and the queue length at each arrival.
#[derive(Default)]
struct Books {
    all: Counts,
    hog: Counts,
    held: u64,
    found: u64,
}

impl Ledger<()> for Books {
    fn arrived(&mut self, packet: &Packet<()>, _: Time) {
        self.found += self.held;
        self.held += 1;
        self.each(packet, |counts| counts.arrived += 1);
    }
    fn sent(&mut self, packet: &Packet<()>, _: Time) {
        self.held -= 1;
        self.each(packet, |counts| counts.sent += 1);
    }
    fn dropped(&mut self, packet: &Packet<()>, why: Why, _: Time) {
        self.held -= 1;
        self.each(packet, |counts| counts.signals.entry(why).drops += 1);
    }
    fn marked(&mut self, packet: &Packet<()>, why: Why, _: Time) {
        self.each(packet, |counts| counts.signals.entry(why).marks += 1);
    }
}

impl Books {
    fn each(&mut self, packet: &Packet<()>, write: impl Fn(&mut Counts)) {
        write(&mut self.all);
        if packet.flow == FlowId(0) {
            write(&mut self.hog);
        }
    }
}

/// Flow 0 is the hog. Each of the ten others demands 0.5 to 1.5 fair shares. The demand is drawn again after 114
/// packets on average, which take a second at the fair share. Five flows are ECN-capable. Gaps are uniform in 0 to
/// twice their mean.
struct GoldenSender {
    flow: usize,
    demand: f64,
    next: Time,
    rng: Rng,
}

impl GoldenSender {
    fn new(flow: usize) -> GoldenSender {
        GoldenSender { flow, demand: 1.0, next: Time::ZERO, rng: Rng::named(1, &format!("sender {flow}")) }
    }

    fn send(&mut self) -> Packet<()> {
        if self.flow == 0 {
            self.demand = GREED;
        } else if self.rng.chance(1.0 / 114.0) {
            self.demand = self.rng.between(0.5, 1.5);
        }
        let fair_gap = RATE.transmit(BYTES).as_secs_f64() * FLOWS as f64;
        self.next += Span::from_secs_f64(self.rng.between(0.0, 2.0) * fair_gap / self.demand);
        let ecn = if self.flow % 2 == 1 { Ecn::Ect0 } else { Ecn::NotEct };
        Packet { ecn, ..Packet::new(FlowId(self.flow as u64), BYTES, ()) }
    }
}

/// Runs the trace through a link that dequeues once per transmission time.
fn run(entry: &DisciplineEntry) -> Books {
    let link = LinkInfo::new(RATE, BYTES, 1);
    let discipline = registry::boxed::<()>(entry.name, &[("limit", "150p")], &link).unwrap();
    let mut port = Port::with_ledger(discipline, Rng::named(1, "port"), Books::default());
    let mut senders: Vec<GoldenSender> = (0..FLOWS).map(GoldenSender::new).collect();
    let mut free = Time::ZERO;
    loop {
        let sender = senders.iter_mut().min_by_key(|sender| sender.next).unwrap();
        let now = sender.next.min(free);
        if now > Time::ZERO + LENGTH {
            return std::mem::take(port.ledger_mut());
        }
        if free <= sender.next {
            port.dequeue(now, &mut ());
            free += RATE.transmit(BYTES);
        } else {
            let packet = sender.send();
            port.enqueue(packet, now, &mut ());
        }
    }
}

/// A row of the table: counts for every reason that occurred, drops before marks.
fn line(entry: &DisciplineEntry, books: &Books) -> String {
    let Books { all, hog, found, .. } = books;
    let given = entry.reasons(&[]).unwrap();
    let reasons = |kind: &str, count: &dyn Fn(Why) -> u64| -> String {
        let named = given.iter().map(|why| (why, count(*why))).filter(|(_, count)| *count > 0);
        named.map(|(why, count)| format!(" {kind}:{why}={count}")).collect()
    };
    format!(
        "{:<10} {:>7} {:>7} {:>8.1}% {:>10.1} {}{}\n",
        entry.name,
        all.arrived,
        all.sent,
        100.0 * hog.sent as f64 / all.sent as f64,
        *found as f64 / all.arrived as f64,
        reasons("drop", &|why| all.drops(why)),
        reasons("mark", &|why| all.marks(why)),
    )
}

#[test]
fn ten_flows_and_a_hog_share_a_link_as_they_did_before() {
    let mut table = format!(
        "# 10 flows of random demand and one at {GREED} times its fair share, 60 s, 10 Mbit/s, limit 150p; fair: {:.1}%\n",
        100.0 / FLOWS as f64
    );
    table += &format!("{:<10} {:>7} {:>7} {:>9} {:>10}  drops and marks\n", "qdisc", "arrived", "sent", "hog", "queue");
    ENTRIES.iter().for_each(|entry| table += &line(entry, &run(entry)));
    crate::support::golden("tests/golden/hog.txt", &table, "bless");
}
