#![no_main]

#[path = "../checks/robots.rs"]
mod robots;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| robots::holds_for(octets));
