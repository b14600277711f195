//! The promises to the operator, one module for each, proven with the real program on loopback.
//!
//! They share one binary, so that the library is linked once. A module runs alone with
//! `cargo test --test all reload::`.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by a panic and prints what it saw"
)]

#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code, reason = "the benchmarks need more of it")]
#[path = "../../benches/traffic/mod.rs"]
mod traffic;

// What a crawler is served.
mod hosts; // each host its own site
mod robots_tags; // the policy's tags merged with the origin's
mod serve_robots; // robots.txt, whatever else is broken
mod transparent; // everything else, byte for byte

// The rules that bind it.
mod editions; // the robots.txt that a crawler can know
mod origin_robots; // the origin's own robots.txt

// Which requests are refused.
mod breaker; // no more than the operator means
mod catalogue; // the known crawlers
mod enforcement; // log or block, and the record
mod evasion; // other spellings of a path
mod identity; // claims of a User-Agent
mod pace; // a crawler's speed and its place on the ladder
mod smuggling; // one request is one request
mod standing; // evidence for a claim

// The program and its verbs.
mod admin;
mod cli_check;
mod cli_crawlers;
mod cli_help;
mod cli_tags;
mod cli_violations;
mod reload;
mod shutdown;

// The code under stress.
mod fuzz_corpora; // every input that once broke something
mod memory; // what is allocated
