//! A decision as lines of text.

use crate::{
    base::escape,
    formats::robots::{Access, Record},
    records::tally::ReadState,
    rules::{
        crawlers::{CrawlDelay, Crawler},
        enforce::{AppliedPace, Decision, Excuse, Knowledge, Moment, Reason, Site},
    },
    serving::gate::Visit,
};

use super::{
    decision::{Explanation, time},
    question::Rungs,
    verdict::{Line, group_lines},
};

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
    lines.push(Line::new("client", escape::shown(&client)));
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
    let (name, what, line) = (escape::shown(name), escape::shown(&record.name), record.line);
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
