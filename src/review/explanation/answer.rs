//! The question of an operator, what would a request get, and its answer: the decision and its reasons, as data
//! and as lines of text.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use derive_more::Display;
use http::{HeaderMap, HeaderValue, Method, header};

use super::decision::{
    ClaimRow, EditionRow, Excerpt, Explanation, Line, RuleRow, VerdictRow, group_lines, other_form,
    time,
};
use crate::{
    base::escape::{self, shown},
    formats::{
        robots::{Access, Record, Usage, UsageRecord},
        usage::{Carrier, Category, Preference},
    },
    records::tally::ReadState,
    rules::{
        crawlers::{self, CrawlDelay, Crawler, Evidence, Outcome},
        enforce::{
            self, Action, AppliedLimit, AppliedPace, Decision, Excuse, Knowledge, Moment, Reason,
            Rulebook, Rung, Site,
        },
    },
    serving::gate::{self, BadTarget, Gate, Refusal, Visit},
    state::publication::Snapshot,
};

/// A request as an operator writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'q> {
    /// A URL or a path. A path without [`Self::site`] belongs to the only site.
    pub(crate) target: &'q str,
    pub(crate) user_agent: &'q str,
    /// The client's address. Without it, the claim is not examined.
    pub(crate) address: Option<IpAddr>,
    /// The standing that the client is supposed to have, whatever its address.
    pub(crate) standing: Option<Outcome>,
    /// The name of the site that a path belongs to. A URL names its host.
    pub(crate) site: Option<&'q str>,
}

/// The source of rungs of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rungs {
    /// None: every crawler begins on the lowest.
    AtStart,
    /// The running program, which knows them.
    Running,
}

/// The reason why a question has no answer; its text names the repair.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Occurs when the User-Agent has octets that no field has.
    #[display("the User-Agent has control characters (no request can carry them)")]
    UserAgent,
    /// Occurs when the proxy refuses the target.
    #[display("'{}' gets 400 from the proxy: {_1}", shown(_0))]
    Target(String, BadTarget),
    /// Occurs when the URL has no valid host.
    #[display(
        "'{}' gets 400 from the proxy: its host is not valid (write for example \
         https://www.example.com/)",
        shown(_0)
    )]
    Host(String),
    /// Occurs when the target belongs to none of these sites.
    #[display("'{}' belongs to no site of the policy (it has {})", shown(_0), _1.join(", "))]
    UnknownHost(String, Vec<String>),
    /// Occurs when none of these sites has the name.
    #[display("the policy has no site '{}' (it has {})", shown(_0), _1.join(", "))]
    UnknownSite(String, Vec<String>),
}

/// The host of the target: that of a URL, else that of the site.
pub(super) fn host<'b>(
    rulebook: &'b Rulebook,
    question: &Question<'b>,
) -> Result<Option<Cow<'b, str>>, Fault> {
    let text = question.target;
    if let Some((_, rest)) = text.split_once("://").filter(|_| !text.starts_with('/')) {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        return Ok(Some(host.into()));
    }
    let number = match (question.site, rulebook.sites()) {
        (Some(name), sites) => {
            let unknown = || Fault::UnknownSite(name.to_owned(), names(rulebook));
            let found = sites.iter().position(|site| site.name.eq_ignore_ascii_case(name));
            found.ok_or_else(unknown)?
        }
        (None, [_]) => 0,
        (None, _) => return Ok(None),
    };
    Ok(host_of(rulebook, number))
}

/// A host of a site; `None` is a host of the default site.
fn host_of(rulebook: &Rulebook, number: usize) -> Option<Cow<'_, str>> {
    let name = &rulebook.sites().get(number)?.name;
    let is_own = |host: &str| rulebook.site_of_host(host).is_some_and(|(site, _)| site == number);
    // A site that begins with a wildcard has the name without the star. Every host below is its own.
    let below = format!("any.{name}");
    match is_own(name) {
        true if name.parse::<Ipv6Addr>().is_ok() => Some(format!("[{name}]").into()),
        true => Some(name.as_str().into()),
        false => is_own(&below).then(|| below.into()),
    }
}

pub(super) fn names(rulebook: &Rulebook) -> Vec<String> {
    rulebook.sites().iter().map(|site| site.name.clone()).collect()
}

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
    let preference = |one: &UsageRecord| {
        let Record { name, value, line, .. } = &one.record;
        format!("{name}: {} (robots.txt line {line})", shown(value))
    };
    let limit = |one: &AppliedLimit<'_>| {
        format!("{} ({}, rate_limits[{}])", one.limit, one.limit.mode.as_str(), one.number)
    };
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
        rate_limits: visit.limits().iter().map(limit).collect(),
        people_first: people_first(visit),
        list: visit.claim.tokens().find_map(|name| name.known()?.list_in_words()),
        train_ai: use_of(&usages, Category::TrainAi),
        search: use_of(&usages, Category::Search),
        preferences: usages
            .iter()
            .flat_map(|one| one.records.iter().copied())
            .map(preference)
            .collect(),
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
    explanation.lines = lines(&explanation, visit, &decision, pace, rungs);
    explanation
}

pub(super) fn lines(
    row: &Explanation,
    visit: &Visit<'_>,
    decision: &Decision<'_>,
    pace: Option<AppliedPace<'_>>,
    rungs: Rungs,
) -> Vec<Line> {
    let (site, matcher) = (visit.site, visit.site.edition().matcher());
    let mut lines = vec![Line::new("site", &*row.site)];
    let tokens = row.claim.product_tokens.join(", ");
    let client = if tokens.is_empty() {
        row.claim.class.to_string()
    } else {
        format!("{tokens} ({})", row.claim.class)
    };
    lines.push(Line::new("client", shown(&client)));
    lines.extend(row.list.iter().map(|list| Line::new("from", &**list)));
    if !row.claim.product_tokens.is_empty() {
        let by = row.evidence.map(|evidence| format!(" (by {evidence})")).unwrap_or_default();
        lines.push(Line::new("standing", format!("{}{by}", row.standing)));
    }
    lines.push(Line::new("verdict", row.verdict.verdict));
    match decision.judgement.and_then(|judgement| judgement.group) {
        Some(group) => lines.extend(group_lines(matcher, group, &visit.target, Some(site))),
        None => lines.push(Line::new("group", "none binds this client")),
    }
    lines.extend(row.forms.as_deref().map(|forms| Line::new("forms", forms)));
    lines.push(Line::new("action", format!("{} ({})", row.action, row.reason)));
    if let Some(rung) = row.rung {
        let text = match rungs {
            Rungs::Running => format!("on the rung {rung} now"),
            Rungs::AtStart => format!(
                "as on the rung {rung}, where every crawler begins; where it is now: \
                 beadle_ladder_rung"
            ),
        };
        lines.push(Line::new("ladder", text));
    }
    lines.extend(pace_line(site, decision, pace, visit.moment()));
    lines.extend(row.rate_limits.iter().map(|limit| Line::new("limit", &**limit)));
    lines.extend(row.people_first.iter().map(|text| Line::new("people", &**text)));
    lines.extend(row.preferences.iter().map(|text| Line::new("use", &**text)));
    if decision.access == Access::Disallow {
        editions(&mut lines, row, decision);
    }
    if let Some(tag) = &row.robots_tag {
        lines.push(Line::new("tags", format!("Robots-Tag: {tag}")));
    }
    if let Some(tag) = &row.x_robots_tag {
        lines.push(Line::new("", format!("X-Robots-Tag: {tag}")));
    }
    lines
}

/// The pace that the client must keep, or the one that it has not promised to keep.
fn pace_line(
    site: &Site,
    decision: &Decision<'_>,
    pace: Option<AppliedPace<'_>>,
    moment: Moment,
) -> Option<Line> {
    if let Some(pace) = pace {
        let file = match pace.edition == site.edition().id() {
            true => "robots.txt".to_owned(),
            false => pace.edition.to_string(),
        };
        let source = pace.record.map(|one| format!(" ({file} line {})", one.line));
        let sooner = if pace.is_enforced { "gets 429" } else { "is counted" };
        let source = source.unwrap_or_default();
        let text = format!("{}{source}; what comes sooner {sooner}", pace.pace);
        return Some(Line::new("pace", text));
    }
    let (name, record) = unpromised(site, decision, moment)?;
    let (name, what, line) = (shown(name), shown(&record.name), record.line);
    let text = format!("none: {name} has not said that it keeps to {what} (line {line})");
    Some(Line::new("pace", text))
}

/// The record of a pace that the crawler has not promised to keep.
fn unpromised<'r>(
    site: &'r Site,
    decision: &Decision<'r>,
    moment: Moment,
) -> Option<(&'r str, &'r Record)> {
    let judgement = decision.judgement?;
    let name = judgement.name?;
    let promises = |known: &Crawler| known.entry.honours.crawl_delay == Some(CrawlDelay::Yes);
    let minute = moment.now.as_second().rem_euclid(86_400) / 60;
    let pace = site.edition().matcher().pace(judgement.group?, u16::try_from(minute).ok()?)?;
    (!name.known().is_some_and(promises)).then_some((name.as_str(), &pace.record))
}

/// The last fetch of the client, the editions that count for it, and its excuse.
fn editions(lines: &mut Vec<Line>, row: &Explanation, decision: &Decision<'_>) {
    let read = &row.robots_read;
    let edition = read.edition.as_deref().unwrap_or_default();
    let at = read.at.map(time).unwrap_or_default();
    let text = match read.state {
        ReadState::Never => "has not been seen to fetch robots.txt".to_owned(),
        ReadState::Older => format!("last fetched an older edition, {edition}, at {at}"),
        ReadState::Current => format!("last fetched the edition in force, {edition}, at {at}"),
    };
    lines.push(Line::new("read", text));
    for (number, one) in row.editions.iter().enumerate() {
        let period = match &one.until {
            None if one.is_elsewhere => format!("in force at another node since {}", one.from),
            None => format!("in force since {}", one.from),
            Some(until) => format!("in force from {} to {until}", one.from),
        };
        let note = if one.is_known { "" } else { ", which it has not read" };
        let others = one.count.map(|count| format!(" and {} older ones", count - 1));
        let others = others.unwrap_or_default();
        let text = format!("{}{others} {period}: {}{note}", one.edition, one.verdict);
        lines.push(Line::new(if number == 0 { "editions" } else { "" }, text));
    }
    let Some(excuse) = decision.excuse else { return };
    let mut text = match excuse {
        Excuse::By(past) if past.is_in_force() => {
            format!("another node has {} in force, which allows this", past.id())
        }
        Excuse::By(past) => {
            format!("it may still follow {}, which allows this", past.id())
        }
        Excuse::Forgotten => "it may still follow an edition that is not kept any more".to_owned(),
        Excuse::Unheard => "another node may allow this: this one hears nothing of it".to_owned(),
    };
    if decision.reason != Reason::Grace {
        text.push_str("; 'grace: enforce' applies the edition in force all the same");
    }
    lines.push(Line::new("grace", text));
}
