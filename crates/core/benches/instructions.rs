//! Instructions per packet, which do not depend on the machine's load. They are counted at 100 and at 100 000 flows: an
//! O(1) discipline has a ratio near 1, without cache misses. Needs valgrind, whose callgrind counts.
//!
//! Each figure is the difference of two runs that differ only by 200 000 packets, divided by that number. Set-up and
//! filling of the tables cancel out.

use std::process::{Command, exit};

use headgate_core::Discipline;
use headgate_core::registry::{self, DisciplineVisitor, ENTRIES};

mod load;
use load::{BareRing, LIMIT, LINK, SteadyLoad};

const RING: &str = "ring buffer";
const FLOWS: [u64; 2] = [100, 100_000];
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

/// Instructions of a run of this program under callgrind.
fn instructions(name: &str, flows: u64, packets: u64) -> u64 {
    let program = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command.args(["count", name, &flows.to_string(), &packets.to_string()]);
    let Ok(done) = command.output() else {
        println!("valgrind is not installed: no instructions are counted");
        exit(0);
    };
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    let collected = told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.unwrap_or_else(|| panic!("callgrind says no total:\n{told}"))
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
    println!("Instructions a packet, queue half full of {LIMIT}; ratio: 100 000 flows over 100");
    println!("{:<14}{:>10}{:>14}{:>8}", "", "100 flows", "100 000 flows", "ratio");
    for name in std::iter::once(RING).chain(ENTRIES.iter().map(|entry| entry.name)) {
        if wanted.is_empty() || wanted.iter().any(|want| name.contains(want.as_str())) {
            let [few, many] = FLOWS.map(|flows| a_packet(name, flows));
            println!("{name:<14}{few:>10.0}{many:>14.0}{:>8.2}", many / few);
        }
    }
}
