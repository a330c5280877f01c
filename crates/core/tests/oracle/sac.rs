//! Self-adjustable CHOKe as docs/disciplines/sac.md describes it. Only the abstract of Jiang, Hamdi, Liu, ISCC 2003, is
//! available. The oracle of CHOKe does the rest.

use aqm::disciplines::{Sac, SacConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time};

use crate::oracle::choke::Figure1;
use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::red::{PLAIN, Set};

struct Adjusting {
    choke: Figure1,
    most: f64,
    weight: f64,
    class: Option<u16>,
    /// Average shares of unresponsive arrivals, and of arrivals whose first candidate matched.
    share: f64,
    met: f64,
}

impl Adjusting {
    fn new(set: Set, most: f64, weight: f64, class: Option<u16>) -> Adjusting {
        Adjusting { choke: Figure1::new(set, 1, 0), most, weight, class, share: 0.0, met: 0.0 }
    }

    fn unresponsive(&self) -> f64 {
        if self.class.is_some() { self.share } else { self.met.sqrt() }
    }

    fn candidates(&self) -> usize {
        (self.unresponsive() * self.most).ceil().max(1.0) as usize
    }
}

fn average(old: f64, weight: f64, new: bool) -> f64 {
    (1.0 - weight) * old + if new { weight } else { 0.0 }
}

impl Oracle for Adjusting {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let mut alike = true;
        if let Some(class) = self.class {
            alike = packet.class == class;
            self.share = average(self.share, self.weight, alike);
        }
        self.choke.candidates = if alike { self.candidates() } else { 1 };
        let decisions = self.choke.arrive(packet, now, rng);
        if let Some(met) = self.choke.first {
            self.met = average(self.met, self.weight, met);
        }
        decisions
    }
    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.choke.depart(now, rng)
    }
    fn state(&self) -> NamedState {
        let mut state = self.choke.red.state();
        state.push(entry("share", self.unresponsive()));
        state.push(entry("candidates", self.candidates() as u32));
        state
    }
}

fn look(sac: &Sac<usize>, _: Time) -> NamedState {
    let (detector, held) = (sac.detector(), sac.backlog());
    vec![
        entry("avg", detector.average()),
        entry("count", detector.count() as f64),
        entry("pb", detector.probability()),
        entry("packets", held.packets),
        entry("bytes", held.bytes as f64),
        entry("share", sac.share()),
        entry("candidates", sac.candidates()),
    ]
}

fn compare(settings: &str, oracle: Adjusting, traffic: TrafficMix) {
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let config = SacConfig::from_settings(&settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    agree(Sac::new(config, &link).unwrap(), oracle, look, traffic);
}

#[test]
fn self_adjustable_choke_packet_by_packet() {
    compare("limit=150p,minth=50p,maxth=100p", Adjusting::new(PLAIN, 10.0, 0.002, None), TrafficMix::even(1));
    let quick = Set { minth: 5.0, maxth: 40.0, wq: 0.1, maxp: 0.3, ecn: false, ..PLAIN };
    compare(
        "limit=150p,minth=5p,maxth=40p,wq=0.1,maxp=0.3,ecn=off,most=100,share_weight=0.05",
        Adjusting::new(quick, 100.0, 0.05, None),
        TrafficMix::mixed(2),
    );
    // The harness puts every third flow into class 0, 1 or 2; the hog is in class 0.
    let told = Set { minth: 10.0, maxth: 60.0, wq: 0.02, mark_above: true, ..PLAIN };
    compare(
        "limit=150p,minth=10p,maxth=60p,wq=0.02,mark_above_maxth=on,unresponsive_class=2,share_weight=0.01",
        Adjusting::new(told, 10.0, 0.01, Some(2)),
        TrafficMix::mixed(3),
    );
}
