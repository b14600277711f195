//! A decision as data: the JSON of `beadle explain`, and what the pages show.

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    crawlers::{self, Class, Evidence},
    enforce::{self, Action, Rung},
    escape,
    gate::{self, Visit},
    violations::RobotsRead,
};

use super::{
    excerpt::Excerpt,
    line::Line,
    question::Rungs,
    text,
    verdict::{RuleRow, VerdictRow, evasion_form},
};

/// The decision about one request. Its fields are written in this order.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The verdict, with the group and the rule.
    #[serde(flatten)]
    pub verdict: VerdictRow,
    /// The site.
    pub site: String,
    /// The claim of the User-Agent.
    pub claim: ClaimRow,
    /// The standing of the claim.
    pub standing: &'static str,
    /// The evidence that confirms or contradicts the claim.
    pub evidence: Option<&'static str>,
    /// The action.
    pub action: &'static str,
    /// The stable code of the reason.
    pub reason: &'static str,
    /// The form of the path that is disallowed, if it is not the letter.
    pub form: Option<String>,
    /// The rung of the ladder that the decision rests on.
    pub rung: Option<&'static str>,
    /// Seconds for one request.
    pub crawl_delay: Option<f64>,
    /// Whether an earlier request gets 429; else Beadle only counts it.
    pub crawl_delay_enforced: Option<bool>,
    /// `Robots-Tag` of the answer.
    pub robots_tag: Option<String>,
    /// `X-Robots-Tag` of the answer.
    pub x_robots_tag: Option<String>,
    /// The last fetch of robots.txt by the client.
    pub robots_read: RobotsRead,
    /// The editions that count, the one in force first.
    pub editions: Vec<EditionRow>,
    /// The whole reasoning as text.
    #[serde(skip)]
    pub lines: Vec<Line>,
    /// The edition in force.
    #[serde(skip)]
    pub edition: String,
    /// The lines of that edition around the rule.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
}

/// The claim of a User-Agent.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimRow {
    /// The class of client.
    pub class: Class,
    /// The names, the primary first.
    pub product_tokens: Vec<String>,
}

/// An edition that counts for the decision.
#[derive(Clone, Debug, Serialize)]
pub struct EditionRow {
    /// The edition, by its hash.
    pub edition: String,
    /// The start of its time in force.
    pub from: String,
    /// The end of that time.
    pub until: Option<String>,
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    /// Whether the client may still use it.
    #[serde(rename = "held")]
    pub is_known: bool,
    /// The number of editions that are judged as one, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

impl Explanation {
    /// The explanation of the decision about a visit. `written` is the target as it was asked for.
    pub(super) fn of(visit: &Visit<'_>, written: &str, rungs: Rungs) -> Self {
        let (site, claim, target) = (visit.site, &visit.claim, &visit.target);
        let (decision, edition) = (visit.decide(), site.edition());
        let judgement = decision.judgement;
        let name = judgement.and_then(|judgement| judgement.name).or_else(|| claim.primary());
        let readings = name.map(|name| visit.readings(name, decision.standing.outcome));
        let group = judgement.and_then(|judgement| judgement.group);
        let rule = judgement.and_then(|judgement| judgement.rule);
        let status = match decision.action {
            Action::Block => site.enforcement.block.status,
            Action::Throttle => 429,
            Action::Pass | Action::Log => 200,
        };
        let pace = enforce::applied_pace(site, &decision, visit);
        let tags = site.tags.select(target.letter(), status, None);
        let owned = |tokens: Vec<&str>| tokens.into_iter().map(str::to_owned).collect();
        let mut explanation = Self {
            verdict: VerdictRow {
                target: escape::text(written.as_bytes()),
                path: escape::text(target.letter()),
                product_token: name.map(|name| name.as_str().to_owned()),
                verdict: decision.access.as_str(),
                group: group.map(|group| owned(edition.matcher().tokens(group))),
                rule: rule.map(RuleRow::of),
            },
            site: site.name.clone(),
            claim: ClaimRow {
                class: claim.class(),
                product_tokens: owned(claim.tokens().map(crawlers::Name::as_str).collect()),
            },
            standing: decision.standing.outcome.as_str(),
            evidence: decision.standing.evidence.map(Evidence::as_str),
            action: decision.action.as_str(),
            reason: decision.reason.as_str(),
            form: group.and_then(|group| evasion_form(&edition.matcher().explain(group, target))),
            rung: decision.rung.map(Rung::as_str),
            crawl_delay: pace.map(|one| one.pace.interval().as_secs_f64()),
            crawl_delay_enforced: pace.map(|one| one.is_enforced),
            robots_tag: tags.as_ref().and_then(|tags| tags.robots_tag.clone()),
            x_robots_tag: tags
                .as_ref()
                .and_then(|tags| tags.x_robots_tag.as_ref())
                .filter(|lines| !lines.is_empty())
                .map(|lines| lines.join(", ")),
            robots_read: gate::robots_read(site, readings.and_then(|readings| readings.last())),
            editions: enforce::edition_verdicts(site, &decision, target, visit)
                .into_iter()
                .map(EditionRow::from)
                .collect(),
            lines: Vec::new(),
            edition: edition.id_text().to_owned(),
            excerpt: rule.and_then(|rule| Excerpt::around(edition.bytes(), rule.line)),
        };
        explanation.lines = text::lines(&explanation, visit, &decision, pace, rungs);
        explanation
    }
}

impl From<enforce::EditionVerdict> for EditionRow {
    fn from(one: enforce::EditionVerdict) -> Self {
        Self {
            edition: one.edition.to_string(),
            from: time(one.from),
            until: one.until.map(time),
            verdict: one.access.as_str(),
            is_known: one.is_known,
            count: Some(one.count).filter(|count| *count > 1),
        }
    }
}

/// A time to the second.
pub(super) fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}
