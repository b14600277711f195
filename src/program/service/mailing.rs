//! Reports by e-mail, each at its time.
//!
//! A report is about the day or the week that ends with its time. When it was sent last stands in a file
//! beside the database; the fleet's server knows it, too. So a restart sends none twice and leaves none
//! out. The first time after a report came into the policy is the first that is sent.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::{sync::watch, time::interval};

use crate::{
    base::whole_file,
    outside::{
        alerts::{self, REPORT},
        mail::{Answer, Letter, Server},
    },
    program::console::database::location,
    review::report::{
        Screen, Span, html,
        review::{Answers, Review, document},
        text,
    },
    rules::policy::{Policy, Report},
    state::publication::Handles,
};

/// The time until the counts of a moment are in the database, in seconds.
const SETTLED: i64 = 60;
/// The most reports that are sent late, such as after a long stop.
const MOST_LATE: i64 = 4;
const PAUSE: Duration = Duration::from_secs(300);
/// The most rows of a table, and the columns of the text.
const MOST_ROWS: usize = 20;
const COLUMNS: usize = 78;

/// When reports were sent last, in seconds since 1970, by key.
struct Sent {
    file: PathBuf,
    seconds: BTreeMap<String, i64>,
}

pub(super) async fn run(handles: Handles, policies: watch::Receiver<Arc<Policy>>) {
    // Without a database there are no reports.
    let Some(mut sent) = Sent::of(&policies.borrow()) else { return };
    let mut failed: BTreeMap<String, Instant> = BTreeMap::new();
    let mut ticks = interval(alerts::EVERY);
    while policies.has_changed().is_ok() {
        ticks.tick().await;
        let policy = policies.borrow().clone();
        let relay = &handles.fellowship.alerts;
        // Of a fleet, one node sends.
        let known =
            policy.fleet.as_ref().map_or_else(|| Some(BTreeMap::new()), |_| relay.reported());
        let Some(known) = known else { continue };
        let of = |key: &str| policy.reports.iter().any(|report| report.key() == key);
        relay.retain(|key| key.strip_prefix(REPORT).is_none_or(of));
        failed.retain(|_, at| at.elapsed() < PAUSE);
        for report in &policy.reports {
            let key = report.key();
            let last = sent.seconds.get(&key).max(known.get(&key)).copied();
            let now = Timestamp::now().as_second() - SETTLED;
            let Some(due) = due(report, last, now) else { continue };
            if last.is_some() {
                if failed.contains_key(&key) {
                    continue;
                }
                let answer = send(&policy, report, due).await;
                let (to, every) = (report.to.join(", "), report.every.text.as_str());
                relay.note(&format!("{REPORT}{key}"), format!("report to {to}"), answer.clone());
                if !matches!(answer, Answer::Accepted(_)) {
                    tracing::warn!(to, every, %answer, "report not sent: Beadle retries");
                    failed.insert(key, Instant::now());
                    continue;
                }
                tracing::info!(to, every, %answer, "report sent");
            }
            sent.note(&key, due);
            relay.report_sent(&key, due);
        }
    }
}

/// The time of the report after the last one, if it has come; without a last one, the time to count from.
fn due(report: &Report, last: Option<i64>, now: i64) -> Option<i64> {
    let (latest, period) = (report.every.last(now), report.every.period);
    let Some(last) = last else { return Some(latest) };
    let due = (last + period).max(latest - (MOST_LATE - 1) * period);
    (due <= latest).then_some(due)
}

async fn send(policy: &Arc<Policy>, report: &Report, due: i64) -> Answer {
    let server = match Server::of(policy) {
        Ok(Some(server)) => server,
        Ok(None) => return Answer::Failed("no mail server".to_owned()),
        Err(finding) => return Answer::Failed(finding.message),
    };
    let (its_policy, its_report) = (Arc::clone(policy), report.clone());
    let made = tokio::task::spawn_blocking(move || letter(&its_policy, its_report, due)).await;
    match made {
        Ok(Some(letter)) => server.send(&letter).await,
        _ => Answer::Failed("the database can't be read".to_owned()),
    }
}

/// The letter with the report that is due at this second; `None` without a readable database.
fn letter(policy: &Policy, report: Report, due: i64) -> Option<Letter> {
    let store = location(policy).ok()??.open().ok()?;
    let time = |second| Timestamp::from_second(second).unwrap_or_default();
    let (since, until) = (time(due - report.every.period), time(due));
    let id = format!("report-{}-{due}", report.key());
    let answers = Answers::of(&store, Span::new(since, until, until), report.site).ok()?;
    let mut document = document(&Review::of(&answers, &policy.catalogue), MOST_ROWS);
    if answers.site.is_none() {
        let sites: Vec<&str> = policy.written_sites().map(|site| site.name()).collect();
        document.lead.push(format!("Sites: {}.", sites.join(", ")));
    }
    let (from, to) = (since.strftime("%F"), until.strftime("%F"));
    Some(Letter {
        id,
        to: report.to,
        subject: format!("{}, {from} to {to}", document.title),
        text: text(&document, Screen { width: Some(COLUMNS), has_colours: false }),
        html: Some(html(&document)),
    })
}

impl Sent {
    /// What earlier runs sent; `None` without a database.
    fn of(policy: &Policy) -> Option<Self> {
        let mut file = policy.violations.local_database()?.as_os_str().to_owned();
        file.push(".reports");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let seconds =
            lines.filter_map(|(key, second)| Some((key.to_owned(), second.parse().ok()?)));
        Some(Self { seconds: seconds.collect(), file: file.into() })
    }

    fn note(&mut self, key: &str, second: i64) {
        self.seconds.insert(key.to_owned(), second);
        let lines = self.seconds.iter().map(|(key, second)| format!("{key} {second}\n"));
        let lines: String = lines.collect();
        if let Err(error) = whole_file::replace(&self.file, lines.as_bytes(), |_| Ok(())) {
            let file = self.file.display();
            tracing::error!(%file, %error, "a restart may send a report again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::policy;

    #[test]
    fn each_week_has_its_report_and_none_has_two() {
        let text = "violations: { database: x.db }\nemail: { server: a, from: a@a.example }\n\
                    reports: { every: monday 08:00, to: a@a.example }\n\
                    sites: [{ hosts: [a.example], origin: 'http://127.0.0.1:3' }]";
        let policy = policy::read("test.yaml", text.as_bytes()).0.expect("a policy");
        let second = |text: &str| text.parse::<Timestamp>().expect("a time").as_second();
        for (last, now, is_due) in [
            (None, "2026-11-23T09:00:00Z", Some("2026-11-23T08:00:00Z")),
            (Some("2026-11-23T08:00:00Z"), "2026-11-23T09:00:00Z", None),
            (Some("2026-11-23T08:00:00Z"), "2026-11-30T07:59:59Z", None),
            (Some("2026-11-23T08:00:00Z"), "2026-11-30T08:00:00Z", Some("2026-11-30T08:00:00Z")),
            // The program stood still: one week after the other, up to a month.
            (Some("2026-11-09T08:00:00Z"), "2026-11-30T09:00:00Z", Some("2026-11-16T08:00:00Z")),
            (Some("2026-06-01T08:00:00Z"), "2026-11-30T09:00:00Z", Some("2026-11-09T08:00:00Z")),
            // The clock was set back.
            (Some("2026-11-30T08:00:00Z"), "2026-11-20T09:00:00Z", None),
        ] {
            let found = due(&policy.reports[0], last.map(second), second(now));
            assert_eq!(found, is_due.map(second), "{last:?} {now}");
        }
    }
}
