//! A published list as it came, into a [`List`].
//!
//! Which form it has is told by its first character, whatever was said beforehand: operators change
//! forms more often than addresses. What was said decides two things: an HTML page is read only
//! where the list is a page, for anywhere else it is an error page; and of a geofeed only the first
//! column counts.
//!
//! The bounds: [`MAX_OCTETS`], [`MAX_PREFIXES`], no prefix wider than /8 (IPv4) or /16 (IPv6), all
//! IPv4 prefixes together not more than two /8. Addresses that no client on the Internet can have
//! (private, loopback, link-local, multicast, documentation, …) are dropped with a finding; host
//! bits are cleared, with a note.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::{diagnostic::Diagnostic, escape};

use super::{
    html, json,
    list::List,
    prefix::{self, Worth},
    refusal::Refusal,
    rows,
};

/// The longest list that is read, in octets.
pub const MAX_OCTETS: usize = 4 << 20;
/// The most entries of a list, those that say the same and those that are dropped included.
pub const MAX_PREFIXES: usize = 50_000;

/// All IPv4 addresses of a list: two /8.
const MAX_V4_ADDRESSES: u64 = 2 << 24;
/// How much of an entry a finding shows, in octets.
const SHOWN: usize = 60;

/// The form in which an operator publishes a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, of whatever shape: `prefixes[].ipv4Prefix`, `ips[]`, addresses by place, ….
    Json,
    /// Addresses, prefixes or ranges, one or several on a line; `#`, `;` and `//` begin a comment.
    Rows,
    /// A geolocation feed, RFC 8805: comma-separated, the prefix first.
    Geofeed,
    /// An HTML page for people that holds the addresses.
    Html,
}

/// Reads a list. Without a format, or with one that was not known, it may have any but HTML.
///
/// # Errors
///
/// A list that is empty, too large, not readable or not to be believed; nothing of it is taken.
pub fn read(format: Option<Format>, octets: &[u8]) -> Result<List, Refusal> {
    if octets.len() > MAX_OCTETS {
        return Err(Refusal::TooLarge { octets: octets.len() });
    }
    if octets.starts_with(&[0x1f, 0x8b]) {
        return Err(Refusal::Compressed);
    }
    let octets = octets.strip_prefix(b"\xef\xbb\xbf").unwrap_or(octets);
    let mut found = Found::default();
    match octets.trim_ascii_start().first() {
        None => return Err(Refusal::Empty),
        Some(b'{' | b'[') => json::read(octets, &mut found)?,
        Some(_) if format == Some(Format::Html) => {
            html::read(&String::from_utf8_lossy(octets), &mut found)?;
        }
        Some(b'<') => return Err(Refusal::ErrorPage),
        Some(_) if format == Some(Format::Json) => json::read(octets, &mut found)?,
        Some(_) => {
            let is_geofeed = format == Some(Format::Geofeed);
            rows::read(&String::from_utf8_lossy(octets), is_geofeed, &mut found)?;
        }
    }
    found.into_list()
}

impl Format {
    /// The format that the catalogue calls by this name in `ip_format`; `None` for a name that is
    /// not known.
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

/// What has been found so far.
#[derive(Default)]
pub(super) struct Found {
    v4: Vec<Ipv4Net>,
    v6: Vec<Ipv6Net>,
    /// Prefixes of all entries, dropped ones too.
    seen: usize,
    unread: Tally,
    dropped: Tally,
    masked: Tally,
}

/// How many entries something was found of, and the first of them.
#[derive(Default)]
struct Tally {
    count: usize,
    first: String,
}

impl Found {
    /// Takes an entry; whether it is one.
    pub(super) fn take(&mut self, text: &str) -> Result<bool, Refusal> {
        let Some(prefixes) = prefix::parse(text) else { return Ok(false) };
        self.take_all(text, &prefixes)?;
        Ok(true)
    }

    /// Takes the prefixes of the entry `text`.
    pub(super) fn take_all(&mut self, text: &str, prefixes: &[IpNet]) -> Result<(), Refusal> {
        for prefix in prefixes {
            self.seen += 1;
            if self.seen > MAX_PREFIXES {
                return Err(Refusal::TooMany);
            }
            let masked = prefix.trunc();
            match prefix::worth(masked) {
                Worth::Refuse => return Err(Refusal::TooWide { prefix: shown(text) }),
                Worth::Drop => {
                    self.dropped.add(text);
                    continue;
                }
                Worth::Take => {}
            }
            if masked.addr() != prefix.addr() {
                self.masked.add(text);
            }
            match masked {
                IpNet::V4(prefix) => self.v4.push(prefix),
                IpNet::V6(prefix) => self.v6.push(prefix),
            }
        }
        Ok(())
    }

    /// Notes an entry that was to be an address and is none.
    pub(super) fn note_unread(&mut self, text: &str) {
        self.unread.add(text);
    }

    fn into_list(self) -> Result<List, Refusal> {
        if self.unread.count > self.seen {
            let Tally { count: unread, first } = self.unread;
            return Err(Refusal::MostlyUnread { read: self.seen, unread, first });
        }
        let findings = self.findings();
        let list = List::new(self.v4, self.v6, findings);
        if list.is_empty() {
            return Err(Refusal::Empty);
        }
        if list.v4_addresses() > MAX_V4_ADDRESSES {
            return Err(Refusal::CoversTooMuch);
        }
        Ok(list)
    }

    fn findings(&self) -> Vec<Diagnostic> {
        let Self { unread, dropped, masked, .. } = self;
        let mut findings = Vec::new();
        if unread.count > 0 {
            let message = unread.message("are no addresses and were passed over");
            findings.push(Diagnostic::warning("ranges.unread_entry", message));
        }
        if dropped.count > 0 {
            let message = dropped.message("are of special purpose and were dropped");
            findings.push(Diagnostic::warning("ranges.special_purpose", message));
        }
        if masked.count > 0 {
            let message =
                masked.message("have bits set beyond the prefix length; they were cleared");
            findings.push(Diagnostic::note("ranges.host_bits", message));
        }
        findings
    }
}

impl Tally {
    fn add(&mut self, text: &str) {
        if self.count == 0 {
            self.first = shown(text);
        }
        self.count += 1;
    }

    fn message(&self, what: &str) -> String {
        format!("{} of the list's entries {what}; the first is '{}'", self.count, self.first)
    }
}

fn shown(text: &str) -> String {
    escape::bounded(text.trim().as_bytes(), SHOWN)
}
