//! Access logs: one line of a web server in, one `Entry` out; and the `Line` that Beadle writes.
//!
//! ```text
//! detect      the first lines -> the format
//! format      its name, or a pattern as nginx's log_format and Apache's LogFormat write it
//! pattern     nginx, apache: compiled patterns; combined and alb are two of them
//! json        Caddy, Traefik, Cloudflare Logpush, Beadle's records, other JSON lines
//! w3c         W3C extended (IIS), CloudFront: the fields stand in the file
//! haproxy     fixed columns
//! line, own    Beadle's own log, written and read
//! request_line, time, unescape   parts of a line
//! ```
//! A line that can't be read gives a `Fault` and is never guessed.
//!
//! May use: escape, text. Must not know: files, threads, the policy, how a request is judged.

mod apache;
mod detect;
mod entry;
mod format;
mod haproxy;
mod json;
mod line;
mod line_pattern;
mod logged_request;
mod nginx;
mod own;
mod time;
mod unescape;
mod w3c;

#[cfg(test)]
mod own_tests;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    detect::detect,
    entry::{Entry, Fault},
    format::Format,
    line::{Line, REFUSE},
    w3c::Columns,
};
