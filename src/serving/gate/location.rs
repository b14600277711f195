//! Fields that name an origin by its own address, and the site by its own.
//!
//! An origin that ignores the `Host` field redirects clients to its own address, which most
//! of them can't reach. So this address is replaced with the site's, as nginx does by default.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::rules::policy::Origin;

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The fields that name a resource of the site (RFC 9110 §10.2.2 and §8.7).
const FIELDS: [HeaderName; 2] = [header::LOCATION, header::CONTENT_LOCATION];

/// The fields of a response that name an origin by its own address, each with a value that names
/// the site as the client does. `forwarded` are the fields of the request that went to the origin.
pub fn renamed(
    response: &HeaderMap,
    origins: &[Origin],
    forwarded: &HeaderMap,
) -> Vec<(HeaderName, HeaderValue)> {
    let renamed = |name: &HeaderName| {
        let value = response.get(name)?.as_bytes();
        let rest = origins.iter().find_map(|origin| after_address(value, origin))?;
        let value = [&client_address(forwarded), rest].concat();
        Some((name.clone(), HeaderValue::from_bytes(&value).ok()?))
    };
    FIELDS.iter().filter_map(renamed).collect()
}

/// The `Destination` of a request (RFC 4918 §10.3) for origins without TLS. It names the site by `https`
/// where Beadle, or a server in front, ends TLS; an origin takes this for another server, and refuses to
/// copy or move there.
pub fn plain_destination(request: &HeaderMap) -> Option<HeaderValue> {
    let rest = after(request.get("destination")?.as_bytes(), b"https://")?;
    let end = rest.iter().position(|b| b"/?#\\".contains(b)).unwrap_or(rest.len());
    let host = request.get(header::HOST)?.as_bytes();
    let is_site = rest[..end].eq_ignore_ascii_case(host);
    is_site.then(|| HeaderValue::from_bytes(&[b"http://", rest].concat()).ok()).flatten()
}

/// What follows scheme and authority, if they are the address of `origin`.
fn after_address<'v>(value: &'v [u8], origin: &Origin) -> Option<&'v [u8]> {
    let (scheme, usual) = if origin.tls { ("https://", 443) } else { ("http://", 80) };
    let rest = after(value, scheme.as_bytes())?;
    let end = rest.iter().position(|b| b"/?#\\".contains(b)).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let port = match authority.strip_prefix(b"[") {
        Some(inner) => after(after(inner, origin.host.as_bytes())?, b"]")?,
        None if origin.host.contains(':') => return None,
        None => after(authority, origin.host.as_bytes())?,
    };
    let port = match port {
        [] | [b':'] => usual,
        [b':', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(digits).ok()?.parse().ok()?
        }
        _ => return None,
    };
    // `\` is `/` to browsers alone.
    (port == origin.port && rest.first() != Some(&b'\\')).then_some(rest)
}

/// What follows `start`, in letters of any case.
fn after<'v>(value: &'v [u8], start: &[u8]) -> Option<&'v [u8]> {
    let (beginning, rest) = value.split_at_checked(start.len())?;
    beginning.eq_ignore_ascii_case(start).then_some(rest)
}

/// Scheme and authority of the site as the client named it; empty without a host.
fn client_address(forwarded: &HeaderMap) -> Vec<u8> {
    let first = |name: &HeaderName| {
        let value = forwarded.get(name)?.as_bytes();
        value.split(|&b| b == b',').next().map(<[u8]>::trim_ascii)
    };
    let is_authority = |value: &&[u8]| {
        !value.is_empty()
            && value.iter().all(|b| b.is_ascii_alphanumeric() || b"-._:[]".contains(b))
    };
    let host = [X_FORWARDED_HOST, header::HOST];
    let Some(host) = host.iter().filter_map(first).find(is_authority) else { return Vec::new() };
    let is_https =
        first(&X_FORWARDED_PROTO).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"https"));
    let scheme = if is_https { &b"https://"[..] } else { b"http://" };
    [scheme, host].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(tls: bool, host: &str, port: u16) -> Origin {
        Origin { tls, host: host.to_owned(), port }
    }

    fn fields(all: &[(HeaderName, &'static str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    fn location(value: &'static str, forwarded: &HeaderMap) -> String {
        let origins = [
            origin(false, "127.0.0.1", 3000),
            origin(false, "app.internal", 80),
            origin(true, "app.internal", 443),
            origin(false, "::1", 8080),
        ];
        let response = fields(&[(header::LOCATION, value)]);
        let renamed = renamed(&response, &origins, forwarded);
        let shown = |value: &HeaderValue| value.to_str().expect("ASCII").to_owned();
        renamed.first().map_or_else(|| "-".to_owned(), |(_, value)| shown(value))
    }

    #[test]
    fn an_address_of_the_origin_becomes_the_sites() {
        let forwarded = fields(&[
            (header::HOST, "site.example:8443"),
            (X_FORWARDED_HOST, "site.example:8443"),
            (X_FORWARDED_PROTO, "https"),
        ]);
        for (value, expected) in [
            ("http://127.0.0.1:3000/next?a#b", "https://site.example:8443/next?a#b"),
            ("http://127.0.0.1:3000", "https://site.example:8443"),
            ("HTTP://127.0.0.1:3000?q", "https://site.example:8443?q"),
            ("http://app.internal/x", "https://site.example:8443/x"),
            ("http://APP.internal:80/x", "https://site.example:8443/x"),
            ("http://app.internal:/x", "https://site.example:8443/x"),
            ("https://app.internal:443/x", "https://site.example:8443/x"),
            ("http://[::1]:8080/x", "https://site.example:8443/x"),
            // Other places.
            ("/next", "-"),
            ("next", "-"),
            ("//127.0.0.1:3000/x", "-"),
            ("http://127.0.0.1/x", "-"),
            ("http://127.0.0.1:30000/x", "-"),
            ("http://127.0.0.1:+3000/x", "-"),
            ("https://127.0.0.1:3000/x", "-"),
            ("http://app.internal.example/x", "-"),
            ("http://user@app.internal/x", "-"),
            ("http://app.internal@evil.example/x", "-"),
            ("http://app.internal\\@evil.example/x", "-"),
            ("http://site.example:8443/x", "-"),
            ("http://::1:8080/x", "-"),
            ("", "-"),
        ] {
            assert_eq!(location(value, &forwarded), expected, "{value}");
        }
    }

    #[test]
    fn the_site_is_named_as_the_client_named_it() {
        let proto = |value| (X_FORWARDED_PROTO, value);
        for (forwarded, expected) in [
            (&[(header::HOST, "a.example"), proto("http")][..], "http://a.example/x"),
            (&[(header::HOST, "a.example"), (X_FORWARDED_HOST, "b.example")], "http://b.example/x"),
            (&[(X_FORWARDED_HOST, "c.example, b.example"), proto("https, http")], {
                "https://c.example/x"
            }),
            (&[(header::HOST, "a.example"), (X_FORWARDED_HOST, "b.example/y@z")], {
                "http://a.example/x"
            }),
            (&[], "/x"),
        ] {
            let forwarded = fields(forwarded);
            assert_eq!(location("http://127.0.0.1:3000/x", &forwarded), expected);
        }
    }

    #[test]
    fn rfc4918_10_3_a_destination_at_the_site_is_one_at_the_origin() {
        for (destination, host, expected) in [
            ("https://site.example/a%20b", "site.example", Some("http://site.example/a%20b")),
            (
                "HTTPS://SITE.example:8443/b",
                "site.example:8443",
                Some("http://SITE.example:8443/b"),
            ),
            ("https://site.example:8443/b", "site.example", None),
            ("https://other.example/b", "site.example", None),
            ("https://site.example.evil/b", "site.example", None),
            ("http://site.example/b", "site.example", None),
            ("/b", "site.example", None),
        ] {
            let name = HeaderName::from_static("destination");
            let mut request = HeaderMap::new();
            request.insert(name, HeaderValue::from_static(destination));
            request.insert(header::HOST, HeaderValue::from_static(host));
            let found = plain_destination(&request);
            let found = found.as_ref().map(|value| value.to_str().expect("ASCII"));
            assert_eq!(found, expected, "{destination}");
        }
    }
}
