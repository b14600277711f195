//! `Signature-Agent`: the URL of a signer's keys.

use derive_more::Display;
use sfv::{BareItem, Dictionary, Item, ListEntry, Parser};

use super::{
    fields,
    reason::Reason,
    signature_base::{Component, Source},
};

pub(super) const FIELD: &str = "signature-agent";

/// The path of the directory if the agent's URL has none
/// (draft-meunier-http-message-signatures-directory).
const WELL_KNOWN: &str = "/.well-known/http-message-signatures-directory";

/// The URL of a signer: `https`, a host name on the default port, and an optional path. No address,
/// no user, no fragment. The host is in lower case.
///
/// The caller checks that the host name resolves to a public address.
#[derive(Clone, Debug, Display, PartialEq, Eq, Hash)]
#[display("{text}")]
pub struct AgentUrl {
    text: String,
    host_length: usize,
}

impl AgentUrl {
    /// The longest URL accepted, in octets.
    pub const MAX_LENGTH: usize = 1024;

    /// Reads a URL.
    ///
    /// # Errors
    /// [`Reason::SignatureAgentNotHttps`] for another scheme, and
    /// [`Reason::SignatureAgentUnusable`] for any other URL that an agent cannot have.
    pub fn new(text: &str) -> Result<Self, Reason> {
        let (scheme, rest) = text.split_once("://").ok_or(Reason::SignatureAgentUnusable)?;
        if !scheme.eq_ignore_ascii_case("https") {
            return Err(Reason::SignatureAgentNotHttps);
        }
        let is_fit = text.len() <= Self::MAX_LENGTH && rest.bytes().all(is_uri_octet);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority.strip_suffix(":443").unwrap_or(authority);
        if !is_fit || !is_host_name(host) {
            return Err(Reason::SignatureAgentUnusable);
        }
        let mut url = String::with_capacity(text.len() + 1);
        url.push_str(Self::SCHEME);
        url.push_str(&host.to_ascii_lowercase());
        // The root path equals no path.
        if path != "/" {
            if path.starts_with('?') {
                url.push('/');
            }
            url.push_str(path);
        }
        Ok(Self { text: url, host_length: host.len() })
    }

    const SCHEME: &str = "https://";

    /// The URL, normalised.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name of the host, in lower case.
    pub fn host(&self) -> &str {
        self.text.get(Self::SCHEME.len()..Self::SCHEME.len() + self.host_length).unwrap_or_default()
    }

    /// The URL of the key directory. For a bare origin it is the well-known place, as deployed
    /// signers expect; else the URL itself, as in the draft.
    pub fn directory_url(&self) -> String {
        let is_origin = self.text.len() == Self::SCHEME.len() + self.host_length;
        if is_origin { format!("{}{WELL_KNOWN}", self.text) } else { self.text.clone() }
    }
}

/// `Signature-Agent` in one of its forms.
pub(super) enum Field {
    /// `label="https://…"`, since draft-meunier-http-message-signatures-directory-02.
    Members(Dictionary),
    /// `"https://…"`, before that.
    Single(Item),
}

impl Field {
    pub(super) fn read(value: &[u8]) -> Result<Self, Reason> {
        let error = match fields::dictionary(value, Reason::SignatureAgentUnreadable) {
            Ok(members) => return Ok(Self::Members(members)),
            Err(error) => error,
        };
        match Parser::new(value).parse::<Item>() {
            // A URL without quotation marks can parse as a token.
            Ok(Item { bare_item: BareItem::Token(_), .. }) => Err(Reason::SignatureAgentUnquoted),
            Ok(item) => Ok(Self::Single(item)),
            Err(_) if looks_like_url(value) => Err(Reason::SignatureAgentUnquoted),
            Err(_) => Err(error),
        }
    }

    /// The agent of the signature with this label and these components. If the signature covers
    /// several members, the one with its own label counts, else the first.
    pub(super) fn agent(&self, label: &str, covered: &[Component]) -> Result<AgentUrl, Reason> {
        let mut keys = covered.iter().filter(|c| c.is_of_field(FIELD)).map(|c| match &c.source {
            Source::Member { key, .. } => Some(key.as_str()),
            _ => None,
        });
        let first = keys.next().ok_or(Reason::SignatureAgentNotCovered)?;
        let key = if keys.any(|key| key == Some(label)) { Some(label) } else { first };
        let item = match (self, key) {
            (Self::Members(members), Some(key)) => members.get(key),
            // The signature covers the whole field: use its own member, or the only one.
            (Self::Members(members), None) => members
                .get(label)
                .or_else(|| members.first().filter(|_| members.len() == 1).map(|(_, only)| only)),
            (Self::Single(item), None) => return url_of(item),
            (Self::Single(_), Some(_)) => None,
        };
        match item {
            Some(ListEntry::Item(item)) => url_of(item),
            Some(ListEntry::InnerList(_)) => Err(Reason::SignatureAgentUnreadable),
            None => Err(Reason::SignatureAgentMemberMissing),
        }
    }
}

/// The URL of a member. The draft ignores members with parameters. The `type` of earlier drafts is
/// accepted if it only repeats the meaning of the URL.
fn url_of(item: &Item) -> Result<AgentUrl, Reason> {
    let text = match &item.bare_item {
        BareItem::String(text) => text.as_str(),
        BareItem::Token(_) => return Err(Reason::SignatureAgentUnquoted),
        _ => return Err(Reason::SignatureAgentUnreadable),
    };
    for (name, value) in &item.params {
        let value = match value {
            BareItem::Token(value) => value.as_str(),
            BareItem::String(value) => value.as_str(),
            _ => "",
        };
        if name.as_str() != "type" || !matches!(value, "directory" | "jwks_uri") {
            return Err(Reason::SignatureAgentParameters);
        }
    }
    AgentUrl::new(text)
}

fn looks_like_url(value: &[u8]) -> bool {
    value.windows(3).any(|part| part == b"://") && !value.contains(&b'"')
}

/// Whether a URL's path or query can contain an octet (RFC 3986 §3.3 and §3.4). `#` is not allowed.
fn is_uri_octet(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&octet)
}

/// Whether a text is a name of the public DNS: at least two labels, and a letter at the start of the
/// last. So no address passes in any spelling.
fn is_host_name(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.len() <= 253
        && host.contains('.')
        && host.split('.').all(is_label)
        && last.starts_with(|c: char| c.is_ascii_alphabetic())
}
