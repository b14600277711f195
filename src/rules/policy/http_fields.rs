//! Fields of HTTP messages that a policy sets: names with their values.

use crate::base::escape::shown;

use super::shape::At;

/// Names in lower case with their values, in the policy's order.
pub(super) type HttpFields = Vec<(String, String)>;

/// Why a field can't be set.
pub(super) struct Fault {
    /// The reason.
    pub(super) why: &'static str,
    /// The repair.
    pub(super) help: &'static str,
}

/// Reads a mapping of names to values: tokens (RFC 9110 §5.1) and printable ASCII (§5.5). `fault`
/// finds what is wrong with a name, in lower case, or its value.
pub(super) fn read(at: &At<'_>, fault: impl Fn(&str, &str) -> Option<Fault>) -> HttpFields {
    let mut fields: HttpFields = Vec::new();
    for (key, value) in at.entries() {
        let name = key.text.to_ascii_lowercase();
        let Some(text) = value.as_written() else { continue };
        let fault = if !is_token(&name) {
            let why = "it is no name of a field";
            Some(Fault { why, help: "write letters, digits and hyphens, such as X-Outside-Url" })
        } else if fields.iter().any(|(other, _)| *other == name) {
            let why = "it stands here twice";
            Some(Fault { why, help: "keep one line; a comma joins the items of a list" })
        } else {
            fault(&name, &text)
        };
        let is_value = !text.is_empty()
            && text.trim() == text
            && text.bytes().all(|b| matches!(b, b' '..=b'~'));
        if let Some(Fault { why, help }) = fault {
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
pub(super) fn is_token(text: &str) -> bool {
    let is_tchar = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(is_tchar)
}
