//! The `tests` section: requests, and the decisions that the operator expects.

use std::{net::IpAddr, time::Duration};

use crate::{
    base::{diagnostic::Diagnostic, escape::shown, product_token::ProductToken},
    formats::{robots::Access, usage::Preference},
    rules::{
        crawlers::{Catalogue, Name, Outcome, SiteNames},
        keys,
    },
};

use super::{
    duration,
    fields::Fields,
    findings::Findings,
    host::{Host, split_port},
    names::Names,
    preferences,
    shape::At,
    sites::Site,
    spelling::closest,
    yaml::Value,
};

/// The longest `after`: the longest time for which an edition matters, and a day.
const MOST_AFTER: Duration = Duration::from_secs(8 * 86_400);

/// A request, and the decision that the operator expects.
#[derive(Clone, Debug)]
pub struct Test {
    /// The name; by default the client and the target.
    pub name: String,
    /// The User-Agent of the request.
    pub user_agent: String,
    /// A URL or a path.
    pub target: String,
    /// The name of the site that a path belongs to.
    pub site: Option<String>,
    /// What is known of the client.
    pub client: Client,
    /// The age of the robots.txt. Before it, the site had no rules. `None` is older than any crawler
    /// remembers.
    pub after: Option<Duration>,
    /// What the decision must be.
    pub expected: Expectation,
    /// The line in the policy.
    pub line: u32,
    /// The column in the policy.
    pub column: u32,
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

/// The expected parts of a decision; `None` is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// Whether the rules allow the request.
    pub access: Option<Access>,
    /// The action: one of [`keys::ACTIONS`].
    pub action: Option<&'static str>,
    /// The line of the rule in robots.txt.
    pub line: Option<u32>,
    /// The code of the reason: one of [`keys::REASONS`].
    pub reason: Option<&'static str>,
    /// Whether models may be trained on it: `yes` or `no`.
    pub train_ai: Option<&'static str>,
    /// Whether a search may show it: `yes` or `no`.
    pub search: Option<&'static str>,
    /// `Robots-Tag` of the answer; empty is none.
    pub robots_tag: Option<String>,
    /// `X-Robots-Tag` of the answer; empty is none.
    pub x_robots_tag: Option<String>,
}

/// What a failed test does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestFailures {
    /// It is a warning (default).
    #[default]
    Warn,
    /// It refuses the policy.
    Refuse,
}

/// What a test refers to.
pub(super) struct Subject<'s> {
    pub(super) names: &'s Names<'s>,
    pub(super) catalogue: &'s Catalogue,
    pub(super) sites: &'s [Site],
}

/// Reads the list; a test with an error is left out.
pub(super) fn read(
    at: Option<&At<'_>>,
    subject: &Subject<'_>,
    findings: &mut Findings,
) -> Vec<Test> {
    if let Some(at) = at.filter(|at| matches!(at.node.value, Value::Text(_))) {
        let help = "write a list of tests; 'test_failures: refuse' lets them refuse the policy";
        findings.refuse_as("policy.wrong_type", at, "not a list", help);
        return Vec::new();
    }
    let items = at.map(At::elements).unwrap_or_default();
    items.iter().filter_map(|item| test(item, subject, findings)).collect()
}

fn test(at: &At<'_>, subject: &Subject<'_>, findings: &mut Findings) -> Option<Test> {
    let fields = at.fields(&keys::TEST, findings)?;
    let user_agent = user_agent(&fields, subject, findings);
    let client = client(&fields, findings);
    let after = fields.take("after");
    let after = after.and_then(|at| at.duration(Duration::ZERO..=MOST_AFTER, findings));
    let expected = expectation(&fields, findings);
    let help = "write a URL such as https://www.example.com/private/, or a path";
    let url = fields.require("url", help, findings)?;
    let target = url.text(findings)?;
    let site = site(&fields, &url, target, subject.sites, findings)?;
    let (user_agent, shown_agent) = user_agent?;
    let name = match fields.take("name") {
        Some(at) => at.text(findings)?.trim().to_owned(),
        None => {
            let after = after.map(|after| format!(", {} after", duration::text(after)));
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
        line: at.node.line,
        column: at.node.column,
    })
}

/// The User-Agent, and its short name.
fn user_agent(
    fields: &Fields<'_>,
    subject: &Subject<'_>,
    findings: &mut Findings,
) -> Option<(String, String)> {
    match (fields.take("user_agent"), fields.take("product_token")) {
        (Some(at), None) => {
            let text = at.text(findings)?;
            if text.bytes().any(|b| b.is_ascii_control()) {
                return findings.refused(
                    &at,
                    "control characters",
                    "write the User-Agent on one line",
                );
            }
            Some((text.to_owned(), text.to_owned()))
        }
        (None, Some(at)) => {
            let token = token(&at, subject, findings)?;
            let found = sent(token.as_str(), subject.catalogue);
            if found.is_none() {
                let message = format!("no request carries the name '{token}' alone");
                let help = "write 'user_agent' with the whole text that the crawler sends";
                findings.refuse_as("policy.bad_test", &at, message, help);
            }
            Some((found?, token.to_string()))
        }
        (Some(at), Some(_)) => {
            let help = "remove one of the two";
            findings.refused_as("policy.bad_test", &at, "a second name of the client", help)
        }
        (None, None) => {
            let help = "write 'product_token: GPTBot', or 'user_agent' with the whole text";
            let message = "the request has no client";
            findings.refused_as("policy.bad_test", fields.at(), message, help)
        }
    }
}

/// A known name, or one that is close to none. A test of a control token is sound: it says what the
/// published file tells this crawler.
fn token(at: &At<'_>, subject: &Subject<'_>, findings: &mut Findings) -> Option<ProductToken> {
    let mut of_name = Findings::default();
    let token = subject.names.token(at.text(findings)?.trim(), at, &mut of_name);
    let others = of_name.0.into_iter().filter(|one| one.code != "policy.control_token");
    others.for_each(|one| findings.push(one));
    token
}

/// A User-Agent that claims to be this crawler.
fn sent(token: &str, catalogue: &Catalogue) -> Option<String> {
    let Some(crawler) = catalogue.find(token) else { return Some(token.to_owned()) };
    let names = SiteNames::default();
    [token.to_owned(), format!("{token}/1.0")].into_iter().find(|text| {
        let claim = catalogue.identify(text.as_bytes(), &names);
        let own = crawler.product_token();
        claim.tokens().filter_map(Name::known).any(|known| known.product_token() == own)
    })
}

fn client(fields: &Fields<'_>, findings: &mut Findings) -> Option<Client> {
    match (fields.take("client_ip"), fields.take("standing")) {
        (None, None) => Some(Client::Anonymous),
        (Some(at), None) => {
            let parse = |text: &str| text.parse().ok().filter(|ip: &IpAddr| !ip.is_unspecified());
            let help = "write for example 192.0.2.7";
            at.parsed(parse, "is not an address", help, findings).map(Client::Address)
        }
        (None, Some(_)) => fields.choice("standing", Outcome::ALL, findings).map(Client::Standing),
        (Some(_), Some(at)) => {
            let message = "the address has a standing of its own";
            findings.refused_as("policy.bad_test", &at, message, "remove one of the two")
        }
    }
}

fn expectation(fields: &Fields<'_>, findings: &mut Findings) -> Option<Expectation> {
    let before = findings.0.len();
    let action = fields.choice("action", keys::ACTIONS, findings);
    let reason = fields.choice("reason", keys::REASONS, findings);
    let access = fields.choice("expect", [Access::Allow, Access::Disallow], findings);
    let line = fields.some_number("line", findings);
    let train_ai = preference("train_ai", fields, findings);
    let search = preference("search", fields, findings);
    let mut header =
        |key: &str| fields.take(key).and_then(|at| at.text(findings)).map(str::to_owned);
    let expected = Expectation {
        access,
        action,
        line,
        reason,
        train_ai,
        search,
        robots_tag: header("robots_tag"),
        x_robots_tag: header("x_robots_tag"),
    };
    if action == Some("throttle") {
        let message = "a single request is never throttled";
        let help = "expect 'log' or 'pass'; a request is throttled if it follows another too soon";
        findings.add(fields.at(), Diagnostic::warning("policy.bad_test", message).help(help));
    }
    if findings.0.len() > before && expected == Expectation::default() {
        return None;
    }
    if expected == Expectation::default() {
        let help = "add 'expect: disallow' or 'action: block', for example";
        return findings.refused_as(
            "policy.bad_test",
            fields.at(),
            "the test expects nothing",
            help,
        );
    }
    Some(expected)
}

/// A preference; without quotes, it is a word of YAML for a switch or a text.
fn preference(key: &str, fields: &Fields<'_>, findings: &mut Findings) -> Option<&'static str> {
    let said = fields.read(key, preferences::preference, findings)?;
    Some(if said == Preference::Allow { "yes" } else { "no" })
}

/// The name of the site that a path belongs to; `Some(None)` if the URL tells it.
#[expect(clippy::option_option, reason = "the outer one is a finding")]
fn site(
    fields: &Fields<'_>,
    url: &At<'_>,
    target: &str,
    sites: &[Site],
    findings: &mut Findings,
) -> Option<Option<String>> {
    let authority = target.split_once("://").filter(|_| !target.starts_with('/'));
    let host = authority.map(|(_, rest)| host_of(rest));
    match (fields.take("site"), host) {
        (None, Some(host)) => known_site(&host, url, sites, findings).map(|_| None),
        (Some(at), None) => {
            let name = at.text(findings)?.to_ascii_lowercase();
            // A site that begins with a wildcard has a name that is none of its hosts.
            let named = sites.iter().find(|site| site.name() == name);
            let site = named.or_else(|| known_site(&name, &at, sites, findings));
            site.map(|site| Some(site.name().to_owned()))
        }
        (Some(at), Some(_)) => findings.refused_as(
            "policy.bad_test",
            &at,
            "the URL has a host",
            "remove one of the two",
        ),
        (None, None) if !target.starts_with('/') => {
            let message = format!("'{}' is neither a URL nor a path", shown(target));
            findings.refused(url, message, "begin with https:// or with '/'")
        }
        (None, None) => match sites {
            [] | [_] => Some(None),
            several => {
                let default = several.iter().find(|site| site.default);
                if default.is_none() {
                    let message = "a path belongs to no site here";
                    let help = format!("add 'site', one of {}", names_of(sites).join(", "));
                    findings.refuse_as("policy.bad_test", url, message, help);
                }
                default.map(|site| Some(site.name().to_owned()))
            }
        },
    }
}

/// The host in what follows `://`, lower case.
fn host_of(rest: &str) -> String {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    host.trim_end_matches('.').to_ascii_lowercase()
}

/// The site of a host; a finding if there is none.
pub(super) fn known_site<'s>(
    host: &str,
    at: &At<'_>,
    sites: &'s [Site],
    findings: &mut Findings,
) -> Option<&'s Site> {
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
        findings.refuse_as("policy.unknown_host", at, message, help);
    }
    found
}

fn names_of(sites: &[Site]) -> Vec<&str> {
    sites.iter().flat_map(|site| &site.hosts).map(Host::as_str).collect()
}
