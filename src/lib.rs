//! Beadle: a reverse proxy that holds crawlers to a site's own robots rules.
//!
//! An operator writes one policy. From it Beadle serves robots.txt (RFC 9309), sets `Robots-Tag`
//! (draft-illyes-repext-03) on answers, finds the crawler's product token in `User-Agent`, judges
//! each request by the very rules that were published, and logs or blocks the violations.
//!
//! The modules below stand in the order in which data flows. An arrow of knowledge only ever
//! points up this list: a module may use those above it, never those below.
//!
//! ```text
//! base       diagnostic  escape  metrics  product_token
//! formats    robots   robots_tag   crawlers            pure: bytes in, values out
//! meaning    policy   enforce                          pure: enforce -> policy -> formats
//! effects    violations                                queue, store, queries
//! edges      proxy    admin                            do not know each other
//! top        cli                                       everything
//! ```
//!
//! # Words
//!
//! - *policy*: the operator's file, read and validated.
//! - *site*: the hosts that share an origin, rules and enforcement.
//! - *product token*: the name a crawler looks for in robots.txt (RFC 9309 §2.2.1).
//! - *claim*: what a User-Agent says of its sender; *evidence*: what its operator publishes to tell
//!   its requests from others'; *standing*: what that says of the claim.
//! - *edition*: one published state of a site's robots.txt, named by its hash.
//! - *rulebook*: a policy compiled for serving, swapped whole.
//! - *verdict*: allow or disallow, with the rule; *decision*: verdict, action and reason.
//! - *violation*: the record of a decision against a request that the rules disallow.

pub mod diagnostic; // one finding that somebody can act on
pub mod escape; // foreign bytes made safe to show
pub mod metrics; // every metric, once
pub mod product_token; // a crawler's name

pub mod robots; // robots.txt: read, written, matched
pub mod robots_tag; // Robots-Tag, X-Robots-Tag and their meta elements: read, written, merged

pub mod crawlers; // who is known, who a User-Agent says it is, and what would prove it

pub mod policy; // the operator's file as meaningful values

pub mod enforce; // the decision about a request

pub mod violations; // the records: queue, store, queries

pub mod proxy; // the request path on pingora

pub mod admin; // metrics and health

pub mod cli; // one verb a file
