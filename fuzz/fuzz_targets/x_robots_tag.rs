#![no_main]

#[path = "../checks/x_robots_tag.rs"]
mod x_robots_tag;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| x_robots_tag::holds_for(octets));
