//! A host of a site.

use std::{borrow::Cow, net::Ipv6Addr};

use derive_more::Display;

use crate::base::escape::shown;

use super::shape::At;

/// A host of a site, shown as the policy writes it.
#[derive(Clone, Debug, Display, PartialEq, Eq, Hash)]
pub enum Host {
    /// Exactly this host; with a port, `example.com:8443` or `[::1]:8443`.
    Exact(String),
    /// `*.example.com`: every host below `example.com`. Stored without the star, with the dot.
    #[display("*{_0}")]
    Below(String),
}

impl Host {
    /// The host; of a wildcard, the part after `*.`.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Exact(host) => host,
            Self::Below(suffix) => suffix.trim_start_matches('.'),
        }
    }
}

/// A host as URLs have it: an IPv6 address in brackets.
pub fn host_in_url(host: &str) -> Cow<'_, str> {
    match host.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{host}]").into(),
        Err(_) => host.into(),
    }
}

/// Splits `example.com:8443` or `[::1]:8443`; the host has no brackets. `None` without a port.
pub fn split_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let digits = Some(port).filter(|port| port.bytes().all(|b| b.is_ascii_digit()));
    let port = digits?.parse().ok().filter(|port| *port > 0)?;
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => Some((address, port)),
        None => (!host.contains(':')).then_some((host, port)),
    }
}

/// Reads a host that may have a port. A wildcard has none.
pub(super) fn read_with_port(at: &At<'_>) -> Option<Host> {
    let text = at.text()?;
    let host = |(host, port): (&str, u16)| match parsed(host)? {
        Host::Exact(host) => Some(Host::Exact(format!("{}:{port}", host_in_url(&host)))),
        Host::Below(_) => None,
    };
    split_port(text).and_then(host).or_else(|| read(at))
}

pub(super) fn parsed(text: &str) -> Option<Host> {
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_suffix('.').unwrap_or(&lower);
    let (name, wild) = bare.strip_prefix("*.").map_or((bare, false), |rest| (rest, true));
    let is_address = name.parse::<Ipv6Addr>().is_ok();
    let is_name = name.len() <= 253
        && name.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        });
    match (is_address || is_name, wild) {
        (true, true) => Some(Host::Below(format!(".{name}"))),
        (true, false) => Some(Host::Exact(name.to_owned())),
        (false, _) => None,
    }
}

pub(super) fn read(at: &At<'_>) -> Option<Host> {
    let text = at.text()?;
    if let Some(host) = parsed(text) {
        return Some(host);
    }
    let help = if text.contains("://") {
        "write the host alone, without http:// and without a path"
    } else if text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        "write the host without its port"
    } else if !text.is_ascii() {
        "write the host in its ASCII form, xn--…"
    } else {
        "write for example www.example.com or '*.example.com'"
    };
    at.refused(format!("'{}' is not a host", shown(text)), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_follows_the_host() {
        for (text, split) in [
            ("a.example:8443", Some(("a.example", 8443))),
            ("a.example:080", Some(("a.example", 80))),
            ("[::1]:8443", Some(("::1", 8443))),
            ("*.a.example:8443", Some(("*.a.example", 8443))),
            ("a.example", None),
            ("::1", None),
            ("[::1]", None),
            ("a.example:", None),
            ("a.example:0", None),
            ("a.example:+80", None),
            ("a.example:65536", None),
        ] {
            assert_eq!(split_port(text), split, "{text}");
        }
    }

    #[test]
    fn the_hosts_of_a_site_may_have_ports() {
        let hosts = |text: &str| {
            let text =
                format!("sites: [{{ hosts: [\"{text}\"], origin: \"http://127.0.0.1:1\" }}]");
            let (policy, findings) = crate::rules::policy::read("beadle.yaml", text.as_bytes());
            let first = policy.map(|policy| policy.sites[0].hosts[0].to_string());
            first.ok_or_else(|| {
                findings.into_iter().find(|one| one.code == "policy.bad_value")?.help
            })
        };
        for (text, host) in [
            ("A.example:08443", "a.example:8443"),
            ("a.example.:443", "a.example:443"),
            ("[::1]:80", "[::1]:80"),
            ("::1", "::1"),
        ] {
            assert_eq!(hosts(text), Ok(host.to_owned()), "{text}");
        }
        let help = Some("write the host without its port".to_owned());
        assert_eq!(hosts("*.a.example:8443"), Err(help));
    }
}
