//! The question of an operator: what would a request get?

use std::{
    borrow::Cow,
    fmt,
    net::{IpAddr, Ipv4Addr},
};

use http::{HeaderMap, HeaderValue, Method, header};

use crate::{
    enforce::{Moment, Rulebook},
    escape,
    gate::{self, BadTarget, Gate, Refusal},
    publication::Snapshot,
};

use super::decision::Explanation;

/// A request as an operator writes it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// A URL or a path. A path without [`Self::site`] belongs to the only site.
    pub target: &'q str,
    /// The User-Agent.
    pub user_agent: &'q str,
    /// The client's address. Without it, the claim is not examined.
    pub address: Option<IpAddr>,
    /// The name of the site that a path belongs to. A URL names its host.
    pub site: Option<&'q str>,
}

/// The source of rungs of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rungs {
    /// None: every crawler begins on the lowest.
    AtStart,
    /// The running program, which knows them.
    Running,
}

/// The reason why a question has no answer; its text names the repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Occurs when the User-Agent has octets that no field has.
    UserAgent,
    /// Occurs when the proxy refuses the target.
    Target(String, BadTarget),
    /// Occurs when the URL has no valid host.
    Host(String),
    /// Occurs when the target belongs to none of these sites.
    UnknownHost(String, Vec<String>),
    /// Occurs when none of these sites has the name.
    UnknownSite(String, Vec<String>),
}

/// The explanation of the decision about the request, by what is published.
///
/// # Errors
/// No request can be like this, or no site gets it.
pub fn explain(
    gate: &Gate,
    published: &Snapshot,
    question: &Question<'_>,
    moment: Moment,
    rungs: Rungs,
) -> Result<Explanation, Fault> {
    let value = HeaderValue::from_bytes(question.user_agent.as_bytes());
    let value = value.map_err(|_| Fault::UserAgent)?;
    let fields = HeaderMap::from_iter([(header::USER_AGENT, value)]);
    let text = question.target;
    let received = gate::received_target(text.as_bytes())
        .map_err(|fault| Fault::Target(text.to_owned(), fault))?;
    let host = host(&published.rulebook, question)?;
    let request = gate::Request {
        method: &Method::GET,
        target: &received,
        authority: host.as_deref().map(str::as_bytes),
        is_http_1_0: true,
        fields: &fields,
        peer: question.address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        is_tls: true,
    };
    let visit = gate.imagine(published, &request, moment).map_err(|refusal| match refusal {
        Refusal::BadHost => Fault::Host(text.to_owned()),
        _ => Fault::UnknownHost(text.to_owned(), names(&published.rulebook)),
    })?;
    Ok(Explanation::of(&visit, text, rungs))
}

/// The host of the target: that of a URL, else that of the site.
fn host<'b>(
    rulebook: &'b Rulebook,
    question: &Question<'b>,
) -> Result<Option<Cow<'b, str>>, Fault> {
    let text = question.target;
    if let Some((_, rest)) = text.split_once("://").filter(|_| !text.starts_with('/')) {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        return Ok(Some(host.into()));
    }
    let site = match (question.site, rulebook.sites()) {
        (Some(name), sites) => {
            let unknown = || Fault::UnknownSite(name.to_owned(), names(rulebook));
            let found = sites.iter().find(|site| site.name.eq_ignore_ascii_case(name));
            &found.ok_or_else(unknown)?.name
        }
        (None, [only]) => &only.name,
        (None, _) => return Ok(None),
    };
    // Every host below a wildcard belongs to the site.
    let is_wildcard = site.starts_with('.');
    Ok(Some(if is_wildcard { format!("any{site}").into() } else { site.as_str().into() }))
}

fn names(rulebook: &Rulebook) -> Vec<String> {
    rulebook.sites().iter().map(|site| site.name.clone()).collect()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UserAgent => {
                f.write_str("the User-Agent has control characters (no request can carry them)")
            }
            Self::Target(text, why) => {
                write!(f, "'{}' gets 400 from the proxy: {why}", escape::shown(text))
            }
            Self::Host(text) => write!(
                f,
                "'{}' gets 400 from the proxy: its host is not valid (write for example \
                 https://www.example.com/)",
                escape::shown(text)
            ),
            Self::UnknownHost(text, sites) => {
                let (text, names) = (escape::shown(text), sites.join(", "));
                write!(f, "'{text}' belongs to no site of the policy (it has {names})")
            }
            Self::UnknownSite(name, sites) => {
                let (name, names) = (escape::shown(name), sites.join(", "));
                write!(f, "the policy has no site '{name}' (it has {names})")
            }
        }
    }
}
