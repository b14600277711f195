//! The answer to a question: the decision, and its reasons.

use std::net::{IpAddr, Ipv4Addr};

use http::{HeaderMap, HeaderValue, Method, header};

use crate::{
    base::escape,
    formats::{
        robots::{self, Usage, UsageRecord},
        usage::{Carrier, Category, Preference},
    },
    rules::{
        crawlers::{self, Evidence},
        enforce::{self, Action, AppliedLimit, Moment, Rung},
    },
    serving::gate::{self, Gate, Refusal, Visit},
    state::publication::Snapshot,
};

use super::{
    decision::{ClaimRow, EditionRow, Explanation},
    decision_text,
    excerpt::Excerpt,
    question::{Fault, Question, Rungs, host, names},
    verdict::{RuleRow, VerdictRow, other_form},
};

/// The explanation of the decision about the request, by what is published.
pub(crate) fn explain(
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
    let visit = match question.standing {
        Some(outcome) => gate.suppose(published, &request, moment, outcome),
        None => gate.imagine(published, &request, moment),
    };
    let visit = visit.map_err(|refusal| match refusal {
        Refusal::BadHost => Fault::Host(text.to_owned()),
        _ => Fault::UnknownHost(text.to_owned(), names(&published.rulebook)),
    })?;
    Ok(of_visit(&visit, text, rungs))
}

/// Whom a crawler makes room for at the origin.
fn people_first(visit: &Visit<'_>) -> Option<String> {
    let rules = visit.site.enforcement.people_first.as_ref()?;
    let rank = visit.rank(&rules.order)?;
    let before: Vec<_> = rules.order.iter().take(rank).map(|one| one.as_str()).collect();
    Some(match before.is_empty() {
        true => "makes room for people, before other crawlers".to_owned(),
        false => format!("makes room for people, then for crawlers of {}", before.join(", ")),
    })
}

/// What all carriers say together about a category.
fn use_of(usages: &[Usage<'_>], category: Category) -> Option<&'static str> {
    let said = usages.iter().filter_map(|one| one.statement.get(category)).max()?;
    Some(if said == Preference::Allow { "yes" } else { "no" })
}

fn preference(one: &&UsageRecord) -> String {
    let robots::Record { name, value, line, .. } = &one.record;
    format!("{name}: {} (robots.txt line {line})", escape::shown(value))
}

/// A limit of the operator, with its place in the policy.
fn limit_text(AppliedLimit { number, limit, .. }: &AppliedLimit<'_>) -> String {
    format!("{limit} ({}, rate_limits[{number}])", limit.mode.as_str())
}

/// The explanation of the decision about a visit. `written` is the target as it was asked for.
fn of_visit(visit: &Visit<'_>, written: &str, rungs: Rungs) -> Explanation {
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
    let usages: Vec<Usage<'_>> = group.map_or_else(Vec::new, |group| {
        let usage = |carrier| edition.matcher().usage_as_written(group, carrier, target);
        Carrier::ALL.map(usage).into()
    });
    let owned = |tokens: Vec<&str>| tokens.into_iter().map(str::to_owned).collect();
    let mut explanation = Explanation {
        verdict: VerdictRow {
            target: escape::text(written.as_bytes()),
            path: escape::text(target.judged()),
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
        form: group.and_then(|group| other_form(&edition.matcher().explain(group, target))),
        forms: site.forms_of(visit.request.target),
        rung: decision.rung.map(Rung::as_str),
        crawl_delay: pace.map(|one| one.pace.interval().as_secs_f64()),
        crawl_delay_enforced: pace.map(|one| one.is_enforced),
        rate_limits: visit.limits().iter().map(limit_text).collect(),
        people_first: people_first(visit),
        list: visit.claim.tokens().find_map(|name| name.known()?.list_in_words()),
        train_ai: use_of(&usages, Category::TrainAi),
        search: use_of(&usages, Category::Search),
        preferences: usages.iter().flat_map(|one| one.records.iter()).map(preference).collect(),
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
    explanation.lines = decision_text::lines(&explanation, visit, &decision, pace, rungs);
    explanation
}
