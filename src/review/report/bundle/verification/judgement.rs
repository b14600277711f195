//! The files of a bundle, ready to judge by, and one record, judged again.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::integrity::{Files, Finding, Status};
use crate::{
    base::text::Text,
    formats::robots::{Access, Form, Matcher, Scope, Target, Verdict},
    records::{
        record::{Fetch, REDACTED, RobotsRead, Violation, time},
        tally::{Claimant, ReadState},
    },
    review::report::bundle::{
        file::RECORDS,
        history::{Row, network},
        manifest::{Manifest, Settings, start},
    },
    rules::enforce::{Edition, Reason, allows, first_group},
};

pub(super) struct Bench<'a> {
    pub(super) manifest: &'a Manifest,
    /// The times in force by site, in lower case.
    rows: BTreeMap<String, Vec<&'a Row>>,
    /// The editions by file; each is compiled when it is first needed.
    editions: BTreeMap<&'a str, Edition>,
    fetches: &'a [Fetch],
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        manifest: &'a Manifest,
        rows: &'a [Row],
        fetches: &'a [Fetch],
        files: &Files,
    ) -> Self {
        let mut by_site: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        let mut editions = BTreeMap::new();
        for row in rows {
            by_site.entry(row.site.to_ascii_lowercase()).or_default().push(row);
            if let Some(bytes) = files.get(&row.file) {
                let edition = || Edition::of_bytes(bytes.clone().into());
                editions.entry(row.file.as_str()).or_insert_with(edition);
            }
        }
        Self { manifest, rows: by_site, editions, fetches }
    }

    /// The times in force of editions that count for a site.
    pub(super) fn rows(&self, site: &str) -> impl Iterator<Item = &'a Row> {
        let rows = self.rows.get(&site.to_ascii_lowercase()).map(Vec::as_slice);
        rows.unwrap_or_default().iter().copied()
    }

    pub(super) fn edition_of(&self, row: &Row) -> Option<&Edition> {
        self.editions.get(row.file.as_str())
    }

    pub(super) fn edition(&self, site: &str, id: &str) -> Option<&Edition> {
        self.rows(site).find(|row| row.edition == id).and_then(|row| self.edition_of(row))
    }

    /// The crawler's fetches of a site's robots.txt.
    pub(super) fn fetches(&self, site: &str) -> impl Iterator<Item = &'a Fetch> {
        let is_name =
            |row: &Fetch| self.names().any(|name| name.eq_ignore_ascii_case(&row.product_token));
        let is_site = move |row: &Fetch| row.site.eq_ignore_ascii_case(site);
        self.fetches.iter().filter(move |row| is_site(row) && is_name(row))
    }

    /// The names of groups that the crawler looks for.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.manifest.group_names.iter().map(String::as_str)
    }

    pub(super) fn group(&self, matcher: &Matcher, settings: &Settings) -> Option<Scope> {
        first_group(matcher, self.names(), || settings.is_bound_by_star)
    }
}

/// How long a replaced edition may still judge requests: a change takes a moment to come into force.
const LEEWAY: SignedDuration = SignedDuration::from_secs(60);

/// The reasons of records that the rules alone explain: every edition that the crawler could use
/// disallows the request.
const BY_RULES: [Reason; 3] = [Reason::Disallow, Reason::Hidden, Reason::Spared];
/// The reason of earlier versions for another form of a closed path, which they took for a violation.
const OLD_FORM: &str = "robots.disallow.evasion";
/// The reasons of records that also rest on something else.
const BY_OTHERS: [Reason; 4] =
    [Reason::Impostor, Reason::TooSoon, Reason::Slowed, Reason::BreakerOpen];

/// A record with what its site is judged by.
struct Case<'a> {
    bench: &'a Bench<'a>,
    record: &'a Violation,
    settings: &'a Settings,
    target: Target<'a>,
    /// The recorded edition's time in force.
    period: Option<&'a Row>,
}

/// What differs in a record, or can't be made again from the bundle; nothing if all agrees.
pub(super) fn judge(bench: &Bench<'_>, record: &Violation) -> Vec<Finding> {
    let mut found = Vec::new();
    let last = check(bench, record, &mut found);
    found.extend(last);
    found
}

/// The last finding, which ends the checks.
fn check(bench: &Bench<'_>, record: &Violation, found: &mut Vec<Finding>) -> Option<Finding> {
    check_frame(bench, record, found);
    let Some(settings) = bench.manifest.settings(&record.site) else {
        let what = "the policy no longer had the site: its settings are unknown";
        return Some(not_recomputed(what));
    };
    let Some(edition) = bench.edition(&record.site, &record.robots.edition) else {
        let what = format!("edition {} is not in the bundle", record.robots.edition);
        return Some(not_recomputed(what));
    };
    if matches!(record.robots.directive.as_str(), "crawl-delay" | "request-rate") {
        check_pace(edition, record, found);
        return Some(not_recomputed(TOO_SOON));
    }
    check_reading(bench, edition, record, found);
    let period = period(bench, record, found);
    if record.robots.group.is_empty() && record.reason == Reason::Impostor.as_str() {
        return Some(not_recomputed(FALSE_NAME));
    }
    let octets = record.path.path_octets().filter(|_| !record.path.contains(REDACTED));
    let Some(octets) = octets else {
        return Some(not_recomputed("a part of the path or query was not recorded"));
    };
    let target = Target::read_by(&octets, settings.reading());
    let case = Case { bench, record, settings, target, period };
    case.check_verdict(edition, found)
}

const TOO_SOON: &str = "whether it came too soon rests on the times of other requests";
const FALSE_NAME: &str = "that the name is false rests on evidence at that time";

fn not_recomputed(what: impl Into<String>) -> Finding {
    Finding::new(Status::NotRecomputed, RECORDS, what)
}

fn differs(what: &str, recorded: impl Into<String>, recomputed: impl Into<String>) -> Finding {
    Finding::new(Status::Differs, RECORDS, what).comparing(recorded, recomputed)
}

fn check_frame(bench: &Bench<'_>, record: &Violation, found: &mut Vec<Finding>) {
    let manifest = bench.manifest;
    if !record.product_token.eq_ignore_ascii_case(&manifest.product_token) {
        let (recorded, expected) = (record.product_token.as_str(), &*manifest.product_token);
        found.push(differs("product_token", recorded, expected));
    }
    if let Some(site) = manifest.site.as_deref()
        && !record.site.eq_ignore_ascii_case(site)
    {
        found.push(differs("site", record.site.as_str(), site));
    }
    if record.time < manifest.since || record.time >= manifest.until {
        let span = format!("{} to {}", time::text(manifest.since), time::text(manifest.until));
        found.push(differs("time", time::text(record.time), span));
    }
}

/// Whether the word for what the crawler had read fits. Earlier versions called an edition with the
/// same rules an older one.
fn check_reading(
    bench: &Bench<'_>,
    edition: &Edition,
    record: &Violation,
    found: &mut Vec<Finding>,
) {
    let read = &record.robots_read;
    let has_rules =
        |id| bench.edition(&record.site, id).is_some_and(|had| had.is_equivalent(edition));
    let state = match &read.edition {
        None => ReadState::Never,
        Some(id) if *id == record.robots.edition => ReadState::Current,
        Some(id) if read.state == ReadState::Current && has_rules(id) => ReadState::Current,
        Some(_) => ReadState::Older,
    };
    if read.state != state {
        found.push(differs("robots_read.state", read.state.as_str(), state.as_str()));
    }
    // Earlier versions took any client's fetch under the name for the impostor's.
    let network = network(&record.client_ip);
    let is_own = |row: &Fetch| *row.network == *network && is_of(row, read);
    if Claimant::of(&record.standing) == Claimant::Impostor
        && read.edition.is_some()
        && !bench.fetches(&record.site).any(is_own)
    {
        found.push(not_recomputed(
            "that the impostor itself had fetched robots.txt rests on the record: fetches.json has no \
             such fetch of its network",
        ));
    }
}

/// Whether the edition has the record that sets the pace.
fn check_pace(edition: &Edition, record: &Violation, found: &mut Vec<Finding>) {
    let records = edition.file().groups.iter().flat_map(|group| &group.records);
    let line = record.robots.line;
    let at_line = records.into_iter().find(|one| Some(one.line) == line);
    let text = at_line
        .map(|one| (one.name.to_ascii_lowercase(), Text::path(one.value.as_bytes()).to_string()));
    let recorded = (record.robots.directive.to_string(), record.robots.pattern.to_string());
    if text.as_ref() != Some(&recorded) {
        let shown = |(name, value): &(String, String)| format!("{name}: {value}");
        let recomputed = text.as_ref().map_or_else(|| "no such line".to_owned(), shown);
        found.push(differs("robots.line", shown(&recorded), recomputed));
    }
}

/// The recorded edition's time in force, which must have been that of the request.
fn period<'a>(bench: &Bench<'a>, record: &Violation, found: &mut Vec<Finding>) -> Option<&'a Row> {
    let (earliest, at) = (record.time.checked_sub(LEEWAY).unwrap_or(record.time), record.time);
    let own = || bench.rows(&record.site).filter(|row| row.published_by.is_none());
    let is_it = |row: &&Row| row.edition == record.robots.edition.as_str();
    let period = own().filter(is_it).filter(|row| row.is_within(earliest, at)).last();
    if period.is_none() {
        let in_force = own().filter(|row| row.is_within(at, at)).map(|row| row.edition.as_str());
        let in_force: Vec<&str> = in_force.collect();
        let in_force = if in_force.is_empty() { "none".to_owned() } else { in_force.join(", ") };
        found.push(differs("robots.edition in force", record.robots.edition.as_str(), in_force));
    }
    period
}

impl Case<'_> {
    /// Judges the request by the recorded edition, and then in time.
    fn check_verdict(&self, edition: &Edition, found: &mut Vec<Finding>) -> Option<Finding> {
        let Self { record, .. } = self;
        let matcher = edition.matcher();
        let tokens = |scope: Scope| Text::list(matcher.tokens(scope));
        let own = self.bench.group(matcher, self.settings);
        let is_recorded = |scope: &Scope| tokens(*scope) == record.robots.group;
        // Some clients are judged by every group, and then the record has the strictest.
        let by_name = self.is_reason(Reason::Disallow) || self.is_old_form();
        let other = || matcher.scopes().find(is_recorded).filter(|_| !by_name);
        let Some(group) = own.filter(is_recorded).or_else(other) else {
            let shown = |tokens: &[Text]| {
                tokens.iter().map(|token| token.as_str()).collect::<Vec<_>>().join(", ")
            };
            let recomputed = own.map_or_else(|| "none".to_owned(), |own| shown(&tokens(own)));
            return Some(differs("robots.group", shown(&record.robots.group), recomputed));
        };
        let verdict = self.verdict(matcher, group);
        self.compare(&verdict, found);
        if verdict.form == Form::Other {
            let what = "an earlier version took another form of a closed path for a violation";
            return Some(not_recomputed(what));
        }
        if *record.verdict != *verdict.access.as_str() {
            return None;
        }
        if verdict.access == Access::Allow {
            return Some(match () {
                () if self.is_reason(Reason::Impostor) => not_recomputed(FALSE_NAME),
                () if self.is_reason(Reason::TooSoon) || self.is_reason(Reason::Slowed) => {
                    not_recomputed(TOO_SOON)
                }
                () => not_recomputed(format!(
                    "the rules allow it, and '{}' is all that is recorded",
                    record.reason
                )),
            });
        }
        let mut known = BY_RULES.iter().chain(&BY_OTHERS);
        if !self.is_old_form() && !known.any(|reason| self.is_reason(*reason)) {
            let what = format!("the reason '{}' is not known to this program", record.reason);
            return Some(not_recomputed(what));
        }
        let by_all = self.is_reason(Reason::Hidden) || own != Some(group);
        self.check_time(by_all)
    }

    /// The verdict of the letter; for a record of an earlier version the strictest of all forms.
    fn verdict<'m>(&self, matcher: &'m Matcher, group: Scope) -> Verdict<'m> {
        match self.is_old_form() {
            true => matcher.verdict(group, &self.target),
            false => matcher.verdict_judged(group, &self.target),
        }
    }

    fn is_old_form(&self) -> bool {
        self.record.reason == OLD_FORM
    }

    fn is_reason(&self, reason: Reason) -> bool {
        self.record.reason == reason.as_str()
    }

    fn compare(&self, verdict: &Verdict<'_>, found: &mut Vec<Finding>) {
        let robots = &self.record.robots;
        let number = |line: Option<u32>| line.map_or_else(|| "none".to_owned(), |n| n.to_string());
        let line = verdict.rule.map(|rule| rule.line);
        let directive = verdict.rule.map_or("", |rule| rule.directive.as_str());
        let pattern = Text::path(verdict.rule.map_or("", |rule| &rule.pattern).as_bytes());
        let mut differ = |what: &str, recorded: String, recomputed: String| {
            if recorded != recomputed {
                found.push(differs(what, recorded, recomputed));
            }
        };
        differ("verdict", self.record.verdict.to_string(), verdict.access.as_str().to_owned());
        differ("robots.line", number(robots.line), number(line));
        differ("robots.directive", robots.directive.to_string(), directive.to_owned());
        differ("robots.pattern", robots.pattern.to_string(), pattern.to_string());
    }

    /// Judges the request by all editions that the crawler could use at that time. It is a violation
    /// only if each of them disallows it.
    fn check_time(&self, by_all: bool) -> Option<Finding> {
        let Self { bench, record, settings, .. } = self;
        let start = start(record.time, settings.window(), &bench.manifest.clock_leaps);
        let lenient = bench.rows(&record.site).find(|row| {
            self.was_before(row)
                && row.is_within(start, record.time)
                && bench.edition_of(row).is_none_or(|edition| self.allows(edition, by_all))
        })?;
        if !settings.is_excused {
            let what =
                format!("edition {} allows it, and the site grants no grace", lenient.edition);
            return Some(Finding::new(Status::Remark, RECORDS, what));
        }
        if !self.is_old_form() && !BY_RULES.iter().any(|reason| self.is_reason(*reason)) {
            let what = format!(
                "edition {} allows it, which the crawler could still use; the record rests on '{}'",
                lenient.edition, record.reason
            );
            return Some(not_recomputed(what));
        }
        let excused = |id: &str| {
            let by = format!("{} by edition {id}", Reason::Grace.as_str());
            Some(differs("reason", record.reason.as_str(), by))
        };
        let read = &record.robots_read;
        let Some((edition, at)) = read.edition.as_ref().zip(read.at).filter(|(_, at)| *at > start)
        else {
            return excused(&lenient.edition);
        };
        // The crawler uses what it fetched last, or what others fetched later under its name.
        let later =
            bench.fetches(&record.site).filter(|row| row.last > at && row.last <= record.time);
        for id in std::iter::once(edition.as_str()).chain(later.map(|row| row.edition.as_str())) {
            match bench.edition(&record.site, id) {
                Some(edition) if self.allows(edition, by_all) => return excused(id),
                Some(_) => {}
                None => {
                    let what =
                        format!("edition {id}, which the crawler fetched, is not in the bundle");
                    return Some(not_recomputed(what));
                }
            }
        }
        let is_fetched = bench.fetches(&record.site).any(|row| is_of(row, read));
        (!is_fetched).then(|| {
            not_recomputed(format!(
                "that the crawler had fetched edition {edition} rests on the record: fetches.json has no \
                 such fetch"
            ))
        })
    }

    /// Whether an edition came into force before the end of the recorded one's time. A request that
    /// came with the change of editions was judged by the one before.
    fn was_before(&self, row: &Row) -> bool {
        let end = self.period.and_then(|period| period.until);
        row.edition != self.record.robots.edition.as_str() && end.is_none_or(|end| row.from < end)
    }

    /// Whether an edition allows the request, by the crawler's group or by all groups.
    fn allows(&self, edition: &Edition, by_all: bool) -> bool {
        let matcher = edition.matcher();
        let is_allowed = |group: Scope| self.verdict(matcher, group).access == Access::Allow;
        if by_all {
            return matcher.scopes().all(is_allowed);
        }
        let group = self.bench.group(matcher, self.settings);
        allows(matcher, group, self.bench.names(), is_allowed)
    }
}

/// Whether a row of fetches has the one that a record names.
fn is_of(row: &Fetch, read: &RobotsRead) -> bool {
    read.edition.as_deref() == Some(row.edition.as_str())
        && read.at.is_some_and(|at| row.first <= at && at <= row.last)
}
