//! libFuzzer searches for an input that breaks a law of `gateway`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| headgate_fuzz_targets::gateway(bytes));
