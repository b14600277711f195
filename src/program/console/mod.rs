//! The console: what several verbs read, write and ask for.
//!
//! ```text
//! config                the policy as an option, and at the start of a server
//! database              the file and the server of its database
//! site                  the site that the options name
//! input, web            files, standard input, pages of the web
//! output, screen        lines and files that are written, the terminal
//! exit                  exit codes and errors
//! completions           words that a shell completes
//! runtime               the runtime of everything that waits
//! ```
//!
//! May use: policy, enforce, clickhouse, crawlers, record, violations, report, publication, remote,
//! trial, fetch, diagnostic, escape, text. Must not know: any verb.

pub(crate) mod completions;
mod config;
pub(crate) mod database;
mod exit;
pub(crate) mod input;
mod log_lines;
mod output;
mod runtime;
mod screen;
pub(crate) mod site;
pub(crate) mod web;

pub(crate) use self::{
    config::{
        AtStart, ConfigFile, after_trial, examine, good, load, load_with_database, no_policy,
        read_now,
    },
    exit::{Error, Exit, refuse},
    log_lines::{LineCounts, log_to_stderr},
    output::{Format, json, remark, write_file},
    runtime::control_runtime,
};
