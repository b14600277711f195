//! Beadle: a reverse proxy that holds crawlers to a site's own robots rules.
//!
//! An operator writes one policy. From it Beadle serves robots.txt (RFC 9309) and sets `Robots-Tag`
//! (draft-illyes-repext-03) on responses. It finds the crawler's product token in `User-Agent`,
//! judges each request by the published rules, and logs or blocks violations.
//!
//! The modules below are in the order of the data flow. A module may use modules of the rows above
//! it, never modules of the rows below.
//!
//! ```text
//! base       diagnostic  escape  text  metrics  product_token  stamp  fetch  connections  version
//! formats    robots -> probe   robots_tag   signature   crawlers   access_log   valkey    pure: bytes in, values out
//! meaning    keys   policy   enforce                   pure: enforce -> policy -> keys -> formats
//!            lint   comparison                         pure, by enforce
//! effects    tally -> record -> lines, clickhouse -> violations   evidence   conduct   alerts  do not know each other
//!            tls -> acme                               certificates of the listeners
//!            remote                                    a policy on a web server
//! documents  report                                    stored facts in, documents out
//!            manual                                    arguments and keys in, pages for man out; by keys
//! in force   publication   gate                        the published state; the path of a request
//! reasons    explanation                               a decision as data and as text
//! trials     replay   trial                            past requests, and the policy's tests, through the gate
//! edges      proxy    decide   admin -> desk   api     proxy, decide and admin, desk and api do not know each other
//! top        console -> cli                                       everything
//! ```
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

pub mod connections; // connections accepted beside the proxy's
pub mod diagnostic; // one finding that an operator can act on
pub mod escape; // foreign bytes made safe to show
pub mod fetch; // the one HTTP client
pub mod metrics; // every metric, once
pub mod product_token; // a crawler's name
pub mod stamp; // versions of files
pub mod text; // foreign text in records, bounded and escaped
pub mod version; // version, commit and profile of the program

pub mod robots; // robots.txt: parser, writer, matcher
pub mod robots_tag; // Robots-Tag, X-Robots-Tag and meta elements: parser, writer, union

pub mod probe; // how an origin reads paths, by its own answers

pub mod signature; // HTTP message signatures of crawlers

pub mod framing; // HTTP/1 messages, strictly

pub mod access_log; // access logs of web servers

pub mod crawlers; // the catalogue, the claim of a User-Agent, and its evidence

pub mod valkey; // addresses of servers that nodes share

pub mod keys; // the keys of a policy, and their JSON Schema
pub mod policy; // the operator's file as validated values

pub mod enforce; // the decision about a request

pub mod lint; // faults of meaning in policies and robots.txt files

pub mod comparison; // two policies or two files of rules, by their meaning

pub mod import; // rules of other programs as a policy

pub mod starter; // a first policy, made of a few answers

pub mod tally; // requests counted by hour, until they are written

pub mod counts; // counts by hour as they were written, and the answers to questions

pub mod lines; // lines on their way to a file or to standard output
pub mod record; // the records and what else is kept, as values
pub mod spool; // frames of bytes that wait on the disk

pub mod clickhouse; // records, counts and editions that many nodes share
pub mod forward; // batches on their way to ClickHouse, by the spool

pub mod violations; // the records: queue, store, queries

pub mod tls; // certificates of the listeners

pub mod acme; // certificates ordered from an authority

pub mod evidence; // the identity of clients: lists, names, keys

pub mod conduct; // the behaviour of clients: fetches, pace, violations

pub mod fleet; // what the nodes of a fleet tell each other

pub mod alerts; // events for the operator, sent to webhooks

pub mod report; // documents made of stored facts

pub mod manual; // pages for man, made of arguments and keys

pub mod audit; // what a page and its site tell a crawler

pub mod remote; // a policy on a web server

pub mod publication; // the state in force, swapped whole

pub mod exchange; // the exchange with the other nodes of a fleet

pub mod gate; // the path of every request

pub mod explanation; // the reasons of a decision, as data and as text
pub mod trial; // the tests of a policy and their outcomes

pub mod replay; // access logs run through a policy

mod edge; // connections of clients, before they are requests

pub mod proxy; // the edge on pingora

pub mod decide; // other servers ask and answer themselves

pub mod admin; // the admin listener: login, metrics and health

pub mod desk; // pages for operators

pub mod api; // the same as JSON, and exports

pub(crate) mod console; // what several verbs read, write and ask for

pub(crate) mod service; // the server as a whole

pub mod cli; // one file for each verb
