#![no_main]

#[path = "../checks/robots_tag.rs"]
mod robots_tag;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| robots_tag::holds_for(octets));
