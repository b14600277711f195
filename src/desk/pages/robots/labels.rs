//! Numbers, times and sites in words.

pub(super) use crate::desk::pages::{duration::time, time::second};
use crate::{
    records::record::Quarantined,
    rules::policy::{Policy, Source},
    state::publication::Hold,
};

/// What a page says that can ask no database.
pub(super) const NOT_KEPT: &str = "The policy names no database, so hits, history and quarantined \
                                   files are not kept. Set violations.database.";

/// The hosts of a site, as the policy writes them.
pub(super) fn hosts(policy: &Policy, number: usize) -> String {
    let Some(site) = policy.sites.get(number) else { return String::new() };
    let mut hosts: Vec<String> = site.hosts.iter().map(ToString::to_string).collect();
    hosts.extend(site.default.then(|| "all others".to_owned()));
    hosts.join(", ")
}

/// The reason why a file is in quarantine.
pub(super) fn hold(file: &Quarantined) -> Hold {
    Hold::of_file(&file.bytes)
}

/// What is wrong with a file in quarantine.
pub(super) fn reason(file: &Quarantined) -> &'static str {
    hold(file).reason()
}

/// Where the rules of a site come from.
pub(super) fn source(source: Source) -> &'static str {
    match source {
        Source::Policy => "the policy",
        Source::Origin => "the origin's file, as it is",
        Source::Merge => "the origin's file and the policy, merged",
    }
}
