//! What a packet costs in C more than in Rust: instructions, counted by valgrind's callgrind. Both programs keep 500
//! packets queued, and offer one and take one in each step.

use std::path::Path;
use std::process::Command;

use aqm::{FlowId, LinkInfo, Packet, Port, Rate, Rng, Time, registry};

const HOME: &str = env!("CARGO_MANIFEST_DIR");
const DISCIPLINES: [&str; 4] = ["droptail", "red", "faba", "fq_codel"];
const STEPS: u64 = 200_000;

/// The steps in Rust, behind a pointer as in C.
fn steps_in_rust(name: &str, steps: u64) {
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    let queue = registry::boxed::<usize>(name, &[("limit", "1000p")], &link).unwrap_or_else(|error| panic!("{error}"));
    let mut port = Port::new(queue, Rng::named(1, "queue"));
    for step in 0..500 + steps {
        let now = Time::from_nanos(step * 800_000);
        port.enqueue(Packet::new(FlowId(step % 100), 1000, 0), now, &mut ());
        if step >= 500 {
            std::hint::black_box(port.dequeue(now, &mut ()));
        }
    }
}

/// Instructions of a program under callgrind.
fn instructions(program: &Path, words: [&str; 3]) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).args(words);
    let done = command.output().unwrap_or_else(|error| panic!("valgrind: {error}"));
    let told = String::from_utf8_lossy(&done.stderr);
    let collected = told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.unwrap_or_else(|| panic!("callgrind says no total:\n{told}"))
}

fn compiled(library: &Path) -> std::path::PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cost");
    let mut command = Command::new("cc");
    command.args(["-O2", "-o"]).arg(&program).arg(Path::new(HOME).join("benches/cost.c"));
    command.arg(format!("-I{HOME}/include")).arg(library).args(["-lpthread", "-ldl", "-lm"]);
    let done = command.status();
    assert!(done.is_ok_and(|status| status.success()), "cc compiles benches/cost.c");
    program
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if let [count, name, steps] = words.as_slice()
        && count == "count"
    {
        return steps_in_rust(name, steps.parse().expect("this program wrote a number"));
    }
    let here = std::env::current_exe().expect("a running program has a path");
    let in_c = compiled(&here.with_file_name("libaqm_capi.a"));
    println!("Instructions a packet\n{:<12}{:>8}{:>8}{:>8}", "", "Rust", "C", "more");
    for name in DISCIPLINES {
        let [rust, c] = [&here, &in_c].map(|program| {
            let [many, few] = [2 * STEPS, STEPS].map(|n| instructions(program, ["count", name, &n.to_string()]));
            (many - few) as f64 / STEPS as f64
        });
        println!("{name:<12}{rust:>8.0}{c:>8.0}{:>8.0}", c - rust);
    }
}
