//! The likely cause of a finding, and what to do at the front.

use crate::rules::policy::AlertKind;

/// A product that serves as a front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    Cloudflare,
    Fastly,
    Nginx,
}

/// The cause, and the repair at Cloudflare, Fastly and nginx.
type Advice = (&'static str, [&'static str; 3]);

const REWRITTEN: Advice = (
    "the front has a robots.txt of its own, or adds lines",
    [
        "switch off the managed robots.txt (Security, Settings, Bot traffic)",
        "remove the synthetic response or the VCL snippet for /robots.txt",
        "remove 'location = /robots.txt' or give it 'proxy_pass', and remove 'sub_filter' there",
    ],
);
const ROBOTS_REFUSED: Advice = (
    "a firewall, a bot rule or a limit answers before Beadle",
    [
        "add a custom rule with the action Skip for /robots.txt, and switch Bot Fight Mode off",
        "let /robots.txt pass in the WAF and before 'error' in vcl_recv",
        "give 'location = /robots.txt' a 'proxy_pass' without 'deny', 'limit_req' and 'return'",
    ],
);
const REFUSES: Advice = (
    "a bot rule of the front refuses this crawler",
    [
        "allow the crawler in AI Crawl Control, or switch off 'Block AI bots'",
        "allow the crawler in Bot Management, or remove the condition on User-Agent in VCL",
        "remove the 'if' or 'map' of $http_user_agent that refuses the crawler",
    ],
);
const IGNORES: Advice = (
    "the front has the page in its cache, or leads around Beadle",
    [
        "bypass the cache for closed paths by a Cache Rule, and let the DNS record lead to Beadle",
        "'return(pass)' for closed paths in vcl_recv, and let the backend be Beadle",
        "remove 'proxy_cache' for closed paths, and let 'proxy_pass' lead to Beadle, not to the origin",
    ],
);
const TAGS: Advice = (
    "the front removes the fields, keeps an older copy, or serves the page itself",
    [
        "remove the Response Header Transform Rule for these fields, and purge the page",
        "remove 'unset resp.http.…' for these fields, and purge the page",
        "remove 'proxy_hide_header' for these fields, and serve the page by 'proxy_pass'",
    ],
);
const STALE: Advice = (
    "the cache of the front keeps the file longer than its max-age",
    [
        "let the Edge TTL for /robots.txt follow Cache-Control, and purge the file",
        "let beresp.ttl follow Cache-Control for /robots.txt, and purge the file",
        "remove 'proxy_ignore_headers Cache-Control' and 'proxy_cache_use_stale', and clear the cache",
    ],
);

impl Product {
    /// The product that sent an answer with these fields.
    pub(super) fn of<'a>(field: impl Fn(&str) -> &'a str) -> Option<Self> {
        let server = field("server").to_ascii_lowercase();
        if server.starts_with("cloudflare") || !field("cf-ray").is_empty() {
            Some(Self::Cloudflare)
        } else if field("x-served-by").starts_with("cache-") || server.contains("fastly") {
            Some(Self::Fastly)
        } else {
            ["nginx", "openresty"].iter().any(|one| server.starts_with(one)).then_some(Self::Nginx)
        }
    }
}

pub(super) const fn cause(kind: AlertKind) -> &'static str {
    advice(kind).0
}

/// What to do at this product; at all of them, if it is unknown.
pub(super) fn repair(kind: AlertKind, product: Option<Product>) -> String {
    let [cloudflare, fastly, nginx] = advice(kind).1;
    match product {
        Some(Product::Cloudflare) => format!("Cloudflare: {cloudflare}"),
        Some(Product::Fastly) => format!("Fastly: {fastly}"),
        Some(Product::Nginx) => format!("nginx: {nginx}"),
        None => format!("Cloudflare: {cloudflare}. Fastly: {fastly}. nginx: {nginx}"),
    }
}

const fn advice(kind: AlertKind) -> &'static Advice {
    match kind {
        AlertKind::RobotsRefused => &ROBOTS_REFUSED,
        AlertKind::EdgeRefuses => &REFUSES,
        AlertKind::EdgeIgnores => &IGNORES,
        AlertKind::TagsLost => &TAGS,
        AlertKind::Stale => &STALE,
        _ => &REWRITTEN,
    }
}
