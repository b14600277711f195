//! Access logs: one line of a web server in, one `Entry` out; and the `Line` that Beadle writes.
//!
//! ```text
//! format      its name, its first lines, or a pattern as nginx's log_format and Apache's LogFormat write it
//! pattern     of nginx and Apache: compiled patterns; combined and alb are two of them
//! json        Caddy, Traefik, Cloudflare Logpush, Beadle's records, other JSON lines
//! w3c         W3C extended (IIS), CloudFront: the fields stand in the file
//! haproxy     fixed columns
//! line, own    Beadle's own log, written and read
//! entry, time, unescape   a request and its parts
//! ```
//! A line that can't be read gives a `Fault` and is never guessed.
//!
//! May use: escape, text. Must not know: files, threads, the policy, how a request is judged.

mod entry;
mod format;
mod haproxy;
mod json;
mod line;
mod line_pattern;
mod own;
mod source_pattern;
mod time;
mod unescape;
mod w3c;

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
