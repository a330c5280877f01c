//! libFuzzer searches for an input that breaks a law of `super_packet`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| headgate_fuzz_targets::super_packet(bytes));
