//! The promises to the operator, one module for each, proven with the real program on loopback.
//!
//! They share one binary, so that the library is linked once. A module runs alone with
//! `cargo test --test all reload::`.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by a panic and prints what it saw"
)]

#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code, reason = "the benchmarks need more of it")]
#[path = "../../benches/traffic/mod.rs"]
mod traffic;

// === answers
mod body_ends; // each body ends once, however its end was sent
mod edge; // the octets of a connection before they are parsed
mod floods; // frames of HTTP/2 that cost the sender little
mod hands; // a crawler blocked and let in again
mod host_files; // a robots.txt for each host of a site
mod hosts; // each host is its own site
mod http2; // frames that proxies read wrong
mod http2_clients; // clients that others wrote
mod limits; // what one client may take
mod origin_answers; // answers of an origin that break the protocol
mod origin_side; // what the proxy does towards the origin
mod robots_tags; // the policy's tags, merged with the origin's
mod serve_robots; // robots.txt, whatever else fails
mod several_origins; // who gets a request while some are down
mod tls; // certificates by name, taken anew without a restart
mod transparent; // everything else, byte for byte
mod tunnels; // how long WebSockets and event streams may be silent

// === rules
mod editions; // each crawler is judged by a robots.txt that it can know
mod fairness; // what a crawler could know counts, across restarts and moves
mod fleet; // nodes that share what they see
mod origin_robots; // the origin's own robots.txt
mod quarantine; // a file of the origin that suddenly closes the site

// === decisions
mod beside; // real servers that ask, and answer themselves
mod breaker; // a limit for refusals
mod catalogue; // the known crawlers
mod decide; // other servers ask, and answer themselves
mod enforcement; // log or block, and the record
mod evasion; // other spellings of a path
mod fleet_disorder; // clocks that are set, and nodes with different servers
mod fleet_model; // three real nodes, against an independent judge
mod fleet_simulation; // many nodes judge as one, whatever is late or lost
mod followed_lists; // lists of crawlers that others maintain
mod forwarded_fields; // request fields that an origin may take for something else
mod origins; // the same, with real origins behind the program
mod other_forms; // other forms of closed paths are no violations
mod pace; // a crawler's speed and its place on the ladder
mod people_first; // crawlers take what people leave
mod preferences; // what the content may be used for
mod preferences_round_trip; // random preferences, as the program gives them back
mod probe; // an origin is asked how it reads paths
mod rate_limits; // limits that keep a site up
mod real_clients; // programs that people use, over HTTP/2
mod real_crawlers; // crawlers that others wrote, on a site of tricky links
mod signatures; // signatures as evidence for a claim
mod smuggling; // one request stays one request
mod standing; // addresses and names as evidence for a claim

// === the program and its verbs
mod access_log; // a line for each request; no secrets in the log
mod acme; // certificates that the program orders itself
mod admin;
mod alerts; // events for the operator
mod api; // JSON and exports for other programs
mod cli_arguments;
mod cli_audit; // what a page and its site tell a crawler
mod cli_check;
mod cli_completions; // completions for shells, colours, suggestions
mod cli_crawlers;
mod cli_diff; // two policies or files, compared by their meaning
mod cli_explain;
mod cli_import; // rules of other programs as a policy
mod cli_init; // a first policy, and the presets
mod cli_input;
mod cli_reload; // the policy read again, with the outcome
mod cli_replay; // access logs through a policy
mod cli_report; // the evidence of violations
mod cli_review; // reports over a span of time, and scorecards
mod cli_store; // the database as a file
mod cli_tags;
mod cli_test; // the policy's own tests
mod cli_traps; // mistakes that look right
mod cli_violations;
mod counts; // requests by hour
mod demo; // an origin, the proxy and some crawlers on loopback
mod descriptors; // connections without file descriptors
mod desk; // pages about violations
mod desk_live; // violations as they come
mod desk_policy; // what the file on disk would change
mod desk_robots; // pages about robots.txt and the policy
mod desk_try; // decisions about requests that nobody sends
mod letters; // alerts and reports by e-mail
mod manual; // pages for man, and the help
mod monitoring; // the examples for Prometheus and Grafana
mod policy_history; // the policies that came into force
mod record_store;
mod reload;
mod remote_policy; // a policy at an https:// address
mod restart; // the program ends and starts again, and no client notices
mod shutdown;
mod spool; // records on their way to ClickHouse
mod systemd; // sockets from systemd, and what it is told
mod units; // the unit files for systemd
mod unread_log; // a log that nobody reads
mod uploads; // bodies over HTTP/2
mod version; // commit and profile of the program
mod watch; // the sites, seen from outside
mod weekly; // the ten questions of a week

// === the library under stress
mod forms; // whatever an origin resolves to a disallowed path is judged disallowed
mod fuzz_corpora; // every input that once broke something
mod memory; // bytes allocated
