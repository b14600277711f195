//! A host of a site.

use std::{fmt, net::Ipv6Addr};

use crate::escape::shown;

use super::{findings::Findings, shape::At};

/// A host of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// Exactly this host.
    Exact(String),
    /// `*.example.com`: every host below `example.com`. Stored without the star, with the dot.
    Below(String),
}

impl Host {
    /// The host; of a wildcard, the part after `*.`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(host) => host,
            Self::Below(suffix) => suffix.trim_start_matches('.'),
        }
    }
}

/// As the policy writes it.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(host) => f.write_str(host),
            Self::Below(suffix) => write!(f, "*{suffix}"),
        }
    }
}

pub(super) fn read(at: &At<'_>, findings: &mut Findings) -> Option<Host> {
    let text = at.text(findings)?;
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_suffix('.').unwrap_or(&lower);
    let (name, wild) = bare.strip_prefix("*.").map_or((bare, false), |rest| (rest, true));
    let is_address = name.parse::<Ipv6Addr>().is_ok();
    let is_name = name.len() <= 253
        && name.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        });
    if is_address || is_name {
        return Some(if wild {
            Host::Below(format!(".{name}"))
        } else {
            Host::Exact(name.to_owned())
        });
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
    findings.refuse(at, format!("'{}' is not a host", shown(text)), help);
    None
}
