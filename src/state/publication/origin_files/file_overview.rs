//! The origins' files as the pages for operators show them.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::base::diagnostic::Diagnostic;

use super::hold::Hold;

/// What an operator should know about the robots.txt of one origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginReport {
    /// The reason why the origin's file is held and an earlier one stays in force.
    pub held: Option<Hold>,
    pub(crate) findings: Vec<Diagnostic>,
}

/// The reports of all sites with fetches, by name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct OriginReports(Arc<Mutex<HashMap<String, OriginReport>>>);

impl OriginReports {
    /// The report of a site; an empty one without fetches.
    pub fn of(&self, site: &str) -> OriginReport {
        self.0.lock().get(site).cloned().unwrap_or_default()
    }

    pub(crate) fn held(&self) -> Vec<(String, Hold)> {
        let reports = self.0.lock();
        let held = reports.iter().filter_map(|(site, one)| Some((site.clone(), one.held?)));
        let mut held: Vec<_> = held.collect();
        held.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        held
    }

    pub(super) fn put(&self, site: &str, report: OriginReport) {
        self.0.lock().insert(site.to_owned(), report);
    }

    pub(super) fn forget(&self, site: &str) {
        self.0.lock().remove(site);
    }
}
