//! The formats of published lists, and the reading of one into a [`List`].
//!
//! The first character of a list determines its format, whatever the catalogue says: operators
//! change formats more often than addresses. The catalogue's format matters in two cases. An HTML
//! page is read only if the list is a page; otherwise it is an error page. And of a geofeed only the
//! first column counts.
//!
//! The limits: [`MAX_OCTETS`], [`MAX_PREFIXES`](super::MAX_PREFIXES), no prefix wider than /8 (IPv4)
//! or /16 (IPv6), and two such prefixes for all of a family together. Addresses that no Internet client has
//! (private, loopback, link-local, multicast, documentation, …) are ignored with a warning. Host
//! bits are cleared with a note.

use crate::base::diagnostic::Diagnostic;

use super::{
    entries::{Entries, empty, is_of_addresses},
    html, json,
    list::List,
    prefix,
};

/// The longest list that is read, in octets.
pub const MAX_OCTETS: usize = 4 << 20;

/// The format in which an operator publishes a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON of any shape: `prefixes[].ipv4Prefix`, `ips[]`, addresses by place, ….
    Json,
    /// Addresses, prefixes or ranges, one or several on a line; `#`, `;` and `//` begin a comment.
    Rows,
    /// A geolocation feed, RFC 8805: comma-separated, the prefix first.
    Geofeed,
    /// An HTML page for people that contains the addresses.
    Html,
}

/// Reads a list. Without a format, any but HTML is accepted.
///
/// # Errors
///
/// The list is empty, too large, unreadable or implausible. Then none of it counts, and the copy in use, if
/// any, stays in use. The code is fit for a metric label.
pub fn read(format: Option<Format>, octets: &[u8]) -> Result<List, Diagnostic> {
    if octets.len() > MAX_OCTETS {
        let length = octets.len();
        let message = format!("the list has {length} octets, more than the limit of {MAX_OCTETS}");
        return Err(Diagnostic::error("ranges.too_large", message));
    }
    if octets.starts_with(&[0x1f, 0x8b]) {
        let message = "the list is still gzip (decompress it first)";
        return Err(Diagnostic::error("ranges.compressed", message));
    }
    let octets = octets.strip_prefix(b"\xef\xbb\xbf").unwrap_or(octets);
    let mut entries = Entries::default();
    match octets.trim_ascii_start().first() {
        None => return Err(empty()),
        Some(b'{' | b'[') => json::read(octets, &mut entries)?,
        Some(_) if format == Some(Format::Html) => {
            html::read(&String::from_utf8_lossy(octets), &mut entries)?;
        }
        Some(b'<') => {
            let message = "an HTML page instead of the list (check whether its URL has changed; if the list \
                           is a page, set 'ip_format: html')";
            return Err(Diagnostic::error("ranges.error_page", message));
        }
        Some(_) if format == Some(Format::Json) => json::read(octets, &mut entries)?,
        Some(_) => {
            let is_geofeed = format == Some(Format::Geofeed);
            rows(&String::from_utf8_lossy(octets), is_geofeed, &mut entries)?;
        }
    }
    entries.into_list()
}

impl Format {
    /// The format with this name in the catalogue's `ip_format`; `None` for an unknown name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "json" | "google-prefixes" | "ahrefs-json" | "vendor-json" | "aws-ip-ranges" => {
                Some(Self::Json)
            }
            "text" | "text-list" | "text-cidr" => Some(Self::Rows),
            "geofeed" | "geofeed-csv" => Some(Self::Geofeed),
            "html" | "html-embedded" => Some(Self::Html),
            _ => None,
        }
    }
}

/// Reads lines. A line contains only entries, separated by blanks, commas or semicolons; or it has
/// columns, the first of which is an entry. Of a geofeed only the first column counts
/// (RFC 8805 §2.1.1.1). Empty lines and comments are ignored, and a first line that names the columns.
fn rows(text: &str, is_geofeed: bool, entries: &mut Entries) -> Result<(), Diagnostic> {
    for line in text.split(['\n', '\r']) {
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        if !is_geofeed && (entries.add(line)? || add_each(line, entries)?) {
            continue;
        }
        let column = unquoted(line.split([',', ';', '\t']).next().unwrap_or_default());
        let is_heading = entries.is_untouched() && is_of_addresses(column);
        if !entries.add(column)? && !is_heading {
            entries.note_unread(line);
        }
    }
    Ok(())
}

/// Adds all words of a line, or none if one of them is not an entry.
fn add_each(line: &str, entries: &mut Entries) -> Result<bool, Diagnostic> {
    let is_between = |c: char| c.is_whitespace() || c == ',' || c == ';';
    let words = || line.split(is_between).map(unquoted).filter(|word| !word.is_empty());
    if !words().all(|word| prefix::parse(word).is_some()) {
        return Ok(false);
    }
    for word in words() {
        entries.add(word)?;
    }
    Ok(true)
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches('"').trim()
}

fn without_comment(line: &str) -> &str {
    let line = line.split('#').next().unwrap_or_default();
    let is_comment = line.trim_start().starts_with([';']) || line.trim_start().starts_with("//");
    if is_comment { "" } else { line }
}
