//! Header fields that belong to a hop: what a proxy adds for the origin and takes from its answers.

use std::{io::Write, net::IpAddr};

use http::{HeaderMap, HeaderName, HeaderValue, Version, header, request::Parts};
use pingora::{
    ErrorType::InternalError,
    OrErr,
    http::{RequestHeader, ResponseHeader},
};

/// Fields by which some servers replace the request target: they would make the origin serve
/// another path than the one that was judged. Proxies in front hand on what clients write there, so
/// they are removed whoever sends them.
const TARGET_OVERRIDES: [&str; 2] = ["x-original-url", "x-rewrite-url"];

/// Beginnings of the names by which proxies report about clients and their requests.
const REPORTS: [&str; 6] =
    ["forwarded", "x-forwarded-", "x-original-", "x-rewrite-", "x-real-ip", "true-client-ip"];

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// What the origin is told about the client's side.
pub(super) struct ClientSide {
    pub(super) peer: IpAddr,
    /// Whether the peer is one of `trusted_proxies`.
    pub(super) trusted: bool,
    pub(super) tls: bool,
}

/// Makes the request ready for the origin: sets `X-Forwarded-For`, `-Host`, `-Proto` and `Via`.
/// What a trusted proxy reported goes on; what a stranger wrote does not.
///
/// The names of all fields go on in lower case: pingora's record of how the client spelled them
/// costs more than the rest of this function, in every copy that it makes of the header.
pub(super) fn forward(request: &mut RequestHeader, client: &ClientSide) -> pingora::Result<()> {
    let not_utf8 = (!request.raw_path_is_utf8()).then(|| request.raw_path().to_vec());
    let (nothing, ()) = http::Request::new(()).into_parts();
    let mut parts: Parts = std::mem::replace(request, RequestHeader::from(nothing)).into();
    set_fields(&mut parts, client)?;
    *request = RequestHeader::from(parts);
    match not_utf8 {
        Some(target) => request.set_raw_path(&target),
        None => Ok(()),
    }
}

fn set_fields(parts: &mut Parts, client: &ClientSide) -> pingora::Result<()> {
    let fields = &mut parts.headers;
    fields.reserve(4);
    let mut chain = Vec::with_capacity(64);
    let (mut keeps_proto, mut keeps_host) = (false, false);
    if client.trusted {
        for reported in fields.get_all(&X_FORWARDED_FOR) {
            chain.extend_from_slice(reported.as_bytes());
            chain.extend_from_slice(b", ");
        }
        keeps_proto = fields.contains_key(&X_FORWARDED_PROTO);
        keeps_host = fields.contains_key(&X_FORWARDED_HOST);
    }
    remove_reports(fields, client.trusted);
    write!(chain, "{}", client.peer.to_canonical()).or_err(InternalError, "a full memory")?;
    let chain = HeaderValue::try_from(chain).or_err(InternalError, "a chain of field values")?;
    fields.insert(X_FORWARDED_FOR, chain);
    if !keeps_proto {
        let scheme = HeaderValue::from_static(if client.tls { "https" } else { "http" });
        fields.insert(X_FORWARDED_PROTO, scheme);
    }
    if !keeps_host {
        match fields.get(header::HOST).cloned() {
            Some(host) => drop(fields.insert(X_FORWARDED_HOST, host)),
            None => drop(fields.remove(X_FORWARDED_HOST)),
        }
    }
    let is_http_1_0 = parts.version == Version::HTTP_10;
    let via = HeaderValue::from_static(if is_http_1_0 { "1.0 beadle" } else { "1.1 beadle" });
    fields.append(header::VIA, via);
    Ok(())
}

/// Removes what would mislead the origin. One look over the names finds out that there is nothing to
/// remove, as there usually is not.
fn remove_reports(fields: &mut HeaderMap, trusted: bool) {
    let misleads = |name: &HeaderName| {
        let name = name.as_str();
        let is_report = matches!(name.as_bytes().first(), Some(b'f' | b't' | b'x'));
        is_report && (begins(name, &TARGET_OVERRIDES) || (!trusted && begins(name, &REPORTS)))
    };
    if fields.keys().any(misleads) {
        let names: Vec<HeaderName> = fields.keys().filter(|name| misleads(name)).cloned().collect();
        for name in names {
            fields.remove(name);
        }
    }
}

/// Whether a name begins as one of these does. CGI reads `_` and `-` as the same.
fn begins(name: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| {
        name.get(..beginning.len()).is_some_and(|start| {
            start.bytes().zip(beginning.bytes()).all(|(a, b)| a == b || (a == b'_' && b == b'-'))
        })
    })
}

/// Removes from the origin's final answer what was meant for the connection to us
/// (RFC 9110 §7.6.1). `Connection` and `Transfer-Encoding` stay: pingora writes those itself, by
/// the framing it chose.
pub(super) fn remove_hop_by_hop(response: &mut ResponseHeader) {
    let nominated: Vec<HeaderName> = response
        .headers
        .get_all(header::CONNECTION)
        .iter()
        .filter(|value| !matches!(value.as_bytes(), b"close" | b"keep-alive"))
        .flat_map(|value| value.as_bytes().split(|&b| b == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .filter(|name| !is_kept(name))
        .collect();
    if nominated.is_empty() && !response.headers.keys().any(is_hop_by_hop) {
        return;
    }
    let standard: Vec<HeaderName> =
        response.headers.keys().filter(|name| is_hop_by_hop(name)).cloned().collect();
    for name in nominated.into_iter().chain(standard) {
        response.remove_header(&name);
    }
}

fn is_hop_by_hop(name: &HeaderName) -> bool {
    *name == header::UPGRADE
        || *name == header::TE
        || *name == header::PROXY_AUTHENTICATE
        || matches!(name.as_str(), "keep-alive" | "proxy-connection")
}

/// Fields that `Connection` can't take away: those that frame the message or that this proxy
/// itself answers for.
fn is_kept(name: &HeaderName) -> bool {
    *name == header::CONTENT_LENGTH
        || *name == header::TRANSFER_ENCODING
        || *name == header::CONTENT_TYPE
        || matches!(name.as_str(), "close" | "robots-tag" | "x-robots-tag")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(trusted: bool) -> ClientSide {
        ClientSide { peer: "10.1.1.1".parse().unwrap(), trusted, tls: true }
    }

    fn request() -> RequestHeader {
        let mut request = RequestHeader::build("GET", b"/", None).unwrap();
        for (name, value) in [
            ("host", "site.example"),
            ("x-forwarded-for", "192.0.2.7"),
            ("x-forwarded-proto", "http"),
            ("x-forwarded-host", "outer.example"),
            ("forwarded", "for=192.0.2.7"),
            ("x-original-url", "/elsewhere"),
            ("x_forwarded_for", "192.0.2.7"),
            ("x_rewrite_url", "/elsewhere"),
            ("x-real-ip", "192.0.2.7"),
            ("via", "1.0 outer"),
        ] {
            request.append_header(name, value).unwrap();
        }
        request
    }

    fn values(request: &RequestHeader, name: &str) -> Vec<String> {
        let all = request.headers.get_all(name).iter();
        all.map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_trusted_proxys_report_goes_on() {
        let mut request = request();
        forward(&mut request, &client(true)).unwrap();
        assert_eq!(values(&request, "x-forwarded-for"), ["192.0.2.7, 10.1.1.1"]);
        assert_eq!(values(&request, "x-forwarded-proto"), ["http"]);
        assert_eq!(values(&request, "x-forwarded-host"), ["outer.example"]);
        assert_eq!(values(&request, "forwarded"), ["for=192.0.2.7"]);
        assert_eq!(values(&request, "via"), ["1.0 outer", "1.1 beadle"]);
        assert_eq!(values(&request, "x-real-ip"), ["192.0.2.7"]);
        for name in ["x-original-url", "x_rewrite_url"] {
            assert!(
                values(&request, name).is_empty(),
                "a front hands on what clients write: {name}"
            );
        }
    }

    #[test]
    fn a_strangers_report_does_not() {
        let mut request = request();
        forward(&mut request, &client(false)).unwrap();
        assert_eq!(values(&request, "x-forwarded-for"), ["10.1.1.1"]);
        assert_eq!(values(&request, "x-forwarded-proto"), ["https"]);
        assert_eq!(values(&request, "x-forwarded-host"), ["site.example"]);
        assert!(values(&request, "forwarded").is_empty());
        for name in ["x-original-url", "x_forwarded_for", "x-real-ip"] {
            assert!(values(&request, name).is_empty(), "{name}");
        }
    }

    #[test]
    fn the_target_goes_on_as_it_is() {
        for target in [&b"/a//b?c=%2f"[..], b"/latin\xe9", b"*", b"/caf\xc3\xa9"] {
            let mut request = RequestHeader::build("OPTIONS", target, None).unwrap();
            forward(&mut request, &client(false)).unwrap();
            assert_eq!(request.raw_path(), target);
            assert_eq!(request.method, "OPTIONS");
        }
    }

    #[test]
    fn rfc9110_7_6_1_hop_by_hop_fields_end_here() {
        let mut response = ResponseHeader::build(200, None).unwrap();
        for (name, value) in [
            ("Connection", "keep-alive, X-Private, Robots-Tag"),
            ("Keep-Alive", "timeout=5"),
            ("Upgrade", "h2c"),
            ("X-Private", "1"),
            ("Robots-Tag", "*;noindex"),
            ("Content-Type", "text/html"),
        ] {
            response.append_header(name, value).unwrap();
        }
        remove_hop_by_hop(&mut response);
        let mut names: Vec<&str> = response.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["connection", "content-type", "robots-tag"]);
    }
}
