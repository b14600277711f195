//! The console: what several verbs read, write and ask for.
//!
//! ```text
//! config, start         the policy as an option, and at the start of a server
//! database              the file and the server of its database
//! site                  the site that the options name
//! input, robots_file, web    files, standard input, pages of the web
//! output, screen, table, destination    lines, the terminal, tables, files that are written
//! exit                  exit codes and errors
//! completions, span     words that a shell completes; spans of time
//! runtime               the runtime of everything that waits
//! ```
//!
//! May use: policy, enforce, clickhouse, crawlers, record, violations, report, publication, remote,
//! trial, fetch, diagnostic, escape, text. Must not know: any verb.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod database;
pub(crate) mod destination;
pub(crate) mod exit;
pub(crate) mod input;
pub(crate) mod log_lines;
pub(crate) mod output;
pub(crate) mod password;
pub(crate) mod robots_file;
pub(crate) mod runtime;
pub(crate) mod screen;
pub(crate) mod site;
pub(crate) mod span;
pub(crate) mod start;
pub(crate) mod table;
pub(crate) mod web;
