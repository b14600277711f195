#![no_main]

#[path = "../checks/target.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::holds_for(octets));
