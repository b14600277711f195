//! The decision about a request that an operator writes, by the state in force.
//!
//! Nobody sends the request: nothing is counted, recorded, fetched or looked up. The form is in the
//! address of the page, so that a decision can be linked.

use std::net::IpAddr;

use askama::Template;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::{
    conditions::Asked,
    facts::{Fact, fact},
    frame::{Answer, Frame, work_on},
    link::{self, Link},
    time, words,
};
use crate::{
    base::escape,
    desk::admin::{Live, View, html},
    review::explanation::{self, Explanation, Fault, Line, Question, Rungs},
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
    let page = work_on(&view, move |live| fill(frame, live, wanted)).await?;
    Ok(html(&page))
}

fn fill(frame: Frame, live: &Live, wanted: Wanted) -> Page {
    let published = live.gate.published();
    let asked = (!wanted.url.is_empty()).then(|| wanted.explain(live, &published));
    let (explanation, faults) = match asked.transpose() {
        Ok(explanation) => (explanation, Faults::new()),
        Err(faults) => (None, faults),
    };
    let (presets, sites) = (presets(&published, &wanted), published.rulebook.sites());
    let sites = sites.iter().filter(|_| sites.len() > 1).map(|site| site.name.clone()).collect();
    Page { frame, wanted, faults, presets, sites, explanation }
}

impl Wanted {
    fn path(&self) -> String {
        let Self { user_agent, url, address, site } = self;
        let parameters =
            [("user_agent", &**user_agent), ("url", url), ("address", address), ("site", site)];
        link::with_query("/try", &parameters)
    }

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
        at.parse().map_or_else(|_| at.to_owned(), time::second)
    }
}

/// The lines by their labels. Editions have a table of their own.
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
    let preset = |(name, user_agent): (String, String)| Link {
        name,
        is_here: user_agent == wanted.user_agent,
        path: Wanted {
            user_agent,
            url: if wanted.url.is_empty() { "/".to_owned() } else { wanted.url.clone() },
            ..wanted.clone()
        }
        .path(),
    };
    crawlers.chain(browser).map(preset).collect()
}
