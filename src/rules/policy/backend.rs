//! The origins of a site, and how requests go to them.

use std::{net::IpAddr, time::Duration};

use derive_more::Display;

use crate::{
    base::{escape::shown, text::words},
    formats::{
        probe::Plan,
        robots::{Reading, Steps},
    },
};

use super::{
    fields::Fields,
    host::host_in_url,
    http_fields::{self, HttpFields},
    shape::{At, duplicate},
    timeouts::{self, Timeouts},
    yaml::Value,
};

const MAX_ORIGINS: usize = 32;

/// The origins of a site, and how requests go to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    pub(crate) origins: Vec<Origin>,
    /// The `Host` field of Beadle's own requests: the first host of the site without a wildcard.
    pub(crate) host: String,
    pub(crate) balance: Balance,
    pub(crate) protocol: Protocol,
    pub(crate) request_fields: HttpFields,
    pub(crate) health: Health,
    /// Those of the server, and the site's in place of some.
    pub(crate) timeouts: Timeouts,
    pub(crate) underscore_fields: bool,
    pub(crate) via: bool,
    pub(crate) probe_path: Option<String>,
    /// Whether a running server asks for forms of that page, and judges by the answers.
    pub(crate) is_probed: bool,
    pub(crate) rewrite_location: bool,
}

words! {
    /// How requests are spread over several servers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Balance {
        RoundRobin = "round-robin",
        LeastConnections = "least-connections",
    }
}

words! {
    /// How requests go to an origin.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Protocol {
        Http1 = "http/1.1",
        /// HTTP/2, without TLS by prior knowledge (RFC 9113 §3.3).
        Http2 = "h2",
    }
}

/// When a server gets no requests for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub(crate) failures: u32,
    pub(crate) pause: Duration,
    pub(crate) check: Option<HealthCheck>,
}

/// A regular request to each server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthCheck {
    pub(crate) path: String,
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
}

impl Backend {
    /// The first server.
    ///
    /// # Panics
    /// Never: the reader refuses a site without one.
    pub(crate) fn first(&self) -> &Origin {
        self.origins.first().expect("a site has an origin")
    }

    pub(crate) fn urls(&self) -> String {
        let urls: Vec<String> = self.origins.iter().map(ToString::to_string).collect();
        urls.join(", ")
    }
}

/// Reads the keys of a site that concern its origins; `host` is the host of Beadle's own requests.
pub(super) fn read(site: &Fields<'_>, host: &str, server: &Timeouts) -> Option<(Backend, Reading)> {
    let at = site.require("origin", "write 'origin: http://127.0.0.1:3000'");
    let fields = site.section("origin");
    let (is_probed, steps) = forms(&fields);
    let reading = Reading {
        case_insensitive: fields.get("case_insensitive"),
        decode_depth: fields.get("decode_depth"),
        steps,
    };
    let mut backend = Backend {
        origins: Vec::new(),
        host: host.to_owned(),
        balance: fields.get("balance"),
        protocol: fields.get("protocol"),
        request_fields: request_fields(site),
        health: health(&fields.section("health")),
        timeouts: timeouts::of_site(&site.section("timeouts"), server),
        underscore_fields: site.get("underscore_fields"),
        via: site.get("via"),
        probe_path: fields.read("probe_path", probe_path),
        is_probed,
        rewrite_location: site.get("rewrite_location"),
    };
    at?;
    backend.origins = origins(&urls(&fields)?)?;
    Some((backend, reading))
}

fn urls<'n>(fields: &Fields<'n>) -> Option<At<'n>> {
    match (fields.take("url"), fields.take("urls")) {
        (Some(_), Some(urls)) => urls.refused("beside 'url'", "keep one of the two"),
        (None, None) => fields.require("url", "write 'url: http://127.0.0.1:3000'"),
        (url, urls) => url.or(urls),
    }
}

/// Fields for the origin: names and values as in HTTP, but none that frames or routes a message.
fn request_fields(site: &Fields<'_>) -> HttpFields {
    const OWN: [&str; 11] = [
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "via",
    ];
    let fault = |name: &str, _: &str| {
        let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        let is_own = OWN.contains(&name) || name.starts_with("x-forwarded-");
        let why = "origins and Beadle read it themselves";
        let help = "name a field of your own, such as X-Outside-Url";
        (is_own || !is_plain).then_some((why, help))
    };
    let at = site.take("request_fields");
    at.map_or_else(Vec::new, |at| http_fields::read(&at, fault))
}

/// Whether the origin is asked for forms, and the steps that count otherwise.
fn forms(fields: &Fields<'_>) -> (bool, Steps) {
    let Some(forms) = fields.take("forms") else { return (false, Steps::ALL) };
    match &forms.node.value {
        Value::Text(word) if word == "all" => (false, Steps::ALL),
        Value::Text(word) if word == "probe" => {
            fields.require("probe_path", "name a page below a folder: /docs/start");
            (true, Steps::ALL)
        }
        _ => {
            let steps: Vec<Steps> = fields.get("forms");
            (false, steps.into_iter().fold(Steps::NONE, Steps::with))
        }
    }
}

fn probe_path(at: &At<'_>) -> Option<String> {
    let parse = |path: &str| Plan::of(path).is_some().then(|| path.to_owned());
    let help = "name a page below a folder that answers 200, without a query: /docs/start";
    at.parsed(parse, "is no page below a folder", help)
}

fn origins(at: &At<'_>) -> Option<Vec<Origin>> {
    let Value::List(items) = &at.node.value else {
        return Some(vec![origin(at)?]);
    };
    if items.is_empty() || items.len() > MAX_ORIGINS {
        let help = format!("write 1 to {MAX_ORIGINS} URLs");
        return at.refused(format!("{} origins", items.len()), help);
    }
    let all = at.elements();
    let origins: Vec<Origin> = all.iter().filter_map(origin).collect();
    if origins.len() < all.len() {
        return None;
    }
    let places: Vec<(&At<'_>, &Origin)> = all.iter().zip(&origins).collect();
    if let Some((at, origin)) = duplicate(&places, |(_, origin)| (&origin.host, origin.port)) {
        return at.refused(format!("{origin} stands here twice"), "keep one of the two");
    }
    if origins.iter().any(|origin| origin.tls != origins.first().is_some_and(|one| one.tls)) {
        let help = "write all of them with https://, or all with http://";
        return at.refused("origins with and without TLS", help);
    }
    Some(origins)
}

fn health(fields: &Fields<'_>) -> Health {
    let (interval, timeout) = (fields.get("interval"), fields.get("timeout"));
    let check = fields.read("path", path);
    Health {
        failures: fields.get("failures"),
        pause: fields.get("pause"),
        check: check.map(|path| HealthCheck { path, interval, timeout }),
    }
}

pub(super) fn path(at: &At<'_>) -> Option<String> {
    let text = at.text()?;
    let is_path = text.starts_with('/') && text.bytes().all(|b| b.is_ascii_graphic() && b != b'#');
    if !is_path {
        at.refuse("no path", "write for example /healthz");
    }
    is_path.then(|| text.to_owned())
}

/// A server that gets requests of a site.
#[derive(Clone, Debug, Display, PartialEq, Eq, Hash)]
#[display("{}://{}:{port}", if *tls { "https" } else { "http" }, host_in_url(host))]
pub struct Origin {
    pub(crate) tls: bool,
    /// The name or address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// Reads `http://host:port`. A path is refused, because it would change the forwarded request.
pub(super) fn origin(at: &At<'_>) -> Option<Origin> {
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
mod origin_tests;
#[cfg(test)]
mod tests;
