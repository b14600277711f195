//! The origins of a site, and how requests go to them.

use std::time::Duration;

use crate::{
    base::text::words,
    formats::{
        probe::Plan,
        robots::{Reading, Steps},
    },
};

use super::{
    fields::Fields,
    http_fields::{self, Fault, HttpFields},
    origin::{self, Origin},
    setting::by_word,
    shape::{At, duplicate},
    timeouts::{self, OriginTimeouts, Timeouts},
    yaml::Value,
};

/// The most origins of one site.
const MAX_ORIGINS: usize = 32;

/// The origins of a site, and how requests go to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// The servers, all with TLS or all without; at least one, in the policy's order.
    pub origins: Vec<Origin>,
    /// The `Host` field of Beadle's own requests: the first host of the site without a wildcard.
    pub host: String,
    /// How requests are spread over several servers.
    pub balance: Balance,
    /// How requests go to them.
    pub protocol: Protocol,
    /// Fields of requests to them, in place of those of clients.
    pub request_fields: HttpFields,
    /// When a server gets no requests for a while.
    pub health: Health,
    /// Time limits of a request at a server.
    pub timeouts: OriginTimeouts,
    /// Whether request fields whose names have an underscore go on (default false).
    pub underscore_fields: bool,
    /// Whether `Via` is added to requests (default true).
    pub via: bool,
    /// The page that finds out how these servers read paths.
    pub probe_path: Option<String>,
    /// Whether a running server asks for forms of that page, and judges by the answers.
    pub is_probed: bool,
    /// Whether a `Location` that names a server of the site names the site instead (default true).
    pub rewrite_location: bool,
}

words! {
    /// How requests are spread over several servers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Balance {
        /// One after another.
        RoundRobin = "round-robin",
        /// To the one with the fewest requests in progress.
        LeastConnections = "least-connections",
    }
}

words! {
    /// How requests go to an origin.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Protocol {
        /// HTTP/1.1.
        Http1 = "http/1.1",
        /// HTTP/2, without TLS by prior knowledge (RFC 9113 §3.3).
        Http2 = "h2",
    }
}

by_word!(Balance, Protocol);

/// When a server gets no requests for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The failures in a row after which a server is down (default 3). A refused connection is
    /// enough.
    pub failures: u32,
    /// How long a server that is down gets no request (default 10 s).
    pub pause: Duration,
    /// The regular request that finds out about a server; `None` sends none.
    pub check: Option<HealthCheck>,
}

/// A regular request to each server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthCheck {
    /// Path and query. A status from 200 to 399 is good.
    pub path: String,
    /// The time between two requests (default 5 s).
    pub interval: Duration,
    /// The most time for one (default 2 s).
    pub timeout: Duration,
}

impl Backend {
    /// The first server.
    ///
    /// # Panics
    /// Never: the reader refuses a site without one.
    pub fn first(&self) -> &Origin {
        self.origins.first().expect("a site has an origin")
    }

    /// The URLs of all servers, for people.
    pub fn urls(&self) -> String {
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
        timeouts: timeouts::read_of_site(&site.section("timeouts"), server),
        underscore_fields: site.get("underscore_fields"),
        via: site.get("via"),
        probe_path: fields.read("probe_path", probe_path),
        is_probed,
        rewrite_location: site.get("rewrite_location"),
    };
    let at = at?;
    backend.origins = origins(&if at.is_map() { urls(&fields)? } else { at })?;
    Some((backend, reading))
}

/// The place of the URLs of a mapping.
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
        (is_own || !is_plain).then_some(Fault { why, help })
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
            let steps: Vec<Steps> = fields.all("forms");
            (false, steps.into_iter().fold(Steps::NONE, Steps::with))
        }
    }
}

/// The path of a page below a folder.
fn probe_path(at: &At<'_>) -> Option<String> {
    let parse = |path: &str| Plan::of(path).is_some().then(|| path.to_owned());
    let help = "name a page below a folder that answers 200, without a query: /docs/start";
    at.parsed(parse, "is no page below a folder", help)
}

/// A URL, or a list of them.
fn origins(at: &At<'_>) -> Option<Vec<Origin>> {
    let Value::List(items) = &at.node.value else {
        return origin::read(at).map(|origin| vec![origin]);
    };
    if items.is_empty() || items.len() > MAX_ORIGINS {
        let help = format!("write 1 to {MAX_ORIGINS} URLs");
        return at.refused(format!("{} origins", items.len()), help);
    }
    let all = at.elements();
    let origins: Vec<Origin> = all.iter().filter_map(origin::read).collect();
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

/// A path, with a query or without.
pub(super) fn path(at: &At<'_>) -> Option<String> {
    let text = at.text()?;
    let is_path = text.starts_with('/') && text.bytes().all(|b| b.is_ascii_graphic() && b != b'#');
    if !is_path {
        at.refuse("no path", "write for example /healthz");
    }
    is_path.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
