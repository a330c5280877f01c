//! Runs every fuzz target over its corpus, and over mutations of it from a fixed seed. It needs no libFuzzer.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};

use aqm::Rng;
use headgate_fuzz_targets::{TARGETS, Target};

/// Mutations of each corpus. `FUZZ_MUTATIONS` overrides the number for a longer search.
const MUTATIONS: u64 = 20_000;

fn inputs(target: &Target) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut inputs = files(&root.join(target.corpus));
    assert!(inputs.len() >= 5, "{} has {} inputs", target.corpus, inputs.len());
    let found = root.join("fuzz/found").join(target.name);
    if found.is_dir() {
        inputs.append(&mut files(&found));
    }
    inputs
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().filter(|file| file.is_file()).map(|file| fs::read(file).unwrap()).collect()
}

/// Applies one to four changes to `bytes`: another bit or byte, a cut, a part twice, or a part of `other`.
fn mutated(bytes: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() as u32 + 1) as usize;
        let length = rng.below(16) as usize;
        match (rng.below(6), bytes.get_mut(at)) {
            (0, Some(byte)) => *byte ^= 1 << rng.below(8),
            (1, Some(byte)) => *byte = [0, 1, 0x20, 0x7f, 0x80, 0xff][rng.below(6) as usize],
            (2, _) => bytes.truncate(at),
            (3, Some(_)) => drop(bytes.drain(at..(at + length).min(bytes.len()))),
            (4, Some(_)) => {
                let part = bytes[at..(at + length).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let from = rng.below(other.len() as u32 + 1) as usize;
                let part = other[from..(from + length).min(other.len())].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

#[test]
fn no_input_of_a_corpus_and_no_mutation_of_one_breaks_a_law() {
    let mutations = std::env::var("FUZZ_MUTATIONS").map_or(MUTATIONS, |text| text.parse().unwrap());
    for target in &TARGETS {
        let inputs = inputs(target);
        inputs.iter().for_each(|input| (target.run)(input));
        let mut rng = Rng::new(7);
        let mut any = || inputs[rng.below(inputs.len() as u32) as usize].clone();
        let pairs: Vec<(Vec<u8>, Vec<u8>)> = (0..mutations.min(MUTATIONS)).map(|_| (any(), any())).collect();
        for (input, other) in pairs.iter().cycle().take(mutations as usize) {
            let input = mutated(input, other, &mut rng);
            let broken = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(broken.is_ok(), "{}: {:?}", target.name, String::from_utf8_lossy(&input));
        }
    }
}
