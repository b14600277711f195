//! The desk in a real browser: Debian's Chromium without a window, driven over the DevTools protocol.
//!
//! Chromium talks through a pipe, so there is no port to find and no driver to install, and it ends
//! when the pipe closes, however a test ends. A client of the protocol in Rust brings all of it as
//! generated code, which takes longer to compile than the desk; the dozen of calls here are JSON.
//!
//! `table` lists the pages. A new page is one line there, and every test of `every_page` visits it.
//! The check of accessibility is axe-core (MPL-2.0), which `.ci/run` gets from npm into the folder of
//! the build. It is a tool for tests and no part of the program.
//!
//! `cargo test --test browser -- --ignored` takes the pictures in `docs/src/images` again.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by a panic and prints what it saw"
)]

#[path = "../support/mod.rs"]
mod support;

// === the browser and what it looks at
mod chromium; // the process and the protocol
mod desks; // programs with traffic behind them
mod tab; // what a person does and sees
mod table; // the pages

// === the promises
mod every_page; // no fault, accessible, fit for a phone, the night and paper
mod filters; // the list shows what its address says
mod foreign_text; // a User-Agent is text
mod hands; // the policy changed on the desk, by a person alone
mod keyboard; // all of it without a mouse
mod pictures; // the pictures of the docs
mod quarantine; // a file in quarantine, and its button
