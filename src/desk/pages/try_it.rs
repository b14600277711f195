//! The decision about a request that an operator writes, by the state in force.
//!
//! Nobody sends the request: nothing is counted, recorded, fetched or looked up. The form is in the
//! address of the page, so that a decision can be linked.

use std::net::IpAddr;

use askama::Template;
use axum::{extract::State, response::IntoResponse};
use serde::Deserialize;

use super::{
    conditions::Asked,
    facts::{Fact, fact},
    frame::{Answer, Frame, live, work},
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

/// The form as it was filled in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    user_agent: String,
    url: String,
    address: String,
    site: String,
}

/// What is wrong with each field.
#[derive(Default)]
struct Faults {
    user_agent: Option<String>,
    url: Option<String>,
    address: Option<String>,
    site: Option<String>,
}

#[derive(Template)]
#[template(path = "try_it.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    wanted: Wanted,
    faults: Faults,
    presets: Vec<Link>,
    /// The sites that a path may belong to, if there are several.
    sites: Vec<String>,
    outcome: Option<Outcome>,
}

/// The decision.
struct Outcome {
    explanation: Explanation,
    client: String,
    facts: Vec<Fact>,
}

pub(super) async fn page(State(view): State<View>, Asked(wanted, _): Asked<Wanted>) -> Answer {
    live(&view)?;
    let frame = Frame::new(&view, "/try");
    let page = work(move || live(&view).map(|live| fill(frame, live, wanted))).await??;
    Ok(html(&page).into_response())
}

/// The form with its answer.
fn fill(frame: Frame, live: &Live, wanted: Wanted) -> Page {
    let published = live.gate.published();
    let (outcome, faults) = match wanted.url.is_empty() {
        true => (None, Faults::default()),
        false => match wanted.explain(live, &published) {
            Ok(explanation) => (Some(Outcome::of(explanation)), Faults::default()),
            Err(faults) => (None, faults),
        },
    };
    let (presets, sites) = (presets(&published, &wanted), published.rulebook.sites());
    let sites = sites.iter().filter(|_| sites.len() > 1).map(|site| site.name.clone()).collect();
    Page { frame, wanted, faults, presets, sites, outcome }
}

impl Wanted {
    fn path(&self) -> String {
        let Self { user_agent, url, address, site } = self;
        let parameters =
            [("user_agent", &**user_agent), ("url", url), ("address", address), ("site", site)];
        link::with_query("/try", &parameters)
    }

    fn explain(&self, live: &Live, published: &Snapshot) -> Result<Explanation, Faults> {
        let mut faults = self.too_long();
        let address = match self.address.trim() {
            "" => None,
            text => text.parse::<IpAddr>().map(Some).unwrap_or_else(|_| {
                let why = "This is no address: write it as 192.0.2.7 or 2001:db8::7.";
                faults.address = Some(why.to_owned());
                None
            }),
        };
        if faults.any() {
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
        explanation::explain(&live.gate, published, &question, moment, Rungs::Running).map_err(
            |fault| {
                let text = Some(words::sentence(&fault.to_string()));
                match fault {
                    Fault::UserAgent => Faults { user_agent: text, ..Faults::default() },
                    Fault::UnknownSite(..) => Faults { site: text, ..Faults::default() },
                    Fault::Target(..) | Fault::Host(_) | Fault::UnknownHost(..) => {
                        Faults { url: text, ..Faults::default() }
                    }
                }
            },
        )
    }

    fn too_long(&self) -> Faults {
        let fault = |text: &str| {
            (text.len() > MOST_OCTETS).then(|| {
                format!(
                    "It has {} octets, and the form takes {MOST_OCTETS}: use 'beadle explain'.",
                    text.len()
                )
            })
        };
        Faults {
            user_agent: fault(&self.user_agent),
            url: fault(&self.url),
            address: None,
            site: None,
        }
    }
}

impl Faults {
    fn any(&self) -> bool {
        let Self { user_agent, url, address, site } = self;
        [user_agent, url, address, site].into_iter().any(Option::is_some)
    }
}

impl Outcome {
    fn of(explanation: Explanation) -> Self {
        let token = explanation.verdict.product_token.as_deref();
        let client = token.map_or_else(
            || format!("A client of the class '{}'", explanation.claim.class),
            escape::shown,
        );
        Self { client, facts: facts(&explanation), explanation }
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
