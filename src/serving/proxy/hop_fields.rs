//! Header fields of one hop: fields that a proxy adds for the origin and removes from responses.

use std::{io::Write, net::IpAddr};

use http::{HeaderName, HeaderValue, StatusCode, Version, header, request::Parts};
use pingora::{
    Error,
    ErrorType::{InternalError, InvalidHTTPHeader},
    OrErr,
    http::{RequestHeader, ResponseHeader},
};

use crate::serving::gate;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The client's side of the connection, as reported to the origin.
pub(super) struct ClientSide {
    pub(super) peer: IpAddr,
    pub(super) is_tls: bool,
    pub(super) forwarding: gate::Forwarding,
    pub(super) via: bool,
}

/// Prepares the request for the origin: sets `X-Forwarded-For`, `-Host`, `-Proto` and `Via`, and
/// leaves out the fields that the origin may take for something else.
///
/// All field names become lower case. pingora's record of the client's spelling costs more than the
/// rest of this function, in every copy of the header.
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
    if client.forwarding.is_trusted {
        for reported in fields.get_all(&X_FORWARDED_FOR) {
            chain.extend_from_slice(reported.as_bytes());
            chain.extend_from_slice(b", ");
        }
        keeps_proto = fields.contains_key(&X_FORWARDED_PROTO);
        keeps_host = fields.contains_key(&X_FORWARDED_HOST);
    }
    client.forwarding.apply(fields);
    push_address(&mut chain, client.peer.to_canonical())?;
    let chain = HeaderValue::try_from(chain).or_err(InternalError, "a chain of field values")?;
    fields.insert(X_FORWARDED_FOR, chain);
    if !keeps_proto {
        let scheme = HeaderValue::from_static(if client.is_tls { "https" } else { "http" });
        fields.insert(X_FORWARDED_PROTO, scheme);
    }
    if !keeps_host {
        match fields.get(header::HOST).cloned() {
            Some(host) => drop(fields.insert(X_FORWARDED_HOST, host)),
            None => drop(fields.remove(X_FORWARDED_HOST)),
        }
    }
    if client.via {
        let via = match parts.version {
            Version::HTTP_10 => "1.0 beadle",
            Version::HTTP_2 => "2.0 beadle",
            _ => "1.1 beadle",
        };
        fields.append(header::VIA, HeaderValue::from_static(via));
    }
    // pingora sends no trailers on, so none are announced (RFC 9110 §6.5.1).
    fields.remove(header::TRAILER);
    Ok(())
}

/// The text of an address. For IPv4 it is put together here: the formatter takes a thousand
/// instructions.
fn push_address(chain: &mut Vec<u8>, address: IpAddr) -> pingora::Result<()> {
    let IpAddr::V4(address) = address else {
        return write!(chain, "{address}").or_err(InternalError, "a full memory");
    };
    for (at, octet) in address.octets().into_iter().enumerate() {
        if at > 0 {
            chain.push(b'.');
        }
        if octet >= 100 {
            chain.push(b'0' + octet / 100);
        }
        if octet >= 10 {
            chain.push(b'0' + octet / 10 % 10);
        }
        chain.push(b'0' + octet % 10);
    }
    Ok(())
}

/// Frames a response in one way. A response without content loses its framing (RFC 9112 §6.1,
/// RFC 9110 §8.6), and equal lengths become one.
///
/// # Errors
/// The lengths are not numbers or differ.
pub(super) fn set_framing(response: &mut ResponseHeader) -> pingora::Result<()> {
    if response.status.is_informational() || response.status == StatusCode::NO_CONTENT {
        response.remove_header(&header::TRANSFER_ENCODING);
        response.remove_header(&header::CONTENT_LENGTH);
        return Ok(());
    }
    match gate::one_length(&response.headers) {
        Ok(None) => Ok(()),
        Ok(Some(length)) => response.insert_header(header::CONTENT_LENGTH, length),
        Err(_) => {
            Error::e_explain(InvalidHTTPHeader, "lengths that differ").map_err(Error::into_up)
        }
    }
}

/// Whether a 101 switches to a protocol that the request asked for (RFC 9110 §7.8).
pub(super) fn is_asked_switch(request: &RequestHeader, response: &ResponseHeader) -> bool {
    let asked = request.headers.get_all(header::UPGRADE).iter();
    let mut asked = asked.flat_map(|line| line.as_bytes().split(|&b| b == b','));
    response.headers.get(header::UPGRADE).is_some_and(|protocol| {
        asked.any(|one| one.trim_ascii().eq_ignore_ascii_case(protocol.as_bytes().trim_ascii()))
    })
}

/// Removes the hop-by-hop fields from the origin's final response (RFC 9110 §7.6.1). `Connection`
/// and `Transfer-Encoding` stay, because pingora writes them itself.
pub(super) fn remove_hop_by_hop(response: &mut ResponseHeader) {
    let nominated: Vec<HeaderName> = response
        .headers
        .get_all(header::CONNECTION)
        .iter()
        .filter(|value| !matches!(value.as_bytes(), b"close" | b"keep-alive"))
        .flat_map(|value| value.as_bytes().split(|&b| b == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .filter(|name| !is_fixed(name))
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
        // pingora sends no trailers on, so none are announced (RFC 9110 §6.5.1).
        || *name == header::TRAILER
        || *name == header::PROXY_AUTHENTICATE
        || matches!(name.as_str(), "keep-alive" | "proxy-connection")
}

/// Whether `Connection` can't remove a field: it frames the message, or Beadle sets it.
fn is_fixed(name: &HeaderName) -> bool {
    *name == header::CONTENT_LENGTH
        || *name == header::TRANSFER_ENCODING
        || *name == header::CONTENT_TYPE
        || matches!(name.as_str(), "close" | "robots-tag" | "x-robots-tag")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(is_trusted: bool) -> ClientSide {
        let forwarding = gate::Forwarding { is_trusted, underscore_fields: false };
        ClientSide { peer: "10.1.1.1".parse().unwrap(), is_tls: true, forwarding, via: true }
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
            ("trailer", "x-checksum"),
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
    fn the_report_of_a_trusted_proxy_stays() {
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
                "a trusted proxy may pass it on from a client: {name}"
            );
        }
    }

    #[test]
    fn the_report_of_another_client_is_removed() {
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
    fn an_address_is_written_as_the_standard_library_does() {
        let v4 = (0..=255).map(|octet| IpAddr::from([octet, 255 - octet, 0, 100]));
        let v6 = ["::1", "2001:db8::7"].map(|text| text.parse().unwrap());
        for address in v4.chain(v6) {
            let mut text = Vec::new();
            push_address(&mut text, address).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), address.to_string());
        }
    }

    #[test]
    fn via_is_the_sites_choice() {
        let mut request = request();
        forward(&mut request, &ClientSide { via: false, ..client(false) }).unwrap();
        assert_eq!(values(&request, "via"), ["1.0 outer"]);
    }

    #[test]
    fn rfc9110_6_6_2_trailers_that_end_here_are_not_announced() {
        let mut request = request();
        forward(&mut request, &client(false)).unwrap();
        assert!(values(&request, "trailer").is_empty());
    }

    #[test]
    fn the_target_stays_unchanged() {
        for target in [&b"/a//b?c=%2f"[..], b"/latin\xe9", b"*", b"/caf\xc3\xa9"] {
            let mut request = RequestHeader::build("OPTIONS", target, None).unwrap();
            forward(&mut request, &client(false)).unwrap();
            assert_eq!(request.raw_path(), target);
            assert_eq!(request.method, "OPTIONS");
        }
    }

    #[test]
    fn rfc9110_7_8_a_switch_is_to_a_protocol_that_was_asked_for() {
        for (asked, protocol, is_asked) in [
            (&["websocket"][..], Some("WebSocket"), true),
            (&["h2c, websocket"], Some("websocket"), true),
            (&["h2c", "websocket"], Some("websocket"), true),
            (&["h2c"], Some("websocket"), false),
            (&["websocket"], None, false),
            (&[], Some("websocket"), false),
        ] {
            let mut request = RequestHeader::build("GET", b"/", None).unwrap();
            for line in asked {
                request.append_header("Upgrade", *line).unwrap();
            }
            let mut response = ResponseHeader::build(101, None).unwrap();
            if let Some(protocol) = protocol {
                response.insert_header("Upgrade", protocol).unwrap();
            }
            assert_eq!(is_asked_switch(&request, &response), is_asked, "{asked:?} {protocol:?}");
        }
    }

    #[test]
    fn rfc9112_6_3_a_response_has_one_framing() {
        for (status, fields, framing) in [
            (200, &[("content-length", "5")][..], Some("content-length: 5")),
            (200, &[("content-length", "5"), ("content-length", "5")], Some("content-length: 5")),
            (200, &[("content-length", "5, 5")], Some("content-length: 5")),
            (200, &[("transfer-encoding", "chunked")], Some("transfer-encoding: chunked")),
            (304, &[("content-length", "5")], Some("content-length: 5")),
            (204, &[("transfer-encoding", "chunked")], None),
            (204, &[("content-length", "0")], None),
            (103, &[("content-length", "0"), ("transfer-encoding", "chunked")], None),
        ] {
            let mut response = ResponseHeader::build(status, None).unwrap();
            for (name, value) in fields {
                response.append_header(*name, *value).unwrap();
            }
            set_framing(&mut response).unwrap();
            let lines = response.headers.iter();
            let lines: Vec<String> =
                lines.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
            assert_eq!(lines.first().map(String::as_str), framing, "{status} {fields:?}");
            assert!(lines.len() <= 1, "{lines:?}");
        }
        let mut response = ResponseHeader::build(200, None).unwrap();
        response.append_header("content-length", "5, 6").unwrap();
        assert!(set_framing(&mut response).is_err());
    }

    #[test]
    fn rfc9110_7_6_1_hop_by_hop_fields_are_removed() {
        let mut response = ResponseHeader::build(200, None).unwrap();
        for (name, value) in [
            ("Connection", "keep-alive, X-Private, Robots-Tag"),
            ("Connection", "X-Second"),
            ("X-Second", "1"),
            ("Trailer", "X-Checksum"),
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
