#![no_main]

#[path = "../checks/editions.rs"]
mod editions;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| editions::holds_for(octets));
