//! Every discipline by name: one line each.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::discipline::{Discipline, Place};
use crate::disciplines::*;
use crate::gauge::Gauge;
use crate::names::nearest;
use crate::params::{BuildError, Field, Params, Preset};
use crate::reason::Why;
use crate::settings::Settings;

/// Parameters with their values as text, or the first setting that cannot be applied.
pub type Resolved = Result<Vec<(&'static str, String)>, BuildError>;

/// What a discipline can do, for `headgate list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It holds back flows that do not slow down.
    pub protects: bool,
    /// It keeps state for each flow.
    pub per_flow: bool,
    /// It can mark instead of dropping.
    pub ecn: bool,
    /// Packets of different flows may overtake each other.
    pub schedules: bool,
}

/// Where a discipline comes from, for `headgate list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// One that the five papers propose.
    Paper,
    /// One that they are compared with.
    Comparison,
    /// One they must be judged against today, or a building block.
    Modern,
}

impl Group {
    /// Every group, in the order in which they are listed.
    pub const ALL: [Group; 3] = [Group::Paper, Group::Comparison, Group::Modern];

    /// Its name, as the registry writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Paper => "paper",
            Group::Comparison => "comparison",
            Group::Modern => "modern",
        }
    }
}

/// One row of the registry.
pub struct Entry {
    /// The name users write.
    pub name: &'static str,
    /// One line on the idea.
    pub summary: &'static str,
    /// The publication that defines it.
    pub citation: &'static str,
    /// Where it comes from.
    pub group: Group,
    /// What it can do.
    pub abilities: Abilities,
    fields: fn() -> Vec<Field>,
    presets: fn() -> &'static [Preset],
    resolve: fn(&[(&str, &str)]) -> Resolved,
    reasons: fn(&[(&str, &str)]) -> OwnReasons,
    gauges: fn() -> &'static [Gauge],
}

/// The reasons that a discipline gives itself and the disciplines inside it, or the first setting that cannot be applied.
type OwnReasons = Result<(&'static [Why], Vec<(String, Settings)>), BuildError>;

impl Entry {
    /// Its parameters.
    pub fn fields(&self) -> Vec<Field> {
        (self.fields)()
    }

    /// Its presets, first the one whose values are the defaults: `paper`, or for modern ones `rfc` or `linux`.
    pub fn presets(&self) -> &'static [Preset] {
        (self.presets)()
    }

    /// The gauges that it tells, under some settings at the least; those of disciplines inside it are theirs.
    pub fn gauges(&self) -> &'static [Gauge] {
        (self.gauges)()
    }

    /// Every parameter with its value under `settings`, as text.
    ///
    /// # Errors
    /// The first setting that cannot be applied.
    pub fn resolve(&self, settings: &[(&str, &str)]) -> Resolved {
        (self.resolve)(settings)
    }

    /// The reasons for which it drops and marks under `settings`, those of disciplines inside it included.
    ///
    /// # Errors
    /// The first setting that cannot be applied.
    pub fn reasons(&self, settings: &[(&str, &str)]) -> Result<Vec<Why>, BuildError> {
        let (own, inside) = (self.reasons)(settings)?;
        let mut all = own.to_vec();
        for (name, settings) in &inside {
            let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (&**name, &**value)).collect();
            all.extend(find(name)?.reasons(&settings)?);
            all.push(Why::Overload);
        }
        Ok(in_order(all))
    }
}

/// Work on whichever discipline the user named. The name is matched once; the loop inside `run` is compiled for each
/// discipline.
pub trait Job<T> {
    /// What the work gives.
    type Output;
    /// Does the work on `discipline`.
    fn run<D: Discipline<T> + 'static>(self, discipline: D) -> Self::Output;
}

/// Declares the registry. A row: name, settings, constructor, group, what it can do, one line on the idea, citation.
macro_rules! disciplines {
    ($($name:literal, $config:ty, $new:path, $group:ident [$($ability:ident)*], $summary:literal, $citation:literal;)+) => {
        /// Every discipline, sorted by name.
        pub static ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            summary: $summary,
            citation: $citation,
            group: group(stringify!($group)),
            abilities: abilities(&[$(stringify!($ability)),*]),
            fields: <$config>::fields,
            presets: <$config>::presets,
            resolve: |settings| <$config>::from_settings(settings).map(|config| config.values()),
            reasons: |settings| <$config>::from_settings(settings).map(|config| (<$config>::reasons(), config.nested())),
            gauges: <$config>::gauges,
        }),+];

        /// Builds the discipline called `name` with `settings` and does `job` on it, compiled for that discipline.
        ///
        /// # Errors
        /// An unknown name, an unknown parameter, a bad value, or values that do not fit each other.
        pub fn with<T: 'static, J: Job<T>>(
            name: &str,
            settings: &[(&str, &str)],
            place: &Place,
            job: J,
        ) -> Result<J::Output, BuildError> {
            match name {
                $($name => Ok(job.run($new(<$config>::from_settings(settings)?, place)?)),)+
                _ => Err(unknown(name)),
            }
        }

        /// Builds the discipline called `name` with `settings` behind a pointer, for networks of mixed queues.
        ///
        /// # Errors
        /// An unknown name, an unknown parameter, a bad value, or values that do not fit each other.
        pub fn boxed<T: 'static>(
            name: &str,
            settings: &[(&str, &str)],
            place: &Place,
        ) -> Result<Box<dyn Discipline<T>>, BuildError> {
            match name {
                $($name => Ok(Box::new($new(<$config>::from_settings(settings)?, place)?)),)+
                _ => Err(unknown(name)),
            }
        }
    };
}

disciplines! {
    "afd", AfdConfig, Afd::<T>::new, comparison [protects per_flow],
        "drop a flow's packets by as much as its part of sampled arrivals exceeds the fair one",
        "Pan, Breslau, Prabhakar, Shenker, ACM SIGCOMM CCR 33(2), 2003";
    "ared", AredConfig, Ared::<T>::new, comparison [ecn],
        "RED that moves maxp until the average queue stays half way between its thresholds",
        "Floyd, Gummadi, Shenker, ICSI technical report, 2001";
    "blue", BlueConfig, Blue::<T>::new, paper [ecn],
        "one probability, raised by overflow and lowered by idleness", "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002";
    "breathe", BreatheConfig, Breathe::<T>::new, paper [protects per_flow ecn],
        "RED that, under congestion, admits no packet of the flows that were served most",
        "Chang, Lin, Research Letters in Communications, 2008";
    "choke", ChokeConfig, Choke::<T>::new, comparison [protects ecn],
        "an arrival that meets a packet of its own flow takes it along", "Pan, Prabhakar, Psounis, IEEE INFOCOM 2000";
    "cobalt", CobaltConfig, Cobalt::<T>::new, modern [ecn],
        "CoDel for senders that answer signals and BLUE for those that do not", "Linux, sch_cake, 5.5";
    "codel", CodelConfig, Codel::<T>::new, modern [ecn],
        "signal once the delay has stood above a target for an interval, then ever faster until it does not",
        "Nichols, Jacobson, McGregor, Iyengar, RFC 8289, 2018";
    "csfq", CsfqConfig, Csfq::<T>::new, comparison [protects per_flow],
        "drop a flow's packets by as much as its rate exceeds the fair share",
        "Stoica, Shenker, Zhang, ACM SIGCOMM 1998";
    "droptail", DroptailConfig, Droptail::<T>::new, comparison [],
        "keep what fits, drop what does not", "the baseline of all the papers";
    "drr", DrrConfig, Drr::<T>::new, comparison [protects per_flow schedules],
        "a queue for each flow, served in turn by bytes of credit", "Shreedhar, Varghese, ACM SIGCOMM 1995";
    "dualpi2", Dualpi2Config, Dualpi2::<T>::new, modern [ecn schedules],
        "a shallow queue for Scalable traffic beside a Classic one, coupled so that their flows share evenly",
        "De Schepper, Briscoe, White, RFC 9332, 2023";
    "faba", FabaConfig, Faba::<T>::new, paper [protects per_flow ecn],
        "a fixed stock of tokens, a bucket a flow: whoever queues more than its share drains its own",
        "Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004";
    "feng_red", FengRedConfig, FengRed::<T>::new, comparison [ecn],
        "RED that multiplies maxp when the average leaves the thresholds upwards and divides it downwards",
        "Feng, Kandlur, Saha, Shin, IEEE INFOCOM 1999";
    "fq", FqConfig, Fq::<T>::new, comparison [protects per_flow schedules],
        "a queue for each flow, served as if bit by bit", "Demers, Keshav, Shenker, ACM SIGCOMM 1989; Golestani, IEEE INFOCOM 1994";
    "fq_codel", FqCodelConfig, FqCodel::<T>::new, modern [protects per_flow ecn schedules],
        "a queue for each flow, newcomers first, with CoDel in each",
        "Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet, RFC 8290, 2018";
    "fq_pie", FqPieConfig, FqPie::<T>::new, modern [protects per_flow ecn schedules],
        "a queue for each flow, newcomers first, with PIE in each",
        "Ramakrishnan, Bhasi, Saicharan, Monis, Patil, Tahiliani, IEEE LCN Symposium 2019";
    "fred", FredConfig, Fred::<T>::new, comparison [protects per_flow ecn],
        "RED that bounds what each flow has queued and remembers who tries for more",
        "Lin, Morris, ACM SIGCOMM 1997";
    "hhf", HhfConfig, Hhf::<T>::new, modern [protects per_flow schedules],
        "flows that send much in little time share a class that is served less",
        "Lam, Dukkipati, Linux sch_hhf, 2013";
    "pie", PieConfig, Pie::<T>::new, modern [ecn],
        "a controller holds the delay to a target by the probability of signals",
        "Pan, Natarajan, Baker, White, RFC 8033, 2017";
    "prio", PrioConfig, Prio::<T>::new, modern [schedules],
        "strict priority between classes, any discipline inside each", "tc-prio(8)";
    "red", RedConfig, Red::<T>::new, comparison [ecn],
        "signal by chance, the more likely the longer the average queue", "Floyd, Jacobson, IEEE/ACM ToN 1(4), 1993";
    "red_pd", RedPdConfig, RedPd::<T>::new, paper [protects per_flow ecn],
        "RED whose drops point out who sends fast: those are dropped before the queue until they do not stand out",
        "Mahajan, Floyd, Wetherall, ICNP 2001";
    "red_penalty", RedPenaltyConfig, RedPenalty::<T>::new, comparison [protects per_flow ecn],
        "RED, and a box limited in rate for the flows that show no congestion control",
        "Floyd, Fall, IEEE/ACM ToN 7(4), 1999";
    "sac", SacConfig, Sac::<T>::new, comparison [protects ecn],
        "CHOKe that draws the more candidates, the more of the traffic does not slow down",
        "Jiang, Hamdi, Liu, IEEE ISCC 2003";
    "sfb", SfbConfig, Sfb::<T>::new, paper [protects ecn],
        "BLUE in bins: a flow all of whose bins are congested is limited in rate",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV";
    "sfed", SfedConfig, Sfed::<T>::new, paper [protects per_flow ecn],
        "FABA's buckets filled in turn, and all trimmed whenever a flow comes",
        "Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, section 4.1";
    "sfq", SfqConfig, Sfq::<T>::new, comparison [protects schedules],
        "flows are hashed to a few queues that are served in turn", "McKenney, IEEE INFOCOM 1990";
    "sfq_red", SfqRedConfig, SfqRed::<T>::new, comparison [protects schedules ecn],
        "flows are hashed to a few REDs that are served in turn",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV-B";
    "sfred", SfredConfig, Sfred::<T>::new, comparison [protects ecn],
        "SFB's bins with a RED in each, whose maxp finds its own value",
        "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002, section IV-A";
    "sred", SredConfig, Sred::<T>::new, comparison [ecn],
        "each arrival is compared with one flow seen lately: how often they agree tells how many flows there are",
        "Ott, Lakshman, Wong, IEEE INFOCOM 1999";
    "tbf", TbfConfig, Tbf::<T>::new, modern [schedules],
        "a token bucket shapes what any discipline inside it sends", "tc-tbf(8)";
}

/// Every reason that some discipline gives, in the order in which tables have them.
pub fn reasons() -> Vec<Why> {
    let own = ENTRIES.iter().flat_map(|entry| (entry.reasons)(&[]).map_or(&[][..], |(own, _)| own));
    in_order(own.copied().chain([Why::Overload]).collect())
}

/// `given` in the order in which tables have reasons: the shared ones, then the others as they come; each once.
pub fn in_order(given: Vec<Why>) -> Vec<Why> {
    let shared = Why::SHARED.into_iter().filter(|why| given.contains(why));
    let mut ordered: Vec<Why> = shared.collect();
    for why in given {
        if !ordered.contains(&why) {
            ordered.push(why);
        }
    }
    ordered
}

/// The row of `name`.
///
/// # Errors
/// [`BuildError::UnknownDiscipline`], with the nearest name.
pub fn find(name: &str) -> Result<&'static Entry, BuildError> {
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| unknown(name))
}

const fn abilities(named: &[&str]) -> Abilities {
    let mut found = Abilities { protects: false, per_flow: false, ecn: false, schedules: false };
    let mut i = 0;
    while i < named.len() {
        match named[i].as_bytes() {
            b"protects" => found.protects = true,
            b"per_flow" => found.per_flow = true,
            b"ecn" => found.ecn = true,
            b"schedules" => found.schedules = true,
            _ => panic!("an ability is one of: protects, per_flow, ecn, schedules"),
        }
        i += 1;
    }
    found
}

const fn group(named: &str) -> Group {
    match named.as_bytes() {
        b"paper" => Group::Paper,
        b"comparison" => Group::Comparison,
        b"modern" => Group::Modern,
        _ => panic!("a group is one of: paper, comparison, modern"),
    }
}

fn unknown(name: &str) -> BuildError {
    let known: Vec<&'static str> = ENTRIES.iter().map(|entry| entry.name).collect();
    let nearest = nearest(name, known.iter().copied()).map(ToString::to_string);
    BuildError::UnknownDiscipline { name: name.to_string(), nearest, known }
}
