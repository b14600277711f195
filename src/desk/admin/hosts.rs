//! The hosts that the admin listener answers for.
//!
//! A web page can let its own name lead to 127.0.0.1 (DNS rebinding), and then read what a browser
//! on the machine gets there. The browser sends the page's name as `Host`. So a name must be known.
//! An address can't be rebound.

use std::net::{IpAddr, Ipv6Addr};

use crate::{base::escape, rules::policy};

/// The hosts of a policy, in lower case.
pub(crate) struct Hosts(pub(crate) Vec<policy::Host>);

impl Hosts {
    /// The text of a refusal: the host, and the key that admits it. `None` stands for a request
    /// without one host.
    pub(super) fn refusal(field: Option<&[u8]>) -> String {
        let Some(field) = field else {
            return "The request names no host, or more than one.\n".to_owned();
        };
        let host = match std::str::from_utf8(field).ok().and_then(host) {
            Some(Host::Name(name)) if is_name(&name) => name,
            Some(Host::Address(address)) => address.to_string(),
            Some(Host::Name(_)) | None => {
                return format!("'{}' is not a valid host.\n", escape::shown(field));
            }
        };
        let host = escape::shown(host);
        format!(
            "The admin listener does not answer for the host '{host}'.\n\
             To admit it, add it to server.admin.hosts in the policy, and restart Beadle.\n"
        )
    }

    /// Whether requests with this `Host` are answered on a connection to the address `local`.
    pub(super) fn allow(&self, field: &str, local: IpAddr) -> bool {
        match host(field) {
            None => false,
            Some(Host::Address(address)) => {
                address.is_loopback()
                    || address == local.to_canonical()
                    || self.has(|host| host.parse() == Ok(address), |_| false)
            }
            Some(Host::Name(name)) => {
                name == "localhost"
                    || name.ends_with(".localhost")
                    || self.has(|host| host == name, |suffix| name.ends_with(suffix))
            }
        }
    }

    fn has(&self, exact: impl Fn(&str) -> bool, below: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|host| match host {
            policy::Host::Exact(host) => exact(host),
            policy::Host::Below(suffix) => below(suffix),
        })
    }
}

enum Host {
    Address(IpAddr),
    Name(String),
}

fn host(field: &str) -> Option<Host> {
    let (host, port) = match field.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            (Host::Address(IpAddr::from(address.parse::<Ipv6Addr>().ok()?).to_canonical()), port)
        }
        None => {
            let (host, port) = field.split_at(field.find(':').unwrap_or(field.len()));
            let name = host.strip_suffix('.').unwrap_or(host);
            let address = name.parse().map(Host::Address);
            (address.unwrap_or_else(|_| Host::Name(name.to_ascii_lowercase())), port)
        }
    };
    let is_port = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(host)
}

/// Whether the policy can have this name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_must_be_known_and_an_address_must_be_the_listeners() {
        let exact = ["beadle.internal", "192.0.2.1"].map(|host| policy::Host::Exact(host.into()));
        let below = policy::Host::Below(".ops.example".to_owned());
        let hosts = Hosts(exact.into_iter().chain([below]).collect());
        let local = "10.0.0.5".parse().unwrap();
        for (field, is_allowed) in [
            ("localhost", true),
            ("LOCALHOST.:9090", true),
            ("a.localhost", true),
            ("127.0.0.1:9090", true),
            ("127.1.2.3", true),
            ("[::1]:9090", true),
            ("[::ffff:127.0.0.1]", true),
            ("10.0.0.5:1", true),
            ("192.0.2.1", true),
            ("Beadle.Internal:9090", true),
            ("a.ops.example", true),
            ("ops.example", false),
            ("xops.example", false),
            ("10.0.0.6", false),
            ("[::2]", false),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("notlocalhost", false),
            ("localhost:x", false),
            ("[::1]x", false),
            ("[::1", false),
            ("user@localhost", false),
            ("", false),
        ] {
            assert_eq!(hosts.allow(field, local), is_allowed, "{field}");
        }
    }

    #[test]
    fn a_refusal_names_the_host_as_the_policy_takes_it() {
        let says = |field: &[u8]| Hosts::refusal(Some(field));
        for (field, host) in [
            (&b"Evil.example.:9090"[..], "evil.example"),
            (b"[2001:db8::0:1]:1", "2001:db8::1"),
            (b"192.0.2.1", "192.0.2.1"),
        ] {
            let text = says(field);
            assert!(text.contains(&format!("the host '{host}'.\n")), "{text}");
            assert!(text.contains("add it to server.admin.hosts"), "{text}");
            assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        }
        for (field, shown) in
            [(&b""[..], "''"), (b"a:x", "'a:x'"), (b"a/b", "'a/b'"), (b"\xff\x1b", "'\\xff\\x1b'")]
        {
            assert_eq!(says(field), format!("{shown} is not a valid host.\n"));
        }
        assert!(says(&b"x".repeat(10_000)).len() < 700);
        assert!(Hosts::refusal(None).contains("no host"));
    }
}
