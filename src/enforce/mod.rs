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
    asked::{Asked, Knowledge, Leap, Moment},
    breaker::{Breaker, Opened, Why},
    considered::{Considered, considered},
    decide::{decide, group_of, is_blank, is_ordered, is_protected},
    decision::{Action, Decision, Judgement, Reason},
    edition::{Edition, EditionId, RuleSource},
    history::{History, OriginRules},
    ladder::{Climber, Ladder, Move, Rung, Step},
    pace::{Held, Measured, held, measured, promised},
    rulebook::{Rulebook, Site},
    tags::{TagFields, Tags},
    timeline::{Doubt, Excuse, Holding, Past, Period, Timeline},
};

mod asked; // what is judged, and what is known of who asks
mod breaker; // when nothing is refused any more
mod considered; // which editions were considered, for explanations
mod decide; // who is bound by what, at which moment
mod decision; // what comes of it
mod edition; // one published robots.txt: its bytes, its hash, its matcher
mod history; // what was before, and what the origins say
mod ladder; // a crawler goes from rung to rung by its own violations
mod pace; // how fast a crawler may come
mod rulebook; // policy -> sites by host, swapped whole
mod tags; // the Robots-Tag rules of a site, prepared
mod timeline; // the editions of a site as they followed each other

#[cfg(test)]
mod tests;
