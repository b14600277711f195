//! The page that led a person here.

use http::{HeaderMap, Method, header};

use crate::rules::crawlers::Catalogue;

/// The operator of crawlers whose page led to this request, by its `Referer` (RFC 9110 §10.1.3).
pub(super) fn operator<'c>(
    catalogue: &'c Catalogue,
    method: &Method,
    fields: &HeaderMap,
    is_own: impl FnOnce(&str) -> bool,
) -> Option<&'c str> {
    let referer = fields.get(header::REFERER).filter(|_| method == Method::GET)?;
    let host = host_of(referer.as_bytes())?;
    let operator = catalogue.operator_of(host)?;
    (!is_own(host)).then_some(operator)
}

/// The host of an absolute URL: `https://host:port/path`. Browsers write it in lower case.
fn host_of(url: &[u8]) -> Option<&str> {
    let rest = url.strip_prefix(b"https://").or_else(|| url.strip_prefix(b"http://"))?;
    let end = rest.iter().position(|octet| b"/?#".contains(octet)).unwrap_or(rest.len());
    let authority = str::from_utf8(rest.get(..end)?).ok()?;
    authority.split(':').next().filter(|host| !host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_referer() {
        for (url, host) in [
            ("https://www.google.com/", Some("www.google.com")),
            ("http://chatgpt.com", Some("chatgpt.com")),
            ("https://bing.com:443/search?q=a", Some("bing.com")),
            ("https://bing.com?q=a/b", Some("bing.com")),
            ("https://bing.com@evil.example/", None),
            ("android-app://com.google.android", None),
            ("/relative", None),
            ("about:client", None),
            ("", None),
        ] {
            assert_eq!(host_of(url.as_bytes()), host, "{url}");
        }
    }
}
