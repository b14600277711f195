//! The decision: what a request claims, what the published rules say of it, and what is done.
//!
//! [`Rulebook`] is a policy compiled for serving; [`decide`] is one pure function of a site, a
//! request, a moment and what is known of the client. It has no clock and no I/O, never fails, and
//! its [`Decision`] carries everything that the log, the block page and `explain` say: the token
//! that was judged, the group, the rule, its line and the edition.
//!
//! **In time.** A robots.txt is a promise that crawlers may keep for a day (RFC 9309 §2.4). A request
//! is held against a crawler only if every edition that it may be going by disallows it: the one it
//! fetched last, if that was within the site's cache window, else each that was in force within it
//! ([`Timeline`]). What the edition in force allows is always allowed.
//!
//! May use: policy, robots, robots_tag, crawlers, diagnostic, product_token. Must not know: pingora,
//! the store, any clock.

pub use self::{
    breaker::{Breaker, Opened, Why},
    case::Case,
    decide::{decide, is_blank, is_ordered, is_protected},
    decision::{Action, Decision, Judgement, Reason},
    edition::{Edition, EditionId, RuleSource},
    edition_verdict::{EditionVerdict, edition_verdicts},
    group::{group_for, group_of},
    history::History,
    knowledge::Knowledge,
    known_editions::KnownEditions,
    ladder::{Climber, Ladder, Move, Step},
    moment::{Leap, Moment},
    pace::{AppliedPace, applied_pace},
    rulebook::Rulebook,
    rung::Rung,
    site::Site,
    tags::{TagFields, Tags},
    timeline::{Doubt, Excuse, Past, Period, Timeline},
};

// From the bottom up: a file knows only files above it.
mod breaker;
mod case; // a request as the rules judge it
mod compiler; // policy and history -> rulebook
mod decide; // the decision itself
mod decision; // action and reason
mod edition; // one published robots.txt: its bytes, its hash, its matcher
mod edition_verdict; // the verdicts of all editions that count, for explanations
mod group; // the group that a name obeys
mod history; // earlier editions, and the files of the origins
mod knowledge; // the knowledge about a client beside its request
mod known_editions; // the editions that a client may know
mod ladder; // a crawler climbs by its own violations
mod moment; // the time of a request
mod pace; // the pace that a crawler must keep
mod rulebook; // all sites by host, swapped whole
mod rung; // the rungs of the ladder
mod site; // a site compiled for serving
mod tags; // the Robots-Tag rules of a site, prepared
mod timeline; // the editions of a site in time // stops refusals that hit too many

#[cfg(test)]
mod tests;
