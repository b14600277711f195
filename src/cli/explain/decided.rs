//! What a policy does with a request, and what was considered.

use std::{io::Write, path::Path};

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    cli::{
        config::load,
        exit::{Error, Exit},
        memory,
        output::{Format, json},
    },
    crawlers::{self, Class, CrawlDelay, Crawler, Evidence},
    enforce::{self, Action, Asked, Decision, Excuse, Measured, Reason, Rulebook, Site},
    escape,
    proxy::Records,
    robots::{Access, Record, Target},
    violations::{ReadState, RobotsRead},
};

use super::{Args, Judged, RuleRow, group_lines, line, shown};

#[derive(Serialize)]
struct Decided<'a> {
    #[serde(flatten)]
    judged: Judged<'a>,
    site: &'a str,
    claim: ClaimRow<'a>,
    standing: &'static str,
    evidence: Option<&'static str>,
    action: &'static str,
    reason: &'static str,
    /// Where it is taken to stand on the site's ladder.
    rung: Option<&'static str>,
    /// Seconds for one request.
    crawl_delay: Option<f64>,
    /// Whether a request that comes sooner is answered with 429; else it is counted.
    crawl_delay_enforced: Option<bool>,
    robots_tag: Option<String>,
    x_robots_tag: Option<String>,
    robots_read: RobotsRead,
    editions: Vec<EditionRow>,
}

/// An edition that was considered.
#[derive(Serialize)]
struct EditionRow {
    edition: String,
    from: String,
    until: Option<String>,
    verdict: &'static str,
    /// Whether the client may be going by it.
    held: bool,
}

#[derive(Serialize)]
struct ClaimRow<'a> {
    class: Class,
    product_tokens: Vec<&'a str>,
}

pub(super) fn by_policy(
    args: &Args,
    file: &Path,
    user_agent: &str,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let (policy, _) = load(file)?;
    let memory = memory::read(&policy)?;
    let rulebook = memory::rulebook(&policy, &memory);
    let records = Records::new(&policy, memory, args.client_ip, Timestamp::now());
    for text in &args.targets {
        let site = site_of(&rulebook, text)?;
        let target = Target::of_url(text.as_bytes());
        let claim = rulebook.catalogue().identify(user_agent.as_bytes(), &site.names);
        let is_nameless = enforce::is_blank(user_agent.as_bytes());
        let asked = Asked { claim: &claim, is_nameless, target: &target };
        let knowledge = records.of(site);
        let decision = enforce::decide(site, asked, &knowledge);
        let name =
            decision.judgement.and_then(|judgement| judgement.name).or_else(|| claim.primary());
        let read = knowledge.read(&decision, name);
        let status = match decision.action {
            Action::Block => site.enforcement.block.status,
            Action::Throttle => 429,
            Action::Pass | Action::Log => 200,
        };
        let measured = enforce::measured(site, &decision, &knowledge);
        let tags = site.tags.select(target.letter(), status, None);
        let row = Decided {
            judged: judged(text, &target, site, &decision, &claim),
            site: &site.name,
            claim: ClaimRow {
                class: claim.class(),
                product_tokens: claim.tokens().map(crawlers::Name::as_str).collect(),
            },
            standing: decision.standing.outcome.as_str(),
            evidence: decision.standing.evidence.map(Evidence::as_str),
            action: decision.action.as_str(),
            reason: decision.reason.as_str(),
            rung: decision.rung.map(enforce::Rung::as_str),
            crawl_delay: measured.map(|one| one.held.pace.interval().as_secs_f64()),
            crawl_delay_enforced: measured.map(|one| one.held.is_enforced),
            robots_tag: tags.as_ref().and_then(|tags| tags.robots_tag.clone()),
            x_robots_tag: tags
                .as_ref()
                .and_then(|tags| tags.x_robots_tag.as_ref())
                .filter(|lines| !lines.is_empty())
                .map(|lines| lines.join(", ")),
            robots_read: read,
            editions: enforce::considered(site, &decision, &target, &knowledge)
                .into_iter()
                .map(EditionRow::from)
                .collect(),
        };
        match args.format {
            Format::Json => json(out, &row)?,
            Format::Text => print(out, &row, site, (&decision, measured), &target)?,
        }
    }
    Ok(Exit::Fine)
}

impl From<enforce::Considered> for EditionRow {
    fn from(one: enforce::Considered) -> Self {
        Self {
            edition: one.edition.to_string(),
            from: time(one.from),
            until: one.until.map(time),
            verdict: one.access.as_str(),
            held: one.held,
        }
    }
}

fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}

/// The site of a URL's host; of a bare path, the default site or the only one.
fn site_of<'b>(rulebook: &'b Rulebook, text: &str) -> Result<&'b Site, Error> {
    let host = text.split_once("://").map(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let end = match host.strip_prefix('[') {
            Some(rest) => return rest.split(']').next().unwrap_or_default().to_owned(),
            None => host.find(':').unwrap_or(host.len()),
        };
        host[..end].trim_end_matches('.').to_ascii_lowercase()
    });
    let found = match (&host, rulebook.sites()) {
        (None, [only]) => Some(only),
        _ => rulebook.site(host.as_deref()).map(|(_, site)| site),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = rulebook.sites().iter().map(|site| site.name.as_str()).collect();
        let text = shown(text);
        Error::Refused(format!(
            "'{text}' is on no site of the policy (it has {})",
            names.join(", ")
        ))
    })
}

fn judged<'a>(
    text: &str,
    target: &Target<'_>,
    site: &'a Site,
    decision: &Decision<'a>,
    claim: &crawlers::Claim<'a>,
) -> Judged<'a> {
    let judgement = decision.judgement;
    let name = judgement.and_then(|judgement| judgement.name).or_else(|| claim.primary());
    Judged {
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

fn print(
    out: &mut dyn Write,
    row: &Decided<'_>,
    site: &Site,
    (decision, measured): (&Decision<'_>, Option<Measured<'_>>),
    target: &Target<'_>,
) -> Result<(), Error> {
    writeln!(out, "{}", row.judged.target)?;
    line(out, "site", row.site)?;
    let tokens = row.claim.product_tokens.join(", ");
    let who = if tokens.is_empty() {
        row.claim.class.to_string()
    } else {
        format!("{tokens} ({})", row.claim.class)
    };
    line(out, "client", &shown(&who))?;
    if !row.claim.product_tokens.is_empty() {
        let by = row.evidence.map(|evidence| format!(" (by {evidence})")).unwrap_or_default();
        line(out, "standing", &format!("{}{by}", row.standing))?;
    }
    line(out, "verdict", row.judged.verdict)?;
    match decision.judgement.and_then(|judgement| judgement.group) {
        Some(group) => group_lines(out, site.edition().matcher(), group, target, Some(site))?,
        None => line(out, "group", "none binds this client")?,
    }
    line(out, "action", &format!("{} ({})", row.action, row.reason))?;
    if let Some(rung) = row.rung {
        // Where it really stands only the running proxy knows.
        let now = "where it is now: beadle_ladder_rung";
        let text = format!("as on the rung {rung}, where every crawler begins; {now}");
        line(out, "ladder", &text)?;
    }
    if let Some(Measured { held, edition }) = measured {
        let file = match edition == site.edition().id() {
            true => "robots.txt".to_owned(),
            false => edition.to_string(),
        };
        let place = held.record.map(|one| format!(" ({file} line {})", one.line));
        let sooner = if held.is_enforced { "gets 429" } else { "is counted" };
        let pace = format!("{}{}", held.pace, place.unwrap_or_default());
        line(out, "pace", &format!("{pace}; what comes sooner {sooner}"))?;
    } else if let Some((name, record)) = unpromised(site, decision) {
        let (name, record, line_number) = (shown(name), shown(&record.name), record.line);
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

/// A record of the client's group that asks for a pace which it has not promised to keep.
fn unpromised<'r>(site: &'r Site, decision: &Decision<'r>) -> Option<(&'r str, &'r Record)> {
    let judgement = decision.judgement?;
    let name = judgement.name?;
    let promises = |known: &Crawler| known.honours().crawl_delay == Some(CrawlDelay::Yes);
    let minute = Timestamp::now().as_second().rem_euclid(86_400) / 60;
    let pace = site.edition().matcher().pace(judgement.group?, u16::try_from(minute).ok()?)?;
    (!name.known().is_some_and(promises)).then_some((name.as_str(), &pace.record))
}

/// What the client had read, which editions count for it, and why it is excused.
fn editions(out: &mut dyn Write, row: &Decided<'_>, decision: &Decision<'_>) -> Result<(), Error> {
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
        let held = if one.held { "" } else { ", which it does not go by" };
        let text = format!("{} {period}: {}{held}", one.edition, one.verdict);
        line(out, if number == 0 { "editions" } else { "" }, &text)?;
    }
    let Some(excuse) = decision.excuse else { return Ok(()) };
    let mut text = match excuse {
        Excuse::By(past) => {
            format!("it may be going by {}, which allows this", past.edition.id())
        }
        Excuse::Forgotten => "it may be going by an edition that is not kept any more".to_owned(),
    };
    if decision.reason != Reason::Grace {
        text.push_str("; 'grace: enforce' holds it to the edition in force all the same");
    }
    line(out, "grace", &text)
}
