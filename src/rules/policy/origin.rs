//! The URL of an origin.

use std::{fmt, net::IpAddr};

use crate::base::escape::shown;

use super::{host::host_in_url, shape::At};

/// A server that gets requests of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub(crate) tls: bool,
    /// The name or address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// `http://host:port`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}", host_in_url(&self.host), self.port)
    }
}

/// Reads `http://host:port`. A path is refused, because it would change the forwarded request.
pub(super) fn read(at: &At<'_>) -> Option<Origin> {
    let text = at.text()?;
    let parsed = parse(text);
    if let Err(help) = &parsed {
        // Without its scheme, most people write an address.
        let with_scheme = format!("http://{text}");
        let is_bare = !text.contains("://") && parse(&with_scheme).is_ok();
        let help = if is_bare { format!("write '{with_scheme}'") } else { (*help).to_owned() };
        // A password does not belong into a log.
        let (secret, place) = text.rsplit_once('@').unwrap_or(("", text));
        let hidden = if secret.is_empty() { "" } else { "...@" };
        at.refuse(format!("'{hidden}{}' is not an origin", shown(place)), help);
    }
    parsed.ok()
}

fn parse(text: &str) -> Result<Origin, &'static str> {
    let (tls, rest) = if let Some(rest) = text.strip_prefix("http://") {
        (false, rest)
    } else if let Some(rest) = text.strip_prefix("https://") {
        (true, rest)
    } else {
        return Err("begin with http:// or https://");
    };
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    if authority.contains(['/', '?', '#']) {
        return Err(
            "write the origin without a path: requests are forwarded with the path they have",
        );
    }
    if authority.contains('@') {
        return Err("write the origin without user and password");
    }
    let default_port = if tls { 443 } else { 80 };
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("close the bracket of the IPv6 address")?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => default_port,
        Some(digits) => digits.parse().map_err(|_| "write a port from 1 to 65535")?,
        None => return Err("write for example http://127.0.0.1:3000"),
    };
    let is_host = host.parse::<IpAddr>().is_ok()
        || (!host.is_empty()
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)));
    if !is_host || port == 0 {
        return Err("write for example http://127.0.0.1:3000");
    }
    Ok(Origin { tls, host: host.to_ascii_lowercase(), port })
}

#[cfg(test)]
mod tests;
