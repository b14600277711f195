//! The `fields` of a block: what a refusal tells a crawler besides its status.
//!
//! A refusal changes nothing beyond itself: not the framing, not a cache, not the client's next
//! request.

use super::{
    http_fields::{self, Fault, HttpFields, is_token},
    shape::At,
};

/// The most octets of all fields. Servers that ask for decisions read a head of 4 KiB, which also
/// has the robots tags.
const MAX_SIZE: usize = 2_048;

pub(super) fn read(at: &At<'_>) -> HttpFields {
    let fields = http_fields::read(at, fault);
    let size: usize = fields.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    if size > MAX_SIZE {
        let help = format!("keep all fields within {MAX_SIZE} octets");
        at.refuse(format!("{size} octets are too many for some servers"), help);
    }
    fields
}

/// What is wrong with a field of a refusal.
fn fault(name: &str, value: &str) -> Option<Fault> {
    let (why, help) = match name {
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
    };
    Some(Fault { why, help })
}

const FOR_CACHES: (&str, &str) = (
    "a cache could give the refusal to people",
    "remove it: each refusal has 'Cache-Control: no-store' and 'Vary: User-Agent'",
);
