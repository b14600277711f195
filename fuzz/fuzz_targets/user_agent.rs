#![no_main]

#[path = "../checks/user_agent.rs"]
mod user_agent;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| user_agent::holds_for(octets));
