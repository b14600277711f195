//! A decision written down: the violation record, and what a refused client is told.

use jiff::Timestamp;

use crate::{
    crawlers::{self, Claim},
    enforce::{Decision, Judgement, Reason, Site},
    escape,
    policy::{self, Piece, Slot},
    robots::Access,
    violations::{self, Robots, RobotsRead, Text, Violation},
};

use super::{conduct::Early, pace::Notice};

/// What is known of a request beside the decision.
pub(super) struct Circumstances<'a> {
    pub(super) id: &'a str,
    pub(super) time: Timestamp,
    /// As it is recorded.
    pub(super) client_ip: Text,
    pub(super) method: &'a str,
    pub(super) host: &'a str,
    /// The host as the client wrote it, with its port.
    pub(super) authority: &'a str,
    pub(super) target: &'a [u8],
    pub(super) user_agent: &'a [u8],
    pub(super) redact_query: &'a [String],
    /// The pace for which it came too soon.
    pub(super) early: Option<&'a Early<'a>>,
}

/// The record of a decision against a request; the status is filled in when it is known. `None`
/// where nothing was judged.
pub(super) fn violation(
    site: &Site,
    claim: &Claim<'_>,
    decision: &Decision<'_>,
    read: RobotsRead,
    at: &Circumstances<'_>,
) -> Option<Violation> {
    let judgement = decision.judgement?;
    let known = judgement.name.and_then(crawlers::Name::known);
    let path = violations::redact_query(at.target, at.redact_query);
    Some(Violation {
        schema: violations::SCHEMA,
        id: at.id.into(),
        time: at.time,
        site: site.name.as_str().into(),
        client_ip: at.client_ip.clone(),
        method: at.method.into(),
        host: at.host.into(),
        path: Text::path(&path),
        user_agent: Text::user_agent(at.user_agent),
        product_token: name(&judgement).into(),
        product_tokens: Text::list(claim.tokens().map(crawlers::Name::as_str)),
        operator: known.and_then(crawlers::Crawler::operator).map(Text::from),
        purpose: known.map(|crawler| Text::word(crawler.purpose().as_str())),
        standing: Text::word(decision.standing.outcome.as_str()),
        evidence: decision.standing.evidence.map(|evidence| Text::word(evidence.as_str())),
        verdict: Text::word(decision.access.as_str()),
        reason: Text::word(decision.reason.as_str()),
        action: Text::word(decision.action.as_str()),
        status: 0,
        robots: robots(site, &judgement, at.early.filter(|_| decision.access == Access::Allow)),
        robots_read: read,
    })
}

/// What of robots.txt was broken: the rule that disallows; where none does, the record of a pace.
fn robots(site: &Site, judgement: &Judgement<'_>, early: Option<&Early<'_>>) -> Robots {
    let matcher = site.edition().matcher();
    let group = judgement.group.map(|group| matcher.tokens(group)).unwrap_or_default();
    let group = Text::list(group);
    let measured = early.map(|early| early.measured);
    match measured.and_then(|measured| Some((measured.edition, measured.record?))) {
        Some((edition, record)) => Robots {
            edition: edition.to_string().into(),
            line: Some(record.line),
            directive: record.name.to_ascii_lowercase().as_str().into(),
            pattern: Text::path(record.value.as_bytes()),
            group,
        },
        None => Robots {
            edition: site.edition().id().to_string().into(),
            line: judgement.rule.map(|rule| rule.line),
            directive: Text::word(judgement.rule.map_or("", |rule| rule.directive.as_str())),
            pattern: Text::path(judgement.rule.map_or("", |rule| &rule.pattern).as_bytes()),
            group,
        },
    }
}

/// Who was judged; a client without a name is `-`, as in access logs.
pub(super) fn name<'r>(judgement: &Judgement<'r>) -> &'r str {
    judgement.name.map_or("-", crawlers::Name::as_str)
}

/// What a client is told that came too soon.
pub(super) fn notice(
    site: &Site,
    judgement: &Judgement<'_>,
    early: &Early<'_>,
    scheme: &str,
    at: &Circumstances<'_>,
) -> String {
    let mut robots_txt = format!("{scheme}://{}/robots.txt", at.authority);
    let Early { measured, too_soon } = early;
    if measured.edition != site.edition().id() {
        robots_txt.push_str(" as it was before");
    }
    let (product_token, robots_txt) = (name(judgement), robots_txt.as_str());
    let (held, too_soon, id) = (*measured, *too_soon, at.id);
    Notice { product_token, held, robots_txt, too_soon, id }.text()
}

/// The body of a block, by the operator's template. In HTML every value is escaped as such; in any
/// other text control characters are.
pub(super) fn block_body(
    block: &policy::Block,
    judgement: &Judgement<'_>,
    reason: Reason,
    scheme: &str,
    at: &Circumstances<'_>,
) -> String {
    let is_html = block.content_type.trim_start().to_ascii_lowercase().starts_with("text/html");
    let (template, rule) = match reason {
        // The rule may even allow what was asked for.
        Reason::Impostor => (&block.impostor_body, None),
        _ => (&block.body, judgement.rule),
    };
    let mut body = String::new();
    for piece in &template.0 {
        let value = match piece {
            Piece::Text(text) => {
                body.push_str(text);
                continue;
            }
            Piece::Slot(Slot::ProductToken) => name(judgement).to_owned(),
            Piece::Slot(Slot::Rule) => rule.map_or_else(String::new, |rule| {
                format!("{}: {}", rule.directive.field_name(), rule.pattern)
            }),
            Piece::Slot(Slot::Line) => rule.map_or_else(String::new, |rule| rule.line.to_string()),
            Piece::Slot(Slot::RobotsTxt) => format!("{scheme}://{}/robots.txt", at.authority),
            Piece::Slot(Slot::Id) => at.id.to_owned(),
            Piece::Slot(Slot::Host) => at.host.to_owned(),
            Piece::Slot(Slot::Path) => String::from_utf8_lossy(at.target).into_owned(),
        };
        let safe = escape::bounded(value.as_bytes(), 2_048);
        body.push_str(&if is_html { escape::html(&safe) } else { safe });
    }
    body
}
