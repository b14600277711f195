//! The state in force and its changes, as pure functions: no I/O, no clock, no task.

use std::{collections::HashMap, sync::Arc};

use crate::{
    formats::robots::OriginFile,
    rules::{
        enforce::{Chronicle, Elsewhere, History, Moment, Probed, Rulebook},
        policy::Policy,
    },
};

/// The robots.txt of the origins, by the name of the site; see [`History::origins`].
pub type FilesBySite = HashMap<String, OriginFile>;

/// The state in force: the policy, the files of the origins, and the rulebook of both.
#[derive(Clone, Debug)]
pub struct InForce {
    pub(crate) policy: Arc<Policy>,
    pub(crate) rulebook: Arc<Rulebook>,
    origin_files: FilesBySite,
}

/// A change of the state in force.
#[derive(Clone, Debug)]
pub enum Change {
    /// A new policy, with the known files of its origins.
    Policy(Arc<Policy>, FilesBySite),
    /// New files of the origins.
    Origin(FilesBySite),
    /// A quarantined file of this site that the operator accepted.
    Accepted(String, OriginFile),
    /// A clock that was set back: later times count as now.
    ClockSetBack,
    /// Editions of earlier runs that were read after the start.
    Recalled(Chronicle),
    /// What the origins of this site answered about the forms of paths.
    Probed(String, Arc<Probed>),
    /// The editions of other nodes of the fleet, in place of those known before.
    Learned(Vec<Elsewhere>),
}

impl InForce {
    /// The state at the start, after the `chronicle` of earlier runs.
    pub fn first(
        policy: Arc<Policy>,
        origin_files: FilesBySite,
        chronicle: Chronicle,
        moment: Moment,
    ) -> Self {
        let history = History { moment, chronicle, ..History::after(None, moment.now) };
        Self::compile(policy, origin_files, history)
    }

    /// The names of the sites that `next` does not have.
    pub fn removed_sites<'a>(&'a self, next: &'a Self) -> impl Iterator<Item = &'a str> {
        let names = self.rulebook.sites().iter().map(|site| site.name.as_str());
        names.filter(|name| next.policy.sites.iter().all(|site| site.name() != *name))
    }

    fn compile(policy: Arc<Policy>, origin_files: FilesBySite, history: History<'_>) -> Self {
        let mut history = History { origins: origin_files.clone(), ..history };
        let rulebook = Arc::new(Rulebook::compile_with(&policy, &mut history));
        Self { policy, rulebook, origin_files }
    }
}

/// The state after a change. The rulebook stays the same object if its inputs do not change.
pub fn next(in_force: &InForce, change: Change, moment: Moment) -> InForce {
    let now = in_force.clone();
    let mut history = History { moment, ..History::after(Some(&in_force.rulebook), moment.now) };
    let mut is_other_past = matches!(change, Change::ClockSetBack | Change::Recalled(_));
    let (policy, origin_files) = match change {
        Change::Policy(policy, files) => (policy, files),
        Change::Origin(files) => (now.policy, files),
        Change::Accepted(site, file) => {
            let mut files = now.origin_files;
            // A site may publish its origin's file no more.
            files.entry(site).and_modify(|known| *known = file);
            (now.policy, files)
        }
        Change::ClockSetBack => (now.policy, now.origin_files),
        Change::Recalled(older) => {
            history.chronicle.recall(older, moment.now);
            (now.policy, now.origin_files)
        }
        Change::Probed(site, probed) => {
            history.probed.insert(site, probed);
            is_other_past = true;
            (now.policy, now.origin_files)
        }
        Change::Learned(elsewhere) => {
            is_other_past = history.chronicle.learn(elsewhere);
            (now.policy, now.origin_files)
        }
    };
    let is_same = Arc::ptr_eq(&policy, &in_force.policy)
        && origin_files == in_force.origin_files
        && !is_other_past;
    if is_same {
        return in_force.clone();
    }
    InForce::compile(policy, origin_files, history)
}

#[cfg(test)]
mod tests;
