//! The laws that every discipline of the registry obeys, with any settings and any traffic. A new discipline is tested
//! without further code.

mod audit;
mod extremes;
mod parameters;
mod thresholds;
mod traces;

use std::collections::BTreeSet;

use aqm::registry::{self, DisciplineEntry, DisciplineVisitor, ENTRIES};
use aqm::{BuildError, Discipline, FlowId, Limit, LinkInfo, Packet, Port, Rate, Rng, Span, Time};

use audit::{Audit, Audited, Decision};
use traces::{DrawnSettings, MIXES, Mix, borrowed, settings, spelled};

/// Traces per discipline.
const TRACES: usize = 240;
const STEPS: u32 = 1200;

/// One trace: everything that the decisions may depend on.
struct TraceCase<'a> {
    entry: &'a DisciplineEntry,
    settings: DrawnSettings,
    mix: &'a Mix,
    seed: u64,
}

impl<'a> TraceCase<'a> {
    /// The `n`th case of a discipline; `None` if the drawn settings contradict each other, such as thresholds above the
    /// limit. No other error is accepted.
    fn draw(entry: &'a DisciplineEntry, n: usize) -> Option<TraceCase<'a>> {
        let mut rng = Rng::named(n as u64, "settings");
        let settings = settings(entry, n, &mut rng);
        // Limits and mixes both rotate. The mixes shift by one each round, so every limit meets every mix.
        let case = TraceCase { entry, settings, mix: &MIXES[(n + n / MIXES.len()) % MIXES.len()], seed: n as u64 };
        match registry::boxed::<u32>(entry.name, &borrowed(&case.settings), &case.link()) {
            Ok(_) => Some(case),
            Err(BuildError::Conflict(_)) => None,
            Err(other) => panic!("{case}: {other}"),
        }
    }

    fn link(&self) -> LinkInfo<'_> {
        LinkInfo::new(Rate::from_bits(10_000_000), 1000, self.seed)
    }

    fn value(&self, name: &str) -> Option<String> {
        let values = self.entry.resolve(&borrowed(&self.settings)).unwrap();
        values.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    fn run<D: Discipline<u32>>(&self, discipline: D) -> Vec<Decision> {
        let limit = Limit::parse(&self.value("limit").expect("every row has a limit")).unwrap();
        let audit =
            Audit::new(self.to_string(), self.value("ecn").as_deref() == Some("on"), self.entry.abilities.schedules);
        let mut queue = Audited::new(discipline, Rng::named(self.seed, "port"), limit, audit);
        self.mix.drive(&mut queue, STEPS, &mut Rng::named(self.seed, "traffic"));
        queue.audit.decisions
    }

    fn run_boxed(&self) -> Vec<Decision> {
        self.run(registry::boxed(self.entry.name, &borrowed(&self.settings), &self.link()).unwrap())
    }

    fn run_with(&self) -> Vec<Decision> {
        registry::with(self.entry.name, &borrowed(&self.settings), &self.link(), Compiled(self)).unwrap()
    }
}

impl std::fmt::Display for TraceCase<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}, seed {}", spelled(self.entry.name, &self.settings), self.mix.name, self.seed)
    }
}

struct Compiled<'a>(&'a TraceCase<'a>);

impl DisciplineVisitor<u32> for Compiled<'_> {
    type Output = Vec<Decision>;
    fn visit<D: Discipline<u32> + 'static>(self, discipline: D) -> Vec<Decision> {
        self.0.run(discipline)
    }
}

/// The first [`TRACES`] cases of a discipline.
fn cases(entry: &DisciplineEntry) -> impl Iterator<Item = TraceCase<'_>> {
    let found = (0..4 * TRACES).filter_map(|n| TraceCase::draw(entry, n)).take(TRACES).collect::<Vec<_>>();
    assert_eq!(found.len(), TRACES, "{}: too many settings conflict", entry.name);
    found.into_iter()
}

#[test]
fn no_packet_is_lost_made_reordered_wrongly_marked_or_held_above_the_limit() {
    for entry in ENTRIES {
        let (mut sent, mut dropped, mut marked) = (0, 0, 0);
        for decision in cases(entry).flat_map(|case| case.run_boxed()) {
            match decision {
                Decision::Sent(_) => sent += 1,
                Decision::Dropped(..) => dropped += 1,
                Decision::Marked(..) => marked += 1,
            }
        }
        // Without drops and departures the laws would hold trivially.
        assert!(sent > 10_000 && dropped > 10_000, "{}: {sent} sent, {dropped} dropped", entry.name);
        assert_eq!(marked > 0, entry.abilities.ecn, "{}: {marked} marked", entry.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_decisions_boxed_or_compiled_in() {
    for entry in ENTRIES {
        for case in cases(entry).step_by(4) {
            let boxed = case.run_boxed();
            let differ = |other: &[Decision]| boxed.iter().zip(other).position(|(a, b)| a != b);
            for (how, other) in [("again", case.run_boxed()), ("compiled in", case.run_with())] {
                assert_eq!((differ(&other), other.len()), (None, boxed.len()), "{case}: first difference, {how}");
            }
        }
    }
}

/// The names of a discipline's gauges, then of its gauges of a flow. Checks their values: probabilities are from 0 to 1, no
/// mean is above its maximum, and packets of a flow or a bin are at most those queued.
fn gauges(discipline: &dyn Discipline<u32>, flow: FlowId) -> Vec<&'static str> {
    let mut values = Vec::new();
    discipline.observe(&mut |name, value| values.push((name, value)));
    discipline.observe_flow(flow, &mut |name, value| values.push((name, value)));
    let value_of = |name: &str| values.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    for (name, value) in values.iter().filter(|(_, value)| !value.is_nan()) {
        let most = match name.strip_suffix("_mean") {
            Some(stem) => value_of(&format!("{stem}_max")).unwrap(),
            None if name.contains("probability") => 1.0,
            None if ["queued", "bin_packets", "bin_packets_max"].contains(name) => discipline.backlog().packets.into(),
            None => continue,
        };
        assert!((0.0..=most * (1.0 + 1e-9)).contains(value), "{name} is {value}, of at most {most}");
    }
    values.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn bins_are_numbered_from_zero_and_each_level_has_as_many() {
    for entry in ENTRIES {
        for case in cases(entry).step_by(24) {
            let discipline = registry::boxed::<u32>(entry.name, &borrowed(&case.settings), &case.link()).unwrap();
            let mut numbers = Vec::new();
            discipline.observe_bins(&mut |level, bin, _, _| numbers.push((level, bin)));
            let (levels, width) = numbers.last().map_or((0, 0), |(level, bin)| (level + 1, bin + 1));
            let expected: Vec<_> = (0..levels).flat_map(|level| (0..width).map(move |bin| (level, bin))).collect();
            assert_eq!(numbers, expected, "{case}");
        }
    }
}

#[test]
fn a_discipline_reports_the_gauges_that_it_declares_and_no_other() {
    // A gauge of a band has the band's number in its name.
    let generic = |name: &str| name.replace(|each: char| each.is_ascii_digit(), "N");
    // TBF reports the gauges of the discipline inside it.
    for entry in ENTRIES.iter().filter(|entry| entry.name != "tbf") {
        let mut reported = BTreeSet::new();
        for case in cases(entry) {
            let discipline = registry::boxed::<u32>(entry.name, &borrowed(&case.settings), &case.link()).unwrap();
            discipline.observe(&mut |name, _| _ = reported.insert((generic(name), false)));
            discipline.observe_flow(FlowId(0), &mut |name, _| _ = reported.insert((generic(name), true)));
        }
        let declared = entry.gauges().iter().map(|gauge| (gauge.name.to_string(), gauge.of_flow)).collect();
        assert_eq!(reported, declared, "{}", entry.name);
    }
}

#[test]
fn the_set_of_gauges_is_the_same_at_any_time_and_for_every_flow() {
    for entry in ENTRIES {
        for case in cases(entry).step_by(24) {
            let discipline = registry::boxed(entry.name, &borrowed(&case.settings), &case.link()).unwrap();
            let mut port = Port::new(discipline, Rng::new(1));
            let (first, mut rng, mut now) = (gauges(port.discipline(), FlowId(0)), Rng::new(2), Time::ZERO);
            for step in 0..600 {
                now += Span::from_micros(200);
                let Packet { flow, bytes, ecn, .. } = case.mix.packet(&mut rng);
                port.enqueue(Packet { ecn, ..Packet::new(flow, bytes, 0) }, now, &mut ());
                if step % 3 > 0 {
                    port.dequeue(now, &mut ());
                }
                // A flow that has just sent, and a flow that never sent.
                for flow in [flow, FlowId(u64::MAX)] {
                    assert_eq!(gauges(port.discipline(), flow), first, "{case}");
                }
            }
        }
    }
}

#[test]
fn a_port_counts_what_its_discipline_decided() {
    for entry in ENTRIES {
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 1);
        let mut port = Port::new(registry::boxed(entry.name, &[("limit", "30p")], &link).unwrap(), Rng::new(1));
        let (mut audit, mut rng) = (Audit::new(entry.name.into(), true, entry.abilities.schedules), Rng::new(2));
        let mut now = Time::ZERO;
        for step in 0..5000 {
            now += Span::from_micros(200);
            let packet: Packet<u32> = audit.arrived(MIXES[0].packet(&mut rng));
            port.enqueue(packet, now, &mut audit);
            if step % 3 > 0 {
                port.dequeue(now, &mut audit).into_iter().for_each(|packet| audit.sent(packet));
            }
            assert_eq!(port.backlog(), audit.held(), "{}", entry.name);
        }
        let counts = port.totals().counts();
        let decided = |wanted: &dyn Fn(&Decision) -> bool| audit.decisions.iter().filter(|d| wanted(d)).count() as u64;
        assert_eq!((counts.arrived, counts.sent), (5000, decided(&|d| matches!(d, Decision::Sent(_)))));
        assert_eq!(port.totals().queue_delay().count(), counts.sent);
        let declared = entry.reasons(&[]).unwrap();
        assert!(counts.signals.iter().all(|(why, _)| declared.contains(&why)), "{}: {counts:?}", entry.name);
        for why in registry::reasons() {
            let told = [counts.drops(why), counts.marks(why)];
            let drops = decided(&|d| matches!(d, Decision::Dropped(_, reason) if *reason == why));
            let marks = decided(&|d| matches!(d, Decision::Marked(_, reason) if *reason == why));
            assert_eq!(told, [drops, marks], "{}: drops and marks for {why}", entry.name);
        }
    }
}
