//! Every two choices of controller, recovery, feedback, options, rate and round trip, in few rows.

use headgate_scenario::{Cc, Changes, Recovery, Scenario};

use crate::common::covering::{all_pairs, pairs};

/// How marks are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    None,
    Classic,
    Accurate,
}

/// A path of one link: its rate, and its round trip without a queue.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub mbit_per_s: f64,
    pub rtt_ms: f64,
}

impl Path {
    /// The size of a packet in bytes with which the path holds at most some hundreds.
    pub fn packet(self) -> u32 {
        (self.bytes() / 300.0).clamp(500.0, 64_000.0) as u32
    }

    fn bytes(self) -> f64 {
        self.mbit_per_s * 1e6 * self.rtt_ms / 1e3 / 8.0
    }

    /// Packets in a round trip, at least one.
    pub fn bdp(self) -> f64 {
        (self.bytes() / f64::from(self.packet())).max(1.0)
    }

    /// The seconds that a window of `packets` takes.
    pub fn round(self, packets: f64) -> f64 {
        (self.rtt_ms / 1e3) * (packets / self.bdp()).max(1.0) + f64::from(self.packet()) * 8.0 / (self.mbit_per_s * 1e6)
    }
}

/// A row: the flow and its path.
#[derive(Clone, Copy, Debug)]
pub struct Combination {
    pub cc: Cc,
    pub recovery: Recovery,
    pub feedback: Feedback,
    pub timestamps: bool,
    pub pacing: bool,
    pub delays_acks: bool,
    pub profile: &'static str,
    pub path: Path,
}

const PROFILES: [&str; 3] = ["rfc", "linux", "ns2"];
const FEEDBACK: [Feedback; 3] = [Feedback::None, Feedback::Classic, Feedback::Accurate];
const RATES: [f64; 3] = [1.0, 50.0, 1000.0];
const ROUND_TRIPS: [f64; 3] = [5.0, 20.0, 300.0];

impl Combination {
    const LEVELS: [usize; 9] = [Cc::ALL.len(), Recovery::ALL.len(), 3, 2, 2, 2, 3, 3, 3];

    fn of(row: &[usize]) -> Combination {
        Combination {
            cc: Cc::ALL[row[0]],
            recovery: Recovery::ALL[row[1]],
            feedback: FEEDBACK[row[2]],
            timestamps: row[3] == 1,
            pacing: row[4] == 1,
            delays_acks: row[5] == 1,
            profile: PROFILES[row[6]],
            path: Path { mbit_per_s: RATES[row[7]], rtt_ms: ROUND_TRIPS[row[8]] },
        }
    }

    /// The keys of a group of TCP flows, the name of its controller first.
    pub fn flow(&self) -> String {
        let Combination { timestamps, pacing, profile, .. } = self;
        let (ecn, accurate) = (self.feedback != Feedback::None, self.feedback == Feedback::Accurate);
        // Linux's Vegas alone needs selective acknowledgements. A paced segment waits at the receiver for the next one, which
        // looks like a segment in the queue: with ns-2's `alpha` of one, Vegas would never grow.
        let vegas = if self.cc == Cc::Vegas { "vegas_linux = false\nvegas_alpha = 2\nvegas_beta = 4\n" } else { "" };
        let delayed = if self.delays_acks { "'40ms'" } else { "'off'" };
        format!(
            "cc = '{}'\nrecovery = '{}'\necn = {ecn}\naccecn = {accurate}\ntimestamps = {timestamps}\npacing = {pacing}\n\
             delayed_ack = {delayed}\nprofile = '{profile}'\npacket = '{}B'\naccess = {{ rate = '100Gbit/s', delay = '0s' }}\n{vegas}",
            self.cc.name(),
            self.recovery.name(),
            self.path.packet(),
        )
    }

    /// A scenario of the path with these keys of the link and of its flows.
    pub fn scenario(&self, seconds: [f64; 2], link: &str, flows: &str) -> Result<Scenario, String> {
        let [warmup, duration] = seconds.map(|seconds| (seconds * 1e6).ceil());
        let Path { mbit_per_s, rtt_ms } = self.path;
        let text = format!(
            "name = 't'\nduration = '{duration}us'\nwarmup = '{warmup}us'\nqdiscs = ['droptail']\n\
             [link]\nrate = '{mbit_per_s}Mbit/s'\ndelay = '{}us'\n{link}\n{flows}",
            rtt_ms * 500.0
        );
        Scenario::read(&text, "t", &Changes::default()).map_err(|error| error.to_string())
    }

    fn is_allowed(&self) -> bool {
        self.scenario([0.0, 1.0], "limit = '9p'", &format!("[[tcp]]\n{}", self.flow())).is_ok()
    }
}

/// The rows: every two choices meet that some allowed flow combines.
pub fn combinations() -> Vec<Combination> {
    let allowed = |choices: &[(usize, usize)]| {
        // The rates and round trips forbid nothing.
        let levels = |feature: usize| match choices.iter().find(|choice| choice.0 == feature) {
            Some(choice) => choice.1..choice.1 + 1,
            None => 0..if feature < 7 { Combination::LEVELS[feature] } else { 1 },
        };
        let mut rows = vec![Vec::new()];
        for feature in 0..Combination::LEVELS.len() {
            let longer = |row: &Vec<usize>| levels(feature).map(|level| [row.as_slice(), &[level]].concat()).collect();
            rows = rows.iter().flat_map(|row| -> Vec<Vec<usize>> { longer(row) }).collect();
        }
        rows.iter().any(|row| Combination::of(row).is_allowed())
    };
    let forbidden: Vec<_> =
        all_pairs(&Combination::LEVELS).into_iter().filter(|(one, other)| !allowed(&[*one, *other])).collect();
    let rows = pairs(&Combination::LEVELS, |one, other| !forbidden.contains(&(one, other)));
    let rows: Vec<Combination> = rows.iter().map(|row| Combination::of(row)).collect();
    rows.iter().for_each(|row| assert!(row.is_allowed(), "{row:?}"));
    rows
}

/// Checks a law on every row in turn, and panics with those that break it.
pub fn for_each(obeys: impl Fn(&Combination) -> Result<(), String> + std::panic::RefUnwindSafe) {
    let rows = combinations();
    let broken: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let outcome = std::panic::catch_unwind(|| obeys(row)).unwrap_or_else(|_| Err("panicked".to_string()));
            outcome.err().map(|error| format!("{error}: {row:?}"))
        })
        .collect();
    assert!(broken.is_empty(), "{} of {}:\n{}", broken.len(), rows.len(), broken.join("\n"));
}

#[test]
fn the_page_states_the_number_of_combinations() {
    let page = include_str!("../../../../docs/reference/laws.md");
    let count = combinations().len();
    assert!(page.contains(&format!("**{count} combinations**")), "{count} combinations: docs/reference/laws.md");
}
