//! README and docs keep their word: commands run, policies pass `beadle check`, tables are complete,
//! links lead somewhere.
//!
//! `BEADLE_UPDATE=1 cargo test --test docs` rewrites everything that is generated: the help texts in
//! `docs/src/commands.md`, the picture of the demo, and the golden files of the examples.

#![allow(clippy::panic, reason = "a test fails by a panic and prints what it saw")]

#[path = "../support/mod.rs"]
mod support;

mod checks; // every code of a finding
mod ci; // the hooks and the workflow of `examples/ci`
mod commands; // the help texts are those of the program
mod examples; // the policies of `examples/`
mod fronts; // configurations of the servers in front
mod guide; // every command runs, every output comes
mod hardening; // each row of bad input has its test
mod kubernetes; // the manifests of `examples/kubernetes`
mod links; // every link leads somewhere, every page is in the summary
mod page; // pages and their blocks
mod parsers; // the table of parsers of robots.txt
mod picture; // the demo, recorded
mod policy; // the policy reference is complete
mod records; // the tables of records and metrics are complete
mod schema; // the JSON Schema of the policy
mod words; // plain English
