//! Random traffic and random settings for the laws.

use aqm::registry::DisciplineEntry;
use aqm::{ClassId, Discipline, Ecn, FlowId, Packet, ParameterInfo, Rng, Span};

use crate::conform::audit::Audited;

/// A kind of traffic.
pub struct Mix {
    pub name: &'static str,
    /// Number of flows.
    flows: u64,
    /// Share of packets that belong to one flow, besides its equal part of the others.
    hog: f64,
    sizes: &'static [u32],
    /// Share of flows whose packets are ECN-capable.
    ect: f64,
    /// Arrivals per departure.
    load: f64,
    /// Times between calls, drawn with equal probability.
    pauses: &'static [Span],
}

const STEADY: &[Span] = &[Span::from_micros(100), Span::from_micros(400), Span::from_millis(1)];
const BURSTY: &[Span] = &[Span::ZERO, Span::ZERO, Span::ZERO, Span::from_millis(3)];
const ERRATIC: &[Span] =
    &[Span::ZERO, Span::from_nanos(1), Span::from_micros(10), Span::from_millis(50), Span::from_secs(7200)];

#[rustfmt::skip]
pub const MIXES: &[Mix] = &[
    Mix { name: "few flows", flows: 4, hog: 0.0, sizes: &[1000], ect: 0.5, load: 1.3, pauses: STEADY },
    Mix { name: "light load", flows: 20, hog: 0.2, sizes: &[40, 1500], ect: 0.5, load: 0.7, pauses: STEADY },
    Mix { name: "one hog", flows: 10, hog: 0.7, sizes: &[512], ect: 1.0, load: 2.0, pauses: BURSTY },
    Mix { name: "many flows", flows: 5000, hog: 0.0, sizes: &[40, 576, 1500], ect: 0.3, load: 1.5, pauses: BURSTY },
    Mix { name: "flood", flows: 50, hog: 0.3, sizes: &[64, 1500], ect: 0.0, load: 20.0, pauses: STEADY },
    Mix { name: "time stands still", flows: 8, hog: 0.3, sizes: &[1000], ect: 0.5, load: 1.5, pauses: &[Span::ZERO] },
    Mix { name: "time jumps", flows: 8, hog: 0.3, sizes: &[1000], ect: 0.5, load: 1.5, pauses: ERRATIC },
    Mix { name: "odd sizes", flows: 8, hog: 0.3, sizes: &[0, 1, 1500, 65_535, u32::MAX], ect: 0.5, load: 1.5, pauses: ERRATIC },
];

impl Mix {
    /// Makes `steps` random calls, drains the queue, and dequeues from the empty queue a few times.
    pub fn drive<D: Discipline<u32>>(&self, queue: &mut Audited<D>, steps: u32, rng: &mut Rng) {
        for _ in 0..steps {
            queue.now += pick(rng, self.pauses);
            if rng.chance(self.load / (1.0 + self.load)) {
                queue.enqueue(self.packet(rng));
            } else if rng.chance(0.02) {
                queue.shed();
            } else {
                queue.dequeue();
            }
        }
        queue.drain();
        (0..20).for_each(|_| assert!(!queue.dequeue(), "a packet out of an empty queue"));
    }

    pub fn packet(&self, rng: &mut Rng) -> Packet<()> {
        let number = if rng.chance(self.hog) { 0 } else { u64::from(rng.below(self.flows as u32)) };
        // Flow identifiers use all 64 bits, like the hosts' hashes.
        let flow = FlowId(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let capable = [Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
        // All packets of a flow have the same codepoint: another one may select another queue (RFC 9332).
        let mut own = Rng::new(number);
        let ecn = if own.chance(self.ect) { pick(&mut own, &capable) } else { Ecn::NotEct };
        Packet { ecn, class: ClassId((number % 3) as u16), ..Packet::new(flow, pick(rng, self.sizes), ()) }
    }
}

pub type DrawnSettings = Vec<(&'static str, String)>;

/// Settings number `n` of `entry`. Limits, presets and `ecn` rotate. In two of three cases, some of the other
/// parameters have random values.
pub fn settings(entry: &DisciplineEntry, n: usize, rng: &mut Rng) -> DrawnSettings {
    const LIMITS: &[&str] = &["1p", "3p", "40p", "300p", "1B", "1500B", "9KB", "200KB"];
    let mut chosen: DrawnSettings = vec![("limit", LIMITS[n % LIMITS.len()].into())];
    let presets = entry.presets();
    chosen.push(("preset", presets[n / LIMITS.len() % presets.len()].name.into()));
    for field in entry.fields() {
        match field.name {
            "limit" => {}
            "ecn" => chosen.push(("ecn", if n % 4 < 3 { "on" } else { "off" }.into())),
            name if !n.is_multiple_of(3) && rng.chance(0.3) => {
                let mut values = candidates(entry, &field);
                chosen.push((name, values.swap_remove(rng.below(values.len() as u32) as usize)));
            }
            _ => {}
        }
    }
    chosen
}

pub fn borrowed(settings: &DrawnSettings) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// As a user would write it: `red:limit=3p,ecn=on`.
pub fn spelled(name: &str, settings: &DrawnSettings) -> String {
    let pairs: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{name}:{}", pairs.join(","))
}

/// The default, and small and large values of the field's kind that are in its range.
fn candidates(entry: &DisciplineEntry, field: &ParameterInfo) -> Vec<String> {
    let all: Vec<&str> = match field.kind.trim_end_matches(", or auto") {
        "whole number" => vec!["0", "1", "2", "3", "7", "64", "1000"],
        "number" => vec!["0", "0.001", "0.02", "0.25", "0.5", "1", "1.5", "8"],
        "time" => vec!["0s", "1ns", "1ms", "50ms", "2s"],
        "rate" => vec!["0bit/s", "1bit/s", "160kbit/s", "1Gbit/s"],
        "bytes" => vec!["1B", "512B", "9KB"],
        "packets or bytes" => vec!["1p", "20p", "3KB"],
        "packets, bytes or share of the limit" => vec!["0p", "1p", "10%", "50%", "5KB"],
        // Nested disciplines mark by their own settings, so `ecn` is off: the law on marks is tested on each discipline
        // alone.
        "discipline" => vec!["droptail", "[red:limit=5p,ecn=off]", "[tbf:rate=1Mbit/s,child=[sfb:bins=3,ecn=off]]"],
        "disciplines" => {
            let shaped = "[red:ecn=off; tbf:rate=1Mbit/s,child=[fred:ecn=off]]";
            vec!["[droptail]", shaped, "[droptail:limit=2p; choke:ecn=off; blue:ecn=off]"]
        }
        words => words.split(" or ").collect(),
    };
    let mut all: Vec<String> = all.into_iter().map(String::from).collect();
    all.extend([field.default.clone(), "auto".into()]);
    all.retain(|value| entry.resolve(&[(field.name, value)]).is_ok());
    all
}

fn pick<V: Copy>(rng: &mut Rng, from: &[V]) -> V {
    from[rng.below(from.len() as u32) as usize]
}
