//! The entries of a list, collected while it is read.

use ipnet::IpNet;

use crate::base::{diagnostic::Diagnostic, escape};

use super::{
    list::{Family, List},
    prefix::{self, WIDEST_V4, WIDEST_V6, Worth},
};

/// The most entries of a list, duplicates and ignored ones included.
pub const MAX_PREFIXES: usize = 50_000;
/// The most IPv4 addresses of a list: two /8.
const MAX_V4_ADDRESSES: u128 = 2 << 24;
/// The most IPv6 addresses of a list: two /16.
const MAX_V6_ADDRESSES: u128 = 2 << 112;
/// The most entries that are no addresses: one for this many that are.
const READ_FOR_EACH_UNREAD: usize = 4;
const SHOWN: usize = 60;

/// The refusal of a list without an address that counts.
pub(super) fn empty() -> Diagnostic {
    let message = "the list contains no address (check whether its format has changed)";
    Diagnostic::error("ranges.empty", message)
}

#[derive(Default)]
pub(super) struct Entries {
    used: Vec<IpNet>,
    /// The number of prefixes, ignored ones included.
    seen: usize,
    unread: Tally,
    ignored: Tally,
    masked: Tally,
    /// Whether an ignored prefix contains addresses of clients.
    has_gap: bool,
}

#[derive(Default)]
struct Tally {
    count: usize,
    first: String,
}

impl Entries {
    /// Adds an entry. Returns whether the text is one.
    pub(super) fn add(&mut self, text: &str) -> Result<bool, Diagnostic> {
        let Some(prefixes) = prefix::parse(text) else { return Ok(false) };
        for prefix in prefixes {
            self.seen += 1;
            if self.seen > MAX_PREFIXES {
                let message = format!("the list has more than {MAX_PREFIXES} entries");
                return Err(Diagnostic::error("ranges.too_many", message));
            }
            let masked = prefix.trunc();
            match prefix::worth(masked) {
                Worth::Refuse => {
                    let prefix = escape::bounded(text.trim().as_bytes(), SHOWN);
                    let message = format!(
                        "'{prefix}' is too wide for a crawler's addresses (at most /{WIDEST_V4} in IPv4, \
                         /{WIDEST_V6} in IPv6)"
                    );
                    return Err(Diagnostic::error("ranges.too_wide", message));
                }
                worth @ (Worth::Ignore | Worth::IgnoreMixed) => {
                    self.ignored.add(text);
                    self.has_gap |= worth == Worth::IgnoreMixed;
                    continue;
                }
                Worth::Use => {}
            }
            if masked.addr() != prefix.addr() {
                self.masked.add(text);
            }
            self.used.push(masked);
        }
        Ok(true)
    }

    pub(super) fn note_unread(&mut self, text: &str) {
        self.unread.add(text);
    }

    /// Whether no text was an entry, or should have been one, so far.
    pub(super) fn is_untouched(&self) -> bool {
        self.seen == 0 && self.unread.count == 0
    }

    pub(super) fn into_list(self) -> Result<List, Diagnostic> {
        // An error message has few addresses or one; a list has few lines that are not entries.
        if self.unread.count.saturating_mul(READ_FOR_EACH_UNREAD) > self.seen {
            let Tally { count: unread, first } = self.unread;
            let message = format!(
                "{unread} entries are not addresses and only {} are (at least \
                 {READ_FOR_EACH_UNREAD} for each of the others); the first is '{first}'",
                self.seen
            );
            return Err(Diagnostic::error("ranges.mostly_unread", message));
        }
        let findings = self.findings();
        let is_complete = self.unread.count == 0 && !self.has_gap;
        let list = List::new(self.used, is_complete, findings);
        if list.is_empty() {
            return Err(empty());
        }
        for (family, most, widest) in
            [(Family::V4, MAX_V4_ADDRESSES, WIDEST_V4), (Family::V6, MAX_V6_ADDRESSES, WIDEST_V6)]
        {
            if list.addresses(family) > most {
                let message =
                    format!("all {family} prefixes together contain more than two /{widest}");
                return Err(Diagnostic::error("ranges.covers_too_much", message));
            }
        }
        Ok(list)
    }

    fn findings(&self) -> Vec<Diagnostic> {
        let Self { unread, ignored, masked, .. } = self;
        let mut findings = Vec::new();
        if unread.count > 0 {
            let message = unread.message("are not addresses and were ignored");
            findings.push(Diagnostic::warning("ranges.unread_entry", message));
        }
        if ignored.count > 0 {
            let message = ignored.message("are special-purpose addresses and were ignored");
            findings.push(Diagnostic::warning("ranges.special_purpose", message));
        }
        if masked.count > 0 {
            let message = masked.message("have bits set beyond the prefix length, now cleared");
            findings.push(Diagnostic::note("ranges.host_bits", message));
        }
        findings
    }
}

impl Tally {
    fn add(&mut self, text: &str) {
        if self.count == 0 {
            self.first = escape::bounded(text.trim().as_bytes(), SHOWN);
        }
        self.count += 1;
    }

    fn message(&self, what: &str) -> String {
        format!("{} of the list's entries {what}; the first is '{}'", self.count, self.first)
    }
}

/// Names that only lists of prefixes use.
const OF_PREFIXES: [&str; 4] = ["ipprefix", "ipv4prefix", "ipv6prefix", "iprange"];
/// Generic names. A response about something else uses them too: an error with the client's address.
const GENERIC: &str = "
    address addresses cidr ip ipaddress ips ipv4 ipv4address ipv6
    ipv6address network prefix subnet
";

/// Whether only lists of prefixes use this name.
pub(super) fn is_of_prefixes(name: &str) -> bool {
    OF_PREFIXES.iter().any(|known| is(name, known))
}

/// Whether this is any name for addresses.
pub(super) fn is_of_addresses(name: &str) -> bool {
    is_of_prefixes(name) || GENERIC.split_whitespace().any(|known| is(name, known))
}

fn is(name: &str, known: &str) -> bool {
    let letters = name.bytes().filter(|b| !b"_-".contains(b)).map(|b| b.to_ascii_lowercase());
    letters.eq(known.bytes())
}
