//! Instructions and data misses of fixed short runs, which do not depend on the machine's load. Valgrind's callgrind
//! counts them. The golden file `tests/golden/instructions.txt` holds the figures.
//!
//! - Without arguments, the bench prints the figures, then the history of the golden file.
//! - With `--check` it fails if a figure rose by more than 2 %, or misses by more than half. The test `instructions` calls it so.
//! - With `BLESS=1` in the environment it writes the golden file. The commit then says what the rise pays for.
//! - With `profile NAME` it shows in which source files a run spends its instructions.
//! - Other arguments are parts of the names of runs, which alone are counted.
//!
//! A figure is the difference of two runs that differ only by their duration, divided by the packets that the bottleneck
//! sent in between. Set-up and slow start cancel out. The last run counts everything from the start of a process to
//! the rows of a short run, as in a sweep.

mod fixed_runs;
mod profile;

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, exit};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fixed_runs::{FixedRun, Totals, fixed_runs};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/instructions.txt");

/// Caches that callgrind simulates, whatever the machine has: 32 KB of data, and 1 MB behind it.
const CACHES: [&str; 4] = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"];

/// Columns of the golden file: title, width, decimals, and the factor and the difference by which a figure may rise. The
/// addresses of code, heap and stack decide which data share a place in a cache. So any change of the program moves
/// misses, and so does another folder: FRED had 3.0 D1 misses in one and 4.1 in another.
const COLUMNS: [(&str, usize, usize, f64, f64); 5] = [
    ("instructions", 13, 0, 1.02, 1.0),
    ("D1 misses", 10, 2, 1.5, 1.5),
    ("LL misses", 10, 2, 1.5, 0.5),
    ("events", 7, 2, 1.02, 0.0),
    ("bytes/flow", 11, 0, 1.02, 1.0),
];

const NO_PROFILE: &str = "/dev/null";

type Figures = [f64; COLUMNS.len()];

fn main() {
    // cargo passes `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [count, name, long] = words.as_slice()
        && count == "count"
    {
        return println!("{}", fixed_runs::count(name, long == "long"));
    }
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) || !headgate_needs::has("valgrind", "valgrind") {
        return println!("valgrind counts the instructions, on x86-64 Linux");
    }
    if let [profile, name] = words.as_slice()
        && profile == "profile"
    {
        return profile::print(name);
    }
    let check = words.iter().any(|word| word == "--check");
    let names: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let mut runs = fixed_runs();
    runs.retain(|run| names.is_empty() || names.iter().any(|name| run.name.contains(name.as_str())));
    let compiler = compiler();
    let golden = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    if check && !golden.contains(&compiler) {
        return headgate_needs::skip("golden-compiler");
    }
    let counted = count_all(&runs);
    let table = table(&counted, &compiler);
    print!("{table}");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        return std::fs::write(GOLDEN, table).unwrap_or_else(|error| panic!("{GOLDEN}: {error}"));
    }
    let rises = rises(&golden, &counted);
    print!("{rises}");
    match check {
        true => exit(i32::from(!rises.is_empty())),
        false => print_history(),
    }
}

/// The compiler's version, which the golden file names: another one gives other figures.
fn compiler() -> String {
    let told = Command::new("rustc").arg("--version").output().expect("cargo ran, so there is a compiler");
    String::from_utf8_lossy(&told.stdout).trim().to_string()
}

/// The figures of each run, two runs at a time.
fn count_all(runs: &[FixedRun]) -> Vec<(&'static str, Figures)> {
    let (next, counted) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let figures = figures(run);
            counted.lock().expect("no thread panicked").push((run.name, figures));
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        work();
        other.join().expect("the other half is counted");
    });
    let mut counted = counted.into_inner().expect("no thread panicked");
    counted.sort_by_key(|(name, _)| runs.iter().position(|run| run.name == *name));
    counted
}

/// The figures of one run, each by packet.
fn figures(run: &FixedRun) -> Figures {
    let short = if run.from_start { Counted::default() } else { callgrind(run.name, false, NO_PROFILE) };
    let long = callgrind(run.name, true, NO_PROFILE);
    let packets = (long.totals.packets - short.totals.packets) as f64;
    let each = |long: u64, short: u64| (long - short) as f64 / packets;
    [
        each(long.instructions, short.instructions),
        each(long.misses[0], short.misses[0]),
        each(long.misses[1], short.misses[1]),
        each(long.totals.events, short.totals.events),
        long.totals.heap as f64 / long.totals.flows as f64,
    ]
}

#[derive(Default)]
struct Counted {
    instructions: u64,
    /// Data misses of the first and of the last level.
    misses: [u64; 2],
    totals: Totals,
}

/// Runs this program under callgrind, which writes its profile into `profile`. The environment is empty: its size would
/// move the stack.
fn callgrind(name: &str, long: bool, profile: &str) -> Counted {
    let program = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", &format!("--callgrind-out-file={profile}")]).args(CACHES).arg(program);
    command.args(["count", name, if long { "long" } else { "short" }]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let done = command.env_clear().env("PATH", path).output().unwrap_or_else(|error| panic!("valgrind: {error}"));
    let told = String::from_utf8_lossy(&done.stderr);
    let number = |label: &str| {
        let line = told.lines().find(|line| line.contains(label)).unwrap_or_else(|| panic!("no {label}:\n{told}"));
        let digits = line.split_once(':').map(|(_, rest)| rest.trim()).and_then(|rest| rest.split_whitespace().next());
        let digits: String = digits.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
        digits.parse().unwrap_or_else(|_| panic!("no number: {line}"))
    };
    Counted {
        instructions: number("I   refs:"),
        misses: [number("D1  misses:"), number("LLd misses:")],
        totals: Totals::read(&String::from_utf8_lossy(&done.stdout)),
    }
}

fn table(counted: &[(&str, Figures)], compiler: &str) -> String {
    let mut text = format!(
        "# Instructions, data misses and events per packet that the bottleneck sent, and the largest heap per flow.\n\
         # `cargo bench -p headgate-sim --bench instructions` measures them. {compiler}\n{:<20}",
        "run"
    );
    COLUMNS.iter().for_each(|(title, width, ..)| write!(text, "{title:>width$}").expect("a string grows"));
    for (name, figures) in counted {
        write!(text, "\n{name:<20}").expect("a string grows");
        for ((_, width, decimals, ..), figure) in COLUMNS.iter().zip(figures) {
            write!(text, "{figure:>width$.decimals$}").expect("a string grows");
        }
    }
    text + "\n"
}

/// A sentence for each figure that rose by more than it may, or that the golden file lacks.
fn rises(golden: &str, counted: &[(&'static str, Figures)]) -> String {
    let mut text = String::new();
    for (name, figures) in counted {
        let row = golden.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let recorded: Vec<f64> =
            row.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if recorded.len() != COLUMNS.len() {
            writeln!(text, "{name}: not in {GOLDEN}: `make bless` writes it").expect("a string grows");
            continue;
        }
        for (((title, _, _, factor, least), figure), before) in COLUMNS.iter().zip(figures).zip(recorded) {
            if *figure > before * factor && *figure > before + least {
                let percent = (figure / before - 1.0) * 100.0;
                let line = format!("{name}: {title} rose by {percent:.1} % from {before} to {figure:.2}");
                writeln!(text, "{line}; if that is right, `make bless` and say in the commit what it buys")
                    .expect("a string grows");
            }
        }
    }
    text
}

/// Prints the instructions of each run in every commit that changed the golden file.
fn print_history() {
    let (folder, file) = (Path::new(GOLDEN).parent().expect("the file is in a folder"), "./instructions.txt");
    let git = |args: &[&str]| {
        let done =
            Command::new("git").arg("-C").arg(folder).args(args).output().ok().filter(|done| done.status.success());
        done.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default()
    };
    println!("\nInstructions in each commit of {GOLDEN}, oldest first:");
    for line in git(&["log", "--reverse", "--format=%h %as %s", "--", file]).lines() {
        let commit = line.split(' ').next().unwrap_or_default();
        let rows = git(&["show", &format!("{commit}:{file}")]);
        println!("{line}");
        for row in rows.lines().filter(|row| !row.starts_with('#')).skip(1) {
            let (name, figures) = row.split_at(row.len().min(20));
            print!("  {} {}", name.trim(), figures.split_whitespace().next().unwrap_or("-"));
        }
        println!();
    }
}
