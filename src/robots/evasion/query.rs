//! The form of a query whose reserved characters are decoded.

use super::decoding;

/// `query` with its reserved characters decoded; `None` if that changes nothing.
pub(super) fn decode(query: &[u8]) -> Option<Vec<u8>> {
    decoding::replace_escapes(query, |octet| {
        (decoding::is_reserved(octet) || octet == b'/')
            .then_some(octet)
            .filter(|octet| !is_data(*octet))
    })
}

/// What has a meaning between the parts of a query. Encoded, it belongs to a name or a value.
fn is_data(octet: u8) -> bool {
    b"&;=+".contains(&octet)
}
