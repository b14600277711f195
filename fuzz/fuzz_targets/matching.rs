#![no_main]

#[path = "../checks/matching.rs"]
mod matching;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| matching::holds_for(octets));
