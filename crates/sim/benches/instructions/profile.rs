//! The instructions of a run by source file, as callgrind_annotate, a part of valgrind, reads them from callgrind's profiles.

use std::collections::BTreeMap;
use std::process::Command;

use crate::callgrind;

/// Files with fewer instructions a packet stand together in the last line.
const SHOWN: f64 = 5.0;

/// Prints the instructions a packet of the run `name` by source file, set-up taken off. Code of a file that is inlined
/// elsewhere counts for its file.
pub fn print(name: &str) {
    let [(long, packets), (short, fewer)] = [true, false].map(|long| by_file(name, long));
    let packets = (packets - fewer) as f64;
    let each = |file: &String| (long[file] - short.get(file).copied().unwrap_or_default()) / packets;
    let mut files: Vec<(String, f64)> = long.keys().map(|file| (file.clone(), each(file))).collect();
    files.sort_by(|one, other| other.1.total_cmp(&one.1));
    let total: f64 = files.iter().map(|(_, cost)| cost).sum();
    println!("{:>12}  {:>6}  source file, for {name}", "instructions", "share");
    let line = |cost: f64, file: &str| println!("{cost:>12.0}  {:>4.1} %  {file}", cost / total * 100.0);
    let shown = files.iter().take_while(|(_, cost)| *cost >= SHOWN);
    let rest: f64 = total - shown.clone().map(|(_, cost)| cost).sum::<f64>();
    shown.for_each(|(file, cost)| line(*cost, file));
    line(rest, "other files");
    line(total, "all");
}

/// The instructions of a run by source file, and the packets that its bottleneck sent.
fn by_file(name: &str, long: bool) -> (BTreeMap<String, f64>, u64) {
    let profile = concat!(env!("CARGO_TARGET_TMPDIR"), "/callgrind.out");
    let counted = callgrind(name, long, profile);
    let words = ["--auto=no", "--threshold=100", "--show=Ir", profile];
    let done = Command::new("callgrind_annotate").args(words).output();
    let done = done.unwrap_or_else(|error| panic!("callgrind_annotate, a part of valgrind: {error}"));
    let mut files = BTreeMap::new();
    for (file, instructions) in String::from_utf8_lossy(&done.stdout).lines().filter_map(row) {
        *files.entry(file).or_default() += instructions;
    }
    assert!(!files.is_empty(), "callgrind_annotate shows no functions: {}", String::from_utf8_lossy(&done.stderr));
    (files, counted.totals.packets)
}

/// The file and the instructions of a row `1,234 (5.6%)  FILE:FUNCTION [PROGRAM]`; None for other lines.
fn row(line: &str) -> Option<(String, f64)> {
    let (number, rest) = line.trim_start().split_once(' ')?;
    let instructions = number.replace(',', "").parse().ok()?;
    let (_, place) = rest.split_once(')')?;
    let (file, _) = place.trim_start().split_once(':')?;
    let start = file.find("crates/").or_else(|| file.find("library/")).unwrap_or_default();
    Some((file[start..].to_string(), instructions))
}
