//! What was decided and why, for people to look at.
//!
//! Look here for reports and evidence bundles with their charts and trends, reasons of a decision, logs run
//! through a policy, tests of a policy, and the audit of a page.
//!
//! ```text
//! report ─▶ audit, replay, proposal
//! explanation ─▶ trial ─▶ proposal
//! ```

pub(crate) mod audit; // what a page and its site tell a crawler
pub(crate) mod explanation; // the reasons of a decision, as data and as text
pub(crate) mod proposal; // a change of the policy file before it is made
pub(crate) mod replay; // access logs run through a policy
pub(crate) mod report; // documents made of stored facts: reports, a span beside the one before, charts, evidence bundles
pub(crate) mod trial; // the tests of a policy and their outcomes
