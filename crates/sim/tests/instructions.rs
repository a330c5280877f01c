//! The guard of the simulator's cost: no fixed run takes more instructions or data misses than recorded.

use std::process::Command;

/// Builds the bench with the profile `bench`, which `Cargo.toml` fixes, and compares its figures with
/// `tests/golden/instructions.txt`. Without valgrind, or with another compiler than the recorded one, the bench says that
/// it was skipped.
#[test]
fn no_fixed_run_takes_two_percent_more_instructions_than_recorded() {
    let mut bench = Command::new(env!("CARGO"));
    bench.args(["bench", "--locked", "--package", "headgate-sim", "--bench", "instructions", "--", "--check"]);
    for (name, _) in std::env::vars_os() {
        // They change the code that is counted.
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PROFILE_BENCH_") || text.ends_with("RUSTFLAGS") || text == "CARGO_INCREMENTAL" {
            bench.env_remove(&name);
        }
    }
    let done = bench.env_remove("BLESS").output().expect("cargo runs this test, so cargo is there");
    let [told, errors] = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    println!("{told}");
    assert!(done.status.success(), "{told}\n{errors}");
}
