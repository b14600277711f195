//! Hosts below a wildcard, which share one robots.txt of their origin (RFC 9309 §2.3: each host has its own).

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    rules::policy::Site,
};

use super::findings::Findings;

/// A single node finds the files of the hosts itself.
pub(super) fn lint(site: &Site, is_in_fleet: bool, findings: &mut Findings) {
    if is_in_fleet && site.shares_origin_file() {
        let host = shown(&site.backend.host);
        let message = format!(
            "in a fleet, all hosts below a wildcard get the robots.txt that the origin has for \
             '{host}', and are judged by it"
        );
        let help = "add each host with another file to 'hosts'";
        findings.add(site.at, Diagnostic::note("lint.shared_origin_file", message).help(help));
    }
}
