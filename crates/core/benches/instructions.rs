//! Instructions per packet, which do not depend on the machine's load. They are counted at 100, 1000 and 100 000 flows,
//! beside a bare ring buffer. An O(1) discipline costs as much with all numbers of flows, cache misses aside. Needs
//! valgrind, whose callgrind counts.
//!
//! Each figure is the difference of two runs that differ only by 200 000 packets, divided by that number. Set-up and
//! filling of the tables cancel out. `-- profile NAME` shows in which source files a discipline spends them.

use std::process::{Command, exit};

use aqm::Discipline;
use aqm::registry::{self, DisciplineVisitor, ENTRIES};

mod load;
use load::{BareRing, LIMIT, LINK, SteadyLoad};

const RING: &str = "ring buffer";
const FLOWS: [u64; 3] = [100, 1000, 100_000];
const COUNTED: u64 = 200_000;

/// The counted work: offers packets to a half full queue.
struct Offer {
    flows: u64,
    packets: u64,
}

impl DisciplineVisitor<()> for Offer {
    type Output = ();
    fn visit<D: Discipline<()> + 'static>(self, discipline: D) {
        let mut load = SteadyLoad::new(discipline, self.flows, LIMIT / 2);
        for _ in 0..self.packets {
            std::hint::black_box(load.offer());
        }
    }
}

fn offer(name: &str, offer: Offer) {
    if name == RING {
        return offer.visit(BareRing::default());
    }
    registry::with(name, &[("limit", &LIMIT.to_string())], &LINK, offer).unwrap_or_else(|error| panic!("{error}"));
}

/// What callgrind writes to the terminal about a run of this program, which writes its profile into `profile`.
fn callgrind(name: &str, flows: u64, packets: u64, profile: &str) -> String {
    let program = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", &format!("--callgrind-out-file={profile}")]).arg(program);
    command.args(["count", name, &flows.to_string(), &packets.to_string()]);
    let Ok(done) = command.output() else {
        println!("valgrind is not installed: no instructions are counted");
        exit(0);
    };
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// Instructions of a run of this program under callgrind.
fn instructions(name: &str, flows: u64, packets: u64) -> u64 {
    let told = callgrind(name, flows, packets, "/dev/null");
    let collected = told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.unwrap_or_else(|| panic!("callgrind says no total:\n{told}"))
}

/// Prints the instructions of `name` with 1000 flows by source file, as callgrind_annotate does.
fn print_profile(name: &str) {
    let profile = concat!(env!("CARGO_TARGET_TMPDIR"), "/callgrind.out");
    callgrind(name, 1000, 10 * COUNTED, profile);
    let shown = Command::new("callgrind_annotate").args(["--auto=no", profile]).status();
    assert!(
        shown.is_ok_and(|status| status.success()),
        "callgrind_annotate, a part of valgrind, cannot read {profile}"
    );
}

/// Instructions per packet, after every flow has sent a few packets.
fn a_packet(name: &str, flows: u64) -> f64 {
    let warm = 4 * flows + 50_000;
    (instructions(name, flows, warm + COUNTED) - instructions(name, flows, warm)) as f64 / COUNTED as f64
}

fn main() {
    // cargo passes `--bench`, and whatever the user wrote after `--`: parts of the names of disciplines.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    if let [count, name, flows, packets] = wanted.as_slice()
        && count == "count"
    {
        let number = |text: &String| text.parse().expect("this program wrote a number");
        return offer(name, Offer { flows: number(flows), packets: number(packets) });
    }
    if let [profile, name] = wanted.as_slice()
        && profile == "profile"
    {
        return print_profile(name);
    }
    println!(
        "Instructions a packet, queue half full of {LIMIT}; ratio: to the ring buffer; growth: 100 000 flows over 100"
    );
    println!("{:<14}{:>10}{:>11}{:>8}{:>14}{:>8}", "", "100 flows", "1000 flows", "ratio", "100 000 flows", "growth");
    let ring = a_packet(RING, FLOWS[1]);
    for name in std::iter::once(RING).chain(ENTRIES.iter().map(|entry| entry.name)) {
        if wanted.is_empty() || wanted.iter().any(|want| name.contains(want.as_str())) {
            let [few, usual, many] = FLOWS.map(|flows| a_packet(name, flows));
            let (ratio, growth) = (usual / ring, many / few);
            println!("{name:<14}{few:>10.0}{usual:>11.0}{ratio:>8.1}{many:>14.0}{growth:>8.2}");
        }
    }
}
