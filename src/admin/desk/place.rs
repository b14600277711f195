//! The addresses of pages.

use url::form_urlencoded::{Serializer, byte_serialize};

/// The page of an edition of a site's robots.txt.
pub(super) fn edition(site: &str, edition: &str) -> String {
    format!("/robots/{}/{}", segment(site), segment(edition))
}

/// The page of a crawler.
pub(super) fn crawler(token: &str) -> String {
    format!("/crawlers/{}", segment(token))
}

/// The page of a violation.
pub(super) fn violation(id: &str) -> String {
    format!("/violations/{}", segment(id))
}

/// A page with parameters; those without a value are left out.
pub(super) fn query(path: &str, parameters: &[(&str, &str)]) -> String {
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    let query = Serializer::new(String::new()).extend_pairs(given).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// A text as one segment of a path (RFC 3986 §3.3).
fn segment(text: &str) -> String {
    // In a form a space is `+`, and a plus sign is never one.
    let form: String = byte_serialize(text.as_bytes()).collect();
    form.replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_in_its_segment() {
        assert_eq!(edition(".a.example", "0f"), "/robots/.a.example/0f");
        assert_eq!(crawler("a b/../+?#\u{e9}"), "/crawlers/a%20b%2F..%2F%2B%3F%23%C3%A9");
        assert_eq!(query("/try", &[("a", ""), ("b", "x&y=<")]), "/try?b=x%26y%3D%3C");
        assert_eq!(query("/try", &[("a", "")]), "/try");
    }
}
