//! The `sites` section: hosts and origin; the parts of a site are read next door.

use crate::policy::{
    Host, Origin, RobotsTxt, Site, enforcement,
    names::Names,
    robots_tag_rules, robots_txt,
    shape::{At, Fields, Findings, duplicate, shown},
};

const KEYS: [&str; 7] =
    ["hosts", "default", "origin", "robots_txt", "robots_tag", "robots_tag_legacy", "enforcement"];

/// Reads all sites; a site with an error in it is left out, its findings stay.
pub(super) fn read<'n>(
    at: &At<'n>,
    names: &Names<'_>,
    findings: &mut Findings,
) -> Vec<(At<'n>, Site)> {
    let items = at.items(findings);
    if items.is_empty() {
        findings.refuse(at, "no site", "write at least one with 'hosts' and 'origin'");
    }
    let sites: Vec<(At<'n>, Site)> = items
        .into_iter()
        .filter_map(|item| site(&item, names, findings).map(|site| (item, site)))
        .collect();
    one_site_a_host(&sites, findings);
    sites
}

fn site(at: &At<'_>, names: &Names<'_>, findings: &mut Findings) -> Option<Site> {
    let fields = at.fields(&KEYS, findings)?;
    let hosts = hosts(&fields, findings);
    let default = fields.take("default").and_then(|at| at.boolean(findings)).unwrap_or(false);
    let origin = fields
        .require("origin", "write 'origin: http://127.0.0.1:3000'", findings)
        .and_then(|at| origin(&at, findings));
    let robots_txt = match fields.take("robots_txt") {
        Some(at) => robots_txt::read(&at, names, findings),
        None => {
            robots_txt::warn_without_rules(at, findings);
            RobotsTxt::default()
        }
    };
    let robots_tag = robots_tag_rules::read(&fields, findings);
    let robots_tag_legacy =
        fields.take("robots_tag_legacy").and_then(|at| at.boolean(findings)).unwrap_or(true);
    let enforcement =
        enforcement::read(fields.take("enforcement").as_ref(), &robots_txt, names, findings);
    Some(Site {
        hosts: hosts?,
        default,
        origin: origin?,
        robots_txt,
        robots_tag,
        robots_tag_legacy,
        enforcement,
    })
}

/// At least one host, unless the site takes what no other takes.
fn hosts(fields: &Fields<'_>, findings: &mut Findings) -> Option<Vec<Host>> {
    let at = fields.require("hosts", "write 'hosts: [www.example.com]'", findings)?;
    let items = at.items(findings);
    if items.is_empty() {
        findings.refuse(&at, "no host", "write for example [www.example.com]");
    }
    let hosts: Vec<Host> = items.iter().filter_map(|item| host(item, findings)).collect();
    (hosts.len() == items.len() && !hosts.is_empty()).then_some(hosts)
}

fn host(at: &At<'_>, findings: &mut Findings) -> Option<Host> {
    let text = at.text(findings)?;
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_suffix('.').unwrap_or(&lower);
    let (name, wild) = bare.strip_prefix("*.").map_or((bare, false), |rest| (rest, true));
    let is_address = name.parse::<std::net::Ipv6Addr>().is_ok();
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

/// `http://host:port`; a path would change what is forwarded, so there is none.
fn origin(at: &At<'_>, findings: &mut Findings) -> Option<Origin> {
    let text = at.text(findings)?;
    let parsed = parse_origin(text);
    if let Err(help) = &parsed {
        findings.refuse(at, format!("'{}' is not an origin", shown(text)), *help);
    }
    parsed.ok()
}

fn parse_origin(text: &str) -> Result<Origin, &'static str> {
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
    let is_host = host.parse::<std::net::IpAddr>().is_ok()
        || (!host.is_empty()
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)));
    if !is_host || port == 0 {
        return Err("write for example http://127.0.0.1:3000");
    }
    Ok(Origin { tls, host: host.to_ascii_lowercase(), port })
}

/// A host that two sites claim would make the judgement depend on their order.
fn one_site_a_host(sites: &[(At<'_>, Site)], findings: &mut Findings) {
    let all: Vec<(At<'_>, &Host)> = sites
        .iter()
        .flat_map(|(at, site)| at.child("hosts").elements().into_iter().zip(&site.hosts))
        .collect();
    if let Some((at, host)) = duplicate(&all, |(_, host)| *host) {
        let first = all.iter().find(|(_, other)| other == host);
        let line = first.map_or(0, |(at, _)| at.node.line);
        findings.refuse_as(
            "policy.duplicate_host",
            at,
            format!("host '{}' stands in the policy already, in line {line}", host.as_str()),
            "give each host to one site",
        );
    }
    if let Some((at, _)) = sites.iter().filter(|(_, site)| site.default).nth(1) {
        let at = at.child("default");
        findings.refuse(&at, "a second default site", "set 'default: true' on one site");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin = |tls, host: &str, port| Ok(Origin { tls, host: host.to_owned(), port });
        assert_eq!(parse_origin("http://127.0.0.1:3000"), origin(false, "127.0.0.1", 3000));
        assert_eq!(parse_origin("https://App.Internal/"), origin(true, "app.internal", 443));
        assert_eq!(parse_origin("http://[::1]:80"), origin(false, "::1", 80));
        for text in [
            "127.0.0.1:3000",
            "http://",
            "http://a/b",
            "http://u:p@a",
            "http://a:0",
            "http://a:x",
            "http://a b",
            "http://[::1",
            "ftp://a",
        ] {
            assert!(parse_origin(text).is_err(), "{text}");
        }
    }
}
