//! Access logs: one line of a web server in, one `Entry` out; and the `Line` that Beadle writes.
//!
//! A line that can't be read gives a `Fault` and is never guessed.
//!
//! May use: escape, text. Must not know: files, threads, the policy, how a request is judged.

mod entry; // one request, and its parts
mod format; // a format by its name, its first lines, or a pattern
mod haproxy; // fixed columns
mod json; // Caddy, Traefik, Cloudflare Logpush, Beadle's records, other JSON lines
mod line; // a line of Beadle's own log
mod line_pattern; // compiled patterns; combined and alb are two of them
mod own; // Beadle's own log, read
mod source_pattern; // patterns as nginx's log_format and Apache's LogFormat write them
mod time; // times in all forms
mod unescape; // escapes in texts
mod w3c; // W3C extended (IIS), CloudFront: the fields stand in the file

#[cfg(test)]
mod own_tests;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    entry::{Entry, Fault},
    format::{Format, detect},
    line::{Line, REFUSE},
    w3c::Columns,
};
