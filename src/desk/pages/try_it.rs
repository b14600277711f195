//! The decision about a request that an operator writes, by the state in force.
//!
//! Nobody sends the request: nothing is counted, recorded, fetched or looked up. The form is in the
//! address of the page, so that a decision can be linked.

use std::net::{IpAddr, Ipv4Addr};

use askama::Template;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::{
    conditions::Asked,
    frame::{Answer, Frame, work_on},
    link::{self, Link},
    sheet::{Fact, fact},
    words,
};
use crate::{
    base::escape,
    desk::admin::{Live, View, html},
    formats::robots::{Directive, RobotsTxt},
    review::explanation::{self, Explanation, Fault, Line, Question, Rungs},
    rules::policy::Host,
    state::publication::Snapshot,
};

/// The most octets of a User-Agent or a URL in the form. The whole request has room for 16 KiB.
const MOST_OCTETS: usize = 4_096;

/// Crawlers that the form offers, where the catalogue has them.
const OFFERED: [&str; 6] =
    ["Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "PerplexityBot"];

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Wanted {
    user_agent: String,
    url: String,
    address: String,
    site: String,
}

type Faults = Vec<(&'static str, String)>;

#[derive(Template)]
#[template(path = "try_it.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    wanted: Wanted,
    faults: Faults,
    presets: Vec<Link>,
    /// The sites that a path may belong to, if there are several.
    sites: Vec<String>,
    explanation: Option<Explanation>,
}

pub(super) async fn page(State(view): State<View>, Asked(wanted, _): Asked<Wanted>) -> Answer {
    let frame = Frame::new(&view, "/try");
    let page = work_on(&view, move |live| {
        let published = live.gate.published();
        let asked = (!wanted.url.is_empty()).then(|| wanted.explain(live, &published));
        let (explanation, faults) = match asked.transpose() {
            Ok(explanation) => (explanation, Faults::new()),
            Err(faults) => (None, faults),
        };
        let (presets, sites) = (presets(&published, &wanted), published.rulebook.sites());
        let several = sites.iter().filter(|_| sites.len() > 1);
        let sites = several.map(|site| site.name.clone()).collect();
        Page { frame, wanted, faults, presets, sites, explanation }
    });
    Ok(html(&page.await?))
}

impl Wanted {
    fn explain(&self, live: &Live, published: &Snapshot) -> Result<Explanation, Faults> {
        let mut faults = Faults::new();
        for (field, text) in [("user_agent", &self.user_agent), ("url", &self.url)] {
            if text.len() > MOST_OCTETS {
                let length = text.len();
                let why = format!(
                    "It has {length} octets, and the form takes {MOST_OCTETS}: use 'beadle explain'."
                );
                faults.push((field, why));
            }
        }
        let address: Option<IpAddr> = self.address.trim().parse().ok();
        if address.is_none() && !self.address.trim().is_empty() {
            let why = "This is no address: write it as 192.0.2.7 or 2001:db8::7.";
            faults.push(("address", why.to_owned()));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        // One of several sites gets a path: the first, until another is chosen.
        let first = published.rulebook.sites().first().map(|site| &*site.name);
        let question = Question {
            target: self.url.trim_matches(' '),
            user_agent: &self.user_agent,
            address,
            standing: None,
            site: Some(&*self.site).filter(|name| !name.is_empty()).or(first),
        };
        let moment = live.handles.clock.moment();
        let explained =
            explanation::explain(&live.gate, published, &question, moment, Rungs::Running);
        explained.map_err(|fault| {
            let field = match fault {
                Fault::UserAgent => "user_agent",
                Fault::UnknownSite(..) => "site",
                Fault::Target(..) | Fault::Host(_) | Fault::UnknownHost(..) => "url",
            };
            vec![(field, words::sentence(&fault.to_string()))]
        })
    }
}

impl Page {
    fn fault(&self, name: &str) -> Option<&String> {
        self.faults.iter().find(|(field, _)| *field == name).map(|(_, why)| why)
    }

    fn client(&self, explanation: &Explanation) -> String {
        let token = explanation.verdict.product_token.as_deref();
        let unnamed = || format!("A client of the class '{}'", explanation.claim.class);
        token.map_or_else(unnamed, escape::shown)
    }

    /// A time as the other pages have it.
    fn shown(&self, at: &str) -> String {
        at.parse().map_or_else(|_| at.to_owned(), words::second)
    }
}

fn facts(explanation: &Explanation) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for Line { label, value } in &explanation.lines {
        match facts.last_mut() {
            Some(last) if label.is_empty() => last.values.push(value.clone()),
            _ => facts.push(fact(*label, value)),
        }
    }
    facts.retain(|fact| fact.name != "editions");
    if !explanation.claim.product_tokens.is_empty()
        && let Some(standing) = facts.iter_mut().find(|fact| fact.name == "standing")
    {
        // The sentence begins with the word.
        let why = words::standing(explanation.standing, explanation.evidence);
        if let (Some(word), Some((_, why))) = (standing.values.first_mut(), why.split_once(": ")) {
            *word = format!("{word}: {why}");
        }
    }
    facts
}

/// Some crawlers of the catalogue in force and a browser, each with the rest of the form.
fn presets(published: &Snapshot, wanted: &Wanted) -> Vec<Link> {
    let catalogue = published.rulebook.catalogue();
    let known = OFFERED.iter().filter_map(|name| catalogue.find(name));
    let crawlers = known.map(|crawler| {
        let name = crawler.product_token().as_str().to_owned();
        let user_agent = format!("Mozilla/5.0 (compatible; {name}/1.0)");
        (name, user_agent)
    });
    let browser = [("Firefox".to_owned(), FIREFOX.to_owned())];
    let url = if wanted.url.is_empty() { "/" } else { &wanted.url };
    let preset = |(name, user_agent): (String, String)| Link {
        name,
        is_here: user_agent == wanted.user_agent,
        path: link::with("/try", &Wanted { user_agent, url: url.to_owned(), ..wanted.clone() }),
    };
    crawlers.chain(browser).map(preset).collect()
}

/// The client of the request, where the rules are for all crawlers.
const USUAL: &str = "GPTBot";

/// A first request for a desk that has nothing to show yet: for a path that the rules of the first site
/// disallow, if they disallow any.
pub(super) fn attempt(view: &View) -> Option<String> {
    let published = view.live.get()?.handles.published.load_full();
    let policy = &published.policy.policy;
    let (site, named) = (published.rulebook.sites().first()?, policy.sites.first()?);
    let listener = policy.server.listen.iter().find(|one| !one.is_redirect)?;
    let (crawler, path) = closed(site.edition().file())?;
    let mut address = listener.address;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    let host = named.hosts.iter().find_map(|host| match host {
        Host::Exact(name) if !named.default => Some(format!(" -H 'Host: {name}'")),
        _ => None,
    });
    let (host, scheme) =
        (host.unwrap_or_default(), listener.tls.as_ref().map_or("http", |_| "https"));
    Some(format!("curl -A {crawler}/1.0{host} '{scheme}://{address}{path}'"))
}

/// A crawler, and a path that it may not fetch.
fn closed(file: &RobotsTxt) -> Option<(&str, &str)> {
    // What a shell reads as something else is no example.
    let is_plain =
        |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.".contains(c));
    file.groups.iter().find_map(|group| {
        let name = group.user_agents.first().map(|one| one.name.as_str())?;
        let name = Some(if name == "*" { USUAL } else { name }).filter(is_plain)?;
        let rules = group.rules.iter().filter(|rule| rule.directive == Directive::Disallow);
        let paths = rules.map(|rule| rule.pattern.split(['*', '$']).next().unwrap_or_default());
        let path = paths.filter(is_plain).find(|path| path.starts_with('/'))?;
        Some((name, path))
    })
}
