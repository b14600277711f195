//! The trial of a policy: its own tests, each judged as a request would be.
//!
//! ```text
//! policy ─▶ stage: the policy in force long after a change ─▶ run: each test explained ─▶ Trial
//!                                                              findings: each failure as a finding
//! ```
//! A trial fetches, reads and stores nothing but the saved copies of evidence, and those only for a
//! test with an address. So the same policy has the same outcomes everywhere:
//!
//! - Without `after`, robots.txt is in force for longer than any crawler remembers.
//! - With `after`, it came into force that long ago. Before, the site had a file without rules, and
//!   no crawler is known to have read robots.txt since. So a crawler may still use that file.
//! - The file of an origin is unknown: the policy's own rules count alone.
//! - On the ladder, every crawler is on the lowest rung.
//!
//! May use: explanation, gate, publication, enforce, policy, robots, diagnostic, escape, record.
//! Must not know: proxy, admin, desk, api, cli, any clock, any socket.

mod failures; // failures as findings
mod outcome; // one test, and what was found
mod stage; // the policy as if it were served

pub(crate) use self::{
    failures::findings,
    outcome::{Found, Trial},
};

use crate::{records::record::Error, rules::policy::Policy};

use self::stage::Stage;

/// The outcomes of all tests of a policy, in its order.
pub(crate) fn run(policy: &Policy) -> Result<Vec<Trial>, Error> {
    if policy.tests.is_empty() {
        return Ok(Vec::new());
    }
    let stage = Stage::of(policy)?;
    Ok(policy.tests.iter().map(|test| Trial::of(test, stage.explain(test))).collect())
}

#[cfg(test)]
mod tests;
