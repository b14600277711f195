//! The console: what several verbs read, write and ask for.
//!
//! May use: policy, enforce, clickhouse, crawlers, record, violations, report, publication, remote,
//! trial, fetch, diagnostic, escape. Must not know: any verb.

pub(crate) mod completions; // words that a shell completes
mod config; // the policy as an option, and at the start of a server
pub(crate) mod database; // the file and the server of its database
pub(crate) mod input; // files, standard input, pages of the web
mod log_lines; // log lines on standard error
mod output; // lines and files that are written, the terminal, exit codes and errors
pub(crate) mod site; // the site that the options name

pub(crate) use self::{
    config::{
        AtStart, ConfigFile, after_trial, examine, good, load, load_with_database, no_policy,
        read_now,
    },
    log_lines::{LineCounts, log_to_stderr},
    output::{Error, Exit, Format, json, refuse, remark, write_file},
};

/// The runtime for everything except requests: signals, look-ups, reloads and the admin listener.
pub(crate) fn control_runtime() -> Result<tokio::runtime::Runtime, Error> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    Ok(builder.worker_threads(1).thread_name("control").enable_all().build()?)
}
