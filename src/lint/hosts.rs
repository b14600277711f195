//! Hosts that share one robots.txt of their origin (RFC 9309 §2.3: each host has its own).

use crate::{diagnostic::Diagnostic, escape::shown, policy::Site};

use super::findings::Findings;

pub(super) fn lint(site: &Site, findings: &mut Findings) {
    if site.shares_origin_file() {
        let host = shown(&site.backend.host);
        let message = format!(
            "all hosts of the site get the robots.txt that the origin has for '{host}', and are \
             judged by it"
        );
        let help = "make each host a site of its own if the origin has another file for it";
        findings.add(site.at, Diagnostic::note("lint.shared_origin_file", message).help(help));
    }
}
