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

use super::{
    entries::Entries,
    html, json,
    list::List,
    refusal::{MAX_OCTETS, Refusal},
    rows,
};

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
/// The list is empty, too large, unreadable or implausible. Then none of it counts.
pub fn read(format: Option<Format>, octets: &[u8]) -> Result<List, Refusal> {
    if octets.len() > MAX_OCTETS {
        return Err(Refusal::TooLarge { octets: octets.len() });
    }
    if octets.starts_with(&[0x1f, 0x8b]) {
        return Err(Refusal::Compressed);
    }
    let octets = octets.strip_prefix(b"\xef\xbb\xbf").unwrap_or(octets);
    let mut entries = Entries::default();
    match octets.trim_ascii_start().first() {
        None => return Err(Refusal::Empty),
        Some(b'{' | b'[') => json::read(octets, &mut entries)?,
        Some(_) if format == Some(Format::Html) => {
            html::read(&String::from_utf8_lossy(octets), &mut entries)?;
        }
        Some(b'<') => return Err(Refusal::ErrorPage),
        Some(_) if format == Some(Format::Json) => json::read(octets, &mut entries)?,
        Some(_) => {
            let is_geofeed = format == Some(Format::Geofeed);
            rows::read(&String::from_utf8_lossy(octets), is_geofeed, &mut entries)?;
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
