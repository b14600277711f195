//! Fields of HTTP messages that a policy sets: names with their values.

use crate::base::escape::shown;

use super::shape::At;

/// Names in lower case with their values, in the policy's order.
pub(super) type HttpFields = Vec<(String, String)>;

/// Why a field can't be set, and the repair.
pub(super) type Fault = (&'static str, &'static str);

/// Reads a mapping of names to values: tokens (RFC 9110 §5.1) and printable ASCII (§5.5). `fault`
/// finds what is wrong with a name, in lower case, or its value.
pub(super) fn read(at: &At<'_>, fault: impl Fn(&str, &str) -> Option<Fault>) -> HttpFields {
    let mut fields: HttpFields = Vec::new();
    for (key, value) in at.entries() {
        let name = key.text.to_ascii_lowercase();
        let Some(text) = value.as_written() else { continue };
        let fault = if !is_token(&name) {
            let why = "it is no name of a field";
            Some((why, "write letters, digits and hyphens, such as X-Outside-Url"))
        } else if fields.iter().any(|(other, _)| *other == name) {
            let why = "it stands here twice";
            Some((why, "keep one line; a comma joins the items of a list"))
        } else {
            fault(&name, &text)
        };
        let is_value = !text.is_empty()
            && text.trim() == text
            && text.bytes().all(|b| matches!(b, b' '..=b'~'));
        if let Some((why, help)) = fault {
            value.refuse(format!("'{}' can't be set: {why}", shown(&key.text)), help);
        } else if is_value {
            fields.push((name, text));
        } else {
            let help = "write printable ASCII without spaces at the ends";
            value.refuse("no value of a field", help);
        }
    }
    fields
}

/// Whether a text is a token (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    let is_tchar = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(is_tchar)
}

/// The most octets of all fields. Servers that ask for decisions read a head of 4 KiB, which also
/// has the robots tags.
const MAX_SIZE: usize = 2_048;

/// Reads the `fields` of a block: what a refusal tells a crawler besides its status. A refusal changes
/// nothing beyond itself: not the framing, not a cache, not the client's next request.
pub(super) fn of_refusal(at: &At<'_>) -> HttpFields {
    let fields = read(at, fault);
    let size: usize = fields.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    if size > MAX_SIZE {
        let help = format!("keep all fields within {MAX_SIZE} octets");
        at.refuse(format!("{size} octets are too many for some servers"), help);
    }
    fields
}

fn fault(name: &str, value: &str) -> Option<Fault> {
    Some(match name {
        "connection" | "content-length" | "keep-alive" | "proxy-connection" | "te" | "trailer"
        | "transfer-encoding" | "upgrade" => {
            ("it frames the message or rules the connection, which Beadle does", "remove it")
        }
        "content-encoding" | "content-range" => {
            ("the body is whole, and as the policy writes it", "remove it")
        }
        "content-type" => ("it has a key of its own", "write 'content_type' beside 'fields'"),
        "date" | "x-beadle-refusal" => ("Beadle writes it", "remove it"),
        "robots-tag" | "x-robots-tag" => {
            ("it has a section of its own", "write a rule of 'robots_tag' for the site")
        }
        "set-cookie" | "clear-site-data" => (
            "it would change what the client sends with later requests, which the origin reads",
            "remove it",
        ),
        "age" | "etag" | "expires" | "last-modified" | "pragma" | "surrogate-control" | "vary" => {
            FOR_CACHES
        }
        _ if name.ends_with("cache-control") || name.starts_with("x-accel-") => FOR_CACHES,
        "retry-after" if !value.bytes().all(|b| b.is_ascii_digit()) => (
            "a refusal has no other number than seconds, because a date goes by",
            "write the seconds to wait, such as 86400",
        ),
        "www-authenticate" if !value.split(' ').next().is_some_and(is_token) => (
            "a challenge begins with its scheme (RFC 9110 §11.6.1)",
            "write for example 'License realm=\"www.example.com\"'",
        ),
        "link" if !value.starts_with('<') || !value.contains('>') => (
            "a link begins with a URL in angle brackets (RFC 8288 §3)",
            "write for example '<https://www.example.com/license.xml>; rel=\"license\"'",
        ),
        _ => return None,
    })
}

const FOR_CACHES: Fault = (
    "a cache could give the refusal to people",
    "remove it: each refusal has 'Cache-Control: no-store' and 'Vary: User-Agent'",
);
