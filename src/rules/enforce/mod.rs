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
    chronicle::Chronicle,
    decide::{decide, is_blank},
    decision::{Action, Decision, Judgement, Reason, Rung},
    edition::{Edition, EditionId, KnownEditions, RuleSource},
    edition_verdict::{EditionVerdict, edition_verdicts},
    elsewhere::Elsewhere,
    group::{
        allows, first_group, group_for, group_names, group_of, is_bound_by_star, listed_group,
    },
    history::History,
    hosts::{HostPeriod, Stay},
    knowledge::{Case, Knowledge, Leap, Moment},
    limits::{AppliedLimit, applied_limits, counts, rank},
    overrides::{Treatment, is_ordered, is_protected, is_quiet},
    pace::{AppliedPace, applied_pace, keeps_paces, promised_pace},
    past::{Past, Period},
    published_limits::publish_limits,
    published_preferences::publish_preferences,
    rulebook::Rulebook,
    site::{Probe, Probed, Site},
    tags::{TagFields, Tags},
    timeline::{Doubt, Excuse, Timeline},
    usage_fields::{Said, UsageFields},
};

// The published rules in time.
mod chronicle; // all editions and hosts until now
mod edition; // one published robots.txt: its bytes, its hash, its matcher
mod editions; // the editions that one site published
mod elsewhere; // the editions of other nodes of a fleet
mod hosts; // the sites that each host belonged to
mod past; // an edition that is no longer in force, or several summed up
mod summary; // one file for several, which allows what any of them allows
mod timeline; // the editions that count for a site

// The policy compiled for serving.
mod compiler; // policy and history -> rulebook
mod group_lines; // lines that the policy adds to groups
mod history; // earlier editions, and the files of the origins
mod published_limits; // the limits that robots.txt says
mod published_preferences; // the preferences that robots.txt says
mod rulebook; // all sites by host, swapped whole
mod site; // a site compiled for serving
mod tags; // the tags of a site's answers
mod usage_fields; // what responses say about the use of their content

// The decision about a request.
mod court; // a request judged by one name, in time
mod decide; // the decision: the strictest of all names
mod decision; // action and reason, the rungs of the ladder
mod edition_verdict; // the verdicts of all editions that count, for explanations
mod group; // the group that a name obeys
mod knowledge; // a request, and the knowledge about its client
mod limits; // the rate limits that count a request
mod overrides; // the overrides that apply to a name
mod pace; // the pace that a crawler must keep

#[cfg(test)]
mod tests;
