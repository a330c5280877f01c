//! Programs in C against the library: plain, under valgrind, and with the address sanitizer, by each compiler that is here.

use std::path::{Path, PathBuf};
use std::process::Command;

use aqm::registry::ENTRIES;
use headgate_needs::has;

const HOME: &str = env!("CARGO_MANIFEST_DIR");

/// The static library of this build, which cargo puts beside the tests.
fn library() -> PathBuf {
    std::env::current_exe().expect("a running test has a path").with_file_name("libaqm_capi.a")
}

/// The sanitizer with which the library was built, if any: `make sanitize`. Programs then need it too, from the compiler
/// that shares its runtime with Rust's.
fn sanitizer() -> Option<String> {
    std::env::var("HEADGATE_SANITIZER").ok()
}

/// Compiles a C or C++ program of this crate with warnings as errors; returns its path.
fn compiled(compiler: &str, source: &str, more: &[&str]) -> PathBuf {
    let file = Path::new(source).file_stem().expect("a source has a name").to_string_lossy().into_owned();
    let name = format!("{file}-{compiler}-{}", more.concat().replace(|letter: char| !letter.is_alphanumeric(), ""));
    let standard = if source.ends_with("cpp") { "-std=c++14" } else { "-std=c11" };
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let done = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1"])
        .args(more)
        .args(sanitizer().map(|name| format!("-fsanitize={name}")))
        .arg(Path::new(HOME).join(source))
        .arg(format!("-I{HOME}/include"))
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

fn runs(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {}\n{told}", done.status);
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The C compilers of this machine. A test that uses them is logged as skipped for each that is missing.
fn compilers() -> Vec<&'static str> {
    let all: &[&str] = if sanitizer().is_some() { &["clang"] } else { &["gcc", "clang"] };
    all.iter().copied().filter(|name| has(name, name)).collect()
}

fn disciplines() -> Vec<&'static str> {
    ENTRIES.iter().map(|entry| entry.name).collect()
}

#[test]
fn calls_obey_their_laws_with_every_discipline() {
    for compiler in compilers() {
        runs(Command::new(compiled(compiler, "tests/c/laws.c", &[])).arg("20000").args(disciplines()));
    }
}

#[test]
fn threads_use_queues_of_their_own_side_by_side() {
    for compiler in compilers() {
        runs(&mut Command::new(compiled(compiler, "tests/c/threads.c", &[])));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn tables_that_do_not_fit_in_memory_are_refused_in_words() {
    for compiler in compilers() {
        let program = compiled(compiler, "tests/c/memory.c", &[]);
        for mebibytes in ["24", "48"] {
            runs(Command::new(&program).arg(mebibytes));
        }
    }
}

#[test]
fn the_address_sanitizer_finds_nothing() {
    for compiler in compilers() {
        let program = compiled(compiler, "tests/c/laws.c", &["-fsanitize=address,undefined"]);
        runs(Command::new(program).arg("5000").args(disciplines()));
    }
}

#[test]
fn valgrind_finds_nothing() {
    if !has("gcc", "gcc") || !has("valgrind", "valgrind") {
        return;
    }
    let program = compiled("gcc", "tests/c/laws.c", &["-O2"]);
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        "--error-exitcode=9",
        "--leak-check=full",
        "--show-leak-kinds=definite,indirect,possible",
    ]);
    runs(command.arg(program).arg("2000").args(["faba", "red", "fq_codel", "sfb"]));
}

#[test]
fn the_example_drops_packets_of_the_flow_that_sends_too_much() {
    if !has("gcc", "gcc") {
        return;
    }
    let told = runs(&mut Command::new(compiled("gcc", "examples/queue.c", &[])));
    let drops: Vec<u64> = told.lines().filter_map(|line| line.split_whitespace().nth(2)?.parse().ok()).collect();
    assert_eq!(drops.len(), 10, "{told}");
    assert!(drops[9] > 100 * drops[..9].iter().max().expect("nine flows").max(&1), "{told}");
}

#[test]
fn the_example_in_cpp_turns_mistakes_into_exceptions() {
    if !has("g++", "gcc") {
        return;
    }
    let told = runs(&mut Command::new(compiled("g++", "examples/queue.cpp", &[])));
    let drops: u64 = told.split(' ').next().and_then(|word| word.parse().ok()).expect("it begins with a number");
    assert!((3000..3500).contains(&drops), "a third of the packets is too much: {told}");
    assert!(told.contains("rde") && told.contains("red"), "the message names what was meant: {told}");
}

#[test]
fn the_example_in_go_takes_turns() {
    if !has("go", "go") || !has("gcc", "gcc") {
        return;
    }
    let told = runs(
        Command::new("go")
            .args(["run", "examples/queue.go"])
            .current_dir(HOME)
            .env("CGO_ENABLED", "1")
            // Without HOME, Go does not know where to keep what it built.
            .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"))
            .env("CGO_CFLAGS", format!("'-I{HOME}/include'"))
            .env("CGO_LDFLAGS", format!("'{}' -lm -ldl -lpthread", library().display())),
    );
    assert_eq!(told.lines().collect::<Vec<_>>(), ["flow 0", "flow 1", "flow 0", "flow 0"]);
}
