//! The `tests` section: requests, and the decisions that the operator expects.

use std::{net::IpAddr, time::Duration};

use crate::{
    base::{escape::shown, text::words},
    formats::{robots::Access, usage::Preference},
    rules::crawlers::{Catalogue, Name, Outcome, SiteNames},
};

use super::{
    fields::{Fields, Setting, section},
    findings::closest,
    host::{Host, split_port},
    names::Names,
    preferences,
    shape::At,
    sites::Site,
    units,
    yaml::Value,
};

/// A request, and the decision that the operator expects.
#[derive(Clone, Debug)]
pub struct Test {
    pub(crate) name: String,
    pub(crate) user_agent: String,
    pub(crate) target: String,
    pub(crate) site: Option<String>,
    pub(crate) client: Client,
    /// The age of the robots.txt. Before it, the site had no rules. `None` is older than any crawler
    /// remembers.
    pub(crate) after: Option<Duration>,
    pub(crate) expected: Expectation,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What is known of the client of a [`Test`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Nothing: its claim is not checked.
    Anonymous,
    /// Its address, which the saved evidence knows or not.
    Address(IpAddr),
    /// The result of a check.
    Standing(Outcome),
}

section! {
    /// The expected parts of a decision; `None` is not compared.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Expectation {
        pub(crate) access: Option<Access> = by(|fields| fields.get("expect")),
        pub(crate) action: Option<&'static str>,
        pub(crate) line: Option<u32>,
        pub(crate) reason: Option<&'static str>,
        pub(crate) train_ai: Option<&'static str> = read(preference),
        pub(crate) search: Option<&'static str> = read(preference),
        pub(crate) robots_tag: Option<String>,
        pub(crate) x_robots_tag: Option<String>,
    }
}

words! {
    /// What a failed test does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TestFailures {
        /// It is a warning (default).
        Warn = "warn",
        /// It refuses the policy.
        Refuse = "refuse",
    }
}

/// Reads the list; a test with an error is left out.
pub(super) fn read(at: Option<&At<'_>>, names: &Names<'_>, sites: &[Site]) -> Vec<Test> {
    if let Some(at) = at.filter(|at| matches!(at.node.value, Value::Text(_))) {
        let help = "write a list of tests; 'test_failures: refuse' lets them refuse the policy";
        at.refuse_as("policy.wrong_type", "not a list", help);
        return Vec::new();
    }
    let items = at.map(At::elements).unwrap_or_default();
    items.iter().filter_map(|item| test(item, names, sites)).collect()
}

fn test(at: &At<'_>, names: &Names<'_>, sites: &[Site]) -> Option<Test> {
    let fields = at.fields()?;
    let user_agent = user_agent(&fields, names);
    let client = client(&fields);
    let after: Option<Duration> = fields.get("after");
    let expected = expectation(&fields);
    let help = "write a URL such as https://www.example.com/private/, or a path";
    let url = fields.require("url", help)?;
    let target = url.text()?;
    let site = site(&fields, &url, target, sites)?;
    let (user_agent, shown_agent) = user_agent?;
    let name = match fields.take("name") {
        Some(at) => at.text()?.trim().to_owned(),
        None => {
            let after = after.map(|after| format!(", {} after", units::duration_text(after)));
            format!("{shown_agent} {target}{}", after.unwrap_or_default())
        }
    };
    Some(Test {
        name,
        user_agent,
        target: target.to_owned(),
        site,
        client: client?,
        after,
        expected: expected?,
        line: at.node.spot.line,
        column: at.node.spot.column,
    })
}

/// The User-Agent, and its short name.
fn user_agent(fields: &Fields<'_>, names: &Names<'_>) -> Option<(String, String)> {
    match (fields.take("user_agent"), fields.take("product_token")) {
        (Some(at), None) => {
            let text = at.text()?;
            if text.bytes().any(|b| b.is_ascii_control()) {
                return at.refused("control characters", "write the User-Agent on one line");
            }
            Some((text.to_owned(), text.to_owned()))
        }
        (None, Some(at)) => {
            let token = names.token(at.text()?.trim(), &at)?;
            let found = sent(token.as_str(), names.catalogue);
            if found.is_none() {
                let message = format!("no request carries the name '{token}' alone");
                let help = "write 'user_agent' with the whole text that the crawler sends";
                at.refuse_as("policy.bad_test", message, help);
            }
            Some((found?, token.to_string()))
        }
        (Some(at), Some(_)) => {
            let help = "remove one of the two";
            at.refused_as("policy.bad_test", "a second name of the client", help)
        }
        (None, None) => {
            let help = "write 'product_token: GPTBot', or 'user_agent' with the whole text";
            let message = "the request has no client";
            fields.at.refused_as("policy.bad_test", message, help)
        }
    }
}

fn sent(token: &str, catalogue: &Catalogue) -> Option<String> {
    let Some(crawler) = catalogue.find(token) else { return Some(token.to_owned()) };
    let names = SiteNames::default();
    [token.to_owned(), format!("{token}/1.0")].into_iter().find(|text| {
        let claim = catalogue.identify(text.as_bytes(), &names);
        let own = crawler.product_token();
        claim.tokens().filter_map(Name::known).any(|known| known.product_token() == own)
    })
}

fn client(fields: &Fields<'_>) -> Option<Client> {
    match (fields.take("client_ip"), fields.take("standing")) {
        (None, None) => Some(Client::Anonymous),
        (Some(at), None) => {
            let parse = |text: &str| text.parse().ok().filter(|ip: &IpAddr| !ip.is_unspecified());
            let help = "write for example 192.0.2.7";
            at.parsed(parse, "is not an address", help).map(Client::Address)
        }
        (None, Some(at)) => Outcome::read(&at).map(Client::Standing),
        (Some(_), Some(at)) => {
            let message = "the address has a standing of its own";
            at.refused_as("policy.bad_test", message, "remove one of the two")
        }
    }
}

fn expectation(fields: &Fields<'_>) -> Option<Expectation> {
    let (at, before) = (&fields.at, fields.at.sink.count());
    let expected = Expectation::read(fields);
    if expected.action == Some("throttle") {
        let message = "a single request is never throttled";
        let help = "expect 'log' or 'pass'; a request is throttled if it follows another too soon";
        at.warn("policy.bad_test", message, help);
    }
    if expected != Expectation::default() {
        return Some(expected);
    }
    if at.sink.count() == before {
        let help = "add 'expect: disallow' or 'action: block', for example";
        at.refuse_as("policy.bad_test", "the test expects nothing", help);
    }
    None
}

fn preference(at: &At<'_>) -> Option<&'static str> {
    let said = preferences::preference(at)?;
    Some(if said == Preference::Allow { "yes" } else { "no" })
}

/// The name of the site that a path belongs to; `Some(None)` if the URL tells it.
#[expect(clippy::option_option, reason = "the outer one is a finding")]
fn site(fields: &Fields<'_>, url: &At<'_>, target: &str, sites: &[Site]) -> Option<Option<String>> {
    let authority = target.split_once("://").filter(|_| !target.starts_with('/'));
    let host = authority.map(|(_, rest)| host_of(rest));
    match (fields.take("site"), host) {
        (None, Some(host)) => known_site(&host, url, sites).map(|_| None),
        (Some(at), None) => {
            let name = at.text()?.to_ascii_lowercase();
            // A site that begins with a wildcard has a name that is none of its hosts.
            let named = sites.iter().find(|site| site.name() == name);
            let site = named.or_else(|| known_site(&name, &at, sites));
            site.map(|site| Some(site.name().to_owned()))
        }
        (Some(at), Some(_)) => {
            at.refused_as("policy.bad_test", "the URL has a host", "remove one of the two")
        }
        (None, None) if !target.starts_with('/') => {
            let message = format!("'{}' is neither a URL nor a path", shown(target));
            url.refused(message, "begin with https:// or with '/'")
        }
        (None, None) => match sites {
            [] | [_] => Some(None),
            several => {
                let default = several.iter().find(|site| site.default);
                if default.is_none() {
                    let message = "a path belongs to no site here";
                    let help = format!("add 'site', one of {}", names_of(sites).join(", "));
                    url.refuse_as("policy.bad_test", message, help);
                }
                default.map(|site| Some(site.name().to_owned()))
            }
        },
    }
}

fn host_of(rest: &str) -> String {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    host.trim_end_matches('.').to_ascii_lowercase()
}

pub(super) fn known_site<'s>(host: &str, at: &At<'_>, sites: &'s [Site]) -> Option<&'s Site> {
    let has = |site: &&Site| {
        site.hosts.iter().any(|one| match one {
            Host::Exact(own) => own == host || split_port(own).is_some_and(|(own, _)| own == host),
            Host::Below(suffix) => host.ends_with(suffix.as_str()),
        })
    };
    let found = sites.iter().find(has).or_else(|| sites.iter().find(|site| site.default));
    // A site with an error is left out, and its hosts with it.
    if found.is_none() && !sites.is_empty() {
        let names = names_of(sites);
        let help = match closest(host, names.iter().copied()) {
            Some(name) => format!("did you mean '{name}'?"),
            None => format!("the hosts are {}", names.join(", ")),
        };
        let message = format!("no site has the host '{}'", shown(host));
        at.refuse_as("policy.unknown_host", message, help);
    }
    found
}

fn names_of(sites: &[Site]) -> Vec<&str> {
    sites.iter().flat_map(|site| &site.hosts).map(Host::as_str).collect()
}
