#![no_main]

#[path = "../checks/html.rs"]
mod html;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| html::holds_for(octets));
