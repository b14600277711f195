//! The log lines about failed fetches of evidence: one line for each kind of failure.
//!
//! Without a network, all sources fail together. So a failure waits until no fetch is under way or
//! due. A source that fails again in the same way is only counted.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// The time after which sources that still fail are logged again.
const REMINDER: Duration = Duration::from_secs(24 * 3_600);

#[derive(Debug, Default)]
pub(super) struct Report(Mutex<State>);

/// A failed fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub(super) code: &'static str,
    pub(crate) error: String,
    /// Whether an earlier copy is in use.
    pub(crate) has_copy: bool,
}

/// The sources of one kind of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// The kind, as in metrics.
    pub evidence: &'static str,
    pub(crate) all: usize,
    /// Whether fetches are under way or due.
    pub is_fetching: bool,
    /// The URLs that failed at the last fetch, each with the reason.
    pub(crate) failing: Vec<(String, Failed)>,
}

type Source = (&'static str, String);

#[derive(Debug, Default)]
struct State {
    /// The collections with fetches under way or due.
    busy: usize,
    sources: BTreeMap<&'static str, usize>,
    failing: BTreeMap<Source, Failing>,
    /// The sources that delivered again since the last line.
    recovered: usize,
    /// The failures since the last line that were like one before.
    repeats: u64,
    told: Option<Instant>,
}

#[derive(Debug)]
struct Failing {
    failed: Failed,
    is_told: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    One(Source, Failed),
    Several {
        kinds: String,
        sources: usize,
        without_copy: usize,
        code: &'static str,
        /// One of the URLs, with its error.
        example: (String, String),
    },
    Still {
        sources: usize,
        repeats: u64,
    },
    Recovered {
        sources: usize,
        still_failing: usize,
        repeats: u64,
    },
}

impl Report {
    /// Adds a collection of sources, which begins with a fetch from each.
    pub(super) fn join(&self, evidence: &'static str, sources: usize) {
        let mut state = self.0.lock();
        state.busy += 1;
        *state.sources.entry(evidence).or_default() += sources;
    }

    pub(super) fn sources(&self) -> Vec<Sources> {
        let state = self.0.lock();
        let failing = |kind: &'static str| {
            let of_kind = state.failing.iter().filter(move |((evidence, _), _)| *evidence == kind);
            of_kind.map(|((_, url), Failing { failed, .. })| (url.clone(), failed.clone()))
        };
        let sources = state.sources.iter().map(|(&evidence, &all)| Sources {
            evidence,
            all,
            is_fetching: state.busy > 0,
            failing: failing(evidence).collect(),
        });
        sources.collect()
    }

    /// Notes that a collection at rest fetches again.
    pub(super) fn resume(&self) {
        self.0.lock().busy += 1;
    }

    pub(super) fn note(&self, evidence: &'static str, url: &str, outcome: Result<(), Failed>) {
        self.0.lock().note((evidence, url.to_owned()), outcome);
    }

    /// Notes that a collection rests. The last one writes the lines.
    pub(super) fn rest(&self) {
        let mut state = self.0.lock();
        state.busy = state.busy.saturating_sub(1);
        if state.busy > 0 {
            return;
        }
        let (lines, all) = (state.take_lines(Instant::now()), state.sources.values().sum());
        drop(state);
        lines.iter().for_each(|line| line.log(all));
    }
}

impl State {
    fn note(&mut self, source: Source, outcome: Result<(), Failed>) {
        let known = self.failing.get_mut(&source);
        match (outcome, known) {
            (Ok(()), None) => {}
            (Ok(()), Some(_)) => {
                let before = self.failing.remove(&source);
                self.recovered += usize::from(before.is_some_and(|before| before.is_told));
            }
            (Err(failed), Some(known)) if known.failed.code == failed.code => {
                self.repeats += u64::from(known.is_told);
                known.failed = failed;
            }
            (Err(failed), _) => {
                self.failing.insert(source, Failing { failed, is_told: false });
            }
        }
    }

    fn take_lines(&mut self, now: Instant) -> Vec<Line> {
        let mut by_code: BTreeMap<&'static str, Vec<(&Source, &Failed)>> = BTreeMap::new();
        for (source, failing) in self.failing.iter_mut().filter(|(_, failing)| !failing.is_told) {
            failing.is_told = true;
            by_code.entry(failing.failed.code).or_default().push((source, &failing.failed));
        }
        let mut lines: Vec<Line> = by_code.values().filter_map(|group| line(group)).collect();
        let is_over = self.failing.is_empty() && self.recovered > 0;
        let is_due = self.told.is_some_and(|told| now.duration_since(told) >= REMINDER);
        let repeats = self.repeats;
        if self.recovered > 0 && (is_over || is_due || !lines.is_empty()) {
            let (sources, still_failing) = (self.recovered, self.failing.len());
            lines.push(Line::Recovered { sources, still_failing, repeats });
        } else if is_due && lines.is_empty() && !self.failing.is_empty() {
            lines.push(Line::Still { sources: self.failing.len(), repeats });
        }
        if !lines.is_empty() {
            (self.recovered, self.repeats, self.told) = (0, 0, Some(now));
        }
        lines
    }
}

fn line(group: &[(&Source, &Failed)]) -> Option<Line> {
    let (source, failed) = *group.first()?;
    if group.len() == 1 {
        return Some(Line::One(source.clone(), failed.clone()));
    }
    let kinds: BTreeSet<&str> = group.iter().map(|((kind, _), _)| *kind).collect();
    Some(Line::Several {
        kinds: kinds.into_iter().collect::<Vec<_>>().join(", "),
        sources: group.len(),
        without_copy: group.iter().filter(|(_, failed)| !failed.has_copy).count(),
        code: failed.code,
        example: (source.1.clone(), failed.error.clone()),
    })
}

impl Line {
    /// Writes the line. `all` is the number of all sources.
    fn log(&self, all: usize) {
        match self {
            Self::One((evidence, url), Failed { code, error, has_copy }) => tracing::warn!(
                url,
                evidence,
                code,
                error,
                last_good_copy = has_copy,
                "published evidence of a crawler refused"
            ),
            Self::Several { kinds, sources, without_copy, code, example: (url, error) } => {
                tracing::warn!(
                    evidence = kinds,
                    code,
                    sources,
                    of = all,
                    without_copy,
                    for_example = url,
                    error,
                    "published evidence of crawlers refused"
                );
            }
            Self::Still { sources, repeats } => tracing::warn!(
                sources,
                of = all,
                repeats,
                "published evidence of crawlers is still refused"
            ),
            Self::Recovered { sources, still_failing, repeats } => {
                tracing::info!(
                    sources,
                    still_failing,
                    repeats,
                    "published evidence of crawlers fetched again"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn failed(code: &'static str) -> Result<(), Failed> {
        Err(Failed { code, error: format!("{code}!"), has_copy: false })
    }

    fn source(number: usize) -> Source {
        let kind = if number < 30 { "ip-range" } else { "signature" };
        (kind, format!("https://{number:02}.example/"))
    }

    #[test]
    fn sources_that_fail_together_are_one_line_and_repeats_are_counted() {
        let (mut state, start) = (State::default(), Instant::now());
        (0..50).for_each(|number| state.note(source(number), failed("fetch.transport")));
        let several = Line::Several {
            kinds: "ip-range, signature".to_owned(),
            sources: 50,
            without_copy: 50,
            code: "fetch.transport",
            example: ("https://00.example/".to_owned(), "fetch.transport!".to_owned()),
        };
        assert_eq!(state.take_lines(start), [several]);
        for hour in 1..24 {
            (0..50).for_each(|number| state.note(source(number), failed("fetch.transport")));
            assert_eq!(state.take_lines(start + hour * HOUR), []);
        }
        let still = Line::Still { sources: 50, repeats: 23 * 50 };
        assert_eq!(state.take_lines(start + 24 * HOUR), [still]);
        // Another reason is news.
        state.note(source(7), failed("fetch.status"));
        let Err(other) = failed("fetch.status") else { unreachable!() };
        assert_eq!(state.take_lines(start + 25 * HOUR), [Line::One(source(7), other)]);
        (1..50).for_each(|number| state.note(source(number), Ok(())));
        assert_eq!(state.take_lines(start + 26 * HOUR), [], "one still fails");
        state.note(source(0), failed("fetch.transport"));
        state.note(source(0), Ok(()));
        let recovered = Line::Recovered { sources: 50, still_failing: 0, repeats: 1 };
        assert_eq!(state.take_lines(start + 27 * HOUR), [recovered]);
        assert_eq!(state.take_lines(start + 72 * HOUR), []);
    }

    #[test]
    fn the_sources_are_told_by_kind_with_those_that_fail() {
        let report = Report::default();
        report.join("ip-range", 3);
        report.join("signature", 1);
        report.note("ip-range", "https://a.example/", failed("fetch.status"));
        report.note("ip-range", "https://b.example/", Ok(()));
        let [lists, keys] = report.sources().try_into().expect("two kinds");
        assert_eq!((lists.evidence, lists.all, lists.is_fetching), ("ip-range", 3, true));
        let (url, error) = ("https://a.example/".to_owned(), "fetch.status!".to_owned());
        let failed = Failed { code: "fetch.status", error, has_copy: false };
        assert_eq!(lists.failing, [(url, failed)]);
        report.rest();
        report.rest();
        let rest = Sources { evidence: "signature", all: 1, is_fetching: false, failing: vec![] };
        assert!(keys.is_fetching && report.sources().contains(&rest));
    }

    #[test]
    fn a_failure_that_ends_before_it_is_told_is_no_line() {
        let mut state = State::default();
        state.note(source(1), failed("fetch.transport"));
        state.note(source(1), Ok(()));
        assert_eq!(state.take_lines(Instant::now()), []);
    }
}
