//! The decision of a policy about a request (`--config`), with the editions that count.

use std::{
    borrow::Cow,
    io::Write,
    net::{IpAddr, Ipv4Addr},
};

use http::{HeaderMap, HeaderValue, Method, header};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    cli::{
        config::load_with_database,
        exit::{Error, Exit},
        memory,
        output::{Format, json},
    },
    crawlers::{self, Class, CrawlDelay, Crawler, Evidence},
    enforce::{self, Action, AppliedPace, Decision, Excuse, Moment, Reason, Rulebook, Site},
    escape,
    gate::{self, Gate, Refusal},
    proxy,
    publication::Handles,
    robots::{Access, Record, Target},
    violations::{ReadState, RobotsRead},
};

use super::{
    args::Args,
    output::{RuleRow, VerdictRow, evasion_form, group_lines, line},
};

/// The decision about one request, as a JSON object.
#[derive(Serialize)]
struct DecisionRow<'a> {
    #[serde(flatten)]
    verdict: VerdictRow<'a>,
    site: &'a str,
    claim: ClaimRow<'a>,
    standing: &'static str,
    evidence: Option<&'static str>,
    action: &'static str,
    reason: &'static str,
    /// The form of the path that is disallowed, if it is not the letter.
    form: Option<String>,
    /// The rung that the decision assumes.
    rung: Option<&'static str>,
    /// Seconds for one request.
    crawl_delay: Option<f64>,
    /// Whether an earlier request gets 429; else Beadle only counts it.
    crawl_delay_enforced: Option<bool>,
    robots_tag: Option<String>,
    x_robots_tag: Option<String>,
    robots_read: RobotsRead,
    editions: Vec<EditionRow>,
}

/// An edition that counts for the decision.
#[derive(Serialize)]
struct EditionRow {
    edition: String,
    from: String,
    until: Option<String>,
    verdict: &'static str,
    /// Whether the client may still use it.
    #[serde(rename = "held")]
    is_known: bool,
    /// The number of editions that are judged as one, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

#[derive(Serialize)]
struct ClaimRow<'a> {
    class: Class,
    product_tokens: Vec<&'a str>,
}

/// A decision about one request, with everything that the text shows.
struct Explanation<'a, 'v> {
    row: DecisionRow<'a>,
    site: &'a Site,
    decision: Decision<'v>,
    pace: Option<AppliedPace<'v>>,
    target: &'v Target<'v>,
}

pub(super) fn explain(args: &Args, user_agent: &str, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config.config)?;
    let now = Timestamp::now();
    let memory = memory::read(&policy)?;
    let handles = Handles::at_rest(&policy, &memory, args.client_ip.is_some(), now);
    let handles = handles.map_err(|error| Error::Refused(error.to_string()))?;
    let gate = Gate::new(&handles, &policy);
    let published = gate.published();
    let fields = fields(user_agent)?;
    for text in &args.targets {
        let received = proxy::received_target(text.as_bytes()).map_err(|fault| {
            let text = escape::shown(text);
            Error::Refused(format!("'{text}' gets 400 from the proxy: {fault}"))
        })?;
        let host = host(&published.rulebook, text);
        let request = gate::Request {
            method: &Method::GET,
            target: &received,
            authority: host.as_deref().map(str::as_bytes),
            is_http_1_0: true,
            fields: &fields,
            peer: args.client_ip.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            is_tls: true,
        };
        let visit = gate.visit(&published, &request, Moment::at(now));
        let visit = visit.map_err(|refusal| no_site(&published.rulebook, text, refusal))?;
        let (site, claim, target) = (visit.site, &visit.claim, &visit.target);
        let decision = visit.decide();
        let name =
            decision.judgement.and_then(|judgement| judgement.name).or_else(|| claim.primary());
        let readings = name.map(|name| visit.readings(name, decision.standing.outcome));
        let read = gate::robots_read(site, readings.and_then(|readings| readings.last()));
        let status = match decision.action {
            Action::Block => site.enforcement.block.status,
            Action::Throttle => 429,
            Action::Pass | Action::Log => 200,
        };
        let pace = enforce::applied_pace(site, &decision, &visit);
        let tags = site.tags.select(target.letter(), status, None);
        let row = DecisionRow {
            verdict: verdict_row(text, target, site, &decision, claim),
            site: &site.name,
            claim: ClaimRow {
                class: claim.class(),
                product_tokens: claim.tokens().map(crawlers::Name::as_str).collect(),
            },
            standing: decision.standing.outcome.as_str(),
            evidence: decision.standing.evidence.map(Evidence::as_str),
            action: decision.action.as_str(),
            reason: decision.reason.as_str(),
            form: decision
                .judgement
                .and_then(|judgement| judgement.group)
                .and_then(|group| evasion_form(&site.edition().matcher().explain(group, target))),
            rung: decision.rung.map(enforce::Rung::as_str),
            crawl_delay: pace.map(|one| one.pace.interval().as_secs_f64()),
            crawl_delay_enforced: pace.map(|one| one.is_enforced),
            robots_tag: tags.as_ref().and_then(|tags| tags.robots_tag.clone()),
            x_robots_tag: tags
                .as_ref()
                .and_then(|tags| tags.x_robots_tag.as_ref())
                .filter(|lines| !lines.is_empty())
                .map(|lines| lines.join(", ")),
            robots_read: read,
            editions: enforce::edition_verdicts(site, &decision, target, &visit)
                .into_iter()
                .map(EditionRow::from)
                .collect(),
        };
        match args.format {
            Format::Json => json(out, &row)?,
            Format::Text => {
                let explanation = Explanation { row, site, decision, pace, target };
                explanation.print(out)?;
            }
        }
    }
    Ok(Exit::Fine)
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

fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}

/// The host of a URL. A bare path belongs to the only site.
fn host<'b>(rulebook: &'b Rulebook, text: &str) -> Option<Cow<'b, str>> {
    let url = text.split_once("://").filter(|_| !text.starts_with('/'));
    let Some((_, rest)) = url else {
        return match rulebook.sites() {
            // Every host below a wildcard belongs to the site.
            [only] if only.name.starts_with('.') => Some(format!("any{}", only.name).into()),
            [only] => Some(only.name.as_str().into()),
            _ => None,
        };
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(host.to_owned().into())
}

fn no_site(rulebook: &Rulebook, text: &str, refusal: Refusal) -> Error {
    let text = escape::shown(text);
    if refusal == Refusal::BadHost {
        let why = "its host is not valid (write for example https://www.example.com/)";
        return Error::Refused(format!("'{text}' gets 400 from the proxy: {why}"));
    }
    let names: Vec<&str> = rulebook.sites().iter().map(|site| site.name.as_str()).collect();
    let names = names.join(", ");
    Error::Refused(format!("'{text}' belongs to no site of the policy (it has {names})"))
}

/// The fields of a request with this User-Agent.
fn fields(user_agent: &str) -> Result<HeaderMap, Error> {
    let value = HeaderValue::from_bytes(user_agent.as_bytes()).map_err(|_| {
        Error::Refused(
            "the User-Agent has control characters (no request can carry them)".to_owned(),
        )
    })?;
    Ok(HeaderMap::from_iter([(header::USER_AGENT, value)]))
}

/// The verdict of a decision.
fn verdict_row<'a>(
    text: &str,
    target: &Target<'_>,
    site: &'a Site,
    decision: &Decision<'a>,
    claim: &crawlers::Claim<'a>,
) -> VerdictRow<'a> {
    let judgement = decision.judgement;
    let name = judgement.and_then(|judgement| judgement.name).or_else(|| claim.primary());
    VerdictRow {
        target: escape::text(text.as_bytes()),
        path: escape::text(target.letter()),
        product_token: name.map(crawlers::Name::as_str),
        verdict: decision.access.as_str(),
        group: judgement
            .and_then(|judgement| judgement.group)
            .map(|group| site.edition().matcher().tokens(group)),
        rule: judgement.and_then(|judgement| judgement.rule).map(RuleRow::of),
    }
}

impl Explanation<'_, '_> {
    fn print(&self, out: &mut dyn Write) -> Result<(), Error> {
        let Self { row, site, decision, pace, target } = self;
        writeln!(out, "{}", row.verdict.target)?;
        line(out, "site", row.site)?;
        let tokens = row.claim.product_tokens.join(", ");
        let client = if tokens.is_empty() {
            row.claim.class.to_string()
        } else {
            format!("{tokens} ({})", row.claim.class)
        };
        line(out, "client", &escape::shown(&client))?;
        if !row.claim.product_tokens.is_empty() {
            let by = row.evidence.map(|evidence| format!(" (by {evidence})")).unwrap_or_default();
            line(out, "standing", &format!("{}{by}", row.standing))?;
        }
        line(out, "verdict", row.verdict.verdict)?;
        match decision.judgement.and_then(|judgement| judgement.group) {
            Some(group) => group_lines(out, site.edition().matcher(), group, target, Some(site))?,
            None => line(out, "group", "none binds this client")?,
        }
        line(out, "action", &format!("{} ({})", row.action, row.reason))?;
        if let Some(rung) = row.rung {
            // Only the running proxy knows the crawler's real rung.
            let now = "where it is now: beadle_ladder_rung";
            let text = format!("as on the rung {rung}, where every crawler begins; {now}");
            line(out, "ladder", &text)?;
        }
        if let Some(pace) = pace {
            let file = match pace.edition == site.edition().id() {
                true => "robots.txt".to_owned(),
                false => pace.edition.to_string(),
            };
            let source = pace.record.map(|one| format!(" ({file} line {})", one.line));
            let sooner = if pace.is_enforced { "gets 429" } else { "is counted" };
            let source = source.unwrap_or_default();
            line(out, "pace", &format!("{}{source}; what comes sooner {sooner}", pace.pace))?;
        } else if let Some((name, record)) = unpromised(site, decision) {
            let (name, record, line_number) =
                (escape::shown(name), escape::shown(&record.name), record.line);
            let text =
                format!("none: {name} has not said that it keeps to {record} (line {line_number})");
            line(out, "pace", &text)?;
        }
        if decision.access == Access::Disallow {
            editions(out, row, decision)?;
        }
        if let Some(tag) = &row.robots_tag {
            line(out, "tags", &format!("Robots-Tag: {tag}"))?;
        }
        if let Some(tag) = &row.x_robots_tag {
            line(out, "", &format!("X-Robots-Tag: {tag}"))?;
        }
        Ok(())
    }
}

/// The record of a pace that the crawler has not promised to keep.
fn unpromised<'r>(site: &'r Site, decision: &Decision<'r>) -> Option<(&'r str, &'r Record)> {
    let judgement = decision.judgement?;
    let name = judgement.name?;
    let promises = |known: &Crawler| known.honours().crawl_delay == Some(CrawlDelay::Yes);
    let minute = Timestamp::now().as_second().rem_euclid(86_400) / 60;
    let pace = site.edition().matcher().pace(judgement.group?, u16::try_from(minute).ok()?)?;
    (!name.known().is_some_and(promises)).then_some((name.as_str(), &pace.record))
}

/// The last fetch of the client, the editions that count for it, and its excuse.
fn editions(
    out: &mut dyn Write,
    row: &DecisionRow<'_>,
    decision: &Decision<'_>,
) -> Result<(), Error> {
    let read = &row.robots_read;
    let edition = read.edition.as_deref().unwrap_or_default();
    let at = read.at.map(time).unwrap_or_default();
    let text = match read.state {
        ReadState::Never => "has not been seen to fetch robots.txt".to_owned(),
        ReadState::Older => format!("last fetched an older edition, {edition}, at {at}"),
        ReadState::Current => format!("last fetched the edition in force, {edition}, at {at}"),
    };
    line(out, "read", &text)?;
    for (number, one) in row.editions.iter().enumerate() {
        let period = match &one.until {
            None => format!("in force since {}", one.from),
            Some(until) => format!("in force from {} to {until}", one.from),
        };
        let note = if one.is_known { "" } else { ", which it does not go by" };
        let others = one.count.map(|count| format!(" and {} older ones", count - 1));
        let others = others.unwrap_or_default();
        let text = format!("{}{others} {period}: {}{note}", one.edition, one.verdict);
        line(out, if number == 0 { "editions" } else { "" }, &text)?;
    }
    let Some(excuse) = decision.excuse else { return Ok(()) };
    let mut text = match excuse {
        Excuse::By(past) => {
            format!("it may be going by {}, which allows this", past.id())
        }
        Excuse::Forgotten => "it may be going by an edition that is not kept any more".to_owned(),
    };
    if decision.reason != Reason::Grace {
        text.push_str("; 'grace: enforce' applies the edition in force all the same");
    }
    line(out, "grace", &text)
}
