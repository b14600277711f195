//! The decision: the claim of a request, the verdict of the published rules, and the action.
//!
//! [`Rulebook`] is a policy compiled for serving. [`decide`] is a pure function of a site, a
//! request ([`Case`]) and the knowledge about its client ([`Knowledge`]). It has no clock and no
//! I/O, and it never fails. A [`Decision`] has everything that the log, the block page and
//! `explain` show: the judged token, the group, the rule, its line and the edition.
//!
//! **In time.** Crawlers may keep a robots.txt for a day (RFC 9309 §2.4). A request is a violation
//! only if every edition that the crawler may know disallows it ([`Timeline`]). The crawler knows
//! the edition that it fetched last within the site's cache window. If no fetch is known, it may
//! know any edition of that window. A request that the edition in force allows is never a
//! violation. In a fleet, that is true of each edition in force at any node ([`Elsewhere`]).
//!
//! A [`Chronicle`] has the editions of all sites and the sites of all hosts. A timeline follows from
//! it and the policy. As the database keeps the chronicle, a restart changes no verdict.
//!
//! May use: policy, probe, robots, usage, robots_tag, crawlers, diagnostic, escape, product_token, text.
//! Must not know: pingora, the store, any clock.

pub use self::{
    chronicle::{Chronicle, Elsewhere},
    decide::{EditionVerdict, decide, edition_verdicts, is_blank},
    decision::{Action, Case, Decision, Judgement, Knowledge, Leap, Moment, Reason, Rung},
    edition::{Edition, EditionId, KnownEditions, RuleSource},
    group_lines::{publish_limits, publish_preferences},
    history::History,
    hosts::{HostPeriod, Stay},
    overrides::{
        Treatment, allows, first_group, group_for, group_names, group_of, is_bound_by_star,
        is_ordered, is_protected, is_quiet, listed_group,
    },
    pace::{
        AppliedLimit, AppliedPace, applied_limits, applied_pace, counts, keeps_paces,
        promised_pace, rank,
    },
    past::{Past, Period},
    rulebook::{Probe, Probed, Rulebook, Site},
    tags::{TagFields, Tags},
    timeline::{Doubt, Excuse, Timeline},
    usage_fields::{Said, UsageFields},
};

// The published rules in time.
mod chronicle; // all editions and hosts until now, those of other nodes among them
mod edition; // one published robots.txt: its bytes, its hash, its matcher
mod hosts; // the sites that each host belonged to
mod past; // an edition that is no longer in force, or several summed up; those of one site
mod summary; // one file for several, which allows what any of them allows
mod timeline; // the editions that count for a site

// The policy compiled for serving.
mod group_lines; // lines that the policy adds to groups: limits and preferences
mod history; // policy, earlier editions and the files of the origins -> rulebook
mod rulebook; // all sites by host, swapped whole, each compiled for serving
mod tags; // the tags of a site's answers
mod usage_fields; // what responses say about the use of their content

// The decision about a request.
mod court; // a request judged by one name, in time
mod decide; // the decision: the strictest of all names; the verdicts of all editions
mod decision; // a request, the knowledge about its client, action and reason, the rungs of the ladder
mod overrides; // the group that a name obeys, and the overrides that apply to it
mod pace; // the pace that a crawler must keep, and the rate limits that count a request

#[cfg(test)]
mod tests;
