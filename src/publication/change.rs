//! The state in force and its changes, as pure functions: no I/O, no clock, no task.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use jiff::Timestamp;

use crate::{
    diagnostic::Diagnostic,
    enforce::{History, Moment, Period, Rulebook, Timeline},
    policy::{self, Policy},
    robots::OriginFile,
};

/// The robots.txt of the origins, by the name of the site.
pub type FilesBySite = HashMap<String, OriginFile>;

/// The state in force: the policy, the files of the origins, and the rulebook of both.
#[derive(Clone, Debug)]
pub struct InForce {
    /// The policy.
    pub policy: Arc<Policy>,
    /// The compiled policy, with the editions of each site.
    pub rulebook: Arc<Rulebook>,
    /// The files of the origins, for sites that publish them.
    origin_files: FilesBySite,
    /// The editions of removed sites, by name, in case the sites come back.
    gone: HashMap<String, RemovedSite>,
    /// The reasons why an edition was not published.
    pub findings: Vec<Diagnostic>,
}

/// The editions of a removed site.
#[derive(Clone, Debug)]
struct RemovedSite {
    timeline: Timeline,
    since: Timestamp,
}

/// A change of the state in force.
#[derive(Clone, Debug)]
pub enum Change {
    /// A new policy, with the known files of its origins.
    Policy(Arc<Policy>, FilesBySite),
    /// New files of the origins.
    Origin(FilesBySite),
    /// A quarantined file of this site that the operator accepted.
    Accepted(String, Bytes),
    /// A clock that was set back: later times count as now.
    ClockSetBack,
    /// The passage of time.
    Tick,
}

impl InForce {
    /// The state at the start. A site without stored `periods` counts as published at `since`.
    pub fn first(
        policy: Arc<Policy>,
        origin_files: FilesBySite,
        periods: HashMap<String, Vec<Period>>,
        since: Timestamp,
        moment: Moment,
    ) -> Self {
        let history = History { moment, since, periods, ..History::after(None, moment.now) };
        Self::compile(policy, origin_files, HashMap::new(), history)
    }

    /// The timeline that a site of `policy` continues, if there is one.
    pub fn timeline_before(&self, site: &policy::Site, now: Timestamp) -> Option<Timeline> {
        let history = self.history(Moment::at(now));
        history.before(site).first().map(|timeline| (*timeline).clone())
    }

    /// The names of the sites that `next` does not have.
    pub fn removed_sites<'a>(&'a self, next: &'a Self) -> impl Iterator<Item = &'a str> {
        let names = self.rulebook.sites().iter().map(|site| site.name.as_str());
        names.filter(|name| !is_served(&next.policy, name))
    }

    fn history(&self, moment: Moment) -> History<'_> {
        let gone = self.gone.iter().map(|(name, gone)| (name.clone(), gone.timeline.clone()));
        let history = History::after(Some(&self.rulebook), moment.now);
        History { moment, gone: gone.collect(), ..history }
    }

    fn compile(
        policy: Arc<Policy>,
        origin_files: FilesBySite,
        gone: HashMap<String, RemovedSite>,
        history: History<'_>,
    ) -> Self {
        let mut history = History { origins: origin_files.clone(), ..history };
        let rulebook = Arc::new(Rulebook::compile_with(&policy, &mut history));
        let findings = history.findings;
        Self { policy, rulebook, origin_files, gone, findings }
    }
}

/// The state after a change. The rulebook stays the same object if its inputs do not change.
pub fn next(in_force: &InForce, change: Change, moment: Moment) -> InForce {
    let now = in_force.clone();
    let is_set_back = matches!(change, Change::ClockSetBack);
    let (policy, origin_files) = match change {
        Change::Policy(policy, files) => (policy, files),
        Change::Origin(files) => (now.policy, files),
        Change::Accepted(site, file) => (now.policy, with(now.origin_files, site, file)),
        Change::ClockSetBack => (now.policy, now.origin_files),
        Change::Tick => {
            return InForce { gone: still_relevant(now.gone, &in_force.policy, moment), ..now };
        }
    };
    let is_same = Arc::ptr_eq(&policy, &in_force.policy)
        && origin_files == in_force.origin_files
        && !is_set_back;
    if is_same {
        return in_force.clone();
    }
    let mut gone = now.gone;
    for site in in_force.rulebook.sites() {
        let one = RemovedSite { timeline: site.timeline.clone(), since: moment.now };
        gone.insert(site.name.clone(), one);
    }
    let gone = still_relevant(gone, &policy, moment);
    InForce::compile(policy, origin_files, gone, in_force.history(moment))
}

/// The files, with a new one for a site that publishes its origin's file.
fn with(mut files: FilesBySite, site: String, file: Bytes) -> FilesBySite {
    if let Some(known) = files.get_mut(&site) {
        *known = OriginFile::Present(file);
    }
    files
}

/// The removed sites whose editions a crawler may still use.
fn still_relevant(
    mut gone: HashMap<String, RemovedSite>,
    policy: &Policy,
    moment: Moment,
) -> HashMap<String, RemovedSite> {
    let start = moment.start_of(policy::MAX_CACHE_WINDOW);
    gone.retain(|name, one| !is_served(policy, name) && one.since > start);
    gone
}

fn is_served(policy: &Policy, name: &str) -> bool {
    policy.sites.iter().any(|site| site.name() == name)
}

#[cfg(test)]
mod tests;
