//! Beadle: a reverse proxy that holds crawlers to a site's own robots rules.
//!
//! An operator writes one policy. From it Beadle serves robots.txt (RFC 9309) and sets `Robots-Tag`
//! (draft-illyes-repext-03) on responses. It finds the crawler's product token in `User-Agent`,
//! judges each request by the published rules, and logs or blocks violations.
//!
//! The modules below are streets of rooms, in the order of the data flow. A room may use rooms of its own
//! street and of those above, never of those below. The `mod.rs` of a street is the map of its rooms; an
//! arrow there leads from a room to one that uses it.
//!
//! # Words
//!
//! - *policy*: the operator's file, read and validated.
//! - *site*: the hosts that share an origin, rules and enforcement.
//! - *product token*: the name a crawler looks for in robots.txt (RFC 9309 §2.2.1).
//! - *claim*: the crawler that a User-Agent names; *evidence*: the data that its operator publishes to
//!   identify it; *standing*: the result of the check of the claim.
//! - *edition*: one published version of a site's robots.txt, named by its hash.
//! - *rulebook*: a compiled policy; *snapshot*: the rulebook with what requests need beside it, swapped
//!   whole.
//! - *verdict*: allow or disallow, with the rule; *decision*: verdict, action and reason.
//! - *violation*: the record of a decision against a request that the rules disallow.

pub mod base; // findings with the lines they point at, escaping, metrics, the HTTP client

pub mod formats; // robots.txt, Robots-Tag, Content-Usage, signatures, HTTP/1, access logs: bytes in, values out

pub mod rules; // the catalogue of crawlers, the policy and how its YAML is read, the decision about a request

pub mod advice; // help with rules before they are in force: lint, what a change means, import, a first policy

pub mod records; // what is kept of requests, and the questions to it: counts, violations, editions

pub mod clients; // whether a crawler is genuine, and how clients behave: robots.txt fetched, pace, limits

pub mod outside; // certificates, alerts, a policy on a web server

pub mod state; // the state in force: reloads, files and health of origins, the nodes of a fleet and their messages

pub mod serving; // the way of a request: connection, decision, the answer's text or the origin's

pub mod review; // documents about what happened, with their charts: reports, explanations, replays, audits

pub mod desk; // the admin listener: pages with tables and forms, settings in words, changes of the policy; JSON

pub mod program; // the verbs of the command line: arguments, rows and lines printed; the server as a whole
