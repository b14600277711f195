//! The keys of a policy: one table of all sections, with shape, default and meaning.
//!
//! The readers of a policy know no other keys, the reference explains these, and [`schema`] writes
//! them for editors. A shape is what an editor can check. The rest, such as a misspelt crawler or
//! two sites with one host, is found by the readers.
//!
//! May use: robots, crawlers. Must not know: policy, how a value is read.

pub use self::{
    schema::schema,
    section::{Absent, Form, Key, Section, Shape},
    server::ACME,
    site::SITE,
    top::POLICY,
    values::{ACTIONS, REASONS, STEPS},
};
pub(crate) use self::{
    server::{LIMITS, TIMEOUTS, TLS},
    site::{BREAKER, ENFORCEMENT, LADDER, ROBOTS_TXT},
};

mod schema; // the table as a JSON Schema
mod section; // a section, a key, the shape of a value
mod values; // shapes that several sections share

mod server; // server
mod site; // sites
mod top; // the whole policy, the sections beside server and sites, tests
