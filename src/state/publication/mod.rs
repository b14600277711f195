//! The state in force: the policy and the catalogue from files, robots.txt from the origins, and
//! the editions of both.
//!
//! Changes go in: a saved policy, a file of an origin, an accepted file, a clock that was set back.
//! [`Snapshot`] comes out, swapped whole: every request uses it. The [`Publisher`] is the one task
//! that owns the state ([`InForce`]).
//!
//! ```text
//! policy_file: poll, reload ─▶ files: read ─▶ publisher: evidence, names, fetches ─┐ Policy
//! followed_lists: fetch, keep a copy ─▶ policy_file, as a change on disk
//! sources ─▶ origin_files: fetch, quarantine ─▶ News ──────────────────────────────┤ Origin
//! memory: accepted in the database ────────────────────────────────────────────────┤ Accepted
//! clock: set back ─────────────────────────────────────────────────────────────────┤ ClockSetBack
//! memory: older editions that the start left out ──────────────────────────────────┤ Recalled
//! probes: answers of the origins about forms ────────────────────────────────────────┤ Probed
//! fleet: editions that other nodes serve ───────────────────────────────────────────┤ Learned
//!                                                                                  ▼
//!            task: one change at a time ─▶ next(InForce, Change): compile, no I/O ─▶ editions stored
//!                                                                                 ─▶ Snapshot swapped
//! ```
//! A refused policy changes nothing: whatever can fail is set up before anything ends. At a start,
//! `memory` gives the editions, hosts, fetches and quarantined files of earlier runs; ladder, breaker
//! and pace continue through a reload by the site's name.
//!
//! An origin's robots.txt, from the fetch to a crawler:
//!
//! ```text
//! sources        the sites whose source is `origin` or `merge`
//! origin_files   fetch::repeat: one access each, every few minutes, at most an hour
//!                200: the file; 4xx: no rules; a failure or a page: the last good file stays
//!                closes the whole site all at once: quarantine, stored in the database
//! task           `beadle robots accept` marks it in the database: Accepted, within two seconds
//! next           enforce::Rulebook::compile_with: robots::merge with the policy's rules ─▶ an Edition
//!                of the site's Timeline; the same bytes are the same edition
//! gate           robots_txt: the bytes of the edition in force
//! ```
//! Before the first file, the policy's own part is published, or a file without rules. It is kept for
//! a minute, and none of the origin's rules is enforced.
//!
//! A site with `source: policy` is compared with its origin's file once, soon after a start or a
//! reload (`replacement`): the log and the desk say which rules the policy replaces.
//!
//! May use: policy, enforce, comparison, lint, fronts, robots, probe, crawlers, record, tally, text, violations,
//! evidence, conduct, alerts, tls, remote, fetch, metrics, diagnostic, escape, stamp, whole_file. Must not know:
//! gate, proxy, admin, cli, pingora.

mod addresses; // addresses of the origins' names
mod change; // the state and its changes: pure
mod clock; // the time, corrected for clock changes
mod fellowship; // announcements to the other nodes of a fleet, and what they serve
mod files; // policy and catalogue files
mod followed_lists; // lists of crawlers that others maintain
mod handles; // the handles that requests need
mod log; // log lines about rulebooks
mod membership; // the publisher in a fleet
mod memory; // editions and fetches of earlier runs
mod origin_files; // the origins' robots.txt
mod past_policies; // the policies that were in force, compared
mod policy_file; // changes of the policy, on disk or on a server
mod probes; // questions to the origins about the forms of paths
mod publisher; // the owner of the state in force
mod replacement; // the rules of origins that the policy replaces
mod servers; // the origins of a site: choice and health
mod snapshot; // the published state for requests
mod sources; // the sites with fetches from their origins
mod task; // the loop that publishes each change
mod wildcards; // hosts below wildcards with a file of their own

pub use self::{
    addresses::{AddressBook, Addresses},
    change::{Change, FilesBySite, InForce, next},
    clock::Clock,
    fellowship::{Announcement, Fellowship, FleetPort, Learned, Spread},
    files::{
        OLD_PLACE, PolicyRead, open_file, read_catalogue_file, read_file, read_policy,
        read_policy_bytes, read_policy_with, rewrite,
    },
    handles::{Handles, ListTroubles},
    memory::{KEPT, Memory, fetch_row},
    origin_files::{Hold, OriginReport, OriginReports},
    past_policies::{PastPolicies, PolicyChange, difference, summary},
    probes::probe_findings,
    publisher::{Outcome, Publisher, Trial},
    replacement::{ReplacedAnswer, ReplacedBySite, replaced},
    servers::{Attempts, Fault, Server, Servers},
    snapshot::{Counters, PolicyInForce, ServedSite, Snapshot},
    task::{BY_RELOAD, Notice, ReloadRequests, Reloads, Request, Stage},
    wildcards::AskedHosts,
};
