//! The operator's policy: one YAML file, read and validated, then immutable.
//!
//! [`read`] turns bytes into a [`Policy`] whose every value is valid, or into findings, each with
//! file, line, column and repair. Nothing is guessed: an unknown key, a duplicate key or a value of
//! the wrong type is an error. The table of [`keys`](super::keys) has all keys with their shapes and
//! defaults. A policy can have other files, its catalogue and copies of lists; the caller opens them
//! ([`read_with`]).
//!
//! A field without a doc is a key: the table says what it means, and its default.
//!
//! May use: diagnostic, escape, product_token, text, version, robots, usage, probe, robots_tag, signature,
//! crawlers, valkey, keys.
//! Must not know: how a request looks, what a rulebook is, any clock, file or socket.

pub use self::{
    alerts::{Alert, AlertKind, Email, MailTls, WebhookUrl},
    backend::{Backend, Health, HealthCheck, Origin},
    block::Block,
    catalogue_file::{
        BUILT_IN as BUILT_IN_CATALOGUE, MAX_BYTES as MAX_CATALOGUE_BYTES, OtherFile,
        built_in as built_in_catalogue, built_in_file as built_in_catalogue_file,
        catalogue as catalogue_of, read_file as read_catalogue_file,
    },
    enforcement::{Breaker, Enforcement, Ladder, Override, Quiet, default_star_binds},
    evidence::Evidence,
    findings::{Findings, closest, suggestion},
    fleet::{Alone, Fleet},
    follow::{FollowedList, Following},
    host::{Host, host_in_url, split_port},
    mode::{Grace, Mode, OtherForms, PaceMode, Source},
    names::Named,
    preferences::{Entry, Preferences, Stated},
    rate_limits::{PeopleFirst, RateLimit},
    reader::{Policy, read, read_draft, read_with},
    reports::{Every, Report},
    restart::restart_findings,
    robots_txt::{GroupPlaces, MAX_CACHE_WINDOW, REQUESTED_HOST, RobotsTxt},
    server::{
        AccessLog, Acme, Admin, CertificateFiles, Decide, Listener, Server, Tls, certificate_places,
    },
    sites::{Site, Watch},
    tag_rules::{MediaRange, StatusRange, TagRule},
    test::{Client, Expectation, Test, TestFailures},
    timeouts::{Limits, Timeouts},
    units::{Share, duration, size_text},
    violations::{ClickHouse, ClickHouseServer, ClientIp, OnDamage, Violations},
    yaml::{MAX_BYTES, Spot},
};

pub(crate) use self::{
    alerts::{Destination, Format},
    backend::{Balance, Protocol},
    block::{Piece, Slot},
    server::AccessFormat,
    units::duration_text,
    violations::{Database, Log},
};

// The file as text.
mod findings; // everything that is wrong with a policy, and corrections for misspelt words
mod yaml; // bytes -> a tree with lines and columns

// One value.
mod fields; // the entries of a section, by the table of keys, and the types of settings
mod pattern; // a path pattern
mod shape; // a node of the tree with its place and its shape
mod units; // 24h, 500MiB, 5%, 10/1m

// The sections beside the sites.
mod alerts; // the sections `alerts` and `email`
mod catalogue_file; // the files that belong to a policy, and the built-in catalogue
mod catalogue_source; // the key `catalogue`, the section `crawlers`, and all crawlers of a policy
mod evidence; // the section `evidence`
mod fleet; // the section `fleet`
mod follow; // catalogue.follow
mod names; // names of crawlers, sets (the section `crawler_sets`) and purposes
mod reports; // the section `reports`
mod server; // the section `server`
mod timeouts; // server.timeouts and server.limits, and the timeouts of a site
mod violations; // the section `violations`

// A site: where its requests go, and what it publishes.
mod backend; // the origins of a site, and how requests go to them
mod host; // a host of a site
mod http_fields; // fields of HTTP messages
mod preferences; // the section `preferences`
mod robots_txt; // the section `robots_txt`, and the groups in it
mod tag_rules; // the section `robots_tag`

// A site: the treatment of violations.
mod block; // the answer to a refused request
mod enforcement; // the section `enforcement`: ladder, breaker, exceptions by crawler
mod mode; // off, log, throttle, block, and the source of the rules
mod rate_limits; // how many requests crawlers may send to the origin

// The tests of the whole.
mod test; // the section `tests`

// The whole policy.
mod checks; // checks across sections
mod reader; // the sections in order, then the checks
mod restart; // the keys that take effect only at a start
mod sites; // the section `sites`
