#![no_main]

#[path = "../checks/signature.rs"]
mod signature;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| signature::holds_for(octets));
