//! The keys of a policy: one table of all sections, with shape, default and meaning.
//!
//! The readers of a policy know no other keys, the reference explains these, and [`schema`] writes
//! them for editors. A shape is what an editor can check. The rest, such as a misspelt crawler or
//! two sites with one host, is found by the readers.
//!
//! May use: robots, crawlers. Must not know: policy, how a value is read.

pub use self::{
    beside_sites::{
        ALERT, CATALOGUE, CLICKHOUSE, CRAWLER, CRAWLER_SET, EVIDENCE, FLEET, FOLLOW, MAIL, REPORT,
        VIOLATIONS,
    },
    enforcement::{BLOCK, BREAKER, ENFORCEMENT, LADDER, OVERRIDE, PEOPLE_FIRST, QUIET, RATE_LIMIT},
    schema::schema,
    section::{Absent, Form, Key, Section, Shape},
    server::{
        ACCESS_LOG, ACME, ADMIN, CERTIFICATE, DECIDE, LIMITS, LISTENER, SERVER, TIMEOUTS, TLS,
    },
    site::{GROUP, HEALTH, ORIGIN, PREFERENCE, ROBOTS_TXT, SITE, SITE_TIMEOUTS, TAG_RULE, WATCH},
    top::{POLICY, TEST},
    values::{ACTIONS, REASONS, STEPS},
};

mod schema; // the table as a JSON Schema
mod section; // a section, a key, the shape of a value
mod values; // shapes that several sections share

mod beside_sites; // the sections beside server and sites
mod enforcement; // sites[].enforcement
mod server; // server
mod site; // sites
mod top; // the whole policy, tests
