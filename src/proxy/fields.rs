//! Header fields that belong to a hop: what a proxy adds for the origin and takes from its answers.

use std::net::IpAddr;

use http::{HeaderName, HeaderValue, header};
use pingora::http::{RequestHeader, ResponseHeader};

/// Fields by which some servers replace the request target. From strangers they would make the
/// origin serve another path than the one that was judged.
const TARGET_OVERRIDES: [&str; 2] = ["x-original-url", "x-rewrite-url"];

/// What the origin is told about the client's side.
pub(super) struct ClientSide<'a> {
    pub(super) peer: IpAddr,
    /// Whether the peer is one of `trusted_proxies`.
    pub(super) trusted: bool,
    pub(super) tls: bool,
    pub(super) host: Option<&'a HeaderValue>,
    pub(super) via: &'static str,
}

/// Sets `X-Forwarded-For`, `-Host`, `-Proto` and `Via`. What a trusted proxy reported goes on;
/// what a stranger wrote does not.
pub(super) fn forward(request: &mut RequestHeader, client: &ClientSide<'_>) -> pingora::Result<()> {
    let peer = client.peer.to_canonical().to_string();
    let mut keeps = Reported::default();
    if client.trusted {
        keeps = Reported::of(request);
        let chain: Vec<&[u8]> = request
            .headers
            .get_all("x-forwarded-for")
            .iter()
            .map(HeaderValue::as_bytes)
            .chain([peer.as_bytes()])
            .collect();
        let chain = chain.join(&b", "[..]);
        request.insert_header("X-Forwarded-For", chain)?;
    } else {
        request.insert_header("X-Forwarded-For", peer)?;
        remove_strangers_reports(request);
    }
    if !keeps.proto {
        let scheme = HeaderValue::from_static(if client.tls { "https" } else { "http" });
        request.insert_header("X-Forwarded-Proto", scheme)?;
    }
    match client.host {
        Some(host) if !keeps.host => request.insert_header("X-Forwarded-Host", host.clone())?,
        None if !keeps.host => drop(request.remove_header("x-forwarded-host")),
        _ => {}
    }
    request.append_header(header::VIA, HeaderValue::from_static(client.via))?;
    Ok(())
}

/// What a trusted proxy has said already.
#[derive(Default)]
struct Reported {
    proto: bool,
    host: bool,
}

impl Reported {
    fn of(request: &RequestHeader) -> Self {
        Self {
            proto: request.headers.contains_key("x-forwarded-proto"),
            host: request.headers.contains_key("x-forwarded-host"),
        }
    }
}

/// One look over the names finds out that there is nothing to remove, as there usually is not.
fn remove_strangers_reports(request: &mut RequestHeader) {
    let is_ours_to_remove =
        |name: &HeaderName| *name == header::FORWARDED || TARGET_OVERRIDES.contains(&name.as_str());
    if request.headers.keys().any(is_ours_to_remove) {
        request.remove_header(&header::FORWARDED);
        for name in TARGET_OVERRIDES {
            request.remove_header(name);
        }
    }
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

    fn client(trusted: bool, host: &HeaderValue) -> ClientSide<'_> {
        let peer = "10.1.1.1".parse().unwrap();
        ClientSide { peer, trusted, tls: true, host: Some(host), via: "1.1 beadle" }
    }

    fn request() -> RequestHeader {
        let mut request = RequestHeader::build("GET", b"/", None).unwrap();
        for (name, value) in [
            ("x-forwarded-for", "192.0.2.7"),
            ("x-forwarded-proto", "http"),
            ("x-forwarded-host", "outer.example"),
            ("forwarded", "for=192.0.2.7"),
            ("x-original-url", "/elsewhere"),
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
        let (mut request, host) = (request(), HeaderValue::from_static("site.example"));
        forward(&mut request, &client(true, &host)).unwrap();
        assert_eq!(values(&request, "x-forwarded-for"), ["192.0.2.7, 10.1.1.1"]);
        assert_eq!(values(&request, "x-forwarded-proto"), ["http"]);
        assert_eq!(values(&request, "x-forwarded-host"), ["outer.example"]);
        assert_eq!(values(&request, "forwarded"), ["for=192.0.2.7"]);
        assert_eq!(values(&request, "via"), ["1.0 outer", "1.1 beadle"]);
    }

    #[test]
    fn a_strangers_report_does_not() {
        let (mut request, host) = (request(), HeaderValue::from_static("site.example"));
        forward(&mut request, &client(false, &host)).unwrap();
        assert_eq!(values(&request, "x-forwarded-for"), ["10.1.1.1"]);
        assert_eq!(values(&request, "x-forwarded-proto"), ["https"]);
        assert_eq!(values(&request, "x-forwarded-host"), ["site.example"]);
        assert!(values(&request, "forwarded").is_empty());
        assert!(values(&request, "x-original-url").is_empty());
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
